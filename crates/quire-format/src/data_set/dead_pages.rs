//! Pages that a data set does not need any more, and a snapshot does.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::read_page;
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

/// Pages of one list; a longer one is several lists.
pub const DEAD_PAGES_MAX: usize = 1 << 16;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Dead pages (payload of page kind 15)",
    about: "\
Nodes and records that the snapshot before has, and the data set or the later snapshot that names the list has not. They are freed
when no older snapshot has them either: see `quire-device`.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "count", "1 to 65,536; then for each, ascending:"),
        StructureField::next("varint", "distance", "page minus the one before (0)"),
    ],
};

/// One list of dead pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadPages {
    /// Ascending.
    pub pages: Vec<PageId>,
}

impl DeadPages {
    /// The payload. The pages must be ascending.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.varint(self.pages.len() as u64);
        let mut before = 0;
        for page in &self.pages {
            writer.varint(page.get() - before);
            before = page.get();
        }
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no list.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "list of dead pages")?;
        let count = reader.count(1)?;
        if !(1..=DEAD_PAGES_MAX).contains(&count) {
            return Err(reader.corrupt(format!("list of {count} dead pages")));
        }
        let mut pages: Vec<PageId> = Vec::with_capacity(count);
        for _ in 0..count {
            let distance = read_page(&mut reader)?.get();
            let before = pages.last().map_or(0, |page| page.get());
            let page = before.checked_add(distance).and_then(PageId::new);
            pages.push(page.ok_or_else(|| reader.corrupt("dead page beyond the last"))?);
        }
        reader.finish()?;
        Ok(Self { pages })
    }
}
