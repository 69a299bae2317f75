//! Tables whose pages are stored by columns, and with which transform.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_codec::transform::{CodecFamily, Transform, choose_by_sizes};
use quire_format::row_page::{PageTransform, RowPage, RowPageShape, encode_image, encode_image_as};
use quire_format::volume::BLOCK_BYTES;

use super::codec::PageCodec;

/// Leaves that are encoded with every transform before one is chosen.
const SAMPLE_PAGES: usize = 8;

/// A transform is chosen only if it saves one part in so many of the bytes of the sample.
const GAIN_PARTS: usize = 64;

/// Sizes that differ by less than one part in so many are equal as far as a sample can tell. The first is chosen then: they
/// are in the order of the time they take.
const TIE_PARTS: usize = 128;

/// How the pages of some trees are stored by columns.
pub(super) struct ColumnFormat {
    codec: PageCodec,
    shape: RowPageShape,
    /// None: chosen by a sample.
    wanted: Option<PageTransform>,
    /// What the device makes of each block, if pages are not compressed before.
    device: Option<BlockCodecId>,
    chosen: OnceLock<PageTransform>,
    sample: Mutex<TransformSample>,
}

/// Bytes of images under each transform, in the order of [`PageTransform::ALL`].
#[derive(Default)]
struct TransformSample {
    pages: usize,
    bytes: [usize; PageTransform::ALL.len()],
}

impl TransformSample {
    fn best(&self) -> PageTransform {
        let [rows, ..] = self.bytes;
        let least = self.bytes.into_iter().min().unwrap_or(rows);
        if rows - least < rows.div_ceil(GAIN_PARTS).max(1) {
            return PageTransform::ROWS;
        }
        let near = |bytes: usize| bytes - least <= least / TIE_PARTS;
        let mut all = PageTransform::ALL.into_iter().zip(self.bytes);
        all.find(|(_, bytes)| near(*bytes))
            .map_or(PageTransform::ROWS, |(transform, _)| transform)
    }

    /// The paper's rule (Y. Qiao et al., §III) for a device that compresses by that codec, among the paper's transforms.
    fn best_on_device(&self, device: BlockCodecId, shape: &RowPageShape) -> PageTransform {
        let mut sizes = [0; Transform::ALL.len()];
        sizes.copy_from_slice(&self.bytes[..Transform::ALL.len()]);
        let distinguishes = |transform| shape.distinguishes(transform);
        PageTransform::Columns(choose_by_sizes(&sizes, family_of(device), distinguishes))
    }
}

/// Whether a codec codes by frequency what it finds no repetition of.
fn family_of(codec: BlockCodecId) -> CodecFamily {
    match codec {
        BlockCodecId::Zlib | BlockCodecId::Zstd => CodecFamily::LzEntropy,
        _ => CodecFamily::LzOnly,
    }
}

impl ColumnFormat {
    fn transform(&self) -> Option<PageTransform> {
        self.wanted.or_else(|| self.chosen.get().copied())
    }

    /// The image of a page.
    pub(super) fn encode(
        &self,
        page: &RowPage<'_>,
        codec: &mut dyn BlockCodec,
    ) -> Result<Vec<u8>, Corrupt> {
        match self.transform() {
            Some(transform) => encode_image_as(page, transform, &self.shape, codec),
            None if page.level() > 0 || page.is_empty() => encode_image(page, codec),
            None if self.codec.id() == BlockCodecId::None => match self.device {
                Some(device) => self.encode_for_device(device, page, codec),
                // What is not compressed says nothing.
                None => encode_image(page, codec),
            },
            None => self.encode_in_every_way(page, codec),
        }
    }

