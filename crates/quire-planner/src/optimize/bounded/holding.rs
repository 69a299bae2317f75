//! How many rows operators may hold in memory.

use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::execution::runtime_env::RuntimeEnv;

/// Which operators hold rows in memory, and how many.
#[derive(Debug, Clone, Copy)]
pub enum Holding {
    /// Those that are expected to fit into this many bytes, which statements share.
    Within(usize),
    /// None that could spill.
    Nothing,
}

impl Holding {
    /// What fits the memory of an environment.
    pub fn of(environment: &RuntimeEnv) -> Self {
        match environment.memory_pool.memory_limit() {
            MemoryLimit::Finite(bytes) => Self::Within(bytes),
            _ => Self::Within(usize::MAX),
        }
    }

    /// The bytes that one operator may be expected to hold: others want memory, too, and estimates are often too small.
    pub(super) fn operator_bytes(self) -> usize {
        match self {
            Self::Within(memory_bytes) => memory_bytes / 4,
            Self::Nothing => 0,
        }
    }
}
