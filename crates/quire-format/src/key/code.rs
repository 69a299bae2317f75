//! Order-preserving codes for strings of keys (paper 1 §3.2.2).

use std::fmt;
use std::sync::Arc;

use quire_codec::Corrupt;
use quire_codec::ordered::OrderedCode;

/// Symbols of several bytes that a trained code has: its table takes some 5 KB.
const SYMBOLS: usize = 1024;

/// A code for the strings of a column of keys: what stands for them compares as they do. Any string has one.
#[derive(Clone)]
pub struct KeyCode {
    code: Arc<OrderedCode>,
    bytes: Arc<[u8]>,
}

impl PartialEq for KeyCode {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for KeyCode {}

impl fmt::Debug for KeyCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeyCode")
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl KeyCode {
    /// A code for strings like those of `sample`, of which 1 MB is enough.
    pub fn train<'a>(sample: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let code = OrderedCode::train(sample, SYMBOLS);
        Self {
            bytes: code.to_bytes().into(),
            code: Arc::new(code),
        }
    }

    /// Reads what [`Self::as_bytes`] has given.
    ///
    /// # Errors
    /// [`Corrupt`] for bytes that are no code.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Corrupt> {
        Ok(Self {
            code: Arc::new(OrderedCode::from_bytes(bytes)?),
            bytes: bytes.into(),
        })
    }

    /// The code, to be stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn encode(&self, string: &[u8]) -> Vec<u8> {
        let mut coded = Vec::with_capacity(string.len());
        self.code.encode(string, &mut coded);
        coded
    }

    pub(super) fn decode(&self, coded: &[u8], string: &mut Vec<u8>) -> Result<(), Corrupt> {
        self.code.decode(coded, string)
    }
}
