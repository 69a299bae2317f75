//! Dictionaries that live on: one for the payloads of several row groups (Zukowski §6.2.1 and §6.2.3).
//!
//! A column mostly has the same strings in all of its row groups. A *shared dictionary* is stored by itself, and a payload that refers to it has
//! only what it misses there. Codes then mean the same in all payloads that refer to it.
//!
//! | size | field of a shared dictionary |
//! |---|---|
//! | 1 | version, 1 |
//! | 8 | fingerprint: FNV-1a of 64 bits over all that follows, the section as it was before it was compressed |
//! | 4 | number of strings, 1 to [`ROWS_MAX`] |
//! | … | a section ([`super::section`]) with their lengths and their bytes, ascending, as in a dictionary payload |
//!
//! | size | field of a payload that refers to one |
//! |---|---|
//! | 8 | its fingerprint |
//! | 4 | the number of its strings |
//! | 4 | number of own strings, which are not in it |
//! | … | if there are any: a section with them, ascending |
//! | … | the codes, a sequence of 32-bit integers ([`crate::int::sequence`]): those of the shared dictionary, then those of own strings |
//!
//! The fingerprint tells a dictionary from another, not from one made to deceive: bounds and order are checked besides.

use super::dictionary::{TextDictionaryDecoder, append_section};
use super::dictionary_values::{DictionaryValues, raw_section};
use super::{PayloadImage, section};
use crate::int::sequence;
use crate::{BytesSlice, Corrupt, ImageCursor, ROWS_MAX, VECTOR_VALUES, vector_count};
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

const VERSION: u8 = 1;

/// Bytes of the strings and lengths of a shared dictionary: it stays in memory while a table is read or written.
const RAW_BYTES_MAX: usize = 4 << 20;

/// Share of the own strings that must be in a dictionary for it to be used instead, in per cent.
const SHARED_PERCENT_MIN: usize = 90;

/// The strings of a dictionary are at most so many times those that are used of it: predicates are evaluated on all of them.
const UNUSED_FACTOR_MAX: usize = 4;

/// Strings that ascend, to which payloads of several row groups refer.
#[derive(Debug, Clone)]
pub struct SharedDictionary {
    values: Arc<DictionaryValues>,
    fingerprint: u64,
}

impl SharedDictionary {
    /// No dictionary is stored in more bytes: header, lengths of the section, and at most 4 MiB of strings and their lengths, which may be compressed.
    pub const STORED_BYTES_MAX: usize = 1 + 8 + 4 + 2 * 4 + RAW_BYTES_MAX;

    /// Reads what [`OwnDictionary::to_shared`] wrote.
    ///
    /// # Errors
    /// [`Corrupt`] for other bytes, for strings that do not have the fingerprint, and for more than 4 MiB of them. Allocates no more than a few times
    /// that.
    pub fn open(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(bytes, 0..bytes.len())?;
        let version = cursor.u8("version of a shared dictionary")?;
        if version != VERSION {
            let what = format!("shared dictionary of version {version}, expected {VERSION}");
            return Err(Corrupt::new(what, 0));
        }
        let fingerprint = cursor.u64("fingerprint")?;
        let count = cursor.u32("number of strings")?;
        if count == 0 || count as usize > ROWS_MAX {
            return Err(Corrupt::new(format!("dictionary of {count} strings"), 9));
        }
        let offset = cursor.position();
        let raw = section::read(&mut cursor, RAW_BYTES_MAX, "shared dictionary")?;
        cursor.finish("shared dictionary")?;
        // A section that is not compressed is as long as `bytes` allows.
        if raw.len() > RAW_BYTES_MAX {
            let what = format!(
                "shared dictionary of {} bytes, at most {RAW_BYTES_MAX} are allowed",
                raw.len()
            );
            return Err(Corrupt::new(what, offset));
        }
        let found = fingerprint_of(count, &raw);
        if found != fingerprint {
            let what = format!(
                "strings with fingerprint {found:016x}, the dictionary says {fingerprint:016x}"
            );
            return Err(Corrupt::new(what, 1));
        }
        let values = DictionaryValues::of_raw(&raw, count as usize);
        Ok(Self {
            values: Arc::new(values.map_err(|error| Corrupt { offset, ..error })?),
            fingerprint,
        })
    }

