//! Bytes on disk, written out by hand or by a slow encoder that follows the text of the format, bit by bit. If one
//! of these fails, files that exist can no longer be read: the format version must change.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::float::{self, FloatDecoder};
use quire_codec::int::bitpack;
use quire_codec::{CodecId, VECTOR_VALUES, boolean};
use std::sync::Arc;

/// `values` encode to `bytes`, and `bytes` decode to `values`.
fn golden<E: quire_codec::int::Element>(codec: CodecId, values: &[E], bytes: &[u8]) {
    assert_eq!(
        fixed::encode(codec, values).unwrap(),
        bytes,
        "encoded with {codec}"
    );
    let image: Arc<[u8]> = bytes.into();
    let mut decoder = FixedDecoder::<E>::open(codec, image, 0..bytes.len(), values.len()).unwrap();
    let mut out = [E::default(); VECTOR_VALUES];
    for (vector, expected) in values.chunks(VECTOR_VALUES).enumerate() {
        let rows = decoder.decode_vector(vector, &mut out).unwrap();
        assert!(out[..rows] == *expected, "decoded with {codec}");
    }
}

/// Packs by the definition: lane `l` of `lane_bits`-bit words is a bit stream that runs down the rows of the
/// matrix, and its `r`-th number is value `order[r / 8] · 16 + (r % 8) · 128 + l`.
fn pack_slowly(values: &[u64], width: usize, lane_bits: usize) -> Vec<u8> {
    let order = [0, 4, 2, 6, 1, 5, 3, 7];
    let lanes = 1024 / lane_bits;
    let mut packed = vec![0u8; 128 * width];
    for lane in 0..lanes {
        for row in 0..lane_bits {
            let value = values[order[row / 8] * 16 + row % 8 * 128 + lane];
            for bit in 0..width {
                let place = row * width + bit;
                let (word, bit_of_word) = (place / lane_bits, place % lane_bits);
                let bit_of_matrix = (word * lanes + lane) * lane_bits + bit_of_word;
                packed[bit_of_matrix / 8] |= ((value >> bit & 1) as u8) << (bit_of_matrix % 8);
            }
        }
    }
    packed
}

/// Numbers one after the other, least significant bit first.
fn stream_slowly(numbers: &[u64], width: usize) -> Vec<u8> {
    let mut stream = vec![0u8; (numbers.len() * width).div_ceil(8)];
    for (index, number) in numbers.iter().enumerate() {
        for bit in 0..width {
            let place = index * width + bit;
            stream[place / 8] |= ((number >> bit & 1) as u8) << (place % 8);
        }
    }
    stream
}

fn numbers(width: usize) -> Vec<u64> {
    let mask = if width == 0 {
        0
    } else {
        u64::MAX >> (64 - width)
    };
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29) & mask
    };
    (0..1024).map(next).collect()
}

#[test]
fn packing_follows_its_definition_at_every_width() {
    for width in 0..=32 {
        let values = numbers(width);
        let narrow: [u32; 1024] = std::array::from_fn(|i| values[i] as u32);
        let mut packed = Vec::new();
        bitpack::pack_u32(width, &narrow, &mut packed);
        assert_eq!(packed, pack_slowly(&values, width, 32), "width {width}");
        let mut out = [0; 1024];
        bitpack::unpack_u32(width, &packed, &mut out).unwrap();
        assert_eq!(out, narrow, "width {width}");
        for (index, value) in narrow.into_iter().enumerate() {
            let one = bitpack::unpack_one_u32(width, &packed, index);
            assert_eq!(one, Ok(value), "width {width}, value {index}");
        }
    }
}

