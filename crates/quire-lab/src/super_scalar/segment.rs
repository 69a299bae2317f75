//! A segment opened for reading.

use super::decompress::{self, DecompressRows};
use super::dictionary::SuperScalarDictionary;
use super::layout::{DictionaryKind, SuperScalarHeader};
use super::parts::SegmentSections;
use super::word::{Integer, UnsignedWord};
use super::{GROUP_VALUES, SuperScalarScheme, fine_grained};
use quire_codec::{Corrupt, VECTOR_VALUES, vector_rows};
use std::sync::Arc;

/// A segment of values, to be decoded by vectors or groups, or one value at a time.
#[derive(Clone, Debug)]
pub struct Segment<'a, T: Integer> {
    parts: SegmentSections<'a, T>,
    /// Codes of the vector being decoded.
    codes: Box<[T::Bits; VECTOR_VALUES]>,
}

impl<'a, T: Integer> Segment<'a, T> {
    /// Opens the segment that is all of `image`. One that reuses a dictionary needs it as `earlier`: that of
    /// the earlier segment, see [`Segment::dictionary`]. Fails if the header is wrong, or names another
    /// dictionary.
    pub fn open(
        image: &'a [u8],
        earlier: Option<&Arc<SuperScalarDictionary<T>>>,
    ) -> Result<Self, Corrupt> {
        let (header, sections) = SuperScalarHeader::read::<T::Bits>(image, T::TYPE_ID)?;
        let section = |range: &std::ops::Range<usize>| image.get(range.clone()).unwrap_or_default();
        let dictionary = match header.dictionary_kind {
            DictionaryKind::None => None,
            DictionaryKind::Earlier => earlier.cloned(),
            DictionaryKind::Own => {
                let bytes = section(&sections.dictionary).chunks_exact(T::Bits::BYTES);
                SuperScalarDictionary::of_bits(bytes.map(T::Bits::read).collect()).map(Arc::new)
            }
        };
        let named = |dictionary: &Arc<SuperScalarDictionary<T>>| {
            dictionary.count() == header.dictionary_count
                && dictionary.fingerprint() == header.dictionary_fingerprint
        };
        if header.dictionary_kind != DictionaryKind::None && !dictionary.as_ref().is_some_and(named)
        {
            return Err(Corrupt::new("the dictionary is not the one named", 36));
        }
        let parts = SegmentSections {
            entries: section(&sections.entries),
            totals: section(&sections.totals),
            codes: section(&sections.codes),
            exceptions: section(&sections.exceptions),
            dictionary,
            header,
            sections,
        };
        Ok(Self {
            parts,
            codes: Box::new([T::Bits::default(); VECTOR_VALUES]),
        })
    }

    /// How its values became codes.
    pub fn scheme(&self) -> SuperScalarScheme {
        self.parts.header.scheme
    }

    /// Bits of a code.
    pub fn width(&self) -> usize {
        self.parts.header.width
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        self.parts.header.value_count
    }

    /// Number of exceptions, compulsory ones included.
    pub fn exception_count(&self) -> usize {
        self.parts.header.exception_count
    }

    /// The dictionary the codes point into, of PDICT.
    pub fn dictionary(&self) -> Option<&Arc<SuperScalarDictionary<T>>> {
        self.parts.dictionary.as_ref()
    }

    /// Decodes values 1024 · `vector` and following into `out`, and returns how many they are; `out` is
    /// arbitrary beyond them and after an error.
    pub fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [T; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.value_count(), vector);
        if rows == 0 {
            return Err(Corrupt::new("no such vector of values", 8));
        }
        let group = vector * (VECTOR_VALUES / GROUP_VALUES);
        let codes = &mut self.codes[..];
        decompress::decode(
            &self.parts,
            DecompressRows { group, rows },
            codes,
            T::as_bits_mut(out),
        )?;
        Ok(rows)
    }

    /// Decodes values 128 · `group` and following, the values of one entry point, as [`Segment::decode_vector`]
    /// does.
    pub fn decode_group(
        &self,
        group: usize,
        out: &mut [T; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        let before = group.saturating_mul(GROUP_VALUES);
        let rows = self.value_count().saturating_sub(before).min(GROUP_VALUES);
        if rows == 0 {
            return Err(Corrupt::new("no such group of values", 8));
        }
        let mut codes = [T::Bits::default(); GROUP_VALUES];
        decompress::decode(
            &self.parts,
            DecompressRows { group, rows },
            &mut codes,
            T::as_bits_mut(out),
        )?;
        Ok(rows)
    }

    /// Value `position`, without decoding others; with PFOR-DELTA its group has to be decoded.
    pub fn value(&self, position: usize) -> Result<T, Corrupt> {
        if position >= self.value_count() {
            return Err(Corrupt::new("no such value", 8));
        }
        if self.parts.header.scheme == SuperScalarScheme::PforDelta {
            let mut group = [T::default(); GROUP_VALUES];
            self.decode_group(position / GROUP_VALUES, &mut group)?;
            return Ok(group[position % GROUP_VALUES]);
        }
        fine_grained::value(&self.parts, position).map(T::from_bits)
    }
}
