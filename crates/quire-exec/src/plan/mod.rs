//! What a statement is to compute, apart from the machine that does it.
//!
//! An [`Expression`] computes one value of a row. It is a tree that is walked once per row: the straightforward form of what the
//! register machine runs as a program (paper 1, §4.1.2), and the measure of its answers. Types are settled when it is built: a
//! node computes with values of the kinds it was built for ([`ValueKind`]), and never looks for a common one.
//!
//! A [`Plan`] computes rows: an algebra of relations that says what comes out, and neither how nor in which order of work. A
//! [`PlanQuery`] is a plan with the plans of single values that it needs first. [`Plan::check`] proves that expressions and rows fit.
//!
//! Nothing here knows a planner. What only the planner's library can compute is a [`ScalarFunction`], which the room above
//! gives.
//!
//! ```
//! use quire_exec::plan::{Environment, Expression, IntegerOperation, IntegerWidth, Operator, PlanScalar, ValueKind};
//! use quire_tables::row_table::{TupleValue, Value};
//!
//! // quantity * 2, where quantity is an INTEGER in the first place of a row
//! let quantity = Expression::Column { slot: 0, kind: ValueKind::Integer, nullable: true };
//! let two = Expression::constant(Value::Integer(2), ValueKind::Integer);
//! let operation = IntegerOperation::new(Operator::Multiply, IntegerWidth::Bits32);
//! let doubled = Expression::Integer(operation, Box::new([quantity, two]));
//!
//! let environment = Environment::new(&[]);
//! let row = [TupleValue::Integer(21)];
//! assert_eq!(doubled.evaluate(&row, &environment)?, PlanScalar::Integer(42));
//! assert_eq!(doubled.evaluate(&[TupleValue::Null], &environment)?, PlanScalar::Null);
//! assert!(doubled.evaluate(&[TupleValue::Integer(i32::MAX.into())], &environment).is_err());
//! # Ok::<(), quire_exec::plan::EvaluationError>(())
//! ```

mod environment;
mod error;
mod expression;
mod kind;
mod quotient;
mod relation;
mod scalar;

pub use environment::{Environment, Row};
pub use error::{EvaluationError, FunctionError, OverflowError, VALUE_BYTES_MAX};
pub use expression::{
    CastPlan, ComparisonExpression, DecimalOperation, DecimalRescale, Expression, FloatOperator,
    IntegerOperation, LikePattern, Operator, ScalarFunction, ShortCut,
};
pub use kind::{IntegerWidth, ValueKind};
pub use quotient::{nearest_double, nearest_mean};
pub use relation::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, Join, JoinKey, JoinKind, Plan,
    PlanColumn, PlanError, PlanNode, PlanQuery, PlanSortKey, ScanNode, SharedNode, SortNode,
    SumKind, WriteKind, WriteNode,
};
pub(crate) use relation::{SharedPlace, shared_places};
pub use scalar::PlanScalar;
