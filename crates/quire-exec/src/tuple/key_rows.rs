//! The rows of one key that a merge join pairs with each row of the other side: in memory, or in a file when they take more than that.

use super::kept_shape::KeptRowShape;
use super::rows::CopiedRows;
use super::spill::Workspace;
use super::stored_tuples::{StoredPosition, StoredTuples};
use super::temporary::Temporary;
use crate::avm::{RegisterSet, Trap, TuplePlace};

/// Rows that are read several times, each time from the first on.
pub(super) struct RowsOfOneKey {
    temporary: Temporary,
    /// Those in memory, and the next to be read.
    places: Vec<TuplePlace>,
    next: usize,
    /// All of them, when they are too many, and how far they are read.
    stored: Option<StoredTuples>,
    position: StoredPosition,
    copied: CopiedRows,
    workspace: Workspace,
}

impl RowsOfOneKey {
    /// For rows of a shape.
    pub(super) fn new(
        shape: KeptRowShape,
        workspace: Workspace,
        registers: &mut RegisterSet,
    ) -> Result<Self, Trap> {
        let register = shape.register;
        Ok(Self {
            temporary: Temporary::of(shape, registers)?,
            places: Vec::new(),
            next: 0,
            stored: None,
            position: StoredPosition::default(),
            copied: CopiedRows::new(register, false, registers),
            workspace,
        })
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self, registers: &mut RegisterSet) {
        self.places.clear();
        self.temporary.clear(registers);
        self.stored = None;
        self.rewind();
    }

    /// Keeps the row that the registers have.
    pub(super) fn push(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        if let Some(stored) = &mut self.stored {
            return stored.push(self.temporary.encoded(registers)?, &self.workspace);
        }
        self.places.push(self.temporary.push(registers)?);
        let places_bytes = self.places.len() * size_of::<TuplePlace>();
        let used_bytes = places_bytes + self.temporary.len_bytes(registers);
        if self.workspace.is_full(used_bytes) {
            self.store(registers)?;
        }
        Ok(())
    }

    /// Puts the rows in memory where there may be more.
    fn store(&mut self, registers: &mut RegisterSet) -> Result<(), Trap> {
        let mut stored = StoredTuples::new(&self.workspace);
        for place in self.places.drain(..) {
            let (_, tuple) = registers.tuple_bytes(place);
            stored.push(tuple, &self.workspace)?;
        }
        self.temporary.replace(Vec::new(), registers);
        self.stored = Some(stored);
        Ok(())
    }

    /// All rows of the key are there.
    pub(super) fn finish(&mut self) -> Result<(), Trap> {
        match &mut self.stored {
            Some(stored) => stored.finish(),
            None => Ok(()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.stored.is_none()
    }

    /// Goes to the first row.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
        self.position = StoredPosition::default();
        self.copied.forget();
    }

    /// Lets the register point to the next row; false behind the last.
    pub(super) fn next(&mut self, registers: &mut RegisterSet) -> Result<bool, Trap> {
        if let Some(stored) = &self.stored {
            if !self.copied.next(registers) {
                stored.read_block(&mut self.position, &mut self.copied, registers)?;
                if !self.copied.next(registers) {
                    return Ok(false);
                }
            }
            self.temporary.point_into(registers)?;
            return Ok(true);
        }
        let Some(place) = self.places.get(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        self.temporary.point_to(*place, registers);
        Ok(true)
    }

    /// Lets the register point to a row of NULLs.
    pub(super) fn point_to_nulls(&self, registers: &mut RegisterSet) {
        self.temporary.point_to(TuplePlace::NULLS, registers);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::avm::{RegisterPool, Tuple};
    use crate::plan::{PlanScalar, ValueKind};

    fn read(rows: &mut RowsOfOneKey, tuple: Tuple, registers: &mut RegisterSet) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        rows.rewind();
        while rows.next(registers).unwrap() {
            found.push(registers.tuple_bytes(registers.tuple(tuple)).1.to_vec());
        }
        assert!(!rows.next(registers).unwrap());
        found
    }

    #[test]
    fn rows_come_again_from_memory_and_from_a_file() {
        let (mut pool, mut registers) = (RegisterPool::default(), RegisterSet::new());
        let number = pool.fresh(ValueKind::Integer).unwrap();
        let tuple = pool.tuple().unwrap();
        let mut answers = Vec::new();
        for memory_bytes in [1 << 20, 300] {
            let workspace = Workspace {
                memory_bytes,
                ..Workspace::default()
            };
            let shape = KeptRowShape::of_values(&[number], tuple, false);
            let mut rows = RowsOfOneKey::new(shape, workspace, &mut registers).unwrap();
            for count in [0, 1, 100, 3] {
                rows.clear(&mut registers);
                for value in 0..count {
                    let value = PlanScalar::Integer(value);
                    registers.set_value(number, &value).unwrap();
                    rows.push(&mut registers).unwrap();
                }
                rows.finish().unwrap();
                assert_eq!(rows.is_empty(), count == 0);
                assert_eq!(rows.stored.is_some(), memory_bytes == 300 && count == 100);
                let found = read(&mut rows, tuple, &mut registers);
                assert_eq!(found.len(), count as usize);
                assert_eq!(read(&mut rows, tuple, &mut registers), found);
                answers.push(found);
            }
        }
        let (in_memory, in_file) = answers.split_at(4);
        assert_eq!(in_memory, in_file);
    }
}
