//! The page of the B+tree of a row table.
//!
//! ```text
//! header │ slot 0 │ slot 1 │ … │ free │ heap: records │ lower fence │ upper fence
//! ```
//!
//! A slotted page with fence keys. What both fences begin with, every key of the page begins with, and it is stored
//! once; a slot repeats the next four bytes of its key, so that a binary search rarely leaves the slots (G. Graefe,
//! *Modern B-Tree Techniques*, 2011, §3.5). Keys and values are bytes without meaning here; keys compare as bytes. Where
//! each field is, is in `FORMAT.md`.
//!
//! | module or item | answers |
//! |---|---|
//! | [`RowPage`], [`RowPageMut`] | what is in the page, and how it is changed |
//! | [`PageOp`], [`apply`] | the language of changes: in memory, in the log, in an image |
//! | [`LevelBuilder`] | pages from sorted entries |
//! | [`PageImage`], [`encode_image`], [`append_op`] | the page on storage: compressed, with changes behind it |
//! | [`StoredPageRows`] | single values of an image, without the page |
//! | [`PageTransform`], [`RowPageShape`], [`encode_image_as`] | the page on storage by columns |
//! | [`space`] | what fits, and when to split, merge or compress again |
//!
//! ```
//! use quire_codec::block::{BlockCodecId, BlockOptions, open};
//! use quire_format::row_page::{
//!     PAGE_BYTES_DEFAULT, PageImage, PageOp, PageSetup, RowPage, RowPageMut, append_op, apply, encode_image,
//! };
//!
//! let mut frame = vec![0; PAGE_BYTES_DEFAULT];
//! let mut page = RowPageMut::create(&mut frame, &PageSetup::default())?;
//! for number in 0..100_u32 {
//!     page.insert(&number.to_be_bytes(), format!("row {number}").as_bytes(), false)?;
//! }
//! let mut codec = open(BlockCodecId::Lz4, &BlockOptions::default())?;
//! let mut image = encode_image(&page.page()?, codec.as_mut())?;
//!
//! let op = PageOp::update(&[0, 0, 0, 7], b"row 7", b"row seven");
//! apply(&mut page, &op)?;
//! append_op(&mut image, &op, 1)?;
//!
//! let mut again = vec![0; PAGE_BYTES_DEFAULT];
//! PageImage::open(&image)?.decode(codec.as_mut(), &mut again)?;
//! let found = RowPage::open(&again)?.get(&[0, 0, 0, 7])?;
//! assert_eq!(found.map(|entry| entry.value), Some(b"row seven".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alphabet;
mod build;
mod child;
mod columnar;
mod create;
mod divide;
mod expand;
mod image;
mod layout;
mod op;
mod packed;
mod packing;
mod page_transform;
mod planes;
mod raw_base;
mod read;
mod repeats;
mod shape;
pub mod space;
mod stored;
#[cfg(test)]
mod tests;
mod text;
mod verify;
mod write;

pub use build::{BuildOptions, BuiltPage, LevelBuilder, PageBuildError};
pub use child::ChildPointer;
pub use create::{PageSetup, SetupError};
pub use divide::DivideError;
pub use image::{
    PAGE_IMAGE_VERSION, PageAppendError, PageImage, append_op, encode_image, encode_image_as,
    pad_image,
};
pub use layout::{PAGE_BYTES_ALLOWED, PAGE_BYTES_DEFAULT, ROW_PAGE_VERSION, TreePageKind};
pub use op::{Applied, PageOp, apply};
pub use page_transform::PageTransform;
pub use read::{KeySearch, PageEntries, PageEntryRef, RowPage};
pub use shape::{RowPageShape, ShapeError};
pub use stored::StoredPageRows;
pub use write::{ApplyError, RowPageMut};

use crate::document::DiskStructure;

/// The structures of this module, for the format document.
pub(crate) const STRUCTURES: &[&DiskStructure] = &[
    &layout::STRUCTURE,
    &layout::SLOT_STRUCTURE,
    &op::STRUCTURE,
    &image::STRUCTURE,
    &raw_base::STRUCTURE,
    &columnar::STRUCTURE,
];
