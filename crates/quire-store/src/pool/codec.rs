//! How the pages of a tree are compressed, and the codecs that are ready to do it.

use std::sync::{Mutex, PoisonError};

use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, OpenError, open};

/// How the pages of one tree are compressed: none, lz4, lz4hc, zlib, zstd …, and the level. Pages that were compressed
/// in another way stay readable. With [`Pool::by_columns`](super::Pool::by_columns) it says besides that leaves are
/// stored by columns; such a codec is of that pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCodec {
    id: BlockCodecId,
    level: i32,
    /// Number of the format of columns in the pool.
    columns: Option<u32>,
}

impl PageCodec {
    /// Pages as they are.
    pub const NONE: Self = Self::with_default_level(BlockCodecId::None);

    /// A codec and its level; its default if absent.
    ///
    /// # Errors
    /// A level the codec does not have.
    pub fn new(id: BlockCodecId, level: Option<i32>) -> Result<Self, OpenError> {
        let options = BlockOptions {
            level,
            dictionary: None,
        };
        open(id, &options)?;
        Ok(Self {
            id,
            level: level.unwrap_or(id.default_level()),
            columns: None,
        })
    }

    const fn with_default_level(id: BlockCodecId) -> Self {
        Self {
            id,
            level: id.default_level(),
            columns: None,
        }
    }

    /// The codec.
    #[must_use]
    pub const fn id(&self) -> BlockCodecId {
        self.id
    }

    /// The same for pages by rows.
    pub(super) fn by_rows(self) -> Self {
        Self {
            columns: None,
            ..self
        }
    }

    pub(super) fn by_columns(self, number: u32) -> Self {
        Self {
            columns: Some(number),
            ..self
        }
    }

    pub(super) fn columns(self) -> Option<u32> {
        self.columns
    }

    pub(super) fn compresses(&self) -> bool {
        self.id != BlockCodecId::None
    }
}

/// Codecs that nobody uses at the moment. A codec owns tables it works with, so making one for each page would cost
/// more than some pages do.
#[derive(Default)]
pub(super) struct CodecShelf {
    codecs: Mutex<Vec<(PageCodec, Box<dyn BlockCodec>)>>,
}

impl CodecShelf {
    /// Runs `work` with a codec to compress.
    pub(super) fn with<R>(
        &self,
        codec: PageCodec,
        work: impl FnOnce(&mut dyn BlockCodec) -> R,
    ) -> Result<R, OpenError> {
        let codec = codec.by_rows();
        let mut borrowed = match self.take(codec) {
            Some(found) => found,
            None => {
                let options = BlockOptions {
                    level: Some(codec.level),
                    dictionary: None,
                };
                open(codec.id, &options)?
            }
        };
        let result = work(borrowed.as_mut());
        self.lock().push((codec, borrowed));
        Ok(result)
    }

    /// Runs `work` with a codec to decompress: the level does not matter.
    pub(super) fn with_any_level<R>(
        &self,
        id: BlockCodecId,
        work: impl FnOnce(&mut dyn BlockCodec) -> R,
    ) -> Result<R, OpenError> {
        self.with(PageCodec::with_default_level(id), work)
    }

    fn take(&self, codec: PageCodec) -> Option<Box<dyn BlockCodec>> {
        let mut codecs = self.lock();
        let at = codecs.iter().position(|(known, _)| *known == codec)?;
        Some(codecs.swap_remove(at).1)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(PageCodec, Box<dyn BlockCodec>)>> {
        self.codecs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
