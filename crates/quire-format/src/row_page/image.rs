//! A row page on storage and in the warm part of the pool: a compressed base, and the operations since.
//!
//! The base holds what the page says and not how it lay: neither free space nor offsets nor heads, and lengths, keys
//! and values each in a column of their own. The block codec shortens that. Operations are appended to the image as
//! they come (the modification log of Z. Ma et al., §III), so an image follows its page without being compressed anew;
//! when the log has reached its budget, the page is encoded again.
//!
//! Only single entries change by operations. Whoever splits or merges a page encodes it anew.

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId};
use thiserror::Error;

use super::layout::is_page_bytes;
use super::op::{PageOp, apply};
use super::page_transform::PageTransform;
use super::raw_base::{array_at, gather, restore, u16_at, u32_at};
use super::read::RowPage;
use super::shape::RowPageShape;
use super::stored::StoredPageRows;
use super::write::RowPageMut;
use super::{columnar, space};
use crate::document::{DiskStructure, StructureField};

/// Version of the layout that this program writes, and the only one it reads.
pub const PAGE_IMAGE_VERSION: u8 = 1;

/// Bytes of the header of an image.
const PAGE_IMAGE_HEADER_BYTES: usize = 28;

const VERSION: usize = 0;
const CODEC: usize = 1;
const TRANSFORM: usize = 2;
const PAGE_BITS: usize = 3;
const RAW_BYTES: usize = 4;
const BASE_BYTES: usize = 8;
const LOG_BYTES: usize = 12;
const OP_COUNT: usize = 16;
const OP_BYTES_MAX: usize = 18;
const LSN: usize = 20;

/// In the byte of the codec: the dictionary is named behind the header.
const HAS_DICTIONARY: u8 = 0x80;

/// In the byte of the codec: zeros follow the log, up to the size that the table gives its images.
const IS_PADDED: u8 = 0x40;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Image of a row page",
    about: "Header, base, modification log; nothing follows, or, where the codec says so, zeros. The checksum is that of the \
            volume's image.",
    fixed_bytes: Some(PAGE_IMAGE_HEADER_BYTES),
    fields: &[
        StructureField::at(VERSION, "1", "version", "1"),
        StructureField::at(
            CODEC,
            "1",
            "codec",
            "of the base: 0 none, 1 ZLE, 2 LZJB, 3 LZ4, 4 LZ4HC, 5 zlib, 6 zstd; and 128 if a dictionary is needed, 64 if zeros follow the log",
        ),
        StructureField::at(
            TRANSFORM,
            "1",
            "transform",
            "of the raw base: 0 rows, 1 R2C, 2 RLT, 3 CLT, 4 XOR, 5 XOR+RLT, 6 packed, 7 packed with strings, 8 XOR+CLT",
        ),
        StructureField::at(
            PAGE_BITS,
            "1",
            "page_bits",
            "length of the page in memory: 12 is 4 KiB … 16 is 64 KiB",
        ),
        StructureField::at(
            RAW_BYTES,
            "4",
            "raw_bytes",
            "of the raw base, at most the length of the page; by columns four times that",
        ),
        StructureField::at(
            BASE_BYTES,
            "4",
            "base_bytes",
            "of the base as it is stored. With transforms 6 and 7: length of the packed columns (4), these, and what the codec made of the rest",
        ),
        StructureField::at(
            LOG_BYTES,
            "4",
            "log_bytes",
            "of the log, at most an eighth of the page; the whole page where zeros follow",
        ),
        StructureField::at(OP_COUNT, "2", "op_count", "page operations in the log"),
        StructureField::at(
            OP_BYTES_MAX,
            "2",
            "op_bytes_max",
            "length of the longest of them",
        ),
        StructureField::at(LSN, "8", "lsn", "of the last change, the log included"),
        StructureField::at(
            PAGE_IMAGE_HEADER_BYTES,
            "8, or none",
            "dictionary",
            "if one is needed: number of the page that has it",
        ),
    ],
};

