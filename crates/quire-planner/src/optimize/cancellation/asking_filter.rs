//! A condition that fails when its statement is cancelled.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

use quire_error::interruption::Interruption;

#[derive(Debug, Clone)]
pub(super) struct AskingFilter {
    condition: Arc<dyn PhysicalExpr>,
    interruption: Interruption,
}

impl AskingFilter {
    pub(super) fn new(condition: Arc<dyn PhysicalExpr>, interruption: Interruption) -> Self {
        Self {
            condition,
            interruption,
        }
    }
}

/// Two are equal that compute the same.
impl PartialEq for AskingFilter {
    fn eq(&self, other: &Self) -> bool {
        self.condition.eq(&other.condition)
    }
}

impl Eq for AskingFilter {}

impl Hash for AskingFilter {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.condition.hash(state);
    }
}

impl Display for AskingFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.condition, f)
    }
}

impl PhysicalExpr for AskingFilter {
    fn return_field(&self, input_schema: &Schema) -> Result<FieldRef> {
        self.condition.return_field(input_schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        self.interruption.check()?;
        self.condition.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.condition]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match children.pop() {
            Some(condition) => Ok(Arc::new(Self::new(condition, self.interruption.clone()))),
            None => internal_err!("a condition that asks has no condition"),
        }
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.condition.fmt_sql(f)
    }
}
