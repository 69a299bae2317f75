//! Functions that make texts which may be long: their results have a bound, which is looked at before there is memory for them, and
//! a statement that is cancelled does not wait for them.
//!
//! DataFusion's own fill without looking, letter by letter, and some overflow. Names, arguments and types are those of the functions
//! that these replace.
//!
//! | module | answers |
//! |---|---|
//! | `operation` | what a function makes of its arguments |
//! | `argument` | the arguments of one call, row by row |
//! | `output` | texts that are being made |
//! | `like` | patterns of many wildcards |
//! | `letter_case` | large and small letters |

mod argument;
mod letter_case;
mod like;
mod operation;
mod output;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use self::argument::TextArguments;
use self::operation::TextOperation;
use self::output::TextOutput;
use quire_error::interruption::Interruption;

pub use like::TextIsLike;

/// The functions of these names are replaced.
const REPLACED: [(&str, TextOperation); 7] = [
    ("repeat", TextOperation::Repeat),
    ("lpad", TextOperation::PadLeft),
    ("rpad", TextOperation::PadRight),
    ("replace", TextOperation::Replace),
    ("translate", TextOperation::Translate),
    ("concat", TextOperation::Concatenate),
    ("concat_ws", TextOperation::ConcatenateWithSeparator),
];

/// Replaces DataFusion's functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (name, operation) in REPLACED {
        let inner = state.udf(name)?;
        let function = TextFunction { inner, operation };
        state.register_udf(ScalarUDF::from(function).into())?;
    }
    letter_case::register(state)
}

/// One of DataFusion's functions, with our calculation.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TextFunction {
    inner: Arc<ScalarUDF>,
    operation: TextOperation,
}

impl ScalarUDFImpl for TextFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // `concat` is for arrays and bytes, too.
        if !args.return_field.data_type().is_string() {
            return self.inner.invoke_with_args(args);
        }
        invoke(self.operation, args)
    }
}

/// `||` of two texts.
#[derive(Debug)]
pub struct Concatenation {
    signature: Signature,
}

impl Default for Concatenation {
    fn default() -> Self {
        Self::new()
    }
}

impl Concatenation {
    pub const NAME: &'static str = "concatenate";

    pub fn new() -> Self {
        Self {
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

impl PartialEq for Concatenation {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Concatenation {}

impl Hash for Concatenation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Self::NAME.hash(state);
    }
}

impl ScalarUDFImpl for Concatenation {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let is_view = |data_type: &&DataType| **data_type == DataType::Utf8View;
        let view = arg_types.iter().find(is_view);
        Ok(view
            .or(arg_types.first())
            .cloned()
            .unwrap_or(DataType::Utf8))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        invoke(TextOperation::ConcatenateStrictly, args)
    }
}

fn invoke(operation: TextOperation, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
    let interruption = Interruption::of(&args.config_options);
    let arguments = TextArguments::new(&args.args)?;
    let row_count = if arguments.are_all_fixed() {
        1
    } else {
        args.number_rows
    };
    let mut output = TextOutput::new(row_count, &interruption);
    for row in 0..row_count {
        operation.apply(&arguments, row, &mut output)?;
    }
    let array = output.finish(args.return_field.data_type())?;
    if arguments.are_all_fixed() {
        let value = ScalarValue::try_from_array(&array, 0)?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(array))
}