    /// What payloads name the dictionary by.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Number of its strings, at least 1.
    pub fn string_count(&self) -> usize {
        self.values.len()
    }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
fn fingerprint_of(count: u32, raw: &[u8]) -> u64 {
    let bytes = count.to_le_bytes().into_iter().chain(raw.iter().copied());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A dictionary payload, which may become one that refers to a shared dictionary.
///
/// ```
/// use quire_codec::text::{BytesDecoder, OwnDictionary, encode};
/// use quire_codec::{BytesSlice, CodecId};
/// use std::sync::Arc;
///
/// let values = BytesSlice { offsets: &[0, 5, 9, 14], data: b"applepearapple" };
/// let payload: Arc<[u8]> = encode(CodecId::Dictionary, &values)?.into();
/// let length = payload.len();
/// let own = OwnDictionary::open(payload, 0..length, 3)?;
/// let (shared, stored) = own.to_shared().ok_or("too large")?;
/// assert!(own.is_mostly_in(&shared));
/// let payload: Arc<[u8]> = own.refer_to(&shared)?.into();
/// let length = payload.len();
/// let decoder = BytesDecoder::open_shared(payload, 0..length, 3, &shared)?;
/// assert_eq!(decoder.dictionary_value(1), Some(&b"pear"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OwnDictionary {
    image: Arc<[u8]>,
    /// Where the section with the strings is.
    section: Range<usize>,
    decoder: TextDictionaryDecoder,
    row_count: usize,
}

impl OwnDictionary {
    /// Opens the payload of a dictionary at `image[payload]`, which has `row_count` rows.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not such a payload.
    pub fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let payload = PayloadImage::new(image, payload, row_count)?;
        let mut cursor = payload.cursor()?;
        cursor.u32("number of distinct values")?;
        let start = cursor.position();
        cursor.u32("dictionary")?;
        let stored_bytes = cursor.u32("dictionary")? as usize;
        let section = start..cursor.take(stored_bytes, "dictionary")?.end;
        Ok(Self {
            section,
            decoder: TextDictionaryDecoder::open(&payload, row_count)?,
            image: payload.image,
            row_count,
        })
    }

    /// Bytes that the strings take in the payload.
    pub fn stored_bytes(&self) -> usize {
        self.section.len()
    }

    /// A shared dictionary of these strings, and its bytes. `None` without strings, and if they are too long to stay in memory.
    pub fn to_shared(&self) -> Option<(SharedDictionary, Vec<u8>)> {
        let values = self.decoder.values();
        let strings: Vec<&[u8]> = values.iter().collect();
        let raw = raw_section(&strings);
        let count = u32::try_from(strings.len())
            .ok()
            .filter(|count| *count > 0)?;
        if raw.len() > RAW_BYTES_MAX {
            return None;
        }
        let fingerprint = fingerprint_of(count, &raw);
        let mut stored = vec![VERSION];
        stored.extend_from_slice(&fingerprint.to_le_bytes());
        stored.extend_from_slice(&count.to_le_bytes());
        stored.extend_from_slice(self.image.get(self.section.clone())?);
        let shared = SharedDictionary {
            values: Arc::clone(values),
            fingerprint,
        };
        Some((shared, stored))
    }

    /// Whether nine of ten strings are in `dictionary`, and these are at least a quarter of the dictionary's: then [`Self::refer_to`] may pay.
    pub fn is_mostly_in(&self, dictionary: &SharedDictionary) -> bool {
        let own_count = self.decoder.len();
        let missing = self.places_in(dictionary).1.len();
        let found = own_count - missing;
        found > 0
            && found * 100 >= own_count * SHARED_PERCENT_MIN
            && found * UNUSED_FACTOR_MAX >= dictionary.string_count()
    }

