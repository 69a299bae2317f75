//! Where the sections of a segment lie: figure 6.3, with the fields the paper leaves to the reader.
//!
//! | bytes | section |
//! |---|---|
//! | 40 | header, below |
//! | 4 · G | entry points, one for each group of 128 values, G = ⌈values / 128⌉: bits 0–6 are the place in the group of its first exception (0 if it has none), bits 7–31 the number of exceptions before the group |
//! | B · G | only PFOR-DELTA: the running total before each group, B bytes each |
//! | B · D | only PDICT with a dictionary of its own: its D values |
//! | w · ⌈values / 32⌉ · 4 | codes of w bits, growing forward |
//! | B · E | exceptions, growing backward: exception `k` of E is the B bytes that end B · `k` before the end of the segment |
//!
//! | offset | header field |
//! |---|---|
//! | 0 | u8 version of the layout, 1 |
//! | 1 | u8 scheme: 1 PFOR, 2 PFOR-DELTA, 3 PDICT |
//! | 2 | u8 type: 1 i8, 2 u8, 3 i16, 4 u16, 5 i32, 6 u32, 7 i64, 8 u64; B is 1, 1, 2, 2, 4, 4, 8, 8 |
//! | 3 | u8 code width w in bits, 0 to 8 · B |
//! | 4 | u8 how exceptions are marked: 1 linked, 2 escaped |
//! | 5 | u8 dictionary: 0 none, 1 in the segment, 2 that of an earlier segment |
//! | 6 | u16 zero |
//! | 8 | u32 values, at most 2²⁵ |
//! | 12 | u32 exceptions E, at most as many |
//! | 16 | u64 bits of the base, of the base of the differences, or 0; extended with zeros |
//! | 24 | u32 offset of the codes |
//! | 28 | u32 bytes of the segment |
//! | 32 | u32 values in the dictionary D, at most 2²⁰; 0 without one |
//! | 36 | u32 fingerprint of the dictionary: FNV-1a of its values' bytes; 0 without one |
//!
//! All numbers are little endian. A code of a value is its distance from the base (PFOR), the distance of its
//! difference from the value before from the base (PFOR-DELTA, the value before the first being the first
//! running total), or its place in the dictionary (PDICT).
//!
//! *Linked*: the code of an exception is the number of values between it and the next exception of its group;
//! the code of a group's last exception is 0 and means nothing. How many exceptions a group has follows from
//! the next entry point, or for the last group from E.
//!
//! *Escaped*: the code of an exception is 2ʷ − 1, which no other value has.

use super::word::UnsignedWord;
use super::{GROUP_VALUES, Marking, SuperScalarScheme, VALUES_MAX, bit_pack, dictionary};
use quire_codec::{Corrupt, ImageCursor};
use std::ops::Range;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 40;
/// Bits of an entry point that hold the place of the first exception in the group.
const PLACE_BITS: u32 = GROUP_VALUES.trailing_zeros();
const ENTRY_BYTES: usize = 4;

/// Whose dictionary the codes of a segment point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum DictionaryKind {
    None = 0,
    Own = 1,
    Earlier = 2,
}

/// The fields of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SuperScalarHeader {
    pub(super) scheme: SuperScalarScheme,
    pub(super) type_id: u8,
    pub(super) width: usize,
    pub(super) marking: Marking,
    pub(super) dictionary_kind: DictionaryKind,
    pub(super) value_count: usize,
    pub(super) exception_count: usize,
    pub(super) base: u64,
    pub(super) dictionary_count: usize,
    pub(super) dictionary_fingerprint: u32,
}

/// Byte ranges of the sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sections {
    pub(super) entries: Range<usize>,
    pub(super) totals: Range<usize>,
    pub(super) dictionary: Range<usize>,
    pub(super) codes: Range<usize>,
    pub(super) exceptions: Range<usize>,
}

