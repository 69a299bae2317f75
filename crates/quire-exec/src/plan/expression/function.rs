//! Functions that the room above computes.

use std::fmt::Debug;

use crate::plan::{EvaluationError, PlanScalar, ValueKind};

/// A function whose code is not here: that of the planner's library, and casts that have no short cut. Slow beside the rest.
///
/// It gives the same value for the same arguments, and nothing else happens.
pub trait ScalarFunction: Debug + Send + Sync {
    /// What it is called where a plan is shown.
    fn name(&self) -> &str;

    /// How its values are held.
    fn kind(&self) -> ValueKind;

    /// The value for some arguments, each of the kind it was made for, or NULL.
    ///
    /// # Errors
    /// Those of the function, as [`EvaluationError::Function`].
    fn call<'a>(&self, arguments: &[PlanScalar<'a>]) -> Result<PlanScalar<'a>, EvaluationError>;
}
