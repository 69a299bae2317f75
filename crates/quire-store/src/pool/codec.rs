//! How the pages of a tree are compressed, and the codecs that are ready to do it.

use std::sync::{Mutex, PoisonError};

use quire_codec::block::{
    BlockCodec, BlockCodecId, BlockOptions, CodecOpenError, ZstdDictionary, open,
};

/// How the pages of one tree are compressed: none, lz4, lz4hc, zlib, zstd …, and the level. Pages that were compressed
/// in another way stay readable. With [`Pool::by_columns`](super::Pool::by_columns) it says besides that leaves are
/// stored by columns, and with [`Pool::with_dictionaries`](super::Pool::with_dictionaries) that they may have a dictionary, with
/// [`Pool::with_target`](super::Pool::with_target) that their images have a fixed size;
/// such a codec is of that pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCodec {
    id: BlockCodecId,
    level: i32,
    /// Number of the format of columns in the pool.
    columns: Option<u32>,
    /// The tree whose dictionaries are used.
    tree: Option<u64>,
    /// The tree whose leaves have images of a fixed size.
    target: Option<u64>,
}

impl PageCodec {
    /// Pages as they are.
    pub const NONE: Self = Self::with_default_level(BlockCodecId::None);

    /// A codec and its level; its default if absent.
    ///
    /// # Errors
    /// A level the codec does not have.
    pub fn new(id: BlockCodecId, level: Option<i32>) -> Result<Self, CodecOpenError> {
        let options = BlockOptions {
            level,
            dictionary: None,
        };
        open(id, &options)?;
        Ok(Self {
            id,
            level: level.unwrap_or(id.default_level()),
            columns: None,
            tree: None,
            target: None,
        })
    }

    const fn with_default_level(id: BlockCodecId) -> Self {
        Self {
            id,
            level: id.default_level(),
            columns: None,
            tree: None,
            target: None,
        }
    }

    /// The codec.
    #[must_use]
    pub const fn id(&self) -> BlockCodecId {
        self.id
    }

    pub(super) const fn level(&self) -> i32 {
        self.level
    }

    /// Codec and level alone.
    pub(super) fn plain(self) -> Self {
        Self {
            columns: None,
            tree: None,
            target: None,
            ..self
        }
    }

    pub(super) fn of_tree(self, tree: u64) -> Self {
        Self {
            tree: Some(tree),
            ..self
        }
    }

    pub(super) fn without_dictionaries(self) -> Self {
        Self { tree: None, ..self }
    }

    pub(super) fn with_target(self, tree: u64) -> Self {
        Self {
            target: Some(tree),
            ..self
        }
    }

    pub(super) fn target(self) -> Option<u64> {
        self.target
    }

    /// The tree whose pages these are, where the pool was told.
    pub(super) fn tree_number(self) -> Option<u64> {
        self.tree.or(self.target)
    }

    pub(super) fn tree(self) -> Option<u64> {
        self.tree
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

/// Most codecs on the shelf: one with a dictionary takes up to a megabyte.
const SHELF_MAX: usize = 32;

/// Codecs that nobody uses at the moment, those that were used last at the end. A codec owns tables it works with, so making one
/// for each page would cost more than some pages do.
#[derive(Default)]
pub(super) struct CodecShelf {
    codecs: Mutex<Vec<(Label, Box<dyn BlockCodec>)>>,
}

/// Codec and level, and the name of the dictionary.
type Label = (PageCodec, u64);

impl CodecShelf {
    /// Runs `work` with a codec to compress. A dictionary has a name.
    pub(super) fn with<R>(
        &self,
        codec: PageCodec,
        dictionary: Option<ZstdDictionary>,
        work: impl FnOnce(&mut dyn BlockCodec) -> R,
    ) -> Result<R, CodecOpenError> {
        let label = (
            codec.plain(),
            dictionary.as_ref().map_or(0, ZstdDictionary::id),
        );
        let mut borrowed = match self.take(label) {
            Some(found) => found,
            None => {
                let options = BlockOptions {
                    level: Some(codec.level),
                    dictionary,
                };
                open(codec.id, &options)?
            }
        };
        let result = work(borrowed.as_mut());
        let mut codecs = self.lock();
        if codecs.len() >= SHELF_MAX {
            codecs.remove(0);
        }
        codecs.push((label, borrowed));
        Ok(result)
    }

    /// Runs `work` with a codec to decompress: the level does not matter.
    pub(super) fn with_any_level<R>(
        &self,
        id: BlockCodecId,
        dictionary: Option<ZstdDictionary>,
        work: impl FnOnce(&mut dyn BlockCodec) -> R,
    ) -> Result<R, CodecOpenError> {
        self.with(PageCodec::with_default_level(id), dictionary, work)
    }

    fn take(&self, label: Label) -> Option<Box<dyn BlockCodec>> {
        let mut codecs = self.lock();
        let at = codecs.iter().rposition(|(known, _)| *known == label)?;
        Some(codecs.remove(at).1)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Label, Box<dyn BlockCodec>)>> {
        self.codecs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
