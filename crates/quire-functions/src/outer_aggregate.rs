//! The call of an aggregate function inside a subquery that belongs to the query around it.
//!
//! While a statement is planned it stands for the call, so that the planner does not take the subquery for an aggregation.
//! `quire_planner::optimize::hoist_outer_aggregates` takes it away again.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    AggregateUDF, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};

/// Aggregate functions that may belong to an outer query.
const KNOWN: [&str; 22] = [
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar_pop",
    "covar_samp",
    "max",
    "median",
    "min",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

/// Whether a call is DISTINCT, and whether it has a FILTER.
const FORMS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

/// Adds the functions for all aggregates.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for called in KNOWN {
        let Some(function) = state.aggregate_functions().get(called).cloned() else {
            continue;
        };
        for (is_distinct, is_filtered) in FORMS {
            let name = OuterAggregate::name_of(called, is_distinct, is_filtered);
            let function = OuterAggregate {
                function: Arc::clone(&function),
                name: name.unwrap_or_default(),
                is_distinct,
                is_filtered,
                signature: Signature::variadic_any(Volatility::Immutable),
            };
            state.register_udf(ScalarUDF::from(function).into())?;
        }
    }
    Ok(())
}

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OuterAggregate {
    function: Arc<AggregateUDF>,
    name: String,
    is_distinct: bool,
    /// Whether the last argument is the condition of FILTER.
    is_filtered: bool,
    signature: Signature,
}

/// What the names begin with; no name that a person writes contains the control character.
const MARK: &str = "\u{1f}outer_";

impl OuterAggregate {
    /// What stands for the call of an aggregate function.
    pub fn name_of(called: &str, is_distinct: bool, is_filtered: bool) -> Option<String> {
        let rows = if is_distinct { "distinct" } else { "all" };
        let which = if is_filtered { "_filtered" } else { "" };
        let is_known = KNOWN.contains(&called);
        is_known.then(|| format!("{MARK}{called}_{rows}{which}"))
    }

    /// Whether a function of that name stands for an aggregate.
    pub fn is_name(name: &str) -> bool {
        name.starts_with(MARK)
    }

    /// The call that is meant.
    pub fn call(&self, mut arguments: Vec<Expr>) -> Expr {
        let filter = if self.is_filtered {
            arguments.pop().map(Box::new)
        } else {
            None
        };
        Expr::AggregateFunction(AggregateFunction::new_udf(
            Arc::clone(&self.function),
            arguments,
            self.is_distinct,
            filter,
            Vec::new(),
            None,
        ))
    }
}

impl ScalarUDFImpl for OuterAggregate {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("an aggregate's type is one of its fields")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let count = args.arg_fields.len() - usize::from(self.is_filtered);
        let fields = fields_with_udf(&args.arg_fields[..count], self.function.as_ref())?;
        self.function.return_field(&fields)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("an aggregate of the outer query is left in a subquery")
    }
}
