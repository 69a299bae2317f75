//! How the pages of a test are stored.

use quire_codec::block::BlockCodecId;
use quire_store::pool::{PageCodec, PageTarget, Pool, PoolPolicy};

use super::PageCompressionError;

/// Bytes of a compressed page in the file: the paper's target (§VI-A).
pub(crate) const SLOT_BYTES: usize = 8 << 10;

/// One of the paper's three configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStorage {
    Uncompressed,
    Lz4Hc,
    Zlib,
}

impl RecordStorage {
    pub(crate) const ALL: [Self; 3] = [Self::Uncompressed, Self::Lz4Hc, Self::Zlib];
    pub(crate) const COMPRESSED: [Self; 2] = [Self::Lz4Hc, Self::Zlib];

    /// As the paper's tables write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uncompressed => "uncompressed",
            Self::Lz4Hc => "lz4hc",
            Self::Zlib => "zlib",
        }
    }

    pub(crate) fn is_compressed(self) -> bool {
        self != Self::Uncompressed
    }

    /// InnoDB's pool has nothing but pages where they are not compressed, and a tenth of its memory for them where they are (§III).
    pub(crate) fn policy(self) -> PoolPolicy {
        match self {
            Self::Uncompressed => PoolPolicy::Twins {
                uncompressed_percent: 100,
            },
            Self::Lz4Hc | Self::Zlib => PoolPolicy::TWINS,
        }
    }

    /// The codec of the tree with that number.
    pub(crate) fn codec(
        self,
        pool: &Pool,
        tree: u64,
        splits_in_advance: bool,
    ) -> Result<PageCodec, PageCompressionError> {
        let id = match self {
            Self::Uncompressed => return Ok(PageCodec::NONE),
            Self::Lz4Hc => BlockCodecId::Lz4Hc,
            Self::Zlib => BlockCodecId::Zlib,
        };
        let target = PageTarget {
            splits_in_advance,
            ..PageTarget::new(SLOT_BYTES)
        };
        Ok(pool.with_target(PageCodec::new(id, None)?, tree, target))
    }
}
