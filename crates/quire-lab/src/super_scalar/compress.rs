//! Compression (§6.2.5): find the exceptions, link them, pack the codes; vector by vector.

use super::bit_pack::{self, code_mask};
use super::layout::{self, DictionaryKind, SuperScalarHeader};
use super::perfect_hash::{PerfectHash, PerfectHashProbe};
use super::word::{Integer, UnsignedWord};
use super::{
    Compression, GROUP_VALUES, Marking, Reference, SegmentError, SegmentSettings, VALUES_MAX,
};
use quire_codec::VECTOR_VALUES;

/// The segment of `values`. Fails if they are more than [`VALUES_MAX`], or the width is more than the type's.
pub fn encode<T: Integer>(
    values: &[T],
    settings: &SegmentSettings<'_, T>,
) -> Result<Vec<u8>, SegmentError> {
    let mut header = header(values.len(), settings)?;
    let mut lists = ExceptionLists::new(header.group_count());
    // Only the exceptions, at the end, have an unknown length.
    let codes = header.sections::<T::Bits>().codes;
    let mut image = vec![0; codes.end];
    let vector_bytes = VECTOR_VALUES / 8 * settings.width;
    compress(T::as_bits(values), settings, |vector, inputs, work| {
        lists.list(inputs, work, settings);
        let padded = inputs.len().next_multiple_of(bit_pack::UNROLLED_CODES);
        work.codes[inputs.len()..padded].fill(T::Bits::default());
        let packed = &mut image[codes.start + vector * vector_bytes..];
        T::Bits::pack(settings.width, &work.codes[..padded], packed);
    });
    header.exception_count = lists.exceptions.len();
    let mut front = Vec::with_capacity(codes.start);
    header.append::<T::Bits>(&mut front);
    lists.append_entries(&mut front);
    append_totals(values, settings, &mut front);
    append_dictionary(settings, &mut front);
    assert_eq!(front.len(), codes.start, "sections before the codes");
    image[..codes.start].copy_from_slice(&front);
    lists.append_exceptions(&mut image);
    Ok(image)
}

/// The length of [`encode`]'s result, without writing it.
pub fn encoded_bytes<T: Integer>(
    values: &[T],
    settings: &SegmentSettings<'_, T>,
) -> Result<usize, SegmentError> {
    let mut header = header(values.len(), settings)?;
    compress(T::as_bits(values), settings, |_, _, work| {
        header.exception_count += match settings.marking {
            Marking::Linked => linked_count(&work.misses, settings.width),
            Marking::Escaped => work.misses.count,
        };
    });
    Ok(header.sections::<T::Bits>().exceptions.end)
}

/// The header of a segment, without exceptions yet.
fn header<T: Integer>(
    value_count: usize,
    settings: &SegmentSettings<'_, T>,
) -> Result<SuperScalarHeader, SegmentError> {
    if value_count > VALUES_MAX {
        return Err(SegmentError::TooManyValues {
            value_count,
            limit: VALUES_MAX,
        });
    }
    if settings.width > T::Bits::BITS {
        return Err(SegmentError::TooWide {
            width: settings.width,
            limit: T::Bits::BITS,
        });
    }
    let mut header = SuperScalarHeader {
        scheme: settings.reference.scheme(),
        type_id: T::TYPE_ID,
        width: settings.width,
        marking: settings.marking,
        dictionary_kind: DictionaryKind::None,
        value_count,
        exception_count: 0,
        base: 0,
        dictionary_count: 0,
        dictionary_fingerprint: 0,
    };
    match settings.reference {
        Reference::Pfor { base } | Reference::PforDelta { base } => {
            header.base = base.bits().wide();
        }
        Reference::Pdict { encoder, reuse } => {
            header.dictionary_kind = if reuse {
                DictionaryKind::Earlier
            } else {
                DictionaryKind::Own
            };
            header.dictionary_count = encoder.dictionary().count();
            header.dictionary_fingerprint = encoder.dictionary().fingerprint();
        }
    }
    Ok(header)
}

