//! Answers without decoding are the answers a decoded column gives, for every codec, type, shape and instruction
//! set; and a group of 128 depends on no codes but its own.

use crate::backends::on_every_backend;
use crate::random::Random;
use crate::shapes::{ROW_COUNTS, integers};
use quire_codec::fixed::{FixedDecoder, encode};
use quire_codec::int::Element;
use quire_codec::{CodecId, GROUP_VALUES, RowMask, VECTOR_VALUES, vector_count};
use std::fmt::Debug;
use std::ops::RangeInclusive;

const CODECS: [CodecId; 7] = [
    CodecId::Plain,
    CodecId::Rle,
    CodecId::Pfor,
    CodecId::PforDelta,
    CodecId::Dictionary,
    CodecId::Pdict,
    CodecId::Sparse,
];

fn open<E: Element>(codec: CodecId, payload: &[u8], row_count: usize) -> FixedDecoder<E> {
    FixedDecoder::open(codec, payload.into(), 0..payload.len(), row_count).unwrap()
}

fn mask_of<E>(values: &[E], wanted: impl Fn(&E) -> bool) -> RowMask {
    let mut mask = [0u64; 16];
    for (row, value) in values.iter().enumerate() {
        mask[row / 64] |= u64::from(wanted(value)) << (row % 64);
    }
    mask
}

/// One column, and its decoder.
struct Column<'a, E: Element> {
    values: &'a [E],
    decoder: FixedDecoder<E>,
    name: String,
}

impl<E: Element + Into<i128> + TryFrom<i128, Error: Debug>> Column<'_, E> {
    fn groups(&mut self) {
        for (group, expected) in self.values.chunks(GROUP_VALUES).enumerate() {
            let mut out = [E::default(); GROUP_VALUES];
            let rows = self.decoder.decode_group(group, &mut out).unwrap();
            assert!(out[..rows] == *expected, "{}: group {group}", self.name);
        }
        let beyond = self.values.len().div_ceil(GROUP_VALUES);
        let mut out = [E::default(); GROUP_VALUES];
        assert!(self.decoder.decode_group(beyond, &mut out).is_err());
    }

    fn ranges(&mut self, random: &mut Random) {
        for (vector, expected) in self.values.chunks(VECTOR_VALUES).enumerate() {
            let mut any = || expected[random.below(expected.len() as u64) as usize];
            let (one, two) = (any(), any());
            let (low, high) = E::RANGE;
            let ranges = [
                one..=two,
                two..=one,
                one..=one,
                low..=one,
                two..=high,
                low..=high,
                low..=low,
                high..=high,
            ];
            for range in ranges {
                self.range(vector, expected, range);
            }
        }
    }

    fn range(&mut self, vector: usize, expected: &[E], range: RangeInclusive<E>) {
        let mut mask = [0x5555; 16];
        let rows = self
            .decoder
            .select_range(vector, range.clone(), &mut mask)
            .unwrap();
        assert_eq!(rows, expected.len());
        let wanted = mask_of(expected, |value| range.contains(value));
        assert!(mask == wanted, "{}: {range:?} of {vector}", self.name);
    }

    fn totals(&mut self) {
        for (vector, expected) in self.values.chunks(VECTOR_VALUES).enumerate() {
            let wide = || expected.iter().map(|&value| value.into());
            let sum = wide().try_fold(0i128, i128::checked_add);
            assert_eq!(self.decoder.sum(vector).unwrap(), sum, "{}", self.name);
            let extremes = (
                *expected.iter().min().unwrap(),
                *expected.iter().max().unwrap(),
            );
            let found = self.decoder.extremes(vector).unwrap();
            assert_eq!(found, extremes, "{}: vector {vector}", self.name);
        }
    }

    fn codes(&mut self, random: &mut Random) {
        let Some(dictionary) = self.decoder.dictionary().map(<[E]>::to_vec) else {
            assert!(self.decoder.select_codes(0, &[], &mut [0; 16]).is_err());
            return;
        };
        // Shorter than the dictionary at times: what is beyond is not wanted.
        let words = dictionary.len().div_ceil(64);
        for length in [words, words / 2] {
            let wanted: Vec<u64> = (0..length).map(|_| random.next()).collect();
            let is_wanted = |value: &E| {
                let code = dictionary.binary_search(value).unwrap();
                wanted
                    .get(code / 64)
                    .is_some_and(|word| word >> (code % 64) & 1 == 1)
            };
            for (vector, expected) in self.values.chunks(VECTOR_VALUES).enumerate() {
                let mut mask = [0x5555; 16];
                let rows = self.decoder.select_codes(vector, &wanted, &mut mask);
                assert_eq!(rows, Ok(expected.len()));
                assert!(mask == mask_of(expected, is_wanted), "{}: codes", self.name);
            }
        }
    }
}

