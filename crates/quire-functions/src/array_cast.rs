//! Casts to arrays: of computed texts, `(a || b)::INTEGER[]`, and of arrays with elements of another type. Each element is cast as it
//! would be alone, which Arrow's casts do not: decimals are rounded, texts are read in all forms. Texts that are written out are read
//! with the statement.

use std::sync::Arc;

use super::array_results::map_array;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, StringViewArray};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility, col,
};
use datafusion::physical_expr::create_physical_expr;
use quire_error::Error;

use super::array_text::{ArrayElement, parse_array};

/// What an element is called in the expression that reads it.
const ELEMENT: &str = "element";

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ArrayCast {
    to: DataType,
    /// Reads the column [`ELEMENT`].
    read: Expr,
    signature: Signature,
}

impl ArrayCast {
    /// The types of the elements before and after a cast to an array, if this is one.
    pub fn elements_of<'t>(
        from: &'t DataType,
        to: &'t DataType,
    ) -> Option<(&'t DataType, &'t DataType)> {
        let after = Self::innermost(to)?;
        match Self::innermost(from) {
            Some(before) => (before != after && !before.is_null()).then_some((before, after)),
            None => from.is_string().then_some((&DataType::Utf8View, after)),
        }
    }

    /// The type that an array of type `from` gets by a cast to `to`: one with as many dimensions as it has, however many brackets the type
    /// has, as in PostgreSQL. `None` of what are no arrays.
    pub fn shaped(from: &DataType, to: &DataType) -> Option<DataType> {
        let DataType::List(item) = from else {
            return None;
        };
        let element = Self::innermost(to)?;
        let within = Self::shaped(item.data_type(), to);
        Some(DataType::new_list(
            within.unwrap_or_else(|| element.clone()),
            true,
        ))
    }

    /// The column of elements.
    pub fn schema(element: &DataType) -> Result<DFSchema> {
        let field = Field::new(ELEMENT, element.clone(), true);
        DFSchema::try_from(Schema::new(vec![field]))
    }

    /// An element of that column.
    pub fn element() -> Expr {
        col(ELEMENT)
    }

    /// The type of the elements of an array of any number of dimensions; `None` of what is no array.
    fn innermost(array: &DataType) -> Option<&DataType> {
        match array {
            DataType::List(item) => {
                Some(Self::innermost(item.data_type()).unwrap_or(item.data_type()))
            }
            _ => None,
        }
    }

    /// A function that gives arrays of type `to`; `read` makes an element of [`Self::element`].
    pub fn new(to: DataType, read: Expr) -> Self {
        let signature = Signature::any(1, Volatility::Immutable);
        Self {
            to,
            read,
            signature,
        }
    }

    fn arrays(&self, texts: &StringViewArray, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
        let values = texts.iter().map(|text| {
            let Some(text) = text else {
                return Ok(ArrayElement::Null);
            };
            let elements = parse_array(text).ok_or_else(|| malformed(text))?;
            Ok(ArrayElement::Array(elements))
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        self.build(values, &self.to, options)
    }

    fn build(
        &self,
        values: Vec<ArrayElement>,
        data_type: &DataType,
        options: &Arc<ConfigOptions>,
    ) -> Result<ArrayRef> {
        let DataType::List(item) = data_type else {
            return self.elements(values, options);
        };
        let mut within = Vec::new();
        let (mut lengths, mut is_valid) = (
            Vec::with_capacity(values.len()),
            Vec::with_capacity(values.len()),
        );
        for value in values {
            is_valid.push(value != ArrayElement::Null);
            let inner = match value {
                ArrayElement::Array(inner) => inner,
                ArrayElement::Null => Vec::new(),
                ArrayElement::Text(_) => return Err(wrong_dimensions()),
            };
            lengths.push(inner.len());
            within.extend(inner);
        }
        let within = self.build(within, item.data_type(), options)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let nulls = NullBuffer::from(is_valid);
        Ok(Arc::new(ListArray::try_new(
            Arc::clone(item),
            offsets,
            within,
            Some(nulls),
        )?))
    }

    fn elements(
        &self,
        values: Vec<ArrayElement>,
        options: &Arc<ConfigOptions>,
    ) -> Result<ArrayRef> {
        let texts = values.into_iter().map(|value| match value {
            ArrayElement::Null => Ok(None),
            ArrayElement::Text(text) => Ok(Some(text)),
            ArrayElement::Array(_) => Err(wrong_dimensions()),
        });
        self.read(
            Arc::new(texts.collect::<Result<StringViewArray>>()?),
            options,
        )
    }

    /// The same arrays with their elements cast.
    fn recast(
        &self,
        array: &ArrayRef,
        data_type: &DataType,
        options: &Arc<ConfigOptions>,
    ) -> Result<ArrayRef> {
        let DataType::List(item) = data_type else {
            return self.read(Arc::clone(array), options);
        };
        let Some(lists) = array.as_list_opt::<i32>() else {
            return Err(wrong_dimensions());
        };
        let within = self.recast(lists.values(), item.data_type(), options)?;
        let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
        Ok(Arc::new(ListArray::try_new(
            Arc::clone(item),
            offsets,
            within,
            nulls,
        )?))
    }

    fn read(&self, elements: ArrayRef, options: &Arc<ConfigOptions>) -> Result<ArrayRef> {
        let count = elements.len();
        let schema = Self::schema(elements.data_type())?;
        let mut props = ExecutionProps::new();
        props.mark_start_execution(Arc::clone(options));
        let context = PhysicalPlanningContext::default();
        let read = create_physical_expr(&self.read, &schema, &props, &context)?;
        let batch = RecordBatch::try_new(Arc::new(schema.as_arrow().clone()), vec![elements])?;
        read.evaluate(&batch)?.into_array(count)
    }
}

fn malformed(text: &str) -> DataFusionError {
    let text = format!("malformed array literal: \"{text}\"");
    Error::new("22P02", text).into()
}

fn wrong_dimensions() -> DataFusionError {
    let text = "a computed text with more dimensions than its array type, or fewer";
    let hint = "Write as many brackets behind the type as the text has dimensions.";
    Error::new("0A000", text).with_hint(hint).into()
}

impl ScalarUDFImpl for ArrayCast {
    fn name(&self) -> &str {
        "array_cast"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        map_array(&args.args, |array| {
            if array.data_type().is_list() {
                return self.recast(array, &self.to, &args.config_options);
            }
            let texts = cast(array, &DataType::Utf8View)?;
            self.arrays(texts.as_string_view(), &args.config_options)
        })
    }
}
