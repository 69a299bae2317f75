//! How metadata names pages of the volume: by their numbers as varints.

use quire_codec::Corrupt;

use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

pub(crate) fn read_page(reader: &mut WireItemReader<'_>) -> Result<PageId, Corrupt> {
    let page = reader.varint()?;
    PageId::new(page).ok_or_else(|| reader.corrupt(format!("there cannot be a page {page}")))
}

/// A page, or 0.
pub(crate) fn write_optional_page(writer: &mut WireItemWriter, page: Option<PageId>) {
    writer.varint(page.map_or(0, PageId::get));
}

pub(crate) fn read_optional_page(
    reader: &mut WireItemReader<'_>,
) -> Result<Option<PageId>, Corrupt> {
    match reader.varint()? {
        0 => Ok(None),
        page => PageId::new(page)
            .map(Some)
            .ok_or_else(|| reader.corrupt(format!("there cannot be a page {page}"))),
    }
}

pub(crate) fn write_pages(writer: &mut WireItemWriter, pages: &[PageId]) {
    writer.varint(pages.len() as u64);
    for &page in pages {
        writer.varint(page.get());
    }
}

pub(crate) fn read_pages(reader: &mut WireItemReader<'_>) -> Result<Vec<PageId>, Corrupt> {
    reader.list(1, read_page)
}
