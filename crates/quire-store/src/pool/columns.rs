//! Tables whose pages are stored by columns, and with which transform.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId};
use quire_format::row_page::{PageTransform, RowPage, RowPageShape, encode_image, encode_image_as};

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
            // What is not compressed says nothing.
            None if self.codec.id() == BlockCodecId::None => encode_image(page, codec),
            None => self.encode_in_every_way(page, codec),
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
        let mut sample = self.sample.lock().unwrap_or_else(PoisonError::into_inner);
        for (bytes, image) in sample.bytes.iter_mut().zip(&images) {
            *bytes += image.len();
        }
        sample.pages += 1;
        if sample.pages >= SAMPLE_PAGES {
            self.chosen.get_or_init(|| sample.best());
        }
        let smallest = images.into_iter().min_by_key(Vec::len);
        Ok(smallest.unwrap_or_default())
    }
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
    ) -> PageCodec {
        let mut formats = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = |format: &Arc<ColumnFormat>| {
            format.codec == codec.plain() && format.wanted == wanted && format.shape == shape
        };
        let number = formats.iter().position(is_same).unwrap_or_else(|| {
            formats.push(Arc::new(ColumnFormat {
                codec: codec.plain(),
                shape,
                wanted,
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