fn check<E>(codec: CodecId, values: &[E], name: String)
where
    E: Element + Into<i128> + TryFrom<i128, Error: Debug>,
{
    let payload = encode(codec, values).unwrap();
    let decoder = open(codec, &payload, values.len());
    let mut random = Random(values.len() as u64);
    let mut column = Column {
        values,
        decoder,
        name,
    };
    column.groups();
    column.ranges(&mut random);
    column.totals();
    if !values.is_empty() {
        column.codes(&mut random);
    }
}

/// Asks everything and expects nothing but to survive.
fn survives<E: Element>(codec: CodecId, payload: &[u8], row_count: usize) {
    let length = payload.len();
    let Ok(mut decoder) = FixedDecoder::<E>::open(codec, payload.into(), 0..length, row_count)
    else {
        return;
    };
    let (low, high) = E::RANGE;
    for vector in 0..vector_count(row_count) {
        let _ = decoder.decode_group(vector * 8 + 3, &mut [low; GROUP_VALUES]);
        let _ = decoder.select_range(vector, E::default()..=high, &mut [0; 16]);
        let _ = decoder.select_codes(vector, &[1], &mut [0; 16]);
        let _ = (decoder.sum(vector), decoder.extremes(vector));
    }
}

macro_rules! suite {
    ($name:ident, $type:ty) => {
        #[test]
        fn $name() {
            on_every_backend(|backend| {
                for row_count in ROW_COUNTS {
                    for (shape, values) in integers(row_count, 12) {
                        let values: Vec<$type> =
                            values.into_iter().map(|value| value as $type).collect();
                        for codec in CODECS {
                            let name = format!("{codec} of {row_count}, {shape}, {backend:?}");
                            check(codec, &values, name);
                        }
                        if values.windows(2).all(|pair| pair[0] == pair[1]) {
                            check(CodecId::Constant, &values, "constant".to_owned());
                        }
                    }
                }
            });
        }
    };
}
suite!(fused_8_bits, i8);
suite!(fused_8_bits_unsigned, u8);
suite!(fused_16_bits_unsigned, u16);
suite!(fused_32_bits_unsigned, u32);
suite!(fused_64_bits_unsigned, u64);
suite!(fused_16_bits, i16);
suite!(fused_32_bits, i32);
suite!(fused_64_bits, i64);
suite!(fused_128_bits, i128);

#[test]
fn packed_codes_of_every_width_are_asked_directly() {
    on_every_backend(|backend| {
        let mut random = Random(9);
        for width in 0..=64 {
            // Both far from the ends of the type and at them, in units of 1 and of 7.
            for (base, unit) in [(-5i128, 1), (i64::MIN.into(), 1), (1000, 7)] {
                let code = |random: &mut Random| random.next().checked_shr(64 - width).unwrap_or(0);
                let column: Vec<i64> = (0..1024)
                    .map(|_| (base + unit * i128::from(code(&mut random))) as i64)
                    .collect();
                check(CodecId::Pfor, &column, format!("{width} bits, {backend:?}"));
                let narrow: Vec<i32> = column.iter().map(|&value| value as i32).collect();
                check(CodecId::Pfor, &narrow, format!("{width} bits, {backend:?}"));
                // Around the middle of the unsigned types.
                let unsigned: Vec<u32> = narrow.iter().map(|&value| value as u32).collect();
                check(
                    CodecId::Pfor,
                    &unsigned,
                    format!("{width} bits, {backend:?}"),
                );
                let wide: Vec<u64> = column.iter().map(|&value| value as u64).collect();
                check(CodecId::Pfor, &wide, format!("{width} bits, {backend:?}"));
            }
        }
    });
}

