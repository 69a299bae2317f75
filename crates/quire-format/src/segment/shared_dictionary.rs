//! Dictionary segments of strings that become ones that refer to a shared dictionary.

use super::SHARED_SEGMENT_VERSION;
use super::plain::{PAYLOAD_LENGTH_AT, SegmentParts};
use quire_codec::text::{OwnDictionary, SharedDictionary};
use quire_codec::{CodecId, Corrupt, PhysicalType};
use std::sync::Arc;

/// A segment of strings with a dictionary of its own.
///
/// ```
/// use quire_codec::{BytesSlice, CodecId, CodecScalar, RowGroupValues};
/// use quire_format::segment::{DictionarySegment, SegmentInput, SegmentReader, encode_segment};
/// use std::sync::Arc;
///
/// let values = BytesSlice { offsets: &[0, 5, 9, 14], data: b"applepearapple" };
/// let input = SegmentInput { values: RowGroupValues::Bytes(values), validity: Some(&[0b101]) };
/// let image: Arc<[u8]> = encode_segment(&input, CodecId::Dictionary)?.into();
/// let segment = DictionarySegment::open(&image)?.ok_or("no dictionary")?;
/// let (dictionary, stored) = segment.to_shared().ok_or("too large")?;
/// let image: Arc<[u8]> = segment.refer_to(&dictionary)?.into();
/// let mut reader = SegmentReader::open_shared_part(image.into(), &dictionary)?;
/// assert_eq!(reader.value(2)?, Some(CodecScalar::Bytes(b"apple".to_vec())));
/// assert_eq!(reader.value(1)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DictionarySegment {
    /// Everything in front of the payload.
    head: Vec<u8>,
    own: OwnDictionary,
}

impl DictionarySegment {
    /// Opens the segment that `image` holds, all of it; `None` if it is not a dictionary of strings, or refers to a shared one.
    ///
    /// # Errors
    /// Corrupt bytes.
    pub fn open(image: &Arc<[u8]>) -> Result<Option<Self>, Corrupt> {
        let parts = SegmentParts::read(image, 0..image.len())?;
        let header = parts.header;
        if parts.version == SHARED_SEGMENT_VERSION
            || header.physical_type != PhysicalType::Bytes
            || header.codec != CodecId::Dictionary
        {
            return Ok(None);
        }
        let head = image.get(..parts.payload.start).unwrap_or_default();
        Ok(Some(Self {
            head: head.to_vec(),
            own: OwnDictionary::open(Arc::clone(image), parts.payload, header.row_count)?,
        }))
    }

    /// Bytes that the strings take in the segment.
    pub fn dictionary_bytes(&self) -> usize {
        self.own.stored_bytes()
    }

    /// See [`OwnDictionary::to_shared`].
    pub fn to_shared(&self) -> Option<(SharedDictionary, Vec<u8>)> {
        self.own.to_shared()
    }

    /// See [`OwnDictionary::is_mostly_in`].
    pub fn is_mostly_in(&self, dictionary: &SharedDictionary) -> bool {
        self.own.is_mostly_in(dictionary)
    }

    /// The segment of the same rows that refers to `dictionary`.
    ///
    /// # Errors
    /// Codes of the segment stand for no string, or it has more than 4 GiB.
    pub fn refer_to(&self, dictionary: &SharedDictionary) -> Result<Vec<u8>, Corrupt> {
        let payload = self.own.refer_to(dictionary)?;
        let length = u32::try_from(payload.len())
            .map_err(|_| Corrupt::new("payload passes 4 GiB", PAYLOAD_LENGTH_AT))?;
        let mut image = self.head.clone();
        image[0] = SHARED_SEGMENT_VERSION;
        image[PAYLOAD_LENGTH_AT..PAYLOAD_LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
        image.extend_from_slice(&payload);
        Ok(image)
    }
}
