//! Iterators over registers: `next` makes the next row and says whether there is one (paper 1 §4.1.1).
//!
//! A row is what the registers hold: places of tuples, which are copied nowhere, and values that programs have decoded or computed. So a
//! column is decoded once in a query, and a join puts no tuples together. Iterators know nothing of compression; programs do not
//! either, but for the layouts that their attributes are read by.

mod build;
mod group;
mod join;
mod pipe;
mod query;
mod rows;
mod scan;
mod sort;
mod temporary;

pub use build::BuildError;
pub use group::{GroupPrograms, HashGroup};
pub use join::{HashJoin, JoinKind, JoinSides};
pub use pipe::{Filter, Limit, Union};
pub use query::{TupleQuery, TupleQueryError};
pub use scan::{IndexScan, TableScan};
pub use sort::{Sort, SortKey};

use crate::avm::{Loaded, Program, RegisterSet, Trap};

/// Something that makes rows.
pub trait RegisterIterator: Send {
    /// Makes the next row, in the registers; false when there is none. What the row before had in them is gone.
    ///
    /// # Errors
    /// What programs report; pages that cannot be read or are damaged. The iterator cannot go on then.
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap>;
}

impl<I: RegisterIterator + ?Sized> RegisterIterator for Box<I> {
    fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        (**self).next(registers)
    }
}

/// A program that an iterator runs, with its registers.
#[derive(Debug)]
pub(crate) struct Step {
    program: Program,
    loaded: Loaded,
}

impl Step {
    fn new(program: Program, registers: &mut RegisterSet) -> Result<Self, Trap> {
        let loaded = program.load(registers)?;
        Ok(Self { program, loaded })
    }

    #[inline]
    fn run(&self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        self.program.run(self.loaded, registers)
    }
}