/// PFOR-DELTA: the running total before each group; that before the first makes its difference the base.
fn append_totals<T: Integer>(values: &[T], settings: &SegmentSettings<'_, T>, image: &mut Vec<u8>) {
    let Reference::PforDelta { base } = settings.reference else {
        return;
    };
    let values = T::as_bits(values);
    for first in (0..values.len()).step_by(GROUP_VALUES) {
        total_before(values, first, base.bits()).append(image);
    }
}

/// The running total before value `index`.
fn total_before<U: UnsignedWord>(values: &[U], index: usize, base: U) -> U {
    match index {
        0 => values
            .first()
            .map_or(U::default(), |value| value.minus(base)),
        _ => values[index - 1],
    }
}

fn append_dictionary<T: Integer>(settings: &SegmentSettings<'_, T>, image: &mut Vec<u8>) {
    if let Reference::Pdict {
        encoder,
        reuse: false,
    } = settings.reference
    {
        for value in encoder.dictionary().value_bits() {
            value.append(image);
        }
    }
}

/// The places of exceptions in a vector, ascending.
struct Misses {
    places: [u16; VECTOR_VALUES],
    count: usize,
}

impl Misses {
    fn places(&self) -> &[u16] {
        &self.places[..self.count]
    }
}

/// What LOOP1 finds in one vector. The codes of misses are arbitrary.
struct VectorExceptions<U> {
    codes: [U; VECTOR_VALUES],
    misses: Misses,
}

/// Finds codes and exceptions of one vector after the other and hands them to `take`, with the vector's number
/// and what was encoded: values or differences.
fn compress<T: Integer>(
    values: &[T::Bits],
    settings: &SegmentSettings<'_, T>,
    mut take: impl FnMut(usize, &[T::Bits], &mut VectorExceptions<T::Bits>),
) {
    let finder = ExceptionFinder {
        compression: settings.compression,
        limit: CodeLimit::new(settings),
    };
    let mut between = [T::Bits::default(); VECTOR_VALUES];
    let mut work = VectorExceptions {
        codes: [T::Bits::default(); VECTOR_VALUES],
        misses: Misses {
            places: [0; VECTOR_VALUES],
            count: 0,
        },
    };
    for (vector, values_here) in values.chunks(VECTOR_VALUES).enumerate() {
        let inputs = match settings.reference {
            Reference::PforDelta { base } => {
                let before = total_before(values, vector * VECTOR_VALUES, base.bits());
                differences(before, values_here, &mut between);
                &between[..values_here.len()]
            }
            Reference::Pfor { .. } | Reference::Pdict { .. } => values_here,
        };
        finder.find(&settings.reference, inputs, &mut work);
        take(vector, inputs, &mut work);
    }
}

fn differences<U: UnsignedWord>(before: U, values: &[U], out: &mut [U; VECTOR_VALUES]) {
    if let (Some(first), Some(value)) = (out.first_mut(), values.first()) {
        *first = value.minus(before);
    }
    for (out, pair) in out[1..].iter_mut().zip(values.windows(2)) {
        *out = pair[1].minus(pair[0]);
    }
}

/// Which codes are free for values: those up to `largest`, or none.
#[derive(Clone, Copy)]
struct CodeLimit<U> {
    largest: U,
    none: bool,
}

impl<U: UnsignedWord> CodeLimit<U> {
    fn new<T: Integer<Bits = U>>(settings: &SegmentSettings<'_, T>) -> Self {
        let mask = code_mask(settings.width);
        let largest = match settings.marking {
            Marking::Linked => Some(mask),
            Marking::Escaped => mask.checked_sub(1),
        };
        Self {
            largest: U::truncate(largest.unwrap_or_default()),
            none: largest.is_none(),
        }
    }

    #[inline(always)]
    fn excludes(self, code: U) -> bool {
        code > self.largest || self.none
    }
}

