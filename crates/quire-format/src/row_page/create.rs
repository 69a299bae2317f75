//! Making a row page.

use quire_codec::Corrupt;
use thiserror::Error;

use super::layout::{PageHeaderFields, is_page_bytes};
use super::read::RowPage;
use super::space::{self, shared_bytes};
use super::verify::fences_are_legal;
use super::write::{RowPageMut, put};

/// What a page is before it has entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageSetup<'a> {
    /// 0 for a leaf, otherwise the distance from the leaves.
    pub level: u8,
    /// Number of the layout of the tuples.
    pub layout: u32,
    /// LSN of the change that makes the page.
    pub lsn: u64,
    /// What no key is less than; no bytes: everything.
    pub lower: &'a [u8],
    /// What every key is less than; no bytes: nothing.
    pub upper: &'a [u8],
}

/// Why a page cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SetupError {
    #[error("a row page cannot have {bytes} bytes; use 4, 8, 16, 32 or 64 KiB")]
    PageBytes { bytes: usize },
    #[error(
        "fences of {lower_bytes} and {upper_bytes} bytes do not ascend or are longer than the {limit} \
         a page of this length permits; this is a defect of the caller"
    )]
    Fences {
        lower_bytes: usize,
        upper_bytes: usize,
        limit: usize,
    },
    #[error(
        "a page of {bytes} bytes does not fit in place of this one; this is a defect of the caller"
    )]
    Length { bytes: usize },
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl<'a> RowPageMut<'a> {
    /// Makes `bytes` a page without entries, whatever it was.
    ///
    /// # Errors
    /// A length no page has, or fences no page can have.
    pub fn create(bytes: &'a mut [u8], setup: &PageSetup<'_>) -> Result<Self, SetupError> {
        let page_bytes = bytes.len();
        if !is_page_bytes(page_bytes) {
            return Err(SetupError::PageBytes { bytes: page_bytes });
        }
        let (lower, upper) = (setup.lower, setup.upper);
        if !fences_are_legal(page_bytes, lower, upper) {
            return Err(SetupError::Fences {
                lower_bytes: lower.len(),
                upper_bytes: upper.len(),
                limit: space::key_bytes_max(page_bytes),
            });
        }
        bytes.fill(0);
        let upper_start = page_bytes - upper.len();
        let heap_end = upper_start - lower.len();
        put(bytes, heap_end, lower)?;
        put(bytes, upper_start, upper)?;
        let header = PageHeaderFields {
            level: setup.level,
            slot_count: 0,
            append_run: 0,
            prefix_bytes: shared_bytes(lower, upper) as u16,
            lower_bytes: lower.len() as u16,
            upper_bytes: upper.len() as u16,
            heap_start: heap_end as u32,
            dead_bytes: 0,
            lsn: setup.lsn,
            layout: setup.layout,
        };
        header.write(bytes)?;
        Ok(Self { bytes })
    }

    /// Makes the page a copy of another, which has the same length.
    ///
    /// # Errors
    /// Another length.
    pub fn overwrite(&mut self, with: &RowPage<'_>) -> Result<(), SetupError> {
        let page_bytes = with.page_bytes();
        if page_bytes != self.bytes.len() {
            return Err(SetupError::Length { bytes: page_bytes });
        }
        self.bytes.copy_from_slice(with.bytes());
        Ok(())
    }
}
