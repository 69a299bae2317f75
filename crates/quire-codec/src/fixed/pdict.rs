//! Patched dictionary: frequent values once, a code per row, and rare values aside (PDICT, Zukowski §6.2.2).
//!
//! | size | field |
//! |---|---|
//! | 4 | number of rows kept aside |
//! | 4 | size of the dictionary payload |
//! | … | a dictionary payload of all rows ([`super::dictionary`]); a row kept aside has the code of a neighbour |
//! | … | the rows kept aside ([`super::aside`]) |
//!
//! Which values are in the dictionary follows from how often each occurs (§6.2.10): the 2^b most frequent for that
//! `b` that makes codes, dictionary and rows aside cheapest together. The paper gives an exception's code to a chain of
//! exceptions; we leave it a code that its frame holds anyway, and keep rows and values aside compressed.

use super::aside::{Aside, RowsAside};
use super::dictionary::{self, FixedDictionaryDecoder, Interned};
use crate::int::element::Element;
use crate::{Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

/// Rows are kept aside only where that is smaller by one part in this than a dictionary of all values.
const ASIDE_GAIN: usize = 32;

/// Bits of the position of a row kept aside.
const POSITION_BITS: usize = 10;

/// A column as it will be stored.
struct PlannedPdict<E> {
    dictionary: dictionary::DictionaryCodes<E>,
    aside: RowsAside<E>,
}

fn plan<E: Element>(values: &[E], interned: &Interned<E>, members: &[bool]) -> PlannedPdict<E> {
    let is_aside = |place: i32| !members[place as usize];
    PlannedPdict {
        dictionary: interned.coded(members),
        aside: RowsAside::of(values, &interned.places, is_aside),
    }
}

/// A choice of values for the dictionary.
struct Split {
    /// For each distinct value, whether it is in the dictionary.
    members: Vec<bool>,
    any_aside: bool,
    /// What the rows take, roughly, the values of the dictionary not counted.
    row_bits: usize,
    /// The same of a dictionary of all values.
    row_bits_of_all: usize,
}

/// The cheapest split. The histogram is ordered by how often values occur, most first; of values that occur equally
/// often those that appear first are preferred.
fn split<E: Element>(interned: &Interned<E>) -> Split {
    let distinct_count = interned.distinct.len();
    let mut counts = vec![0u32; distinct_count];
    for &place in &interned.places {
        counts[place as usize] += 1;
    }
    let histogram = values_by_count(&counts);
    let costs = SplitCosts::of(interned);
    let row_bits_of_all = costs.row_bits(distinct_count, 0);
    let mut row_bits = row_bits_of_all;
    let full = row_bits + costs.dictionary_bits(distinct_count);
    let (mut best, mut member_count) = (full - full / ASIDE_GAIN, distinct_count);
    for width in 0.. {
        let size = 1usize << width;
        if size >= distinct_count {
            break;
        }
        let (_, covered) = most_frequent(&histogram, size);
        let of_rows = costs.row_bits(size, interned.places.len() - covered);
        let bits = of_rows + costs.dictionary_bits(size);
        if bits < best {
            (best, member_count, row_bits) = (bits, size, of_rows);
        }
    }
    let any_aside = member_count < distinct_count;
    let (least, _) = most_frequent(&histogram, member_count);
    let above = counts
        .iter()
        .filter(|&&count| count as usize > least)
        .count();
    let mut equal = member_count - above;
    let mut is_member = |count: u32| {
        let count = count as usize;
        let taken = count == least && equal > 0;
        equal -= usize::from(taken);
        count > least || taken
    };
    Split {
        members: counts.iter().map(|&count| is_member(count)).collect(),
        any_aside,
        row_bits,
        row_bits_of_all,
    }
}

/// How often values occur, most first, and how many values occur that often.
fn values_by_count(counts: &[u32]) -> Vec<(usize, usize)> {
    let most = counts.iter().max().map_or(0, |&most| most as usize + 1);
    let mut histogram = vec![0; most];
    counts
        .iter()
        .for_each(|&count| histogram[count as usize] += 1);
    let by_count = histogram.into_iter().enumerate().rev();
    by_count.filter(|&(_, values)| values > 0).collect()
}

/// How often the least frequent of the `size` most frequent values occurs, and how many rows all of them have.
fn most_frequent(histogram: &[(usize, usize)], size: usize) -> (usize, usize) {
    let (mut missing, mut covered) = (size, 0);
    for &(count, values) in histogram {
        let taken = values.min(missing);
        covered += taken * count;
        missing -= taken;
        if missing == 0 {
            return (count, covered);
        }
    }
    (0, covered)
}

/// What a split into dictionary and rows aside costs.
struct SplitCosts {
    row_count: usize,
    /// Bits of a value in the frame of all.
    value_bits: usize,
}

impl SplitCosts {
    fn of<E: Element>(interned: &Interned<E>) -> Self {
        let low = interned.distinct.iter().min().copied().unwrap_or_default();
        let high = interned.distinct.iter().max().copied().unwrap_or_default();
        let range = high.wide().wrapping_sub(low.wide()) as u128;
        Self {
            row_count: interned.places.len(),
            value_bits: (u128::BITS - range.leading_zeros()) as usize,
        }
    }

    /// Bits of the codes of a dictionary of `size` values and of that many rows aside.
    fn row_bits(&self, size: usize, aside_count: usize) -> usize {
        let positions = (aside_count * POSITION_BITS).min(self.row_count);
        self.row_count * code_bits(size) + positions + aside_count * self.value_bits
    }

    /// Bits of the values of a dictionary. As they ascend they are stored as differences, which are shorter the
    /// more there are.
    fn dictionary_bits(&self, size: usize) -> usize {
        let difference_bits = (self.value_bits + 2).saturating_sub(code_bits(size));
        size * difference_bits.min(self.value_bits)
    }
}

/// Bits of the code of one of `size` values.
fn code_bits(size: usize) -> usize {
    size.max(1).next_power_of_two().trailing_zeros() as usize
}

/// Size of what [`encode`] writes.
pub(crate) fn encoded_bytes<E: Element>(values: &[E]) -> usize {
    let interned = dictionary::intern_all(values);
    let planned = plan(values, &interned, &split(&interned).members);
    8 + planned.dictionary.encoded_bytes().0 + planned.aside.encoded_bytes()
}

/// Size of the payload of interned `values`, and of the values of its dictionary, if rows are kept aside and it is
/// not clearly above `limit_bytes`: codes narrow by as much as the split says, from `code_bytes` with a dictionary of
/// all values.
pub(crate) fn bytes_with_rows_aside<E: Element>(
    values: &[E],
    interned: &Interned<E>,
    code_bytes: usize,
    limit_bytes: usize,
) -> Option<(usize, usize)> {
    let split = split(interned);
    let row_bytes = code_bytes * split.row_bits / split.row_bits_of_all.max(1);
    if !split.any_aside || row_bytes > limit_bytes + limit_bytes / ASIDE_GAIN {
        return None;
    }
    let planned = plan(values, interned, &split.members);
    let (bytes, value_bytes) = planned.dictionary.encoded_bytes();
    Some((8 + bytes + planned.aside.encoded_bytes(), value_bytes))
}

pub(crate) fn encode<E: Element>(values: &[E], out: &mut Vec<u8>) {
    let interned = dictionary::intern_all(values);
    let planned = plan(values, &interned, &split(&interned).members);
    let mut dictionary = Vec::new();
    planned.dictionary.append(&mut dictionary);
    out.extend_from_slice(&(planned.aside.len() as u32).to_le_bytes());
    out.extend_from_slice(&(dictionary.len() as u32).to_le_bytes());
    out.extend_from_slice(&dictionary);
    planned.aside.append(out);
}

/// Decoder of a patched dictionary payload.
#[derive(Clone, Debug)]
pub(crate) struct PdictDecoder<E: Element> {
    dictionary: FixedDictionaryDecoder<E>,
    aside: Option<Aside<E>>,
}

impl<E: Element> PdictDecoder<E> {
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        let aside_count = cursor.u32("number of rows kept aside")? as usize;
        if aside_count > row_count {
            return Err(cursor.corrupt("more rows kept aside than rows"));
        }
        let dictionary_bytes = cursor.u32("size of the dictionary payload")? as usize;
        let dictionary = cursor.take(dictionary_bytes, "dictionary payload")?;
        let rest = cursor.position()..end;
        Ok(Self {
            dictionary: FixedDictionaryDecoder::open(image.clone(), dictionary, row_count)?,
            aside: Aside::open(image, rest, row_count, aside_count)?,
        })
    }

    pub(crate) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self.dictionary.decode_vector(vector, out)?;
        if let Some(aside) = &mut self.aside {
            aside.patch(vector, out)?;
        }
        Ok(rows)
    }

    pub(crate) fn decode_group(
        &mut self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        let rows = self.dictionary.decode_group(group, out)?;
        if let Some(aside) = &mut self.aside {
            aside.patch_group(group, out)?;
        }
        Ok(rows)
    }

    /// Marks the rows whose values are from `low` to `high`: by their codes, and those aside by their values.
    pub(crate) fn select_range(
        &mut self,
        vector: usize,
        low: E,
        high: E,
        mask: &mut RowMask,
    ) -> Result<(), Corrupt> {
        self.dictionary.select_range(vector, low, high, mask)?;
        match &mut self.aside {
            Some(aside) => aside.mark(vector, low, high, mask),
            None => Ok(()),
        }
    }

    pub(crate) fn value(&mut self, row: usize) -> Result<E, Corrupt> {
        let aside = match &mut self.aside {
            Some(aside) => aside.value(row)?,
            None => None,
        };
        match aside {
            Some(value) => Ok(value),
            None => self.dictionary.value(row),
        }
    }
}
