//! Two vectors, value by value.

/// How the left value compares with the right one. The others are these with the sides exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
}
