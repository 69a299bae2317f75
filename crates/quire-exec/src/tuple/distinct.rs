//! Aggregates that see each value of a group once.
//!
//! The values that were met are in a set. When that takes too much memory, values that are not in it are spilled, divided by their hashes, and
//! taken in when all rows of the pass have been: each part with a set of its own.

use std::collections::HashSet;

use super::keys::push_key;
use super::row_image::RowImage;
use super::spill::{IteratorSpillFile, Partitions, Workspace};
use super::{Explanation, ProgramStep};
use crate::avm::{Program, Register, RegisterSet, Trap};
use crate::key_hash::hash_of;

/// Programs for an aggregate of distinct values.
#[derive(Debug)]
pub struct DistinctProgram {
    /// Computes the value of a row, and rejects rows without one.
    pub value: Program,
    /// The register that has the value then.
    pub register: Register,
    /// Takes the value into its slot.
    pub accumulate: Program,
}

/// About what a value takes in the set besides its bytes.
const VALUE_BYTES: usize = 40;

/// The same at work: the values that were met, each behind the number of its group's first slot.
pub(super) struct Distinct {
    value: ProgramStep,
    register: Register,
    accumulate: ProgramStep,
    met: HashSet<Box<[u8]>>,
    met_bytes: usize,
    workspace: Workspace,
    image: RowImage,
    row: Vec<u8>,
    spilled: Option<(IteratorSpillFile, Partitions)>,
}

impl Distinct {
    pub(super) fn new(
        programs: DistinctProgram,
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let register = programs.register;
        Ok(Self {
            value: ProgramStep::new(programs.value, registers)?,
            register,
            accumulate: ProgramStep::new(programs.accumulate, registers)?,
            met: HashSet::new(),
            met_bytes: 0,
            workspace,
            image: RowImage::new(vec![register], Vec::new(), registers),
            row: Vec::new(),
            spilled: None,
        })
    }

    /// Takes the row in if its group has not met its value.
    pub(super) fn take(
        &mut self,
        first_slot: usize,
        key: &mut Vec<u8>,
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        if !self.value.run(registers)? {
            return Ok(());
        }
        key.clear();
        key.extend_from_slice(&(first_slot as u64).to_le_bytes());
        push_key(registers, self.register, key);
        if self.met.contains(key.as_slice()) {
            return Ok(());
        }
        if self.is_full() {
            return self.spill(key, registers);
        }
        self.meet(key, registers)
    }

    fn is_full(&self) -> bool {
        !self.met.is_empty() && self.workspace.is_full(self.met_bytes)
    }

    fn meet(&mut self, key: &[u8], registers: &mut RegisterSet) -> Result<(), Trap> {
        self.met_bytes += VALUE_BYTES + key.len();
        self.met.insert(key.into());
        self.accumulate.run(registers)?;
        Ok(())
    }

    #[cold]
    fn spill(&mut self, key: &[u8], registers: &RegisterSet) -> Result<(), Trap> {
        self.row.clear();
        self.image.save(registers, &mut self.row)?;
        let (file, partitions) = match &mut self.spilled {
            Some(spilled) => spilled,
            None => self
                .spilled
                .insert((self.workspace.file()?, Partitions::new(0))),
        };
        partitions.push(file, hash_of(key), key, &self.row)
    }

    /// Takes in the values that were spilled. The groups have other rows then.
    pub(super) fn finish(
        &mut self,
        key: &mut Vec<u8>,
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        self.forget();
        let Some((mut file, partitions)) = self.spilled.take() else {
            return Ok(());
        };
        let (level, streams) = partitions.finish(&mut file)?;
        let mut waiting: Vec<_> = streams.into_iter().map(|stream| (level, stream)).collect();
        while let Some((level, stream)) = waiting.pop() {
            let mut reader = stream.reader();
            let mut again: Option<Partitions> = None;
            while reader.advance(&file)? {
                key.clear();
                key.extend_from_slice(reader.key());
                if self.met.contains(key.as_slice()) {
                    continue;
                }
                if self.is_full() {
                    let again = again.get_or_insert_with(|| Partitions::new(level));
                    again.push(&mut file, hash_of(key), key, reader.row())?;
                    continue;
                }
                self.image.restore(reader.row(), registers)?;
                let first_slot = key
                    .first_chunk()
                    .map_or(0, |slot| u64::from_le_bytes(*slot));
                registers.set_group(usize::try_from(first_slot).map_err(|_| Trap::slot())?);
                self.meet(key, registers)?;
            }
            self.forget();
            if let Some(again) = again {
                let (level, streams) = again.finish(&mut file)?;
                let streams = streams.into_iter().filter(|stream| !stream.is_empty());
                waiting.extend(streams.map(|stream| (level, stream)));
            }
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.met = HashSet::new();
        self.met_bytes = 0;
    }

    pub(super) fn explain(&self, explanation: &mut Explanation) {
        explanation.program("distinct value", &self.value);
        explanation.program("value met first", &self.accumulate);
    }
}