#[test]
fn packing_is_that_of_the_fastlanes_crate() {
    macro_rules! at_widths {
        ($($width:literal)*) => {$({
            let values: [u32; 1024] = {
                let numbers = numbers($width);
                std::array::from_fn(|i| numbers[i] as u32)
            };
            let mut theirs = [0u32; 32 * $width];
            fastlanes::BitPacking::pack::<$width, { 32 * $width }>(&values, &mut theirs);
            let theirs: Vec<u8> = theirs.iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut ours = Vec::new();
            bitpack::pack_u32($width, &values, &mut ours);
            assert_eq!(ours, theirs, "width {}", $width);
        })*};
    }
    at_widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 20 21 24 27 29 31 32);
}

/// A PFOR payload of one full vector whose values span `width` bits from `base`, without exceptions.
fn full_vector<E: quire_codec::int::Element>(
    width: usize,
    lane_bits: usize,
    value: impl Fn(u64) -> E,
) -> (Vec<E>, Vec<u8>) {
    // The ends of the range make the width, and odd distances keep the unit at 1.
    let mut distances = numbers(width);
    distances[0] = 0;
    distances[1] = if width == 0 {
        0
    } else {
        u64::MAX >> (64 - width)
    };
    let values: Vec<E> = distances.iter().map(|&distance| value(distance)).collect();
    let mut bytes = vec![0]; // no unit
    bytes.push(0); // bases: no bytes beyond the smallest
    value(0).append(&mut bytes);
    bytes.push(width as u8);
    bytes.push(0); // no exceptions
    bytes.extend(pack_slowly(&distances, width, lane_bits));
    (values, bytes)
}

#[test]
fn pfor_has_the_documented_bytes_at_every_width() {
    for width in 1..=16 {
        let (values, bytes) =
            full_vector(width, 16, |far| (i16::MIN as u64).wrapping_add(far) as i16);
        golden(CodecId::Pfor, &values, &bytes);
    }
    for width in 1..=32 {
        let (values, bytes) =
            full_vector(width, 32, |far| (i32::MIN as u64).wrapping_add(far) as i32);
        golden(CodecId::Pfor, &values, &bytes);
    }
    for width in 1..=64 {
        let lane_bits = if width <= 32 { 32 } else { 64 };
        let (values, bytes) = full_vector(width, lane_bits, |far| {
            (i64::MIN as u64).wrapping_add(far) as i64
        });
        golden(CodecId::Pfor, &values, &bytes);
    }
}

#[test]
fn pfor_of_a_few_rows_is_a_stream() {
    // Base 10, distances 0, 1, 3 of two bits: 0b11_01_00.
    golden(
        CodecId::Pfor,
        &[10i32, 11, 13],
        &[0, 0, 10, 0, 0, 0, 2, 0, 0b11_01_00],
    );
    golden::<i16>(CodecId::Pfor, &[], &[0, 0, 0, 0, 0]);
}

#[test]
fn pfor_keeps_the_high_bits_of_exceptions_aside() {
    // Bits 0 and 1 by turns, and 1000 at row 5: width 1 and one exception of 1000 >> 1 = 500, nine bits.
    let mut values: Vec<i64> = (0..1024).map(|row| row % 2).collect();
    values[5] = 1000;
    let low_bits: Vec<u64> = values.iter().map(|&value| value as u64 & 1).collect();
    let mut bytes = vec![0, 0];
    bytes.extend([0; 8]); // base 0
    bytes.extend([1, 1]); // width 1, exceptions follow
    bytes.extend([9, 1, 0]); // nine high bits, one exception
    bytes.extend(pack_slowly(&low_bits, 1, 32));
    bytes.extend(stream_slowly(&[5], 10));
    bytes.extend(stream_slowly(&[500], 9));
    golden(CodecId::Pfor, &values, &bytes);
}

#[test]
fn pfor_stores_a_common_unit() {
    // Origin 500, unit 300; quotients 0, 1, 3 from base 0.
    let mut bytes = vec![1];
    bytes.extend(500i32.to_le_bytes());
    bytes.extend(300i32.to_le_bytes());
    bytes.extend([0, 0, 0, 0, 0, 2, 0, 0b11_01_00]);
    golden(CodecId::Pfor, &[500i32, 800, 1400], &bytes);
}

