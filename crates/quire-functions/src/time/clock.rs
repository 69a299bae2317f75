//! The time of the transaction, of the statement, and of the moment.

use std::time::{SystemTime, UNIX_EPOCH};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::value::{INSTANT_ZONE, TimeKind};

/// Which time a function tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TimeFunctionClock {
    /// When the transaction began.
    Transaction,
    /// When the statement began.
    Statement,
    /// Now, whenever it is asked.
    Moving,
}

/// `now()`, `statement_timestamp()` or `clock_timestamp()`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ClockFunction {
    which: TimeFunctionClock,
    /// Microseconds since 1970, for one statement; otherwise whoever runs an expression knows it.
    at: Option<i64>,
    signature: Signature,
    aliases: Vec<String>,
}

impl ClockFunction {
    fn new(which: TimeFunctionClock, at: Option<i64>) -> Self {
        let aliases: &[&str] = match which {
            TimeFunctionClock::Transaction => &["current_timestamp", "transaction_timestamp"],
            _ => &[],
        };
        let volatility = match which {
            TimeFunctionClock::Moving => Volatility::Volatile,
            _ => Volatility::Stable,
        };
        Self {
            which,
            at,
            signature: Signature::nullary(volatility),
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        }
    }
}

/// What time it is for a statement, in microseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct StatementClock {
    /// When its transaction began.
    pub transaction: i64,
    pub statement: i64,
}

impl StatementClock {
    /// Has the functions tell these times.
    pub(crate) fn register(self, state: &mut SessionState) -> Result<()> {
        let known = [
            (TimeFunctionClock::Transaction, self.transaction),
            (TimeFunctionClock::Statement, self.statement),
        ];
        for (which, at) in known {
            state.register_udf(ScalarUDF::from(ClockFunction::new(which, Some(at))).into())?;
        }
        Ok(())
    }
}

/// Registers the functions, without a time that they would tell.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for which in [
        TimeFunctionClock::Transaction,
        TimeFunctionClock::Statement,
        TimeFunctionClock::Moving,
    ] {
        state.register_udf(ScalarUDF::from(ClockFunction::new(which, None)).into())?;
    }
    Ok(())
}

/// Microseconds since 1970.
pub fn micros_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_micros()).unwrap_or(i64::MAX)
}

fn instant(micros: i64) -> ScalarValue {
    ScalarValue::TimestampMicrosecond(Some(micros), Some(INSTANT_ZONE.into()))
}

impl ScalarUDFImpl for ClockFunction {
    fn name(&self) -> &str {
        match self.which {
            TimeFunctionClock::Transaction => "now",
            TimeFunctionClock::Statement => "statement_timestamp",
            TimeFunctionClock::Moving => "clock_timestamp",
        }
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(TimeKind::Instant.data_type())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let micros = self.at.unwrap_or_else(micros_now);
        Ok(ColumnarValue::Scalar(instant(micros)))
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        Ok(match self.at {
            Some(at) => ExprSimplifyResult::Simplified(Expr::Literal(instant(at), None)),
            None => ExprSimplifyResult::Original(args),
        })
    }
}