#[test]
fn damaged_payloads_are_asked_without_a_panic() {
    on_every_backend(|_| {
        let mut random = Random(77);
        for (_, values) in integers(2100, 5) {
            let values: Vec<i64> = values.into_iter().map(|value| value as i64).collect();
            for codec in CODECS {
                let payload = encode(codec, &values).unwrap();
                for _ in 0..30 {
                    let mut damaged = payload.clone();
                    let reach = [60, damaged.len()][random.below(2) as usize];
                    let at = random.below(reach.min(damaged.len()) as u64) as usize;
                    damaged[at] ^= 1 << random.below(8);
                    survives::<i64>(codec, &damaged, values.len());
                }
            }
        }
    });
}

/// Bits of the packed matrix that hold the codes of `group`: those of every lane at positions 8 apart.
fn bits_of_group(group: usize, width: usize, lane_bits: usize) -> Vec<bool> {
    let lanes = 1024 / lane_bits;
    let mut bits = vec![false; 1024 * width];
    for lane in 0..lanes {
        for position in (group..lane_bits).step_by(8) {
            for bit in position * width..(position + 1) * width {
                let word = bit / lane_bits * lanes + lane;
                bits[word * lane_bits + bit % lane_bits] = true;
            }
        }
    }
    bits
}

fn flip(payload: &mut [u8], start: usize, bits: impl Iterator<Item = bool>) {
    for (bit, flipped) in bits.enumerate() {
        payload[start + bit / 8] ^= u8::from(flipped) << (bit % 8);
    }
}

fn group_stands_alone<E: Element>(values: &[E], width: usize, lane_bits: usize) {
    let payload = encode(CodecId::Pfor, values).unwrap();
    let start = payload.len() - 128 * width;
    for group in 0..8 {
        let expected = &values[group * GROUP_VALUES..][..GROUP_VALUES];
        let bits = bits_of_group(group, width, lane_bits);
        let mut out = [E::default(); GROUP_VALUES];
        let mut others_flipped = payload.clone();
        flip(&mut others_flipped, start, bits.iter().map(|bit| !bit));
        let mut decoder = open::<E>(CodecId::Pfor, &others_flipped, values.len());
        decoder.decode_group(group, &mut out).unwrap();
        assert!(out == *expected, "{width} bits, group {group}");
        // And these are its codes: flipped, every value is another.
        let mut flipped = payload.clone();
        flip(&mut flipped, start, bits.into_iter());
        let mut decoder = open::<E>(CodecId::Pfor, &flipped, values.len());
        decoder.decode_group(group, &mut out).unwrap();
        assert!(out.iter().zip(expected).all(|(out, value)| out != value));
    }
}

#[test]
fn a_group_depends_on_its_own_codes_alone() {
    on_every_backend(|_| {
        let mut random = Random(3);
        for width in 1..=64u32 {
            // Both ends of the range make the width, odd distances a unit of 1.
            let mut codes: Vec<u64> = (0..1024).map(|_| random.next() >> (64 - width)).collect();
            (codes[0], codes[1]) = (0, u64::MAX >> (64 - width));
            let narrow = |code: &u64| (*code as u32).wrapping_add(1 << 31) as i32;
            let wide = |code: &u64| code.wrapping_add(1 << 63) as i64;
            if width <= 8 {
                let values: Vec<u8> = codes.iter().map(|&code| code as u8).collect();
                group_stands_alone(&values, width as usize, 8);
            }
            if width <= 16 {
                let values: Vec<u16> = codes.iter().map(|&code| code as u16).collect();
                group_stands_alone(&values, width as usize, 16);
            }
            if width <= 32 {
                let values: Vec<i32> = codes.iter().map(narrow).collect();
                group_stands_alone(&values, width as usize, 32);
            }
            let values: Vec<i64> = codes.iter().map(wide).collect();
            let lane_bits = if width <= 32 { 32 } else { 64 };
            group_stands_alone(&values, width as usize, lane_bits);
        }
    });
}