#[test]
fn pfor_delta_stores_differences_from_a_start() {
    // Differences 1, 1, 2 (the first repeats the second) from start 9; base 1, one bit: 0, 0, 1.
    let bytes = [0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0b100];
    golden(CodecId::PforDelta, &[10i32, 11, 13], &bytes);
}

#[test]
fn wide_integers_are_narrowed_or_halved() {
    let mut narrow = vec![0]; // fits 64 bits
    narrow.extend([0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0b10]);
    golden(CodecId::Pfor, &[7i128, 8], &narrow);

    let half = |base: i64, width: u8, codes: &[u8]| {
        [&[0, 0][..], &base.to_le_bytes(), &[width, 0], codes].concat()
    };
    // High halves 1 and 1, low halves 5 and 6.
    let high = half(1, 0, &[]);
    let mut halves = vec![1];
    halves.extend((high.len() as u32).to_le_bytes());
    halves.extend(&high);
    halves.extend(half(5, 1, &[0b10]));
    golden(
        CodecId::Pfor,
        &[(1i128 << 64) + 5, (1i128 << 64) + 6],
        &halves,
    );
}

#[test]
fn plain_and_constant_are_the_values() {
    golden(CodecId::Plain, &[-2i16, 258], &[0xFE, 0xFF, 2, 1]);
    golden(CodecId::Constant, &[-2i32; 3000], &[0xFE, 0xFF, 0xFF, 0xFF]);
}

#[test]
fn rle_stores_runs_that_end_with_their_vector() {
    // 4 × 9, 2 × 8; the values 9, 8 are a PFOR sequence of base 8 (1, 0), the lengths less one 3, 1 are one in
    // units of 2 from 1 (1, 0).
    let values = [9i16, 9, 9, 9, 8, 8];
    let run_values = [0, 0, 0, 8, 0, 1, 0, 0b01];
    let lengths = [0, 1, 1, 0, 2, 0, 0, 0, 0, 1, 0, 0b01];
    let mut bytes = vec![2, 0, 0, 0, run_values.len() as u8, 0, 0, 0, 2, 0];
    bytes.extend(run_values);
    bytes.extend(lengths);
    golden(CodecId::Rle, &values, &bytes);
}

#[test]
fn dictionary_stores_ascending_values_and_their_places() {
    // Values 5, 6, 9 from base 5 in three bits: 0, 1, 4; codes 2, 0, 0, 1 from base 0 in two bits.
    let dictionary = [0, 0, 0, 5, 0, 3, 0, 0b00_001_000, 0b1];
    let codes = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0b01_00_00_10];
    let mut bytes = vec![3, 0, 0, 0, dictionary.len() as u8, 0, 0, 0];
    bytes.extend(dictionary);
    bytes.extend(codes);
    golden(CodecId::Dictionary, &[9i16, 5, 5, 6], &bytes);
}

/// The sequence of one 64-bit value: PFOR, no unit, the base alone.
fn sequence_of_one(value: i64) -> Vec<u8> {
    [&[0, 0, 0][..], &value.to_le_bytes(), &[0, 0]].concat()
}

fn size_of(bytes: &[u8]) -> [u8; 4] {
    (bytes.len() as u32).to_le_bytes()
}

#[test]
fn pdict_stores_a_dictionary_payload_and_the_rows_aside() {
    // Sixteen sevens but 2^40 at row 3, which is dearer as a second code for all than aside.
    let mut values = [7i64; 16];
    values[3] = 1 << 40;
    let seven = sequence_of_one(7);
    let codes = [0; 9]; // PFOR, no unit, base 0, no bits, no exceptions
    let dictionary = [&1u32.to_le_bytes()[..], &size_of(&seven), &seven, &codes].concat();
    let rows = [2, 0b1000, 0]; // a bitmap
    let mut bytes = [&1u32.to_le_bytes()[..], &size_of(&dictionary), &dictionary].concat();
    bytes.extend([&size_of(&rows)[..], &rows, &sequence_of_one(1 << 40)].concat());
    golden(CodecId::Pdict, &values, &bytes);
    // Nothing aside: the dictionary payload and its size.
    let sevens = [&0u32.to_le_bytes()[..], &size_of(&dictionary), &dictionary].concat();
    golden(CodecId::Pdict, &[7i64; 16], &sevens);
}

