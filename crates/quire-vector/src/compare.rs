//! Two vectors, value by value.

/// How the left value compares with the right one. The others are these with the sides exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// Whether the comparison holds for two values.
    pub fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }
}
