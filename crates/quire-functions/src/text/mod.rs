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

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use self::argument::TextArguments;
use self::operation::TextOperation;
use self::output::TextOutput;
use super::array_results::result_of;
use super::replaced_function::{OwnCalculation, replace};
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
        replace(state, name, operation)?;
    }
    letter_case::register(state)
}

impl OwnCalculation for TextOperation {
    fn calculate(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        // `concat` is for arrays and bytes, too.
        if !args.return_field.data_type().is_string() {
            return inner.invoke_with_args(args);
        }
        invoke(*self, args)
    }
}

/// `||` of two texts.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Concatenation {
    signature: Signature,
}

impl Default for Concatenation {
    fn default() -> Self {
        Self {
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

impl Concatenation {
    pub const NAME: &'static str = "concatenate";
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
    result_of(array, arguments.are_all_fixed())
}
