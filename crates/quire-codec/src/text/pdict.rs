//! A dictionary of frequent strings, and rare ones aside (PDICT, Zukowski §6.2.2: "whatever is not in the dictionary is an exception").
//!
//! | size | field |
//! |---|---|
//! | 4 | number of rows kept aside |
//! | 4 | size of the dictionary payload |
//! | … | a dictionary payload ([`super::dictionary`]) of all rows; a row kept aside has the code of the row before it, or 0 |
//! | 4 | size of the rows kept aside |
//! | … | which rows are kept aside: a boolean RLE payload ([`crate::boolean`]) |
//! | 1 | codec of their strings, neither this one nor shapes |
//! | … | their strings, in the order of the rows |
//!
//! Where no row is kept aside, nothing follows the dictionary. How many strings are in the dictionary is decided by the histogram (§6.2.10): a
//! power of two, since that is what the width of a code has room for.

use super::dictionary::{self, TextDictionaryDecoder};
use super::interner::Interner;
use super::lengths::{end_row, end_vector};
use super::range_reader::StringRangeReader;
use super::{BytesDecoder, PayloadImage, plain};
use crate::boolean::{self, RowSet};
use crate::{BytesSlice, BytesVector, CodecId, Corrupt, VECTOR_VALUES, vector_count};

/// Says which codec takes the strings that are kept aside. A parameter, because the chooser asks this codec for its size.
pub(super) type CodecOfRest = fn(&BytesSlice) -> CodecId;

/// Rows are kept aside if that saves at least one part in so many of what a dictionary of all strings takes.
const ASIDE_GAIN: usize = 20;

/// Bits of the place of a row kept aside.
const POSITION_BITS: usize = 10;

/// Bits that a string takes, in a dictionary or aside: about half of its bytes, and its length.
fn stored_bits(length: usize) -> usize {
    4 * length + 6
}

/// Bits of the code of one of `size` strings.
fn code_bits(size: usize) -> usize {
    size.max(1).next_power_of_two().trailing_zeros() as usize
}

/// The distinct strings of a column, in the order in which they appear, and the number of each row's.
struct InternedRows<'a> {
    distinct: Vec<&'a [u8]>,
    numbers: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> InternedRows<'a> {
    fn of(values: &BytesSlice<'a>) -> Self {
        let mut interner = Interner::new();
        let numbers: Vec<u32> = values.iter().map(|value| interner.intern(value)).collect();
        let distinct = interner.values().to_vec();
        let mut counts = vec![0; distinct.len()];
        numbers
            .iter()
            .for_each(|number| counts[*number as usize] += 1);
        Self {
            distinct,
            numbers,
            counts,
        }
    }

    /// Which strings are in the dictionary, and about how many bits the payload takes; all of them, unless leaving some out saves enough.
    fn split(&self) -> (Vec<bool>, usize) {
        let mut order: Vec<usize> = (0..self.distinct.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(self.counts[number]));
        let (row_count, distinct_count) = (self.numbers.len(), order.len());
        let bits_of = |number: &usize| stored_bits(self.distinct[*number].len());
        let all_bits: usize = order.iter().map(bits_of).sum();
        let row_bits = |number: &usize| bits_of(number) * self.counts[*number] as usize;
        let full = row_count * code_bits(distinct_count) + all_bits;
        let (mut best, mut member_count) = (full - full / ASIDE_GAIN, distinct_count);
        let (mut aside_rows, mut member_bits) = (row_count, 0);
        let mut aside_bits: usize = order.iter().map(row_bits).sum();
        for (place, number) in order.iter().enumerate() {
            aside_rows -= self.counts[*number] as usize;
            member_bits += bits_of(number);
            aside_bits -= row_bits(number);
            let size = place + 1;
            if !size.is_power_of_two() || size == distinct_count {
                continue;
            }
            // Aside they have a dictionary of their own, if that takes less.
            let coded = all_bits - member_bits + aside_rows * code_bits(distinct_count - size);
            let positions = (aside_rows * POSITION_BITS).min(row_count);
            let bits =
                row_count * code_bits(size) + member_bits + positions + aside_bits.min(coded);
            if bits < best {
                (best, member_count) = (bits, size);
            }
        }
        let mut members = vec![false; distinct_count];
        order[..member_count]
            .iter()
            .for_each(|&number| members[number] = true);
        (members, best)
    }
}

