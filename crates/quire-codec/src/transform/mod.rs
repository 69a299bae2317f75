//! In which order should the bytes of a row page lie, so that a block codec finds more in them?
//!
//! A page in memory holds rows; on storage the same bytes lie in columns, possibly transformed further (Y. Qiao
//! et al., *Improving Relational Database Upon the Arrival of Storage Hardware with Built-in Transparent
//! Compression*, §III). Nothing is compressed here and no length changes: every transform maps the images of a
//! [`TransformPageShape`] one to one onto images of the same length.
//!
//! ```text
//! page in memory   lead | row 0 | row 1 | … | row m−1 | tail
//! on storage       lead | column 0 | column 1 | … | column n−1 | variable fields | tail
//! ```
//!
//! `lead` (a page header) and `tail` (free space, a slot directory) stay as they are. With `d[i]` the `i`-th of
//! the `m` values of a column and `b` their width in bytes, the column on storage is
//!
//! | transform | a column of numbers |
//! |---|---|
//! | [`Rows`](Transform::Rows) | (the page as it is) |
//! | [`R2c`](Transform::R2c) | `d[0] d[1] … d[m−1]` |
//! | [`Rlt`](Transform::Rlt) | in each register, the first byte of its values, then the second of each, … |
//! | [`Clt`](Transform::Clt) | the first byte of all `m` values, then the second of each, … |
//! | [`Xor`](Transform::Xor) | in each register, its first value, then `d[i−1] ⊕ d[i]` |
//! | [`XorRlt`](Transform::XorRlt) | XOR, and then RLT of what it gave |
//! | [`XorClt`](Transform::XorClt) | XOR, and then CLT of what it gave |
//!
//! A register is the `⌊16 / b⌋` next values of the column, and fewer at its end; registers are counted from the
//! first row. A value of 9 bytes or more is a register by itself, which RLT and XOR leave as it is. Columns of
//! [`LayoutColumn::Bytes`] (text), lengths and variable fields are never more than gathered (§IV-A2).
//!
//! ```
//! use quire_codec::transform::{LayoutColumn, TransformPageShape, TransformRowLayout, Transform, to_memory, to_storage};
//!
//! let layout = TransformRowLayout::new(&[LayoutColumn::Number(2), LayoutColumn::Bytes(3)])?;
//! let shape = TransformPageShape { layout: &layout, lead_bytes: 1, row_count: 2 };
//! let page = *b"#\x01\x02abc\x03\x04def..";
//! let (mut stored, mut restored) = (page, page);
//! to_storage(Transform::Clt, shape, &page, &mut stored)?;
//! assert_eq!(&stored, b"#\x01\x03\x02\x04abcdef..");
//! to_memory(Transform::Clt, shape, &stored, &mut restored)?;
//! assert_eq!(restored, page);
//! # Ok::<(), quire_codec::transform::TransformError>(())
//! ```

mod choose;
mod image;
mod layout;
mod ragged;
mod scalar;

pub use choose::{CodecFamily, TransformChoice, choose, choose_by_sizes};
pub use image::{to_memory, to_storage};
pub use layout::{LayoutColumn, TransformPageShape, TransformRowLayout};

use std::fmt;

use crate::stored_set::stored_set;

stored_set! {
    /// How a page lies on storage. The numbers are stored with the image and never reused.
    pub enum Transform {
        /// As in memory.
        Rows = 0 "rows",
        /// Rows to columns.
        R2c = 1 "r2c",
        /// Columns, transposed within each register.
        Rlt = 2 "rlt",
        /// Columns, each transposed as a whole.
        Clt = 3 "clt",
        /// Columns, neighbours in each register replaced by their XOR.
        Xor = 4 "xor",
        /// Columns, XOR and then the transposition within each register.
        XorRlt = 5 "xor_rlt",
        // 6 and 7 are not free: quire-format stores its packed pages under them.
        /// Columns, XOR within each register and then each transposed as a whole.
        XorClt = 8 "xor_clt",
    }
}

impl Transform {
    /// The transform of that name, in any letter case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Why a page could not be transformed. Where the shape or the page was read from storage, either is corrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    #[error("a row of no columns; give the layout of the table's rows")]
    NoColumns,
    #[error("column {column} is 0 bytes wide; leave it out of the layout")]
    EmptyColumn { column: usize },
    #[error(
        "{column_count} columns or lengths are more than the {limit} of a row; combine neighbours"
    )]
    TooManyColumns { column_count: usize, limit: usize },
    #[error(
        "{row_count} rows of {row_bytes} bytes after {lead_bytes} bytes do not fit a page of {page_bytes}; \
         take the shape from the page it belongs to"
    )]
    PageTooShort {
        lead_bytes: usize,
        row_count: usize,
        row_bytes: usize,
        page_bytes: usize,
    },
    #[error(
        "the variable fields of the rows up to {row} leave the page of {page_bytes} bytes; \
         check where their lengths come from"
    )]
    RowTooLong { row: usize, page_bytes: usize },
    #[error(
        "the page has {page_bytes} bytes and the buffer {buffer_bytes}; give one of the same length"
    )]
    BufferLength {
        page_bytes: usize,
        buffer_bytes: usize,
    },
}
