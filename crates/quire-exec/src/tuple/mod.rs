//! Iterators over registers: `next` makes the next row and says whether there is one (paper 1 §4.1.1).
//!
//! A row is what the registers hold: places of tuples, and values that programs have decoded or computed. So a column of a row
//! on its way is decoded once, and a join puts no tuples together; a column that stays in a kept tuple is decoded again by each reader. What must be kept of a row is kept as it is: its tuples, compressed if their table is, or where little
//! of one is asked for, those columns ([`KeptRowShape`]). Iterators know nothing of compression; programs do not either, but for the layouts that
//! their attributes are read by.

mod block_join;
mod build_error;
mod counted;
mod distinct;
mod explain;
mod group;
mod index_join;
mod join;
mod join_partition;
mod join_spill;
mod kept_rows;
mod kept_shape;
mod key_rows;
mod keys;
mod lower;
mod merge_join;
mod options;
mod pipe;
mod query;
mod row_image;
mod rows;
mod scan;
mod shared_temporary;
mod short_length;
mod sort;
mod spill;
mod stored_left;
mod stored_tuples;
mod temporary;
mod temporary_disks;
mod write;

pub(crate) use block_join::BlockJoin;
pub use build_error::LowerError;
pub use distinct::DistinctProgram;
pub use explain::Explanation;
pub use group::{GroupPrograms, HashGroup};
pub(crate) use index_join::{IndexJoin, IndexJoinSides, LookupKind};
pub use join::{HashJoin, JoinSides, TupleJoinKind};
pub use kept_shape::{KeptRowShape, KeptTuple, KeptValue};
pub use lower::{
    BatchSide, JoinCosts, RelationSize, ScanCost, batch_fields_ns, kept_value_bytes, scan_cost,
};
pub(crate) use merge_join::{MergeJoin, MergeOrder, MergeSides};
pub use options::QueryOptions;
pub use pipe::{Filter, LimitIterator, Union};
pub use query::{QueryCosts, TupleQuery, TupleQueryError};
pub use scan::{ScanPath, TableScan};
pub use sort::{SortIterator, TupleSortKey};
pub use spill::{SpillCosts, SpillCounts, Workspace};
pub use temporary_disks::TemporaryDisks;
pub use write::{NotWritten, RowSink, SharedSink, WrittenRow};
pub(crate) use write::{WriteIterator, WriteSlots};

use crate::avm::{Loaded, Program, RegisterSet, Tier, Trap};

/// Something that makes rows.
pub trait RegisterIterator: Send {
    /// Makes the next row, in the registers; false when there is none. What the row before had in them is gone.
    ///
    /// # Errors
    /// What programs report; pages that cannot be read or are damaged. The iterator cannot go on then.
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap>;

    /// Begins again: the same rows come in the same order. False, and nothing has changed, where that cannot be done.
    fn restart(&mut self) -> bool {
        false
    }

    /// Says what it does, which programs it runs, and what its inputs are.
    fn explain(&self, explanation: &mut Explanation);
}

impl<I: RegisterIterator + ?Sized> RegisterIterator for Box<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        (**self).next(registers)
    }

    fn restart(&mut self) -> bool {
        (**self).restart()
    }

    fn explain(&self, explanation: &mut Explanation) {
        (**self).explain(explanation);
    }
}

/// A program that an iterator runs, with its registers.
#[derive(Debug)]
pub(crate) struct ProgramStep {
    program: Program,
    loaded: Loaded,
    tier: Tier,
}

impl ProgramStep {
    fn new(program: Program, registers: &mut RegisterSet) -> Result<Self, Trap> {
        let loaded = program.load(registers)?;
        Ok(Self {
            program,
            loaded,
            tier: Tier::default(),
        })
    }

    #[inline]
    fn run(&self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        self.tier.run(&self.program, self.loaded, registers)
    }
}