/// Why an operation cannot be appended to an image. The image is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PageAppendError {
    #[error(
        "modification log has {log_bytes} of {limit} bytes and {op_bytes} would follow; encode the page again"
    )]
    LogFull {
        log_bytes: usize,
        op_bytes: usize,
        limit: usize,
    },
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// An image of a row page, to read.
#[derive(Clone, Copy, Debug)]
pub struct PageImage<'a> {
    codec: BlockCodecId,
    dictionary: u64,
    transform: PageTransform,
    page_bytes: usize,
    raw_bytes: usize,
    op_count: u16,
    op_bytes_max: u16,
    lsn: u64,
    base: &'a [u8],
    log: &'a [u8],
    /// Bytes of the zeros that follow, if the image is one to which such are added.
    padding_bytes: Option<usize>,
}

impl<'a> PageImage<'a> {
    /// Reads the header and checks all lengths; nothing is decompressed.
    ///
    /// # Errors
    /// The first thing found that is wrong.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let (header, rest) = bytes
            .split_first_chunk::<PAGE_IMAGE_HEADER_BYTES>()
            .ok_or_else(|| Corrupt::new("image of a row page ends in its header", bytes.len()))?;
        if header[VERSION] != PAGE_IMAGE_VERSION {
            let what = format!(
                "image of a row page has layout version {}, this program reads version {PAGE_IMAGE_VERSION}",
                header[VERSION]
            );
            return Err(Corrupt::new(what, VERSION));
        }
        let codec = BlockCodecId::from_u8(header[CODEC] & !(HAS_DICTIONARY | IS_PADDED))
            .ok_or_else(|| Corrupt::new("unknown block codec", CODEC))?;
        let (dictionary, rest) = dictionary_of(header, rest)?;
        let transform = PageTransform::from_number(header[TRANSFORM])
            .ok_or_else(|| Corrupt::new("unknown transform of a row page", TRANSFORM))?;
        let page_bytes = 1_usize.checked_shl(header[PAGE_BITS].into()).unwrap_or(0);
        let raw_bytes = u32_at(header, RAW_BYTES)?;
        if !is_page_bytes(page_bytes) || raw_bytes > columnar::raw_bytes_max(transform, page_bytes)
        {
            return Err(Corrupt::new("length of a row page", PAGE_BITS));
        }
        let (base_bytes, log_bytes) = (u32_at(header, BASE_BYTES)?, u32_at(header, LOG_BYTES)?);
        let is_padded = header[CODEC] & IS_PADDED != 0;
        let log_bytes_max = if is_padded {
            page_bytes
        } else {
            space::log_bytes_max(page_bytes)
        };
        let parts = rest.split_at_checked(base_bytes).and_then(|(base, rest)| {
            let (log, padding) = rest.split_at_checked(log_bytes)?;
            let is_padding = is_padded && padding.iter().fold(0, |all, byte| all | byte) == 0;
            (is_padding || padding.is_empty()).then_some((base, log, padding))
        });
        let (base, log, padding) = parts
            .filter(|_| log_bytes <= log_bytes_max)
            .ok_or_else(|| Corrupt::new("lengths of base and log", BASE_BYTES))?;
        Ok(Self {
            codec,
            dictionary,
            transform,
            page_bytes,
            raw_bytes,
            op_count: u16_at(header, OP_COUNT)?,
            op_bytes_max: u16_at(header, OP_BYTES_MAX)?,
            lsn: u64::from_le_bytes(array_at(header, LSN)?),
            base,
            log,
            padding_bytes: is_padded.then_some(padding.len()),
        })
    }

    /// With which codec the base is compressed.
    #[must_use]
    pub const fn codec(&self) -> BlockCodecId {
        self.codec
    }

    /// The name of the dictionary it needs ([`quire_codec::block::ZstdDictionary::with_id`]); 0 if it needs none.
    #[must_use]
    pub const fn dictionary(&self) -> u64 {
        self.dictionary
    }

    /// How the values lie in the base.
    #[must_use]
    pub const fn transform(&self) -> PageTransform {
        self.transform
    }

    /// Length of the page in memory.
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// LSN of the last change, the log included.
    #[must_use]
    pub const fn lsn(&self) -> u64 {
        self.lsn
    }

    /// Bytes of the base, compressed.
    #[must_use]
    pub const fn base_bytes(&self) -> usize {
        self.base.len()
    }

    /// Bytes of the modification log.
    #[must_use]
    pub const fn log_bytes(&self) -> usize {
        self.log.len()
    }

    /// Bytes the modification log may have: those of the zeros too, where such follow.
    #[must_use]
    pub const fn log_bytes_max(&self) -> usize {
        match self.padding_bytes {
            None => space::log_bytes_max(self.page_bytes),
            Some(padding_bytes) if self.log.len() + padding_bytes > self.page_bytes => {
                self.page_bytes
            }
            Some(padding_bytes) => self.log.len() + padding_bytes,
        }
    }

    /// Whether zeros may follow the log; see [`pad_image`].
    #[must_use]
    pub const fn is_padded(&self) -> bool {
        self.padding_bytes.is_some()
    }

    /// Bytes of header, base and log.
    #[must_use]
    pub const fn used_bytes(&self) -> usize {
        let dictionary_bytes = if self.dictionary == 0 { 0 } else { 8 };
        PAGE_IMAGE_HEADER_BYTES + dictionary_bytes + self.base.len() + self.log.len()
    }

    /// Operations in it.
    #[must_use]
    pub const fn op_count(&self) -> usize {
        self.op_count as usize
    }

    /// Bytes of the longest operation in it.
    #[must_use]
    pub const fn op_bytes_max(&self) -> usize {
        self.op_bytes_max as usize
    }

    /// Whether the page should be encoded again before the log is full; see [`space::should_recompress`].
    #[must_use]
    pub fn should_recompress(&self) -> bool {
        space::should_recompress(
            self.log.len(),
            self.op_bytes_max.into(),
            self.log_bytes_max(),
        )
    }

    /// Restores the page: decompresses the base into `page` and carries out the log. `codec` is one of
    /// [`codec`](Self::codec), and has the [`dictionary`](Self::dictionary).
    ///
    /// # Errors
    /// An image that is not one of a row page of that length and codec; `page` is of no use then.
    pub fn decode(&self, codec: &mut dyn BlockCodec, page: &mut [u8]) -> Result<(), Corrupt> {
        if page.len() != self.page_bytes {
            let (bytes, wanted) = (page.len(), self.page_bytes);
            let what = format!("image is of a page of {wanted} bytes, and not of {bytes}");
            return Err(Corrupt::new(what, PAGE_BITS));
        }
        self.check_codec(codec)?;
        let mut raw = vec![0; self.raw_bytes];
        let (packed, compressed) = self.split_base()?;
        codec.decompress(compressed, &mut raw)?;
        match self.transform {
            PageTransform::ROWS => restore(&raw, self.lsn, page)?,
            transform => columnar::restore(transform, [&raw, packed], self.lsn, page)?,
        }
        self.replay(&mut RowPageMut::open(page)?)
    }

    /// The raw base and the log, to look up single keys; `None` if the values lie by columns. `scratch` is what they may be
    /// decompressed into: whoever looks often keeps it. The codec is as in [`decode`](Self::decode).
    ///
    /// # Errors
    /// An image that is not one of a row page of that codec, as far as that is looked at.
    pub fn rows<'s>(
        &self,
        codec: &mut dyn BlockCodec,
        scratch: &'s mut Vec<u8>,
    ) -> Result<Option<StoredPageRows<'s>>, Corrupt>
    where
        'a: 's,
    {
        self.check_codec(codec)?;
        if self.transform != PageTransform::ROWS {
            return Ok(None);
        }
        if self.codec == BlockCodecId::None && self.base.len() == self.raw_bytes {
            return StoredPageRows::open(self.base, self.log).map(Some);
        }
        // What it has from before is overwritten: only what is new must be filled.
        scratch.resize(self.raw_bytes.max(scratch.len()), 0);
        let raw = scratch.get_mut(..self.raw_bytes).unwrap_or_default();
        codec.decompress(self.base, raw)?;
        StoredPageRows::open(raw, self.log).map(Some)
    }

    fn check_codec(&self, codec: &dyn BlockCodec) -> Result<(), Corrupt> {
        if codec.id() != self.codec {
            let what = format!("image has codec {}, and not {}", self.codec, codec.id());
            return Err(Corrupt::new(what, CODEC));
        }
        if codec.dictionary_id() != self.dictionary {
            let what = format!(
                "image needs dictionary {}, and not {}",
                self.dictionary,
                codec.dictionary_id()
            );
            return Err(Corrupt::new(what, PAGE_IMAGE_HEADER_BYTES));
        }
        Ok(())
    }

    /// The packed columns, and what the codec has compressed.
    fn split_base(&self) -> Result<(&'a [u8], &'a [u8]), Corrupt> {
        if !self.transform.is_packed() {
            return Ok((&[], self.base));
        }
        let parts = self.base.split_at_checked(size_of::<u32>());
        let parts = parts.and_then(|(length, rest)| {
            let length = u32_at(length, 0).ok()?;
            rest.split_at_checked(length)
        });
        parts.ok_or_else(|| Corrupt::new("length of the packed columns", PAGE_IMAGE_HEADER_BYTES))
    }

    fn replay(&self, page: &mut RowPageMut<'_>) -> Result<(), Corrupt> {
        let (mut at, mut op_count) = (0, 0_usize);
        while let Some(rest) = self.log.get(at..).filter(|rest| !rest.is_empty()) {
            let offset = PAGE_IMAGE_HEADER_BYTES + self.base.len() + at;
            let at_offset = |what| Corrupt { what, offset };
            let (op, op_bytes) = PageOp::decode(rest).map_err(|error| at_offset(error.what))?;
            apply(page, &op).map_err(|error| at_offset(error.to_string().into()))?;
            at += op_bytes;
            op_count += 1;
        }
        if op_count != usize::from(self.op_count) {
            let what = format!("log has {op_count} operations instead of {}", self.op_count);
            return Err(Corrupt::new(what, OP_COUNT));
        }
        Ok(())
    }
}