    /// The payload of the same rows that refers to `dictionary`.
    ///
    /// # Errors
    /// [`Corrupt`] when codes of the payload stand for no string.
    pub fn refer_to(&self, dictionary: &SharedDictionary) -> Result<Vec<u8>, Corrupt> {
        let (places, missing) = self.places_in(dictionary);
        let mut codes = Vec::with_capacity(self.row_count);
        let mut vector_codes = [0; VECTOR_VALUES];
        for vector in 0..vector_count(self.row_count) {
            let rows = self.decoder.decode_codes(vector, &mut vector_codes)?;
            // Decoding has checked that they are less than the number of strings.
            let new_codes = vector_codes[..rows]
                .iter()
                .map(|code| places[*code as usize]);
            codes.extend(new_codes);
        }
        let mut payload = Vec::new();
        payload.extend_from_slice(&dictionary.fingerprint.to_le_bytes());
        payload.extend_from_slice(&(dictionary.string_count() as u32).to_le_bytes());
        payload.extend_from_slice(&(missing.len() as u32).to_le_bytes());
        if !missing.is_empty() {
            append_section(&missing, &mut payload);
        }
        sequence::append(&codes, &mut payload);
        Ok(payload)
    }

    /// The code that each string has in a payload that refers to `dictionary`, and the strings that are not there. Both dictionaries ascend.
    fn places_in(&self, dictionary: &SharedDictionary) -> (Vec<i32>, Vec<&[u8]>) {
        let shared_count = dictionary.string_count();
        let mut places = Vec::with_capacity(self.decoder.len());
        let mut missing = Vec::new();
        let mut shared = dictionary.values.iter().enumerate().peekable();
        for string in self.decoder.values().iter() {
            while shared.next_if(|(_, other)| *other < string).is_some() {}
            let order = shared
                .peek()
                .map(|(code, other)| (*code, (*other).cmp(string)));
            let place = match order {
                Some((code, Ordering::Equal)) => code,
                _ => {
                    missing.push(string);
                    shared_count + missing.len() - 1
                }
            };
            // Neither has more strings than a payload can have rows.
            places.push(place as i32);
        }
        (places, missing)
    }
}

/// Opens a payload that refers to `dictionary`.
pub(super) fn open(
    payload: &PayloadImage,
    row_count: usize,
    dictionary: &SharedDictionary,
) -> Result<TextDictionaryDecoder, Corrupt> {
    let mut cursor = payload.cursor()?;
    let offset = cursor.position();
    let fingerprint = cursor.u64("fingerprint of a dictionary")?;
    let count = cursor.u32("number of shared strings")? as usize;
    let (expected, expected_count) = (dictionary.fingerprint, dictionary.string_count());
    if (fingerprint, count) != (expected, expected_count) {
        let what = format!(
            "{count} strings with fingerprint {fingerprint:016x}, the dictionary has {expected_count} with {expected:016x}"
        );
        return Err(Corrupt::new(what, offset));
    }
    let own_at = cursor.position();
    let own_count = cursor.u32("number of own strings")? as usize;
    if own_count > row_count {
        return Err(Corrupt::new("more own strings than rows", own_at));
    }
    let values = match own_count {
        0 => Arc::clone(&dictionary.values),
        _ => {
            let own = DictionaryValues::read(&mut cursor, own_count, "own strings")?;
            let shared = dictionary.values.strings.as_slice();
            if own.iter().any(|string| contains(&shared, string)) {
                return Err(Corrupt::new("own string is in the dictionary", own_at));
            }
            Arc::new(dictionary.values.followed_by(&own)?)
        }
    };
    let codes = cursor.take(cursor.remaining(), "codes")?;
    TextDictionaryDecoder::of_values(payload, values, codes, row_count)
}

/// Whether a string is among those that ascend.
fn contains(ascending: &BytesSlice<'_>, string: &[u8]) -> bool {
    let (mut low, mut high) = (0, ascending.len());
    while low < high {
        let middle = (low + high) / 2;
        if ascending.get(middle) < string {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low < ascending.len() && ascending.get(low) == string
}
