//! One golden test for every layout, type and width.

use crate::backends::on_every_backend;
use crate::slow;
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::int::Element;
use quire_codec::{CodecId, VECTOR_VALUES};

/// `values` encode to `bytes`, and `bytes` decode to `values`, on every instruction set.
fn golden<E: Element>(codec: CodecId, values: &[E], bytes: &[u8], name: &str) {
    on_every_backend(|backend| {
        let encoded = fixed::encode(codec, values).unwrap();
        assert!(encoded == bytes, "{codec}, {name}, {backend:?}: encoded");
        let mut decoder =
            FixedDecoder::<E>::open(codec, bytes.into(), 0..bytes.len(), values.len()).unwrap();
        let mut out = [E::default(); VECTOR_VALUES];
        for (vector, expected) in values.chunks(VECTOR_VALUES).enumerate() {
            let rows = decoder.decode_vector(vector, &mut out).unwrap();
            assert!(out[..rows] == *expected, "{codec}, {name}, {backend:?}");
        }
        for row in (0..values.len()).step_by(7) {
            assert_eq!(decoder.value(row), Ok(values[row]), "{codec}, {name}");
        }
    });
}

fn bits<E: Element>() -> usize {
    8 * E::BYTES
}

/// Where codes of `width` bits lie around the middle of the type, or as near to it as they fit.
fn base_around_the_middle<E: Element>(width: usize) -> i128 {
    let (low, high) = (E::RANGE.0.wide(), E::RANGE.1.wide());
    let middle = low + (high - low) / 2 + 1;
    (middle - (1i128 << width) / 2).max(low)
}

fn pfor<E: Element>(name: &str) {
    for width in 0..=bits::<E>() {
        for rows in [1024, 1001] {
            let base = base_around_the_middle::<E>(width);
            let codes = slow::codes(width, rows);
            let value = |&code: &u64| E::from_wide(base + i128::from(code));
            let values: Vec<E> = codes.iter().map(value).collect();
            let bytes = slow::pfor(E::from_wide(base), width, &codes);
            golden(
                CodecId::Pfor,
                &values,
                &bytes,
                &format!("{name}, {width} bits"),
            );
        }
    }
}

fn exceptions<E: Element>(name: &str) {
    // Of 64 bits, saving fewer than three is not worth an exception.
    for width in 0..=bits::<E>() - 3 {
        let rows = [5, 500, 1023];
        let mut codes = slow::codes(width, 1024);
        for (less, row) in rows.into_iter().enumerate() {
            codes[row] = (u64::MAX >> (64 - bits::<E>())) - less as u64;
        }
        let low = E::RANGE.0;
        let value = |&code: &u64| E::from_wide(low.wide() + i128::from(code));
        let values: Vec<E> = codes.iter().map(value).collect();
        let widths = (width, bits::<E>() - width);
        let bytes = slow::pfor_with_exceptions(low, widths, &codes, &rows);
        golden(
            CodecId::Pfor,
            &values,
            &bytes,
            &format!("{name}, {width} bits"),
        );
    }
}

fn pfor_delta<E: Element>(name: &str) {
    for width in 1..=bits::<E>() {
        for rows in [1024, 1001] {
            let codes = slow::codes(width, rows);
            // From −2^(width − 1), so that values rise and fall.
            let base = -(1i128 << (width - 1));
            let start = 77i128;
            let mut sum = start;
            let sums = codes.iter().map(|&code| {
                sum += base + i128::from(code);
                E::from_wide(sum)
            });
            let values: Vec<E> = sums.collect();
            let (start, base) = (E::from_wide(start), E::from_wide(base));
            let bytes = slow::pfor_delta(start, base, width, &codes);
            let name = format!("{name}, {width} bits");
            golden(CodecId::PforDelta, &values, &bytes, &name);
        }
    }
}