/// The image of a page by rows, with an empty log. Where the codec gains nothing, the base is stored as it is.
///
/// # Errors
/// A page whose records are not within it.
pub fn encode_image(page: &RowPage<'_>, codec: &mut dyn BlockCodec) -> Result<Vec<u8>, Corrupt> {
    let raw = gather(page)?;
    Ok(image(page, PageTransform::ROWS, &raw, &[], codec))
}

/// The image of a leaf whose values have the given shape, as [`encode_image`]. A page with a value of another shape, and an inner
/// one, is stored by rows.
///
/// # Errors
/// A page whose records are not within it.
pub fn encode_image_as(
    page: &RowPage<'_>,
    transform: PageTransform,
    shape: &RowPageShape,
    codec: &mut dyn BlockCodec,
) -> Result<Vec<u8>, Corrupt> {
    if transform == PageTransform::ROWS || page.level() != 0 {
        return encode_image(page, codec);
    }
    match columnar::gather(page, transform, shape, codec.id())? {
        Some(columns) => Ok(image(page, transform, &columns.raw, &columns.packed, codec)),
        None => encode_image(page, codec),
    }
}

fn image(
    page: &RowPage<'_>,
    transform: PageTransform,
    raw: &[u8],
    packed: &[u8],
    codec: &mut dyn BlockCodec,
) -> Vec<u8> {
    let mut image = vec![0; PAGE_IMAGE_HEADER_BYTES];
    if codec.dictionary_id() != 0 {
        image.extend_from_slice(&codec.dictionary_id().to_le_bytes());
    }
    let base_at = image.len();
    if transform.is_packed() {
        image.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        image.extend_from_slice(packed);
    }
    let compressed_at = image.len();
    image.resize(compressed_at + raw.len(), 0);
    let (front, compressed) = image.split_at_mut(compressed_at);
    let mut codec_byte = BlockCodecId::None as u8;
    let limit = raw.len().saturating_sub(1);
    let bytes = codec.compress(raw, compressed, limit);
    if bytes.is_some() {
        codec_byte = codec.id() as u8;
        if base_at > PAGE_IMAGE_HEADER_BYTES {
            codec_byte |= HAS_DICTIONARY;
        }
    } else {
        compressed.copy_from_slice(raw);
    }
    let bytes = bytes.unwrap_or(raw.len());
    let base_bytes = compressed_at - base_at + bytes;
    front[VERSION] = PAGE_IMAGE_VERSION;
    front[CODEC] = codec_byte;
    front[TRANSFORM] = transform.number();
    front[PAGE_BITS] = page.page_bytes().ilog2() as u8;
    put(front, RAW_BYTES, (raw.len() as u32).to_le_bytes());
    put(front, BASE_BYTES, (base_bytes as u32).to_le_bytes());
    put(front, LSN, page.lsn().to_le_bytes());
    image.truncate(compressed_at + bytes);
    if codec_byte & HAS_DICTIONARY == 0 {
        image.drain(PAGE_IMAGE_HEADER_BYTES..base_at);
    }
    image
}