/// What a payload consists of.
struct SplitStrings<'a> {
    /// The strings of the dictionary, ascending.
    ascending: Vec<&'a [u8]>,
    /// One a row; that of a row kept aside means nothing.
    codes: Vec<i32>,
    /// A bit for each row kept aside.
    words: Vec<u64>,
    aside: BytesVector,
}

impl<'a> SplitStrings<'a> {
    fn of(interned: &InternedRows<'a>, members: &[bool]) -> Self {
        let distinct = &interned.distinct;
        let mut order: Vec<usize> = (0..members.len()).filter(|&one| members[one]).collect();
        order.sort_unstable_by_key(|&number| distinct[number]);
        let mut rank = vec![0; members.len()];
        for (code, &number) in order.iter().enumerate() {
            rank[number] = code as i32;
        }
        let mut split = Self {
            ascending: order.iter().map(|&number| distinct[number]).collect(),
            codes: Vec::with_capacity(interned.numbers.len()),
            words: vec![0; interned.numbers.len().div_ceil(64)],
            aside: BytesVector::new(),
        };
        let mut before = 0;
        for (row, &number) in interned.numbers.iter().enumerate() {
            let number = number as usize;
            if members[number] {
                before = rank[number];
            } else {
                split.words[row / 64] |= 1 << (row % 64);
                split.aside.data.extend_from_slice(distinct[number]);
                // Of a payload that has passed the check of all.
                split.aside.offsets.push(split.aside.data.len() as u32);
            }
            split.codes.push(before);
        }
        split
    }

    fn encode(&self, codec_of_rest: CodecOfRest) -> Vec<u8> {
        let mut dictionary = Vec::new();
        dictionary::append_coded(&self.ascending, &self.codes, &mut dictionary);
        let mut payload = (self.aside.len() as u32).to_le_bytes().to_vec();
        payload.extend_from_slice(&(dictionary.len() as u32).to_le_bytes());
        payload.extend_from_slice(&dictionary);
        if self.aside.is_empty() {
            return payload;
        }
        let mut rows = Vec::new();
        boolean::append_rows(&self.words, self.codes.len(), &mut rows);
        payload.extend_from_slice(&(rows.len() as u32).to_le_bytes());
        payload.extend_from_slice(&rows);
        let aside = self.aside.as_slice();
        let codec = codec_of_rest(&aside);
        // The codecs that are candidates hold any strings that this one was given.
        let (codec, strings) = match super::encode(codec, &aside) {
            Ok(strings) => (codec, strings),
            Err(_) => (CodecId::Plain, plain::encode(&aside)),
        };
        payload.push(codec as u8);
        payload.extend_from_slice(&strings);
        payload
    }
}

/// The payload of a column.
pub(super) fn encode(values: &BytesSlice, codec_of_rest: CodecOfRest) -> Vec<u8> {
    let interned = InternedRows::of(values);
    let (members, _) = interned.split();
    SplitStrings::of(&interned, &members).encode(codec_of_rest)
}

/// Size of the payload of a column, and the share of its rows that are kept aside; `None` if none are, or if it can be told without encoding that the
/// payload takes more than `bytes_max`.
pub(super) fn size_below(
    values: &BytesSlice,
    bytes_max: usize,
    codec_of_rest: CodecOfRest,
) -> Option<(usize, f32)> {
    let interned = InternedRows::of(values);
    let (members, bits) = interned.split();
    if members.iter().all(|is_member| *is_member) || bits / 8 > bytes_max {
        return None;
    }
    let split = SplitStrings::of(&interned, &members);
    let aside_share = split.aside.len() as f32 / values.len().max(1) as f32;
    Some((split.encode(codec_of_rest).len(), aside_share))
}

/// Rows kept aside.
#[derive(Debug)]
struct AsideStrings {
    rows: RowSet,
    /// How many are kept aside before each vector, and in all.
    firsts: Vec<usize>,
    strings: StringRangeReader,
    /// Positions of the vector that was read last.
    positions: Box<[u16; VECTOR_VALUES]>,
}