fn dictionary<E: Element>(name: &str) {
    for width in 0..=bits::<E>().min(9) {
        let count = 1usize << width;
        let low = base_around_the_middle::<E>(width);
        let distinct: Vec<E> = (0..count)
            .map(|one| E::from_wide(low + one as i128))
            .collect();
        // Every value once and in no order, then as they come.
        let mut codes = slow::codes(width, 1024);
        for (row, code) in codes[..count].iter_mut().enumerate() {
            *code = (row * 77 + 3) as u64 % count as u64;
        }
        let values: Vec<E> = codes.iter().map(|&code| distinct[code as usize]).collect();
        let codes: Vec<i32> = codes.iter().map(|&code| code as i32).collect();
        let dictionary = slow::sequence(&distinct);
        let bytes = [
            (count as u32).to_le_bytes().to_vec(),
            (dictionary.len() as u32).to_le_bytes().to_vec(),
            dictionary,
            slow::sequence(&codes),
        ]
        .concat();
        let name = format!("{name}, {width} bits");
        golden(CodecId::Dictionary, &values, &bytes, &name);
    }
}

fn rle<E: Element>(name: &str) {
    for width in 1..=bits::<E>() {
        let low = base_around_the_middle::<E>(width);
        let mut codes = slow::codes(width, 200);
        codes.dedup();
        let runs: Vec<E> = codes
            .iter()
            .map(|&code| E::from_wide(low + i128::from(code)))
            .collect();
        let values: Vec<E> = runs.iter().flat_map(|&run| [run; 4]).collect();
        let run_values = slow::sequence(&runs);
        let bytes = [
            (runs.len() as u32).to_le_bytes().to_vec(),
            (run_values.len() as u32).to_le_bytes().to_vec(),
            (runs.len() as u16).to_le_bytes().to_vec(),
            run_values,
            slow::sequence(&vec![3i16; runs.len()]),
        ]
        .concat();
        golden(
            CodecId::Rle,
            &values,
            &bytes,
            &format!("{name}, {width} bits"),
        );
    }
}

fn plain_and_constant<E: Element>(name: &str) {
    for value in [E::RANGE.0, E::RANGE.1] {
        let bytes = &value.wide().to_le_bytes()[..E::BYTES];
        golden(CodecId::Constant, &[value; 1500], bytes, name);
        golden(CodecId::Plain, &[value; 1500], &bytes.repeat(1500), name);
    }
}

macro_rules! suite {
    ($($module:ident: $type:ty),*) => {$(
        mod $module {
            #[test]
            fn pfor() {
                super::pfor::<$type>(stringify!($type));
            }
            #[test]
            fn exceptions() {
                super::exceptions::<$type>(stringify!($type));
            }
            #[test]
            fn pfor_delta() {
                super::pfor_delta::<$type>(stringify!($type));
            }
            #[test]
            fn dictionary() {
                super::dictionary::<$type>(stringify!($type));
            }
            #[test]
            fn rle() {
                super::rle::<$type>(stringify!($type));
            }
            #[test]
            fn plain_and_constant() {
                super::plain_and_constant::<$type>(stringify!($type));
            }
        }
    )*};
}
suite!(
    of_i8: i8,
    of_u8: u8,
    of_i16: i16,
    of_u16: u16,
    of_i32: i32,
    of_u32: u32,
    of_i64: i64,
    of_u64: u64
);

/// The packing of 8, 16 and 64-bit words against that of the `fastlanes` crate; the test of 32 bits is with `bitpack`.
#[test]
fn packing_is_that_of_the_fastlanes_crate() {
    macro_rules! at_widths {
        ($type:ty, $bits:literal: $($width:literal)*) => {$({
            let codes = slow::codes($width, 1024);
            let values: [$type; 1024] = std::array::from_fn(|i| codes[i] as $type);
            let mut theirs = [0 as $type; 1024 * $width / $bits];
            fastlanes::BitPacking::pack::<$width, { 1024 * $width / $bits }>(&values, &mut theirs);
            let theirs: Vec<u8> = theirs.iter().flat_map(|word| word.to_le_bytes()).collect();
            let payload = fixed::encode(CodecId::Pfor, &values).unwrap();
            let packed = &payload[payload.len() - theirs.len()..];
            assert_eq!(packed, theirs, "{} of {} bits", $width, $bits);
        })*};
    }
    at_widths!(u8, 8: 1 2 3 4 5 6 7 8);
    at_widths!(u16, 16: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    at_widths!(u64, 64: 33 34 37 40 41 45 48 53 57 60 63 64);
}