    /// The image of a page that becomes part of the sample, by which the device needs the fewest bytes.
    fn encode_for_device(
        &self,
        device: BlockCodecId,
        page: &RowPage<'_>,
        codec: &mut dyn BlockCodec,
    ) -> Result<Vec<u8>, Corrupt> {
        let opened = open(device, &BlockOptions::default());
        let mut opened = opened.map_err(|error| Corrupt::new(error.to_string(), 0))?;
        let mut images = Vec::with_capacity(Transform::ALL.len());
        for transform in Transform::ALL.map(PageTransform::Columns) {
            let image = encode_image_as(page, transform, &self.shape, codec)?;
            let bytes = device_bytes(opened.as_mut(), &image);
            images.push((bytes, image));
        }
        let bytes = images.iter().map(|(bytes, _)| *bytes);
        self.note(bytes, |sample| sample.best_on_device(device, &self.shape));
        let smallest = images.into_iter().min_by_key(|(bytes, _)| *bytes);
        Ok(smallest.map(|(_, image)| image).unwrap_or_default())
    }

    /// Adds the bytes of a page under each transform to the sample; if that is complete, `best` chooses.
    fn note(
        &self,
        page_bytes: impl Iterator<Item = usize>,
        best: impl FnOnce(&TransformSample) -> PageTransform,
    ) {
        let mut sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner);
        for (bytes, of_page) in sample.bytes.iter_mut().zip(page_bytes) {
            *bytes += of_page;
        }
        sample.pages += 1;
        if sample.pages >= SAMPLE_PAGES {
            self.chosen.get_or_init(|| best(&sample));
        }
    }

    /// The smallest image of a page that becomes part of the sample.
    fn encode_in_every_way(
        &self,
        page: &RowPage<'_>,
        codec: &mut dyn BlockCodec,
    ) -> Result<Vec<u8>, Corrupt> {
        let mut images = Vec::with_capacity(PageTransform::ALL.len());
        for transform in PageTransform::ALL {
            images.push(encode_image_as(page, transform, &self.shape, codec)?);
        }
        self.note(images.iter().map(Vec::len), TransformSample::best);
        let smallest = images.into_iter().min_by_key(Vec::len);
        Ok(smallest.unwrap_or_default())
    }
}

/// Bytes a device makes of an image, each block by itself.
fn device_bytes(device: &mut dyn BlockCodec, image: &[u8]) -> usize {
    let mut room = vec![0; BLOCK_BYTES as usize];
    let blocks = image.chunks(BLOCK_BYTES as usize).map(|block| {
        let compressed = device.compress(block, &mut room, block.len());
        compressed.unwrap_or(block.len())
    });
    blocks.sum()
}

/// The formats of a pool. There are as many as different definitions of tables have been in use.
#[derive(Default)]
pub(super) struct ColumnFormats(RwLock<Vec<Arc<ColumnFormat>>>);

impl ColumnFormats {
    /// `codec` with the number of such a format, which is made unless there is one.
    pub(super) fn add(
        &self,
        codec: PageCodec,
        shape: RowPageShape,
        wanted: Option<PageTransform>,
        device: Option<BlockCodecId>,
    ) -> PageCodec {
        let mut formats = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = |format: &Arc<ColumnFormat>| {
            format.codec == codec.plain()
                && (format.wanted, format.device) == (wanted, device)
                && format.shape == shape
        };
        let number = formats.iter().position(is_same).unwrap_or_else(|| {
            formats.push(Arc::new(ColumnFormat {
                codec: codec.plain(),
                shape,
                wanted,
                device,
                chosen: OnceLock::new(),
                sample: Mutex::default(),
            }));
            formats.len() - 1
        });
        codec.by_columns(number as u32)
    }

    pub(super) fn get(&self, codec: PageCodec) -> Option<Arc<ColumnFormat>> {
        let formats = self.0.read().unwrap_or_else(PoisonError::into_inner);
        formats.get(codec.columns()? as usize).cloned()
    }

    /// The image of a page, by `shelved`, which is what `codec` says.
    pub(super) fn encode(
        &self,
        codec: PageCodec,
        page: &RowPage<'_>,
        shelved: &mut dyn BlockCodec,
    ) -> Result<Vec<u8>, Corrupt> {
        match self.get(codec) {
            Some(format) => format.encode(page, shelved),
            None => encode_image(page, shelved),
        }
    }

    /// The transform that pages of `codec` are stored with, if that is known.
    pub(super) fn transform(&self, codec: PageCodec) -> Option<PageTransform> {
        match codec.columns() {
            None => Some(PageTransform::ROWS),
            Some(_) => self.get(codec)?.transform(),
        }
    }
}
