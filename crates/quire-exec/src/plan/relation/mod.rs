//! Relations: what rows a statement gives, as an algebra over typed columns.

mod aggregate;
mod build;
mod check;
mod display;
mod error;
mod join;
mod shared_plan;
mod write;

use arrow_schema::DataType;

pub use aggregate::{Aggregate, AggregateCall, AggregateFunction, AverageKind, SumKind};
pub use error::PlanError;
pub use join::{Join, JoinKey, JoinKind};
pub use shared_plan::SharedNode;
pub(crate) use shared_plan::{SharedPlace, shared_places};
pub use write::{WriteKind, WriteNode};

use super::{Expression, ValueKind};

/// A statement's rows, and the single values that it needs before.
#[derive(Debug, Clone)]
pub struct PlanQuery {
    /// How many values the execution gives: parameters `0..parameter_count`.
    pub parameter_count: usize,
    /// Subqueries with one column, evaluated once each and in this order. The value of the first is parameter
    /// `parameter_count`, that of the next the one after it, and so on; later ones may use earlier ones. No row is NULL; more
    /// than one is an error.
    pub values: Vec<Plan>,
    /// The rows.
    pub plan: Plan,
}

/// A node and the columns of its rows.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What is done.
    pub node: PlanNode,
    /// Columns of the rows that come out, by their slots.
    pub columns: Vec<PlanColumn>,
}

/// A column of a node's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanColumn {
    /// A name to show; it need not be the only one of its kind.
    pub name: String,
    /// The type in which rows leave the engine.
    pub data_type: DataType,
    /// Whether there may be NULL.
    pub nullable: bool,
}

impl PlanColumn {
    /// Whether its values are text, not bytes.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(
            self.data_type,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
        )
    }

    /// How values are held; `None` when expressions cannot compute with them, which [`Plan::check`] rejects.
    #[must_use]
    pub fn kind(&self) -> Option<ValueKind> {
        ValueKind::of_arrow(&self.data_type)
    }
}

/// One operation on relations. Expressions see the columns of the input by their slots.
#[derive(Debug, Clone)]
pub enum PlanNode {
    /// Rows of a table.
    Scan(ScanNode),
    /// These rows, whose values do not depend on any row.
    Values(Vec<Vec<Expression>>),
    /// The rows for which the condition is true.
    Filter(Box<Plan>, Expression),
    /// A value per expression of each row.
    Project(Box<Plan>, Vec<Expression>),
    /// Rows of two inputs beside one another.
    Join(Box<Join>),
    /// Groups of rows, and a row of totals for each.
    Aggregate(Box<Aggregate>),
    /// The rows in order, or the first of them.
    Sort(Box<SortNode>),
    /// Some rows: those behind the first `skip`, at most `fetch`.
    Limit {
        /// Where the rows come from.
        input: Box<Plan>,
        /// Number of rows that are left out: fixed, an integer; NULL is none.
        skip: Option<Expression>,
        /// Number of rows: fixed, an integer; NULL is all.
        fetch: Option<Expression>,
    },
    /// Each row once; NULL is like any other value.
    Distinct(Box<Plan>),
    /// The rows of all inputs, the columns of which have the same types.
    UnionAll(Vec<Plan>),
    /// Rows that other places of the query read, too.
    Shared(SharedNode),
    /// Rows of a table are written; those that were come out.
    Write(Box<WriteNode>),
}

/// Rows of a table.
#[derive(Debug, Clone)]
pub struct ScanNode {
    /// Name of the table.
    pub table: String,
    /// Places of the columns that come out, among the columns of the table that are not dropped, or [`ScanNode::ROW_KEY`].
    pub columns: Vec<usize>,
    /// Conditions on these columns, all of which are true of the rows that come out.
    pub conditions: Vec<Expression>,
}

impl ScanNode {
    /// In place of a column: the bytes of the row's key, by which it is changed.
    pub const ROW_KEY: usize = usize::MAX;
}

/// The rows in order.
#[derive(Debug, Clone)]
pub struct SortNode {
    /// Where the rows come from.
    pub input: Plan,
    /// By what, the first first. Rows that are alike come in any order.
    pub keys: Vec<PlanSortKey>,
    /// How many of the first rows come out.
    pub fetch: Option<u64>,
}

/// One key of an order.
#[derive(Debug, Clone)]
pub struct PlanSortKey {
    /// What is compared.
    pub expression: Expression,
    /// Greatest first.
    pub is_descending: bool,
    /// NULL before all values.
    pub nulls_first: bool,
}

impl PlanNode {
    /// What it is called.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Scan(_) => "scan",
            Self::Values(_) => "values",
            Self::Filter(..) => "filter",
            Self::Project(..) => "project",
            Self::Join(_) => "join",
            Self::Aggregate(_) => "aggregate",
            Self::Sort(_) => "sort",
            Self::Limit { .. } => "limit",
            Self::Distinct(_) => "distinct",
            Self::UnionAll(_) => "union all",
            Self::Shared(_) => "shared",
            Self::Write(_) => "write",
        }
    }

    /// Where its rows come from.
    #[must_use]
    pub fn inputs(&self) -> Vec<&Plan> {
        match self {
            Self::Scan(_) | Self::Values(_) => Vec::new(),
            Self::Filter(input, _)
            | Self::Project(input, _)
            | Self::Limit { input, .. }
            | Self::Distinct(input) => vec![input],
            Self::Join(join) => vec![&join.left, &join.right],
            Self::Aggregate(aggregate) => vec![&aggregate.input],
            Self::Sort(sort) => vec![&sort.input],
            Self::UnionAll(inputs) => inputs.iter().collect(),
            Self::Shared(shared) => vec![&shared.plan],
            Self::Write(write) => vec![&write.input],
        }
    }
}
