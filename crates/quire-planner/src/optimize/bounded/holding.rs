//! How many rows operators may hold in memory.

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;

/// Which operators hold rows in memory, and how many.
#[derive(Debug, Clone, Copy)]
pub enum Holding {
    /// Those that are expected to fit into this many bytes, which statements share.
    Within(usize),
    /// None that could spill, but for parts of joins: see [`super::super::hybrid_joins`]. Statements share so many bytes.
    Parts(usize),
    /// None that could spill.
    Nothing,
}

impl Holding {
    /// What fits the memory of an environment.
    pub fn of(environment: &RuntimeEnv) -> Self {
        Self::Within(memory_bytes(environment))
    }

    /// Parts of joins that fit the memory of an environment.
    pub fn parts_of(environment: &RuntimeEnv) -> Self {
        Self::Parts(memory_bytes(environment))
    }

    /// The bytes that one operator may be expected to hold: others want memory, too, and estimates are often too small.
    pub(super) fn operator_bytes(self) -> usize {
        match self {
            Self::Within(memory_bytes) => memory_bytes / 4,
            Self::Parts(_) | Self::Nothing => 0,
        }
    }

    /// The bytes that the build side of a join may take before both sides are split; nothing where joins are merges.
    pub(super) fn build_side_bytes(self) -> Option<usize> {
        match self {
            Self::Within(memory_bytes) | Self::Parts(memory_bytes) => Some(memory_bytes / 4),
            Self::Nothing => None,
        }
    }
}

fn memory_bytes(environment: &RuntimeEnv) -> usize {
    match environment.memory_pool.memory_limit() {
        MemoryLimit::Finite(bytes) => bytes,
        _ => usize::MAX,
    }
}
