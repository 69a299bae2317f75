//! Strings that are coded one at a time with a table that is kept, whichever kind of table it is.

use super::{FsstTable, HuffmanTable};
use crate::{CodecId, Corrupt};

/// A table in whose codes strings are stored, each by itself.
///
/// ```
/// use quire_codec::CodecId;
/// use quire_codec::text::StringCodes;
///
/// let sample: Vec<String> = (0..500).map(|n| format!("furiously ironic deposits nag {n}")).collect();
/// let sample: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
/// for codec in [CodecId::Fsst, CodecId::Huffman] {
///     let table = StringCodes::train(codec, &sample).ok_or("no table has this codec")?;
///     let mut codes = Vec::new();
///     assert!(table.encode_if_shorter(b"ironic deposits", &mut codes));
///     assert_eq!(table.text(&codes).to_vec()?, b"ironic deposits");
///     assert_eq!(StringCodes::from_bytes(codec, &table.to_bytes())?, table);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StringCodes {
    /// Codes of symbols of up to 8 bytes.
    Fsst(Box<FsstTable>),
    /// Words of bytes.
    Huffman(Box<HuffmanTable>),
}

impl From<FsstTable> for StringCodes {
    fn from(table: FsstTable) -> Self {
        Self::Fsst(Box::new(table))
    }
}

impl From<HuffmanTable> for StringCodes {
    fn from(table: HuffmanTable) -> Self {
        Self::Huffman(Box::new(table))
    }
}

impl StringCodes {
    /// The table for strings like those of `sample`; `None` for codecs that have no tables for single strings.
    #[must_use]
    pub fn train(codec: CodecId, sample: &[&[u8]]) -> Option<Self> {
        match codec {
            CodecId::Fsst => Some(FsstTable::train(sample).into()),
            CodecId::Huffman => Some(HuffmanTable::train(sample).into()),
            _ => None,
        }
    }

    /// Reads what [`Self::to_bytes`] of a table of this codec has written.
    ///
    /// # Errors
    /// Codecs that have no such tables, and bytes that are none.
    pub fn from_bytes(codec: CodecId, bytes: &[u8]) -> Result<Self, Corrupt> {
        match codec {
            CodecId::Fsst => FsstTable::from_bytes(bytes).map(Self::from),
            CodecId::Huffman => HuffmanTable::from_bytes(bytes).map(Self::from),
            other => {
                let what = format!("codec {other} has no tables for single strings");
                Err(Corrupt::new(what, 0))
            }
        }
    }

    /// Which codes they are.
    #[must_use]
    pub const fn codec(&self) -> CodecId {
        match self {
            Self::Fsst(_) => CodecId::Fsst,
            Self::Huffman(_) => CodecId::Huffman,
        }
    }

    /// The table as bytes, without its codec: at most 2,296.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Fsst(table) => table.to_bytes(),
            Self::Huffman(table) => table.to_bytes(),
        }
    }

    /// Appends the codes of `value` to `codes`, if they are fewer than its bytes; says whether they are.
    pub fn encode_if_shorter(&self, value: &[u8], codes: &mut Vec<u8>) -> bool {
        match self {
            Self::Fsst(table) => table.encode_if_shorter(value, codes),
            Self::Huffman(table) => table.encode_if_shorter(value, codes),
        }
    }

    /// The string that `codes` stand for, which [`Self::encode_if_shorter`] has written. Nothing is decoded yet.
    #[inline]
    #[must_use]
    pub const fn text<'a>(&'a self, codes: &'a [u8]) -> CodedText<'a> {
        CodedText { table: self, codes }
    }
}

/// A string in the codes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedText<'a> {
    table: &'a StringCodes,
    codes: &'a [u8],
}

impl CodedText<'_> {
    /// Decodes the string and appends it: at most 8 bytes for a byte of codes.
    ///
    /// # Errors
    /// Codes that stand for nothing; `target` is then as it was.
    #[inline]
    pub fn append_to(&self, target: &mut Vec<u8>) -> Result<(), Corrupt> {
        match self.table {
            StringCodes::Fsst(table) => table.decode(self.codes, target),
            StringCodes::Huffman(table) => table.decode(self.codes, target),
        }
    }

    /// The string.
    ///
    /// # Errors
    /// As [`Self::append_to`].
    pub fn to_vec(&self) -> Result<Vec<u8>, Corrupt> {
        let mut text = Vec::new();
        self.append_to(&mut text)?;
        Ok(text)
    }
}
