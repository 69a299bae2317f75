//! Every width of packed codes on every instruction set: comparisons with codes, sums of packed differences, and
//! groups.

use crate::backends::on_every_backend;
use crate::random::Random;
use quire_codec::fixed::{FixedDecoder, encode};
use quire_codec::int::Element;
use quire_codec::{CodecId, GROUP_VALUES, RowMask, VECTOR_VALUES};

fn open<E: Element>(codec: CodecId, values: &[E]) -> FixedDecoder<E> {
    let payload = encode(codec, values).unwrap();
    let bytes = 0..payload.len();
    FixedDecoder::open(codec, payload.into(), bytes, values.len()).unwrap()
}

/// A vector of codes above `base`, of which some have no bits and some all of `width`.
fn codes_above<E: Element>(base: E, width: u32, random: &mut Random) -> Vec<E> {
    let code_max = u64::MAX >> (64 - width);
    let code = |row: usize, random: &mut Random| match row % 100 {
        3 => 0,
        7 => code_max,
        _ => random.next() & code_max,
    };
    (0..VECTOR_VALUES)
        .map(|row| E::from_wide(base.wide() + i128::from(code(row, random))))
        .collect()
}

fn naive<E: Element>(values: &[E], low: E, high: E) -> RowMask {
    let mut mask = [0; 16];
    for (row, &value) in values.iter().enumerate() {
        mask[row / 64] |= u64::from(low <= value && value <= high) << (row % 64);
    }
    mask
}

fn compare_all_widths<E: Element>(name: &str, random: &mut Random) {
    for width in 1..=8 * E::BYTES as u32 {
        let code_max = i128::from(u64::MAX >> (64 - width));
        let lowest = E::RANGE.0;
        let highest = E::from_wide(E::RANGE.1.wide() - code_max);
        for base in [lowest, highest, E::from_wide((-3).min(highest.wide()))] {
            let values = codes_above(base, width, random);
            let mut decoder = open(CodecId::Pfor, &values);
            let any = |random: &mut Random| {
                let value =
                    values[random.below(1024) as usize].wide() + random.below(3) as i128 - 1;
                E::from_wide(value.clamp(E::RANGE.0.wide(), E::RANGE.1.wide()))
            };
            for _ in 0..8 {
                let (one, two) = (any(random), any(random));
                let (low, high) = (one.min(two), one.max(two));
                for (low, high) in [
                    (low, high),
                    (low, low),
                    (E::RANGE.0, high),
                    (low, E::RANGE.1),
                ] {
                    let mut mask = [0x5555; 16];
                    decoder.select_range(0, low..=high, &mut mask).unwrap();
                    let expected = naive(&values, low, high);
                    assert!(
                        mask == expected,
                        "{name}, {width} bits from {base:?}: {low:?}..={high:?}"
                    );
                }
            }
            for (group, expected) in values.chunks(GROUP_VALUES).enumerate() {
                let mut out = [E::default(); GROUP_VALUES];
                decoder.decode_group(group, &mut out).unwrap();
                assert!(out[..] == *expected, "{name}, {width} bits: group {group}");
            }
        }
    }
}

#[test]
fn ranges_and_groups_of_every_width() {
    on_every_backend(|backend| {
        let random = &mut Random(11);
        compare_all_widths::<i16>(&format!("{backend:?}, i16"), random);
        compare_all_widths::<i32>(&format!("{backend:?}, i32"), random);
        compare_all_widths::<i64>(&format!("{backend:?}, i64"), random);
    });
}

/// Values whose differences are `base` and up to `width` bits more, from near the end of the type, where they wrap.
fn stepping<E: Element>(base: i64, width: u32, random: &mut Random) -> Vec<E> {
    let mut value = E::RANGE.1.wide() - 1000;
    let mut next = |row: usize| {
        let step = match row % 50 {
            1 => 0,
            2 => (1 << width) - 1,
            _ => random.below(1 << width),
        };
        value += i128::from(base) + i128::from(step);
        E::from_wide(value)
    };
    (0..2500).map(&mut next).collect()
}

fn sum_all_steps<E: Element>(name: &str, random: &mut Random) {
    for width in 0..=13 {
        for base in [
            -40_000, -2048, -2047, -100, -1, 0, 1, 36, 1000, 2046, 2047, 40_000,
        ] {
            let values: Vec<E> = stepping(base, width, random);
            let mut decoder = open(CodecId::PforDelta, &values);
            for (vector, expected) in values.chunks(VECTOR_VALUES).enumerate() {
                let mut out = [E::default(); VECTOR_VALUES];
                let rows = decoder.decode_vector(vector, &mut out).unwrap();
                assert!(
                    out[..rows] == *expected,
                    "{name}: {width} bits from {base}, {vector}"
                );
            }
        }
    }
}

#[test]
fn differences_of_every_width_add_up() {
    on_every_backend(|backend| {
        let random = &mut Random(12);
        sum_all_steps::<i16>(&format!("{backend:?}, i16"), random);
        sum_all_steps::<i32>(&format!("{backend:?}, i32"), random);
        sum_all_steps::<i64>(&format!("{backend:?}, i64"), random);
    });
}
