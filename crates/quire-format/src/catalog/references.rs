//! How records refer to pages of the volume and to columns of a table.

use quire_codec::Corrupt;

use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

pub(super) fn read_index(reader: &mut WireItemReader<'_>) -> Result<usize, Corrupt> {
    let index = usize::try_from(reader.varint()?);
    index.map_err(|_| reader.corrupt("index of a column out of range"))
}

pub(super) fn write_indexes(writer: &mut WireItemWriter, indexes: &[usize]) {
    writer.varint(indexes.len() as u64);
    for &index in indexes {
        writer.varint(index as u64);
    }
}

pub(crate) fn write_pages(writer: &mut WireItemWriter, pages: &[PageId]) {
    writer.varint(pages.len() as u64);
    for &page in pages {
        writer.varint(page.get());
    }
}

pub(super) fn read_page(reader: &mut WireItemReader<'_>) -> Result<PageId, Corrupt> {
    let page = reader.varint()?;
    PageId::new(page).ok_or_else(|| reader.corrupt(format!("there cannot be a page {page}")))
}

pub(crate) fn read_pages(reader: &mut WireItemReader<'_>) -> Result<Vec<PageId>, Corrupt> {
    reader.list(1, read_page)
}
