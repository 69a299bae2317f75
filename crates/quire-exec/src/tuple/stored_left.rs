//! The left rows of a join by blocks, in a file for the blocks behind the first.

use super::join_partition::{KEY, NO_KEY, right_key};
use super::row_image::RowImage;
use super::spill::{IteratorSpillFile, SpillStream, StreamReader, Workspace};
use crate::avm::{RegisterSet, Trap};

/// Left rows in a file.
pub(super) struct StoredLeft {
    file: IteratorSpillFile,
    stream: SpillStream,
    reader: StreamReader,
    marked: Vec<u8>,
    row: Vec<u8>,
}

impl StoredLeft {
    pub(super) fn new(workspace: &Workspace) -> Result<Self, Trap> {
        Ok(Self {
            file: workspace.file()?,
            stream: SpillStream::default(),
            reader: StreamReader::default(),
            marked: Vec::new(),
            row: Vec::new(),
        })
    }

    /// Writes the row that the registers have.
    pub(super) fn push(
        &mut self,
        key: Option<&Vec<u8>>,
        image: &RowImage,
        registers: &RegisterSet,
    ) -> Result<(), Trap> {
        self.marked.clear();
        self.marked.push(if key.is_some() { KEY } else { NO_KEY });
        self.marked.extend(key.into_iter().flatten());
        self.row.clear();
        image.save(registers, &mut self.row)?;
        self.stream.push(&mut self.file, &self.marked, &self.row)
    }

    /// Rows are read from the first on.
    pub(super) fn start(&mut self) -> Result<(), Trap> {
        self.stream.finish(&mut self.file)?;
        self.reader = self.stream.reader();
        Ok(())
    }

    /// Puts the next row back, and its key into `key`: whether there is one, and whether its key may equal another.
    pub(super) fn next(
        &mut self,
        image: &RowImage,
        key: &mut Vec<u8>,
        registers: &mut RegisterSet,
    ) -> Result<Option<bool>, Trap> {
        if !self.reader.advance(&self.file)? {
            return Ok(None);
        }
        image.restore(self.reader.row(), registers)?;
        key.clear();
        let found = right_key(self.reader.key());
        key.extend_from_slice(found.unwrap_or_default());
        Ok(Some(found.is_some()))
    }
}
