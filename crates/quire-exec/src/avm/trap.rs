//! Why a program stopped before its end.

use quire_codec::Corrupt;
use quire_format::tuple::{LayoutError, ValueError};
use quire_tables::{RowScanError, RowTable};

use super::operand::Attribute;
use crate::plan::EvaluationError;

/// Why a program stopped before its end. On the heap: results of instructions stay small.
#[derive(Debug)]
pub struct Trap(Box<TrapReason>);

/// What a trap was about.
#[derive(Debug, thiserror::Error)]
pub enum TrapReason {
    /// An operation has no result.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A row cannot be read.
    #[error(transparent)]
    Row(#[from] RowScanError),
    /// What was written for a while cannot be read again.
    #[error("a temporary tuple is damaged: {0}; run the statement again")]
    Temporary(Corrupt),
    /// The file for what does not fit memory.
    #[error(
        "the temporary file of a query: {0}; free space where temporary files are, or let the query use more memory"
    )]
    TemporaryFile(Box<dyn std::error::Error + Send + Sync>),
    /// Rows that several places read could not be made when the first of them asked.
    #[error("internal error: the shared rows {0} were not made")]
    NoSharedRows(usize),
    /// A row was not written; whoever was to write it knows why.
    #[error("a row was not written")]
    NotWritten,
    /// The query is not wanted any more: SQLSTATE 57014.
    #[error("canceled")]
    Cancelled,
    /// The program does not fit the tuples that it was given.
    #[error("internal error: t{tuple}.{ordinal} has no value of that type", tuple = .0.tuple.0, ordinal = .0.ordinal)]
    Operand(Attribute),
    /// A slot or call that the program does not have; the verifier lets no such program pass.
    #[error("internal error: a program without one of its slots")]
    Slot,
    /// A sum that its type does not have.
    #[error("sum out of range: {0}")]
    SumOutOfRange(i128),
    /// A temporary that its offsets cannot address.
    #[error("what a query keeps in one place takes more than 4 GiB; let another engine run it")]
    TooLarge,
    /// A layout that no tuples can have.
    #[error("no temporary tuples of these columns: {0}")]
    Layout(#[from] LayoutError),
    /// A value that its own column does not hold.
    #[error("a value does not fit a temporary tuple: {0}")]
    Value(#[from] ValueError),
    /// Strings that a program made take more than 4 GiB.
    #[error("strings of one row take more than 4 GiB; make them shorter")]
    TextTooLong,
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Trap {}

impl<R: Into<TrapReason>> From<R> for Trap {
    #[cold]
    fn from(reason: R) -> Self {
        Self(Box::new(reason.into()))
    }
}

impl Trap {
    /// What it was about.
    #[must_use]
    pub fn into_reason(self) -> TrapReason {
        *self.0
    }

    #[cold]
    pub(super) fn corrupt(table: &RowTable, error: Corrupt) -> Self {
        table.parts().corrupt_row()(error).into()
    }

    #[cold]
    pub(crate) fn temporary(error: Corrupt) -> Self {
        TrapReason::Temporary(error).into()
    }

    #[cold]
    pub(crate) fn temporary_file(
        error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        TrapReason::TemporaryFile(error.into()).into()
    }

    #[cold]
    pub(super) fn operand(attribute: Attribute) -> Self {
        TrapReason::Operand(attribute).into()
    }

    #[cold]
    pub(crate) fn slot() -> Self {
        TrapReason::Slot.into()
    }

    #[cold]
    pub(super) fn sum_out_of_range(sum: i128) -> Self {
        TrapReason::SumOutOfRange(sum).into()
    }

    #[cold]
    pub(crate) fn too_large() -> Self {
        TrapReason::TooLarge.into()
    }

    #[cold]
    pub(crate) fn text_too_long() -> Self {
        TrapReason::TextTooLong.into()
    }
}