/// LOOP1.
struct ExceptionFinder<U> {
    compression: Compression,
    limit: CodeLimit<U>,
}

impl<U: UnsignedWord> ExceptionFinder<U> {
    fn find<T: Integer<Bits = U>>(
        &self,
        reference: &Reference<'_, T>,
        inputs: &[U],
        work: &mut VectorExceptions<U>,
    ) {
        let limit = self.limit;
        match reference {
            Reference::Pfor { base } | Reference::PforDelta { base } => {
                let base = base.bits();
                self.run(inputs, work, |value| {
                    let code = value.minus(base);
                    (code, limit.excludes(code))
                });
            }
            Reference::Pdict { encoder, .. } => {
                let coded = |probe: PerfectHashProbe| {
                    let code = u64::from(probe.code);
                    let excluded = code > limit.largest.wide() || limit.none;
                    (U::truncate(code), !probe.found | excluded)
                };
                match encoder.hash() {
                    PerfectHash::Direct(table) => {
                        self.run(inputs, work, |value| coded(table.probe(value)))
                    }
                    PerfectHash::Displaced(table) => {
                        self.run(inputs, work, |value| coded(table.probe(value)));
                    }
                }
            }
        }
    }

    fn run(&self, inputs: &[U], work: &mut VectorExceptions<U>, encode: impl Fn(U) -> (U, bool)) {
        let (codes, misses) = (&mut work.codes, &mut work.misses);
        match self.compression {
            Compression::Naive => naive(inputs, codes, misses, encode),
            Compression::Predicated => predicated(inputs, codes, misses, encode),
            Compression::DoubleCursor => double_cursor(inputs, codes, misses, encode),
        }
    }
}

fn naive<U: UnsignedWord>(
    inputs: &[U],
    codes: &mut [U; VECTOR_VALUES],
    misses: &mut Misses,
    encode: impl Fn(U) -> (U, bool),
) {
    misses.count = 0;
    for (place, (input, out)) in inputs.iter().zip(codes).enumerate() {
        let (code, miss) = encode(*input);
        if miss {
            misses.places[misses.count] = place as u16;
            misses.count += 1;
        } else {
            *out = code;
        }
    }
}

fn predicated<U: UnsignedWord>(
    inputs: &[U],
    codes: &mut [U; VECTOR_VALUES],
    misses: &mut Misses,
    encode: impl Fn(U) -> (U, bool),
) {
    let mut count = 0;
    for (place, (input, out)) in inputs.iter().zip(codes).enumerate() {
        let (code, miss) = encode(*input);
        *out = code;
        // Never more misses than places: the remainder only saves the bounds check.
        misses.places[count % VECTOR_VALUES] = place as u16;
        count += usize::from(miss);
    }
    misses.count = count;
}

fn double_cursor<U: UnsignedWord>(
    inputs: &[U],
    codes: &mut [U; VECTOR_VALUES],
    misses: &mut Misses,
    encode: impl Fn(U) -> (U, bool),
) {
    const HALF: usize = VECTOR_VALUES / 2;
    let middle = inputs.len() / 2;
    let (low_inputs, high_inputs) = inputs.split_at(middle);
    let (low_codes, high_codes) = codes.split_at_mut(middle);
    let (mut low_count, mut high_count) = (0, 0);
    // One cursor's list starts where the other's would end if all its values were exceptions.
    let (low_places, high_places) = misses.places.split_at_mut(HALF);
    let low = low_inputs.iter().zip(low_codes);
    let high = high_inputs.iter().zip(high_codes.iter_mut());
    for (place, ((low_input, low_out), (high_input, high_out))) in low.zip(high).enumerate() {
        let (low_code, low_miss) = encode(*low_input);
        let (high_code, high_miss) = encode(*high_input);
        *low_out = low_code;
        *high_out = high_code;
        low_places[low_count % HALF] = place as u16;
        high_places[high_count % HALF] = (place + middle) as u16;
        low_count += usize::from(low_miss);
        high_count += usize::from(high_miss);
    }
    misses
        .places
        .copy_within(HALF..HALF + high_count, low_count);
    misses.count = low_count + high_count;
    // Of an odd number of values the last has no partner.
    if let [.., last] = inputs
        && inputs.len() % 2 == 1
    {
        let (code, miss) = encode(*last);
        codes[inputs.len() - 1] = code;
        misses.places[misses.count % VECTOR_VALUES] = (inputs.len() - 1) as u16;
        misses.count += usize::from(miss);
    }
}