impl SuperScalarHeader {
    pub(super) fn group_count(&self) -> usize {
        self.value_count.div_ceil(GROUP_VALUES)
    }

    /// Where the sections of a segment of words `U` lie. The limits on the counts keep this below 2³⁰.
    pub(super) fn sections<U: UnsignedWord>(&self) -> Sections {
        let totals_count = match self.scheme {
            SuperScalarScheme::PforDelta => self.group_count(),
            SuperScalarScheme::Pfor | SuperScalarScheme::Pdict => 0,
        };
        let dictionary_count = match self.dictionary_kind {
            DictionaryKind::Own => self.dictionary_count,
            DictionaryKind::None | DictionaryKind::Earlier => 0,
        };
        let iterations = self.value_count.div_ceil(bit_pack::UNROLLED_CODES);
        let entries = HEADER_BYTES..HEADER_BYTES + ENTRY_BYTES * self.group_count();
        let totals = entries.end..entries.end + U::BYTES * totals_count;
        let dictionary = totals.end..totals.end + U::BYTES * dictionary_count;
        let codes = dictionary.end..dictionary.end + iterations * 4 * self.width;
        let exceptions = codes.end..codes.end + U::BYTES * self.exception_count;
        Sections {
            entries,
            totals,
            dictionary,
            codes,
            exceptions,
        }
    }

    /// Appends the header of a segment of words `U`.
    pub(super) fn append<U: UnsignedWord>(&self, out: &mut Vec<u8>) {
        let sections = self.sections::<U>();
        out.extend_from_slice(&[
            VERSION,
            self.scheme as u8,
            self.type_id,
            self.width as u8,
            self.marking as u8,
            self.dictionary_kind as u8,
            0,
            0,
        ]);
        out.extend_from_slice(&(self.value_count as u32).to_le_bytes());
        out.extend_from_slice(&(self.exception_count as u32).to_le_bytes());
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&(sections.codes.start as u32).to_le_bytes());
        out.extend_from_slice(&(sections.exceptions.end as u32).to_le_bytes());
        out.extend_from_slice(&(self.dictionary_count as u32).to_le_bytes());
        out.extend_from_slice(&self.dictionary_fingerprint.to_le_bytes());
    }

    /// Reads and checks the header of a segment that is all of `image`, of words `U` of type `type_id`.
    pub(super) fn read<U: UnsignedWord>(
        image: &[u8],
        type_id: u8,
    ) -> Result<(Self, Sections), Corrupt> {
        let mut cursor = ImageCursor::new(image, 0..image.len())?;
        if cursor.u8("layout version")? != VERSION {
            return Err(Corrupt::new("unknown version of the segment layout", 0));
        }
        let scheme = SuperScalarScheme::from_u8(cursor.u8("scheme")?)
            .ok_or_else(|| Corrupt::new("unknown scheme", 1))?;
        if cursor.u8("type")? != type_id {
            return Err(Corrupt::new("the segment holds another type", 2));
        }
        let width = usize::from(cursor.u8("code width")?);
        if width > U::BITS {
            return Err(Corrupt::new("codes are wider than the type", 3));
        }
        let marking = Marking::from_u8(cursor.u8("marking")?)
            .ok_or_else(|| Corrupt::new("unknown marking of exceptions", 4))?;
        let dictionary_kind = match (scheme, cursor.u8("dictionary kind")?) {
            (SuperScalarScheme::Pfor | SuperScalarScheme::PforDelta, 0) => DictionaryKind::None,
            (SuperScalarScheme::Pdict, 1) => DictionaryKind::Own,
            (SuperScalarScheme::Pdict, 2) => DictionaryKind::Earlier,
            _ => return Err(Corrupt::new("wrong kind of dictionary for the scheme", 5)),
        };
        if cursor.u16("padding")? != 0 {
            return Err(Corrupt::new("padding is not zero", 6));
        }
        let value_count = cursor.u32("value count")? as usize;
        let exception_count = cursor.u32("exception count")? as usize;
        let base = cursor.u64("base")?;
        let codes_start = cursor.u32("offset of the codes")? as usize;
        let segment_bytes = cursor.u32("bytes of the segment")? as usize;
        let header = Self {
            scheme,
            type_id,
            width,
            marking,
            dictionary_kind,
            value_count,
            exception_count,
            base,
            dictionary_count: cursor.u32("dictionary count")? as usize,
            dictionary_fingerprint: cursor.u32("dictionary fingerprint")?,
        };
        header.check_counts::<U>()?;
        let sections = header.sections::<U>();
        if sections.codes.start != codes_start {
            return Err(Corrupt::new("the codes start elsewhere", 24));
        }
        if sections.exceptions.end != segment_bytes || segment_bytes != image.len() {
            return Err(Corrupt::new("the segment is longer or shorter", 28));
        }
        Ok((header, sections))
    }

    fn check_counts<U: UnsignedWord>(&self) -> Result<(), Corrupt> {
        if self.value_count > VALUES_MAX {
            return Err(Corrupt::new("more values than a segment can hold", 8));
        }
        if self.exception_count > self.value_count {
            return Err(Corrupt::new("more exceptions than values", 12));
        }
        if U::truncate(self.base).wide() != self.base {
            return Err(Corrupt::new("the base is wider than the type", 16));
        }
        if self.scheme == SuperScalarScheme::Pdict && self.base != 0 {
            return Err(Corrupt::new("a dictionary has no base", 16));
        }
        if self.dictionary_kind == DictionaryKind::None && self.dictionary_fingerprint != 0 {
            return Err(Corrupt::new("the fingerprint of no dictionary", 36));
        }
        let dictionary_counts = match self.dictionary_kind {
            DictionaryKind::None => 0..=0,
            DictionaryKind::Own | DictionaryKind::Earlier => 1..=dictionary::VALUES_MAX,
        };
        if dictionary_counts.contains(&self.dictionary_count) {
            Ok(())
        } else {
            Err(Corrupt::new("wrong number of values in the dictionary", 32))
        }
    }
}

