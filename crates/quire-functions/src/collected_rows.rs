//! An aggregate function over the rows of a group in an order of its own, or over different ones.
//!
//! DataFusion sorts the rows of an aggregation once, so that two aggregates with different `ORDER BY` are refused, and knows no
//! `DISTINCT` for most statistics. This function collects its arguments and sort keys, and hands them to the one that is meant when
//! all are there: sorted, and each once.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, UInt32Array};
use datafusion::arrow::compute::{
    SortColumn, SortOptions, concat, filter, lexsort_to_indices, take,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CollectedRows {
    function: Arc<AggregateUDF>,
    /// Its arguments; what comes behind them is what rows are sorted by.
    argument_count: usize,
    is_distinct: bool,
    orders: Vec<SortOptions>,
    signature: Signature,
}

impl CollectedRows {
    /// The same call, with rows collected.
    pub fn around(call: AggregateFunction) -> AggregateFunction {
        let AggregateFunctionParams {
            mut args,
            distinct,
            filter,
            order_by,
            null_treatment,
        } = call.params;
        let options = order_by.iter().map(|sort| SortOptions {
            descending: !sort.asc,
            nulls_first: sort.nulls_first,
        });
        let function = Self {
            function: call.func,
            argument_count: args.len(),
            is_distinct: distinct,
            orders: options.collect(),
            signature: Signature::variadic_any(Volatility::Immutable),
        };
        args.extend(order_by.into_iter().map(|sort| sort.expr));
        let function = Arc::new(AggregateUDF::from(function));
        AggregateFunction::new_udf(function, args, false, filter, Vec::new(), null_treatment)
    }
}

impl AggregateUDFImpl for CollectedRows {
    fn name(&self) -> &str {
        "collected_rows"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.function.return_type(&types[..self.argument_count])
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.function.return_field(&fields[..self.argument_count])
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let fields = args.input_fields.iter().enumerate();
        let list = |(place, field): (usize, &FieldRef)| {
            let name = format_state_name(args.name, &format!("column {place}"));
            let item = Field::new_list_field(field.data_type().clone(), true);
            Arc::new(Field::new_list(name, item, true))
        };
        Ok(fields.map(list).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let types = args
            .expr_fields
            .iter()
            .map(|field| field.data_type().clone());
        let types = types.collect();
        let accumulator = self.function.accumulator(AccumulatorArgs {
            is_distinct: false,
            order_bys: &[],
            exprs: &args.exprs[..self.argument_count],
            expr_fields: &args.expr_fields[..self.argument_count],
            ..args
        })?;
        Ok(Box::new(RowCollector {
            accumulator,
            argument_count: self.argument_count,
            is_distinct: self.is_distinct,
            orders: self.orders.clone(),
            types,
            parts: Vec::new(),
        }))
    }
}

/// The same values in buffers of their own. The rows of a group are a slice of those of all groups, with all their buffers: each group
/// would count them, and the arrays that are put together of such slices would have as many buffers as there are groups, each time.
fn alone(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(match values.data_type() {
        DataType::Utf8View => Arc::new(values.as_string_view().gc()),
        DataType::BinaryView => Arc::new(values.as_binary_view().gc()),
        _ => {
            let places = UInt32Array::from_iter_values(0..values.len() as u32);
            take(values, &places, None)?
        }
    })
}

#[derive(Debug)]
struct RowCollector {
    accumulator: Box<dyn Accumulator>,
    argument_count: usize,
    is_distinct: bool,
    orders: Vec<SortOptions>,
    types: Vec<DataType>,
    /// Arguments and sort keys, as they came.
    parts: Vec<Vec<ArrayRef>>,
}

impl RowCollector {
    /// All rows, by column.
    fn columns(&self) -> Result<Vec<ArrayRef>> {
        let column = |(place, data_type): (usize, &DataType)| {
            let parts = self.parts.iter().map(|part| part[place].as_ref());
            let parts: Vec<&dyn Array> = parts.collect();
            if parts.is_empty() {
                Ok(datafusion::arrow::array::new_empty_array(data_type))
            } else {
                // Texts of all parts in one buffer.
                alone(&concat(&parts)?)
            }
        };
        self.types.iter().enumerate().map(column).collect()
    }

    fn sorted(&self, columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        if self.orders.is_empty() {
            return Ok(columns);
        }
        let keys = columns[self.argument_count..].iter().zip(&self.orders);
        let keys = keys.map(|(values, options)| SortColumn {
            values: Arc::clone(values),
            options: Some(*options),
        });
        let places = lexsort_to_indices(&keys.collect::<Vec<_>>(), None)?;
        let columns = columns.iter();
        let sorted = columns.map(|column| Ok(take(column, &places, None)?));
        sorted.collect()
    }

    /// The first of equal arguments.
    fn each_once(&self, arguments: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        if !self.is_distinct {
            return Ok(arguments);
        }
        let fields = arguments.iter();
        let fields = fields.map(|column| SortField::new(column.data_type().clone()));
        let rows = RowConverter::new(fields.collect())?.convert_columns(&arguments)?;
        let mut known = HashSet::new();
        let is_new = rows.iter().map(|row| known.insert(row.owned()));
        let is_new: BooleanArray = is_new.map(Some).collect();
        let arguments = arguments.iter();
        let kept = arguments.map(|column| Ok(filter(column, &is_new)?));
        kept.collect()
    }
}

impl Accumulator for RowCollector {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns = values.iter().map(alone);
        self.parts.push(columns.collect::<Result<_>>()?);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let row_count = states.first().map_or(0, |state| state.len());
        for row in 0..row_count {
            let lists = states.iter();
            let lists = lists.map(|state| alone(&state.as_list::<i32>().value(row)));
            self.parts.push(lists.collect::<Result<_>>()?);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let columns = self.columns()?.into_iter();
        let list = |column| SingleRowListArrayBuilder::new(column).build_list_scalar();
        Ok(columns.map(list).collect())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut arguments = self.sorted(self.columns()?)?;
        arguments.truncate(self.argument_count);
        self.accumulator.update_batch(&self.each_once(arguments)?)?;
        self.accumulator.evaluate()
    }

    fn size(&self) -> usize {
        let arrays = self.parts.iter().flatten();
        let bytes: usize = arrays.map(|array| array.get_array_memory_size()).sum();
        size_of_val(self) + self.accumulator.size() + bytes
    }
}
