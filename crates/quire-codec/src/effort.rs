//! How much of a column is looked at before a choice.

/// How hard to look for the best codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchEffort {
    /// Small samples.
    Fast,
    /// Samples large enough that the estimate is usually within a few per cent.
    #[default]
    Normal,
    /// Every vector.
    Thorough,
}

impl SearchEffort {
    /// Vectors of a payload of `vector_count` vectors to look at.
    pub(crate) fn sample_vectors(self, vector_count: usize) -> usize {
        match self {
            Self::Fast => vector_count.min(4),
            Self::Normal => vector_count.min(12),
            Self::Thorough => vector_count,
        }
    }
}
