//! Joins: which rows of two inputs belong together, and what becomes of those that have no partner.

use crate::plan::{Expression, Plan};

/// Rows of two inputs beside one another.
///
/// A pair of rows matches when all keys are equal and the residual condition is true.
#[derive(Debug, Clone)]
pub struct Join {
    /// What comes out.
    pub kind: JoinKind,
    /// The left input.
    pub left: Plan,
    /// The right input.
    pub right: Plan,
    /// What must be equal.
    pub keys: Vec<JoinKey>,
    /// Whether a key that is NULL equals one that is NULL.
    pub nulls_match: bool,
    /// What else must be true, over the columns of the left input and, behind them, those of the right.
    pub residual: Option<Expression>,
    /// Of an anti join, whether it is `NOT IN`: no row comes out if a right row has a NULL key, nor a left row that has one, unless there
    /// is no right row. Then there is one key and no residual.
    pub is_null_aware: bool,
}

/// Two values that must be equal.
#[derive(Debug, Clone)]
pub struct JoinKey {
    /// Over the columns of the left input.
    pub left: Expression,
    /// Over the columns of the right input.
    pub right: Expression,
}

/// What comes out of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinKind {
    /// Each pair that matches.
    Inner,
    /// The same, and left rows without a match, with NULLs behind them.
    Left,
    /// The same, and right rows without a match, with NULLs before them.
    Right,
    /// The same, and the rows of both inputs without a match.
    Full,
    /// Each left row that has a match, once and alone.
    Semi,
    /// Each left row that has none, alone.
    Anti,
    /// Each left row, with whether it has a match: never NULL.
    Mark,
}

impl JoinKind {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inner => "inner",
            Self::Left => "left",
            Self::Right => "right",
            Self::Full => "full",
            Self::Semi => "semi",
            Self::Anti => "anti",
            Self::Mark => "mark",
        }
    }

    /// Whether columns of the right input come out.
    #[must_use]
    pub const fn shows_right(self) -> bool {
        matches!(self, Self::Inner | Self::Left | Self::Right | Self::Full)
    }

    /// Whether left rows without a match come out with NULLs.
    #[must_use]
    pub(crate) const fn keeps_left(self) -> bool {
        matches!(self, Self::Left | Self::Full)
    }

    /// Whether right rows without a match come out with NULLs.
    #[must_use]
    pub const fn keeps_right(self) -> bool {
        matches!(self, Self::Right | Self::Full)
    }
}
