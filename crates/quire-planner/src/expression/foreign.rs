//! Expressions of which a part has no counterpart: DataFusion computes the whole, from the columns in it. Slow, and complete.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{ColumnarValue, Expr, ExprSchemable};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use quire_error::Error;
use quire_exec::plan::{EvaluationError, PlanScalar, ScalarFunction, ValueKind};

use super::super::scalar::{from_planned, kind_of, to_planned};

/// An expression as a function of the columns in it.
#[derive(Debug)]
pub(super) struct PlannedExpression {
    name: String,
    kind: ValueKind,
    /// Indexes of the columns in the schema of the rows.
    columns: Vec<usize>,
    schema: SchemaRef,
    expression: Arc<dyn PhysicalExpr>,
}

impl PlannedExpression {
    /// `None` when it is of no type of ours, is of another value each time, or has parameters or subqueries.
    pub(super) fn new(
        expr: &Expr,
        schema: &DFSchema,
        options: &Arc<ConfigOptions>,
    ) -> Option<Self> {
        let kind = kind_of(&expr.get_type(schema).ok()?)?;
        let has_more = expr.exists(|part| Ok(is_more_than_a_function(part)));
        if expr.is_volatile() || has_more.unwrap_or(true) {
            return None;
        }
        let columns = expr.column_refs().into_iter();
        let columns = columns.map(|column| schema.index_of_column(column).ok());
        let mut columns: Vec<usize> = columns.collect::<Option<_>>()?;
        columns.sort_unstable();
        columns.dedup();
        let fields = columns.iter().map(|column| {
            let (qualifier, field) = schema.qualified_field(*column);
            let field = field.as_ref().clone().with_nullable(true);
            (qualifier.cloned(), Arc::new(field))
        });
        let fields: Vec<_> = fields.collect();
        if !fields
            .iter()
            .all(|(_, field)| kind_of(field.data_type()).is_some())
        {
            return None;
        }
        let seen = DFSchema::new_with_metadata(fields, Default::default()).ok()?;
        let mut properties = ExecutionProps::new();
        properties.config_options = Some(Arc::clone(options));
        let context = PhysicalPlanningContext::default();
        let expression = create_physical_expr(expr, &seen, &properties, &context).ok()?;
        Some(Self {
            name: expr.to_string(),
            kind,
            columns,
            schema: Arc::clone(seen.inner()),
            expression,
        })
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + use<> {
        self.columns.clone().into_iter()
    }

    fn result(&self, arguments: &[PlanScalar<'_>]) -> Result<PlanScalar<'static>, Error> {
        let pairs = arguments.iter().zip(self.schema.fields());
        let columns =
            pairs.map(|(value, field)| Ok(to_planned(value, field.data_type())?.to_array()?));
        let columns = columns.collect::<Result<Vec<ArrayRef>, Error>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let schema = Arc::clone(&self.schema);
        let row = RecordBatch::try_new_with_options(schema, columns, &options)?;
        let value = match self.expression.evaluate(&row)? {
            ColumnarValue::Scalar(value) => value,
            ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
        };
        let data_type = value.data_type();
        from_planned(value).ok_or_else(|| unknown(&data_type))
    }
}

impl ScalarFunction for PlannedExpression {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> ValueKind {
        self.kind
    }

    fn call<'a>(&self, arguments: &[PlanScalar<'a>]) -> Result<PlanScalar<'a>, EvaluationError> {
        Ok(self.result(arguments)?)
    }
}

fn is_more_than_a_function(part: &Expr) -> bool {
    matches!(
        part,
        Expr::Placeholder(_)
            | Expr::ScalarSubquery(_)
            | Expr::InSubquery(_)
            | Expr::Exists(_)
            | Expr::SetComparison(_)
            | Expr::OuterReferenceColumn(..)
            | Expr::AggregateFunction(_)
            | Expr::WindowFunction(_)
            | Expr::GroupingSet(_)
            | Expr::Unnest(_)
    )
}

fn unknown(data_type: &DataType) -> Error {
    Error::new(
        "XX000",
        format!("internal error: an expression is a {data_type}"),
    )
}