/// Adds zeros to an image as it was made, until it has the first of these lengths that it fits into: `slot_bytes` less
/// `beside_bytes`, twice `slot_bytes` less `beside_bytes`, and so on. Its log may take the place of the zeros.
///
/// # Errors
/// Bytes that are no image, or a padded one.
pub fn pad_image(
    image: &mut Vec<u8>,
    slot_bytes: usize,
    beside_bytes: usize,
) -> Result<(), Corrupt> {
    if PageImage::open(image)?.is_padded() {
        return Err(Corrupt::new("an image that is padded already", CODEC));
    }
    let slots_bytes = (image.len() + beside_bytes).next_multiple_of(slot_bytes.max(1));
    image.resize(slots_bytes - beside_bytes, 0);
    if let Some(codec) = image.get_mut(CODEC) {
        *codec |= IS_PADDED;
    }
    Ok(())
}

/// The dictionary that an image names, and what follows.
fn dictionary_of<'a>(
    header: &[u8; PAGE_IMAGE_HEADER_BYTES],
    rest: &'a [u8],
) -> Result<(u64, &'a [u8]), Corrupt> {
    if header[CODEC] & HAS_DICTIONARY == 0 {
        return Ok((0, rest));
    }
    let named = rest
        .split_first_chunk()
        .map(|(id, rest)| (u64::from_le_bytes(*id), rest));
    named
        .filter(|(id, _)| *id != 0)
        .ok_or_else(|| Corrupt::new("name of a dictionary", PAGE_IMAGE_HEADER_BYTES))
}

