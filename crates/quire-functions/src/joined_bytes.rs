//! `string_agg` of bytes. DataFusion's joins their texts.

use std::mem::size_of_val;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct JoinedBytes {
    signature: Signature,
}

impl Default for JoinedBytes {
    fn default() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl AggregateUDFImpl for JoinedBytes {
    fn name(&self) -> &str {
        "string_agg"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match types {
            [_, _] => Ok(vec![DataType::BinaryView; 2]),
            _ => plan_err!("string_agg takes bytes and what is to stand between them"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::BinaryView)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            exec_err!("string_agg(DISTINCT) of bytes is not supported")
        } else {
            Ok(Box::<JoinedBytesState>::default())
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let name = |part| format_state_name(args.name, part);
        Ok(vec![
            Arc::new(Field::new(name("bytes"), DataType::BinaryView, true)),
            Arc::new(Field::new(name("first"), DataType::Int64, true)),
        ])
    }
}

/// What has been joined, behind the delimiter of the first value.
#[derive(Debug, Default)]
struct JoinedBytesState {
    bytes: Option<Vec<u8>>,
    first_delimiter_bytes: usize,
}

impl JoinedBytesState {
    fn add(&mut self, bytes: &[u8], first_delimiter_bytes: usize) {
        match &mut self.bytes {
            Some(joined) => joined.extend_from_slice(bytes),
            None => {
                self.bytes = Some(bytes.to_vec());
                self.first_delimiter_bytes = first_delimiter_bytes;
            }
        }
    }
}

impl Accumulator for JoinedBytesState {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let arrays = values
            .iter()
            .map(|array| cast(array, &DataType::BinaryView));
        let arrays = arrays.collect::<std::result::Result<Vec<_>, _>>()?;
        let [values, delimiters] = arrays.as_slice() else {
            return exec_err!("string_agg takes two arguments");
        };
        for (value, delimiter) in values
            .as_binary_view()
            .iter()
            .zip(delimiters.as_binary_view())
        {
            let Some(value) = value else { continue };
            let delimiter = delimiter.unwrap_or_default();
            self.add(&[delimiter, value].concat(), delimiter.len());
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let joined = self.bytes.as_deref();
        let joined =
            joined.map(|bytes| bytes.get(self.first_delimiter_bytes..).unwrap_or_default());
        Ok(ScalarValue::BinaryView(joined.map(<[u8]>::to_vec)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.bytes.as_ref().map_or(0, Vec::capacity)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let first = i64::try_from(self.first_delimiter_bytes).unwrap_or(0);
        Ok(vec![
            ScalarValue::BinaryView(self.bytes.clone()),
            ScalarValue::Int64(Some(first)),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [bytes, first] = states else {
            return exec_err!("string_agg has two states");
        };
        let first = first.as_primitive::<Int64Type>();
        let bytes = bytes.as_binary_view();
        for row in (0..bytes.len()).filter(|row| bytes.is_valid(*row)) {
            let first = usize::try_from(first.value(row)).unwrap_or(0);
            self.add(bytes.value(row), first);
        }
        Ok(())
    }
}
