//! Hash joins whose build side may be larger than memory.
//!
//! A hybrid hash join (DeWitt et al., *Implementation Techniques for Main Memory Database Systems*, 1984, §3.3, after the Grace join) collects its
//! build side in memory. If all of it fits, the join is an ordinary one, and its filter reaches the scans of the probe side. If it does not, both
//! sides are split by a hash of the keys into parts in temporary files; rows that match are in parts of the same number. Parts are joined one
//! after the other, and one whose build side is too large as well is split again by another hash.
//!
//! Which of these happens is known when the build side has been read, and no estimate decides it. The order of the probe side is not kept.

mod exec;
mod inputs;

pub(super) use exec::HybridHashJoinExec;