/// Appends an operation, which the caller has applied to the page, and its LSN. The base stays as it is.
///
/// # Errors
/// A log whose budget is used up; bytes that are no image.
pub fn append_op(image: &mut Vec<u8>, op: &PageOp<'_>, lsn: u64) -> Result<(), PageAppendError> {
    let known = PageImage::open(image)?;
    let (log_bytes, op_bytes) = (known.log.len(), op.encoded_bytes());
    let limit = known.log_bytes_max();
    let (used_bytes, is_padded) = (known.used_bytes(), known.is_padded());
    let op_count = known.op_count.checked_add(1);
    let (Some(op_count), true) = (op_count, op_bytes <= limit.saturating_sub(log_bytes)) else {
        return Err(PageAppendError::LogFull {
            log_bytes,
            op_bytes,
            limit,
        });
    };
    let op_bytes_max = op_bytes.max(known.op_bytes_max.into()) as u16;
    let image_bytes = image.len();
    image.truncate(used_bytes);
    op.encode(image);
    if is_padded {
        image.resize(image_bytes, 0);
    }
    put(
        image,
        LOG_BYTES,
        ((log_bytes + op_bytes) as u32).to_le_bytes(),
    );
    put(image, OP_COUNT, op_count.to_le_bytes());
    put(image, OP_BYTES_MAX, op_bytes_max.to_le_bytes());
    put(image, LSN, lsn.to_le_bytes());
    Ok(())
}

fn put<const N: usize>(target: &mut [u8], offset: usize, value: [u8; N]) {
    target[offset..offset + N].copy_from_slice(&value);
}