/// The entry point of a group whose first exception is at `place` and has `before` exceptions before it.
pub(super) fn entry(place: usize, before: usize) -> u32 {
    debug_assert!(place < GROUP_VALUES && before < VALUES_MAX);
    (before as u32) << PLACE_BITS | place as u32
}

/// The exceptions of one group.
#[derive(Clone, Debug)]
pub(super) struct GroupExceptions {
    /// Place in the group of the first one.
    pub(super) place: usize,
    /// Their numbers, counted from the segment's first exception.
    pub(super) numbers: Range<usize>,
}

/// The exceptions of group `group`, of which there is one, as its entry point and the next one tell.
pub(super) fn group_exceptions(
    header: &SuperScalarHeader,
    entries: &[u8],
    group: usize,
) -> Result<GroupExceptions, Corrupt> {
    let read = |index: usize| {
        let bytes = entries.get(ENTRY_BYTES * index..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let corrupt = |what| Corrupt::new(what, HEADER_BYTES + ENTRY_BYTES * group);
    let entry = read(group).ok_or_else(|| corrupt("no such group of values"))?;
    let place = (entry % (1 << PLACE_BITS)) as usize;
    let start = (entry >> PLACE_BITS) as usize;
    let end = match read(group + 1) {
        Some(next) => (next >> PLACE_BITS) as usize,
        None => header.exception_count,
    };
    let rows = header.value_count - GROUP_VALUES * group;
    let count = end.checked_sub(start);
    if count.is_none_or(|count| count > rows.min(GROUP_VALUES)) {
        return Err(corrupt("an entry point disagrees with the next"));
    }
    if end > header.exception_count || (group == 0 && start != 0) {
        return Err(corrupt("an entry point leaves the exceptions"));
    }
    Ok(GroupExceptions {
        place,
        numbers: start..end,
    })
}