#[test]
fn sparse_stores_one_value_and_the_rows_aside() {
    let mut values = [7i16; 1024];
    values[600] = 9;
    let mut bytes = vec![1, 0, 0, 0, 7, 0];
    bytes.extend([5, 0, 0, 0, 3, 1, 0, 0b0101_1000, 0b10]); // position 600 of one true row
    bytes.extend([0, 0, 0, 9, 0, 0, 0]); // the sequence 9
    golden(CodecId::Sparse, &values, &bytes);
    golden(CodecId::Sparse, &[7i16; 3000], &[0, 0, 0, 0, 7, 0]);
}

#[test]
fn booleans_take_the_smallest_container() {
    let words = [0b1011u64];
    assert_eq!(
        boolean::encode(CodecId::Plain, &words, 4).unwrap(),
        [0b1011]
    );
    assert_eq!(
        boolean::encode(CodecId::Constant, &[0b111], 3).unwrap(),
        [1]
    );
    // Four bits are smallest as a bitmap, kind 2.
    assert_eq!(
        boolean::encode(CodecId::Rle, &words, 4).unwrap(),
        [2, 0b1011]
    );
    // A vector of false (kind 0), then one whose row 3 alone is true (kind 3, one position).
    let mut words = [0u64; 32];
    words[16] = 0b1000;
    assert_eq!(
        boolean::encode(CodecId::Rle, &words, 2048).unwrap(),
        [0, 3, 1, 0, 3, 0]
    );
    // All true but row 600 (kind 4): 600 = 0b10_0101_1000.
    let mut words = [u64::MAX; 16];
    words[600 / 64] ^= 1 << (600 % 64);
    let expected = [4, 1, 0, 0b0101_1000, 0b10];
    assert_eq!(
        boolean::encode(CodecId::Rle, &words, 1024).unwrap(),
        expected
    );
    // True from row 512 on: one change after a false first row (kind 5): 512 = 0b10_0000_0000.
    let words: Vec<u64> = (0..16)
        .map(|word| if word < 8 { 0 } else { u64::MAX })
        .collect();
    assert_eq!(
        boolean::encode(CodecId::Rle, &words, 1024).unwrap(),
        [5, 1, 0, 0, 0b10]
    );
}

fn golden_floats<F: float::Floating>(values: &[F], bytes: &[u8], is_written: bool) {
    if is_written {
        assert_eq!(float::encode(CodecId::AlpRd, values).unwrap(), bytes);
    }
    let image: Arc<[u8]> = bytes.into();
    let range = 0..image.len();
    let mut decoder = FloatDecoder::open(CodecId::AlpRd, image, range, values.len()).unwrap();
    let mut out = [values[0]; VECTOR_VALUES];
    assert_eq!(decoder.decode_vector(0, &mut out), Ok(values.len()));
    assert!(out[..values.len()] == *values);
    for (row, value) in values.iter().enumerate() {
        assert!(decoder.value(row).unwrap() == *value, "row {row}");
    }
}

#[test]
fn alp_rd_stores_codes_of_left_parts_and_right_parts() {
    // 1, the number after it, and 1.5: left parts 0x3F80, 0x3F80, 0x3FC0; right parts 0, 1, 0 of 16 bits.
    let mut bytes = vec![16, 2, 0x80, 0x3F, 0xC0, 0x3F, 0, 0b100];
    bytes.extend([0, 0, 1, 0, 0, 0]);
    golden_floats(&[1.0f32, 1.0 + f32::EPSILON, 1.5], &bytes, true);
    // A left part in no dictionary: 2 is 0x4000 before 48 zeros.
    let mut bytes = vec![48, 1, 0xF0, 0x3F, 1, 1, 0];
    bytes.extend([0; 12]);
    bytes.extend([1, 0, 0x00, 0x40]);
    golden_floats(&[1.0f64, 2.0], &bytes, false);
}

