//! Keys that are computed from a dictionary: the enumeration views of paper 2 (§6.1, after MonetDB).
//!
//! An expression over one column of few texts has one value for each code. It is evaluated once for each value of a segment's dictionary;
//! the rows keep their codes, which stand for its values from then on. Two codes may stand for the same value.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr_common::physical_expr::is_volatile;

use super::input::AggregateInput;
use super::key_value::KeyValue;

/// An expression over the values of a dictionary.
#[derive(Clone, Debug)]
pub(super) struct EnumerationView {
    /// Over a batch of one column, the texts.
    expr: Arc<dyn PhysicalExpr>,
    texts: SchemaRef,
}

/// What the codes of one dictionary stand for.
pub(super) struct ViewedCodes {
    /// Of each code, and of NULL behind them: the place of its value.
    places: Vec<i64>,
    /// Each once.
    pub(super) values: Vec<KeyValue>,
}

impl EnumerationView {
    /// The view that an expression of an aggregation is, and the column of the scan that it is over; `None` if it reads other columns than one,
    /// which has texts, or has another value at each call, or values that are no keys here.
    pub(super) fn of(
        input: &AggregateInput<'_>,
        expr: &Arc<dyn PhysicalExpr>,
    ) -> Option<(usize, Self)> {
        let expr = over_scan(input, expr, input.top())?;
        let mut found = None;
        let mut is_one = true;
        let name = "text";
        let over_texts = expr.transform_up(|part| {
            let Some(column) = part.downcast_ref::<Column>() else {
                return Ok(Transformed::no(part));
            };
            is_one &= *found.get_or_insert(column.index()) == column.index();
            let text: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, 0));
            Ok(Transformed::yes(text))
        });
        let (expr, index) = (over_texts.ok()?.data, found.filter(|_| is_one)?);
        let texts = Schema::new(vec![Field::new(name, DataType::Utf8View, true)]);
        if *input.schema(0).field(index).data_type() != DataType::Utf8View
            || is_volatile(&expr)
            || !is_key_type(&expr.data_type(&texts).ok()?)
        {
            return None;
        }
        let texts = Arc::new(texts);
        Some((index, Self { expr, texts }))
    }

    /// The values for a dictionary with a NULL behind it; `None` if there is an error: it is reported if a row has the value.
    pub(super) fn over(&self, dictionary: &ArrayRef) -> Option<ViewedCodes> {
        let columns = vec![Arc::clone(dictionary)];
        let texts = RecordBatch::try_new(Arc::clone(&self.texts), columns).ok()?;
        let values = self.expr.evaluate(&texts).ok()?;
        let values = key_values(&values.into_array(texts.num_rows()).ok()?)?;
        let mut viewed = ViewedCodes {
            places: Vec::with_capacity(values.len()),
            values: Vec::new(),
        };
        let mut known = HashMap::new();
        for value in values {
            let next = known.len();
            let place = *known.entry(value.clone()).or_insert(next);
            if place == next {
                viewed.values.push(value);
            }
            viewed.places.push(place as i64);
        }
        Some(viewed)
    }
}

impl ViewedCodes {
    /// The code of NULL in the dictionary.
    pub(super) fn null_code(&self) -> i64 {
        self.places.len().saturating_sub(1) as i64
    }

    /// Replaces codes by the places of their values. Codes of rows that are not selected may be any.
    pub(super) fn replace(&self, codes: &mut [i64; 1024]) {
        for code in codes {
            let place = usize::try_from(*code)
                .ok()
                .and_then(|code| self.places.get(code));
            *code = place.copied().unwrap_or_default();
        }
    }
}

/// The expression over the output of the first `level` projections as one over the scan.
fn over_scan(
    input: &AggregateInput<'_>,
    expr: &Arc<dyn PhysicalExpr>,
    level: usize,
) -> Option<Arc<dyn PhysicalExpr>> {
    let expr = Arc::clone(expr);
    let Some(below) = level.checked_sub(1) else {
        return Some(expr);
    };
    let mut is_known = true;
    let replaced = expr.transform_down(|part| {
        let Some(column) = part.downcast_ref::<Column>() else {
            return Ok(Transformed::no(part));
        };
        let beneath = input.beneath(column, level);
        Ok(
            match beneath.and_then(|expr| over_scan(input, expr, below)) {
                Some(expr) => Transformed::new(expr, true, TreeNodeRecursion::Jump),
                None => {
                    is_known = false;
                    Transformed::no(part)
                }
            },
        )
    });
    let replaced = replaced.ok()?.data;
    is_known.then_some(replaced)
}

fn is_key_type(data_type: &DataType) -> bool {
    use DataType::{Boolean, Date32, Int16, Int32, Int64, Utf8, Utf8View};
    matches!(
        data_type,
        Boolean | Date32 | Int16 | Int32 | Int64 | Utf8 | Utf8View
    )
}

/// The values of an array of such a type.
fn key_values(array: &ArrayRef) -> Option<Vec<KeyValue>> {
    let is_text = matches!(array.data_type(), DataType::Utf8 | DataType::Utf8View);
    let common = if is_text {
        DataType::Utf8View
    } else {
        DataType::Int64
    };
    // A date is a number of days in 32 bits.
    let array = match array.data_type() {
        DataType::Date32 => cast(array, &DataType::Int32).ok()?,
        _ => Arc::clone(array),
    };
    let array = cast(&array, &common).ok()?;
    let value = |row: usize| {
        if array.is_null(row) {
            KeyValue::Null
        } else if is_text {
            KeyValue::Text(array.as_string_view().value(row).into())
        } else {
            KeyValue::Integer(array.as_primitive::<Int64Type>().value(row))
        }
    };
    Some((0..array.len()).map(value).collect())
}