/// Exceptions of linked lists over these misses, compulsory ones included.
fn linked_count(misses: &Misses, width: usize) -> usize {
    let compulsory = |pair: &[u16]| {
        if usize::from(pair[0]) / GROUP_VALUES == usize::from(pair[1]) / GROUP_VALUES {
            usize::from(pair[1] - pair[0] - 1).checked_shr(width as u32)
        } else {
            None
        }
    };
    let added: usize = misses.places().windows(2).filter_map(compulsory).sum();
    misses.count + added
}

/// LOOP2: entry points and exceptions of all groups so far.
struct ExceptionLists<U> {
    entries: Vec<u32>,
    exceptions: Vec<U>,
}

impl<U: UnsignedWord> ExceptionLists<U> {
    fn new(group_count: usize) -> Self {
        Self {
            entries: Vec::with_capacity(group_count),
            exceptions: Vec::new(),
        }
    }

    /// Marks the exceptions of a vector's groups in its codes, and keeps their values.
    fn list<T: Integer<Bits = U>>(
        &mut self,
        inputs: &[U],
        work: &mut VectorExceptions<U>,
        settings: &SegmentSettings<'_, T>,
    ) {
        let VectorExceptions { codes, misses } = work;
        let mut places = misses.places();
        for start in (0..inputs.len()).step_by(GROUP_VALUES) {
            let here = places.partition_point(|&place| usize::from(place) < start + GROUP_VALUES);
            let (group, rest) = places.split_at(here);
            places = rest;
            let first = group.first().map_or(0, |&place| usize::from(place) - start);
            self.entries
                .push(layout::entry(first, self.exceptions.len()));
            match settings.marking {
                Marking::Linked => self.link(group, settings.width, inputs, codes),
                Marking::Escaped => self.escape(group, settings.width, inputs, codes),
            }
        }
    }

    fn link(&mut self, group: &[u16], width: usize, inputs: &[U], codes: &mut [U]) {
        let Some((&first, others)) = group.split_first() else {
            return;
        };
        // A link is one more than its code. None is longer than a group, so wide codes never limit it.
        let longest = code_mask(width).min(GROUP_VALUES as u64) as usize + 1;
        let mut last = usize::from(first);
        self.exceptions.push(inputs[last]);
        for &place in others {
            let place = usize::from(place);
            while place - last > longest {
                codes[last] = U::truncate(longest as u64 - 1);
                last += longest;
                self.exceptions.push(inputs[last]);
            }
            codes[last] = U::truncate((place - last - 1) as u64);
            last = place;
            self.exceptions.push(inputs[last]);
        }
        codes[last] = U::default();
    }

    fn escape(&mut self, group: &[u16], width: usize, inputs: &[U], codes: &mut [U]) {
        for &place in group {
            codes[usize::from(place)] = U::truncate(code_mask(width));
            self.exceptions.push(inputs[usize::from(place)]);
        }
    }

    fn append_entries(&self, image: &mut Vec<u8>) {
        for entry in &self.entries {
            image.extend_from_slice(&entry.to_le_bytes());
        }
    }

    /// The section grows backward: the last exception comes first.
    fn append_exceptions(&self, image: &mut Vec<u8>) {
        image.reserve_exact(self.exceptions.len() * U::BYTES);
        for exception in self.exceptions.iter().rev() {
            exception.append(image);
        }
    }
}