#[test]
fn alp_rd_packs_a_full_vector_in_fastlanes_order() {
    let mut rights = numbers(48);
    let mut lefts = [0x3FF5u64; 1024];
    lefts[7] = 0x4012;
    let value = |row: usize| f64::from_bits(lefts[row] << 48 | rights[row]);
    let values: Vec<f64> = (0..1024).map(value).collect();
    let mut bytes = vec![48, 1, 0xF5, 0x3F, 1, 1, 0];
    bytes.extend(pack_slowly(&rights, 48, 64));
    bytes.extend(stream_slowly(&[7], 10));
    bytes.extend([0x12, 0x40]);
    golden_floats(&values, &bytes, true);
    // Two left parts by turns are worth a bit each; the more frequent comes first.
    for (row, left) in lefts.iter_mut().enumerate() {
        *left = [0xBFF5, 0x3FF5][usize::from(row % 4 == 1)];
    }
    rights.rotate_left(1);
    let value = |row: usize| f64::from_bits(lefts[row] << 48 | rights[row]);
    let values: Vec<f64> = (0..1024).map(value).collect();
    let codes: Vec<u64> = lefts
        .iter()
        .map(|&left| u64::from(left == 0x3FF5))
        .collect();
    let mut bytes = vec![48, 2, 0xF5, 0xBF, 0xF5, 0x3F, 0];
    bytes.extend(pack_slowly(&codes, 1, 32));
    bytes.extend(pack_slowly(&rights, 48, 64));
    golden_floats(&values, &bytes, true);
}

/// Digits 15, 225, 15 and exceptions at rows 2 and 3, with e = 14 and f = 13 for 1.5 and 22.5.
#[test]
fn alp_decodes_by_the_documented_arithmetic() {
    let digits = {
        let mut digits = vec![0, 0, 0]; // PFOR, no unit, base without bytes
        digits.extend(15i64.to_le_bytes());
        digits.extend([8, 0]);
        digits.extend([0, 210, 0, 0]);
        digits
    };
    let mut bytes = (digits.len() as u32).to_le_bytes().to_vec();
    bytes.extend([14, 13, 2, 0]);
    bytes.extend(&digits);
    bytes.extend(stream_slowly(&[2, 3], 10));
    bytes.extend((-0.0f64).to_bits().to_le_bytes());
    bytes.extend(0x7FF8_0000_0000_1234u64.to_le_bytes());
    let image: Arc<[u8]> = bytes.into();
    let length = image.len();
    let mut decoder = FloatDecoder::<f64>::open(CodecId::Alp, image, 0..length, 4).unwrap();
    let mut out = [0.0; VECTOR_VALUES];
    assert_eq!(decoder.decode_vector(0, &mut out), Ok(4));
    let expected = [
        15.0 * 1e13 * 1e-14,
        225.0 * 1e13 * 1e-14,
        -0.0,
        f64::from_bits(0x7FF8_0000_0000_1234),
    ];
    for (row, (value, expected)) in out.iter().zip(expected).enumerate() {
        assert_eq!(value.to_bits(), expected.to_bits(), "row {row}");
        assert_eq!(
            decoder.value(row).unwrap().to_bits(),
            expected.to_bits(),
            "row {row}"
        );
    }
    assert_eq!(&out[..2], [1.5, 22.5]);
}

#[test]
fn alp_of_one_decimal_place_takes_the_bits_of_its_digits() {
    let values: Vec<f32> = (0..1024)
        .map(|row| (row * 37 % 1000) as f32 / 10.0)
        .collect();
    let payload = float::encode(CodecId::Alp, &values).unwrap();
    assert!(payload.len() < 1024 * 10 / 8 + 40, "{}", payload.len());
}
