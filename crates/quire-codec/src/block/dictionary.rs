//! Dictionaries for zstd: what blocks have in common.

use super::CodecOpenError;
use std::sync::Arc;

/// The longest dictionary, so that a reader knows what a damaged length cannot ask for.
pub const DICTIONARY_BYTES_MAX: usize = 1 << 20;

/// The shortest dictionary: the bytes of a string that training counts.
pub(super) const STRING_BYTES: usize = 8;

/// A dictionary of zstd: plain content, or the format of `zstd --train`. Blocks compressed with it can only
/// be decompressed with it.
#[derive(Clone, PartialEq, Eq)]
pub struct ZstdDictionary {
    bytes: Arc<[u8]>,
    id: u64,
}

impl std::fmt::Debug for ZstdDictionary {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Dictionary({} bytes)", self.bytes.len())
    }
}

impl ZstdDictionary {
    /// A dictionary that was stored, of 8 to [`DICTIONARY_BYTES_MAX`] bytes.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Result<Self, CodecOpenError> {
        let bytes = bytes.into();
        if (STRING_BYTES..=DICTIONARY_BYTES_MAX).contains(&bytes.len()) {
            Ok(Self { bytes, id: 0 })
        } else {
            Err(CodecOpenError::DictionaryLength { bytes: bytes.len() })
        }
    }

    /// The same under a name, so that what is stored can say which dictionary it needs. 0 is no name.
    #[must_use]
    pub fn with_id(self, id: u64) -> Self {
        Self { id, ..self }
    }

    /// Its name; 0 if it has none.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// What to store.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
