//! What a statement is compiled to: plain data, shared by all executions.

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use quire_error::Error;
use quire_exec::plan::Expression;
use quire_planner::aggregate::StatementAggregate;
use quire_planner::scalar::is_text;

use super::access::AccessPath;
use super::lock_mode::LockMode;
use super::table::KeyKind;

/// A compiled expression, and the type of its values.
#[derive(Debug, Clone)]
pub(super) struct TypedExpression {
    pub(super) node: Expression,
    pub(super) data_type: DataType,
}

impl TypedExpression {
    pub(super) fn is_text(&self) -> bool {
        is_text(&self.data_type)
    }
}

/// A statement on one row table.
#[derive(Debug)]
pub(super) enum Compiled {
    Select(Select),
    Insert(CompiledInsert),
    /// `UPDATE` or `DELETE`
    Change(CompiledChange),
}

impl Compiled {
    /// Whether it neither changes nor locks anything.
    pub(super) fn only_reads(&self) -> bool {
        matches!(self, Self::Select(select) if select.lock.is_none())
    }

    pub(super) fn changes_rows_that_are_there(&self) -> bool {
        match self {
            Self::Select(_) => false,
            Self::Insert(insert) => matches!(insert.conflict, ConflictAction::Update(..)),
            Self::Change(_) => true,
        }
    }

    /// How its command tag begins.
    pub(super) fn tag(&self) -> &'static str {
        match self {
            Self::Select(_) => "SELECT",
            Self::Insert(_) => "INSERT 0",
            Self::Change(change) if change.new_values.is_some() => "UPDATE",
            Self::Change(_) => "DELETE",
        }
    }

    /// Names and types of the rows that come back, if any do.
    pub(super) fn schema(&self) -> Option<&SchemaRef> {
        let returning = match self {
            Self::Select(select) => return Some(&select.schema),
            Self::Insert(insert) => &insert.returning,
            Self::Change(change) => &change.returning,
        };
        returning.as_ref().map(|returning| &returning.schema)
    }
}

/// `SELECT`
#[derive(Debug)]
pub(super) struct Select {
    pub(super) access: AccessPath,
    /// What is still to be tested of the rows that the access gives.
    pub(super) tests: Vec<Expression>,
    /// All conditions, for a row that was locked after it had changed.
    pub(super) all_conditions: Vec<Expression>,
    /// The ordinals of the columns that nodes see, by their places.
    pub(super) wanted: Vec<usize>,
    /// What is put out of each row, or of the values of the aggregates.
    pub(super) outputs: Vec<OutputColumn>,
    /// How many of the outputs are shown; the others are only sorted by.
    pub(super) shown: usize,
    pub(super) aggregates: Vec<StatementAggregate>,
    pub(super) is_distinct: bool,
    /// The order to put the rows in; none where the key gives it.
    pub(super) sort: Vec<OutputSortKey>,
    pub(super) is_reversed: bool,
    pub(super) limit: Option<Expression>,
    pub(super) offset: Option<Expression>,
    pub(super) lock: Option<LockMode>,
    /// So many rows may be read; the statement takes the general path if there are more.
    pub(super) read_max: Option<usize>,
    pub(super) schema: SchemaRef,
}

/// A value that is put out.
#[derive(Debug)]
pub(super) struct OutputColumn {
    pub(super) node: Expression,
    pub(super) is_text: bool,
}

impl OutputColumn {
    pub(super) fn of(typed: TypedExpression) -> Self {
        Self {
            is_text: typed.is_text(),
            node: typed.node,
        }
    }
}

/// One key of `ORDER BY`.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputSortKey {
    pub(super) output: usize,
    pub(super) is_descending: bool,
    pub(super) nulls_first: bool,
}

/// `INSERT`
#[derive(Debug)]
pub(super) struct CompiledInsert {
    /// A value for every column of every row.
    pub(super) rows: Vec<Vec<NewValue>>,
    pub(super) conflict: ConflictAction,
    pub(super) checks: Vec<CompiledCheck>,
    pub(super) returning: Option<Returning>,
}

/// `ON CONFLICT … DO UPDATE`; nodes see all columns of the row that is there, and behind them those of the row that was to be
/// inserted.
#[derive(Debug)]
pub(super) struct Upsert {
    pub(super) conditions: Vec<Expression>,
    pub(super) new_values: Vec<(usize, OutputColumn)>,
}

/// A value of a new row.
#[derive(Debug)]
pub(super) enum NewValue {
    Given(OutputColumn),
    /// The next of the sequence with that id.
    Next(u64),
}

/// What becomes of a row whose key is there.
#[derive(Debug)]
pub(super) enum ConflictAction {
    Fail,
    /// It is left out; with one key, only if it is that one.
    DoNothing(Option<KeyKind>),
    /// The row that has it is updated, if it is this key.
    Update(KeyKind, Upsert),
}

/// `UPDATE` or `DELETE`; nodes see all columns.
#[derive(Debug)]
pub(super) struct CompiledChange {
    pub(super) access: AccessPath,
    pub(super) tests: Vec<Expression>,
    pub(super) all_conditions: Vec<Expression>,
    /// Columns with their new values; none for `DELETE`.
    pub(super) new_values: Option<Vec<(usize, OutputColumn)>>,
    pub(super) checks: Vec<CompiledCheck>,
    pub(super) returning: Option<Returning>,
}

/// A CHECK constraint, over all columns of a new row.
#[derive(Debug)]
pub(super) struct CompiledCheck {
    pub(super) condition: Expression,
    /// What is said when it is false.
    pub(super) violation: Error,
}

/// What is shown of changed rows.
#[derive(Debug)]
pub(super) struct Returning {
    pub(super) outputs: Vec<OutputColumn>,
    pub(super) schema: SchemaRef,
}