impl AsideStrings {
    /// Reads what follows the dictionary, for `count` rows, at least one.
    fn open(payload: &PayloadImage, row_count: usize, count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let row_bytes = cursor.u32("size of the rows kept aside")? as usize;
        let rows = cursor.take(row_bytes, "rows kept aside")?;
        let start = rows.start;
        let rows = RowSet::open(payload.image.clone(), rows, row_count)?;
        let mut firsts = vec![0];
        let mut total = 0;
        for vector in 0..vector_count(row_count) {
            total += rows.true_count(vector)?;
            firsts.push(total);
        }
        if total != count {
            return Err(Corrupt::new("rows kept aside do not add up", start));
        }
        let codec = match CodecId::from_u8(cursor.u8("codec of strings kept aside")?) {
            // These could nest without end.
            Some(codec) if !matches!(codec, CodecId::Pdict | CodecId::Shape) => codec,
            _ => return Err(cursor.corrupt("codec that holds no strings kept aside")),
        };
        let strings = cursor.position()..payload.range.end;
        let decoder = BytesDecoder::open(codec, payload.image.clone(), strings, count)?;
        Ok(Self {
            rows,
            firsts,
            strings: StringRangeReader::new(decoder),
            positions: Box::new([0; VECTOR_VALUES]),
        })
    }

    /// The number of the first of vector `vector`, and the positions of all of them, ascending.
    fn positions(&mut self, vector: usize) -> Result<(usize, &[u16]), Corrupt> {
        let (first, count) = match self.firsts.get(vector..).unwrap_or_default() {
            [first, end, ..] => (*first, end - first),
            _ => return Err(Corrupt::new("vector is beyond the payload", 0)),
        };
        if count > 0 && self.rows.true_positions(vector, &mut self.positions)? != count {
            return Err(Corrupt::new("rows kept aside do not add up", 0));
        }
        Ok((first, &self.positions[..count]))
    }

    /// The number of the string of a row that is kept aside, if it is.
    fn number(&mut self, row: usize) -> Result<Option<usize>, Corrupt> {
        let (first, positions) = self.positions(row / VECTOR_VALUES)?;
        let place = positions.binary_search(&((row % VECTOR_VALUES) as u16));
        Ok(place.ok().map(|place| first + place))
    }
}

#[derive(Debug)]
pub(super) struct TextPdictDecoder {
    row_count: usize,
    offset: usize,
    dictionary: TextDictionaryDecoder,
    aside: Option<AsideStrings>,
}

impl TextPdictDecoder {
    pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let aside_count = cursor.u32("number of rows kept aside")? as usize;
        if aside_count > row_count {
            return Err(cursor.corrupt("more rows kept aside than rows"));
        }
        let dictionary_bytes = cursor.u32("size of the dictionary payload")? as usize;
        let dictionary = cursor.take(dictionary_bytes, "dictionary payload")?;
        let rest = cursor.position()..payload.range.end;
        let part = |range| PayloadImage {
            image: payload.image.clone(),
            range,
        };
        let aside = match aside_count {
            0 => {
                cursor.finish("dictionary of all rows")?;
                None
            }
            _ => Some(AsideStrings::open(&part(rest), row_count, aside_count)?),
        };
        Ok(Self {
            row_count,
            offset: payload.range.start,
            dictionary: TextDictionaryDecoder::open(&part(dictionary), row_count)?,
            aside,
        })
    }

    pub(super) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let Some(aside) = &mut self.aside else {
            return self.dictionary.decode_vector(vector, out);
        };
        if vector >= vector_count(self.row_count) {
            return Ok(0);
        }
        let mut codes = [0; VECTOR_VALUES];
        let rows = self.dictionary.decode_codes(vector, &mut codes)?;
        let (first, positions) = aside.positions(vector)?;
        let count = positions.len();
        aside.strings.load(first, count)?;
        let strings = aside.strings.wanted().as_slice();
        let before = out.data.len();
        let mut row = 0;
        for (place, &position) in aside.positions[..count].iter().enumerate() {
            let position = usize::from(position);
            let between = codes.get(row..position).unwrap_or_default();
            self.dictionary.append_codes(between, out)?;
            out.data.extend_from_slice(strings.get(place));
            end_row(out, before, self.offset)?;
            row = position + 1;
        }
        let rest = codes.get(row..rows).unwrap_or_default();
        self.dictionary.append_codes(rest, out)?;
        end_vector(out, before, self.offset)?;
        Ok(rows)
    }

    pub(super) fn value(&mut self, row: usize, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        if let Some(aside) = &mut self.aside
            && let Some(number) = aside.number(row)?
        {
            return aside.strings.value(number, out);
        }
        self.dictionary.value(row, out)
    }
}
