//! Tuples in the order in which they came: in memory, or in a file when they take more than that.

use super::rows::CopiedRows;
use super::spill::{IteratorSpillFile, SpillStream, StreamReader, Workspace};
use crate::avm::{RegisterSet, Trap};

/// The most rows of a block: rows without columns take no bytes.
const BLOCK_ROWS: usize = 4096;

/// Tuples that are written once, and read block by block, as often as anybody wants.
pub(super) struct StoredTuples {
    /// Bytes of a block that is read.
    block_bytes: usize,
    place: StoredPlace,
}

enum StoredPlace {
    /// The bytes of all tuples, and where each ends.
    Memory { bytes: Vec<u8>, ends: Vec<u32> },
    File {
        file: IteratorSpillFile,
        stream: SpillStream,
    },
}

/// How far somebody has read.
#[derive(Default)]
pub(super) struct StoredPosition {
    /// The next tuple, of those in memory.
    next: usize,
    /// The records of a file.
    records: Option<StreamReader>,
}

impl StoredTuples {
    pub(super) fn new(workspace: &Workspace) -> Self {
        Self {
            block_bytes: workspace.block_bytes(),
            place: StoredPlace::Memory {
                bytes: Vec::new(),
                ends: Vec::new(),
            },
        }
    }

    /// Keeps a tuple behind the others.
    pub(super) fn push(&mut self, tuple: &[u8], workspace: &Workspace) -> Result<(), Trap> {
        let (bytes, ends) = match &mut self.place {
            StoredPlace::File { file, stream } => return stream.push(file, &[], tuple),
            StoredPlace::Memory { bytes, ends } => (bytes, ends),
        };
        bytes.extend_from_slice(tuple);
        ends.push(u32::try_from(bytes.len()).map_err(|_| Trap::too_large())?);
        if !workspace.is_full(bytes.len() + ends.len() * size_of::<u32>()) {
            return Ok(());
        }
        let (mut file, mut stream) = (workspace.file()?, SpillStream::default());
        for number in 0..ends.len() {
            stream.push(&mut file, &[], tuple_at(bytes, ends, number))?;
        }
        self.place = StoredPlace::File { file, stream };
        Ok(())
    }

    /// All tuples are there.
    pub(super) fn finish(&mut self) -> Result<(), Trap> {
        match &mut self.place {
            StoredPlace::Memory { .. } => Ok(()),
            StoredPlace::File { file, stream } => stream.finish(file),
        }
    }

    /// Copies the next tuples to `rows`; none behind the last.
    pub(super) fn read_block(
        &self,
        position: &mut StoredPosition,
        rows: &mut CopiedRows,
        registers: &mut RegisterSet,
    ) -> Result<(), Trap> {
        let mut copied = rows.start(registers);
        let is_wanted = |copied: &[u8], rows: &CopiedRows| {
            copied.len() < self.block_bytes && rows.len() < BLOCK_ROWS
        };
        match &self.place {
            StoredPlace::Memory { bytes, ends } => {
                while is_wanted(&copied, rows) && position.next < ends.len() {
                    rows.push(&mut copied, &[], tuple_at(bytes, ends, position.next));
                    position.next += 1;
                }
            }
            StoredPlace::File { file, stream } => {
                let records = position.records.get_or_insert_with(|| stream.reader());
                while is_wanted(&copied, rows) && records.advance(file)? {
                    rows.push(&mut copied, &[], records.row());
                }
            }
        }
        rows.finish(copied, registers);
        Ok(())
    }
}

fn tuple_at<'t>(bytes: &'t [u8], ends: &[u32], number: usize) -> &'t [u8] {
    let before = number.checked_sub(1).and_then(|before| ends.get(before));
    let start = before.map_or(0, |end| *end as usize);
    let end = ends.get(number).map_or(start, |end| *end as usize);
    bytes.get(start..end).unwrap_or_default()
}
