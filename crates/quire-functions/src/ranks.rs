//! `row_number`, `rank`, `dense_rank` and `ntile` count in BIGINT, as PostgreSQL's do. DataFusion's are unsigned, so that their
//! negative, for one, is no number of theirs.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::{SortOptions, cast};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::functions_window::all_default_window_functions;
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowFunctionSimplification, WindowUDFFieldArgs,
};
use datafusion::logical_expr::window_state::WindowAggState;
use datafusion::logical_expr::{
    Documentation, LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, WindowUDF,
    WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;

const RANKS: [&str; 4] = ["dense_rank", "ntile", "rank", "row_number"];

/// Puts these functions in the place of DataFusion's.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for function in all_default_window_functions() {
        if RANKS.contains(&function.name()) {
            state.register_udwf(Arc::new(WindowUDF::from(Rank { function })))?;
        }
    }
    Ok(())
}

/// A function whose results are signed.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Rank {
    function: Arc<WindowUDF>,
}

impl Rank {
    fn inner(&self) -> &dyn WindowUDFImpl {
        self.function.inner().as_ref()
    }
}

impl WindowUDFImpl for Rank {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn aliases(&self) -> &[String] {
        self.inner().aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn expressions(&self, args: ExpressionArgs) -> Vec<Arc<dyn PhysicalExpr>> {
        self.inner().expressions(args)
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let unsigned = self.inner().partition_evaluator(args)?;
        Ok(Box::new(Signed(unsigned)))
    }

    fn simplify(&self) -> Option<WindowFunctionSimplification> {
        self.inner().simplify()
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let field = self.inner().field(args)?.as_ref().clone();
        Ok(field.with_data_type(DataType::Int64).into())
    }

    fn sort_options(&self) -> Option<SortOptions> {
        self.inner().sort_options()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner().coerce_types(arg_types)
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        match self.inner().reverse_expr() {
            ReversedUDWF::Identical => ReversedUDWF::Identical,
            ReversedUDWF::Reversed(_) | ReversedUDWF::NotSupported => ReversedUDWF::NotSupported,
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner().documentation()
    }

    fn limit_effect(&self, args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.inner().limit_effect(args)
    }
}

#[derive(Debug)]
struct Signed(Box<dyn PartitionEvaluator>);

impl PartitionEvaluator for Signed {
    fn memoize(&mut self, state: &mut WindowAggState) -> Result<()> {
        self.0.memoize(state)
    }

    fn get_range(&self, row: usize, row_count: usize) -> Result<Range<usize>> {
        self.0.get_range(row, row_count)
    }

    fn is_causal(&self) -> bool {
        self.0.is_causal()
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], row_count: usize) -> Result<ArrayRef> {
        let ranks = self.0.evaluate_all(values, row_count)?;
        Ok(cast(&ranks, &DataType::Int64)?)
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        self.0.evaluate(values, range)?.cast_to(&DataType::Int64)
    }

    fn evaluate_all_with_rank(&self, row_count: usize, ranks: &[Range<usize>]) -> Result<ArrayRef> {
        let ranks = self.0.evaluate_all_with_rank(row_count, ranks)?;
        Ok(cast(&ranks, &DataType::Int64)?)
    }

    fn supports_bounded_execution(&self) -> bool {
        self.0.supports_bounded_execution()
    }

    fn uses_window_frame(&self) -> bool {
        self.0.uses_window_frame()
    }

    fn include_rank(&self) -> bool {
        self.0.include_rank()
    }
}
