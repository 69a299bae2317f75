//! Rows kept aside: which they are, what they cost, and what damage to them does.

use crate::random::Random;
use quire_codec::choose::{ChooseOptions, choose};
use quire_codec::fixed::{FixedDecoder, encode, encoded_bytes};
use quire_codec::{CodecId, Corrupt, ROWS_MAX, RowGroupValues, VECTOR_VALUES};

const SCATTER: u64 = 0x1234_5678_9ABC_DEF1;

/// A tenth of the rows has any value, the others one of 200 that lie far apart.
fn skewed(row_count: usize) -> Vec<i64> {
    let mut random = Random(1);
    let value = |_| match random.below(10) {
        0 => random.next() as i64,
        _ => random.below(200).wrapping_mul(SCATTER) as i64,
    };
    (0..row_count).map(value).collect()
}

/// A twentieth of the rows has a value around that of all others.
fn mostly_one(row_count: usize) -> Vec<i64> {
    let mut random = Random(2);
    let value = |_| match random.below(20) {
        0 => random.below(4096) as i64,
        _ => 2048,
    };
    (0..row_count).map(value).collect()
}

fn open(codec: CodecId, payload: &[u8], row_count: usize) -> Result<FixedDecoder<i64>, Corrupt> {
    FixedDecoder::open(codec, payload.into(), 0..payload.len(), row_count)
}

fn size(codec: CodecId, values: &[i64]) -> usize {
    encoded_bytes(codec, values).unwrap()
}

#[test]
fn rare_values_are_left_out_of_the_dictionary() {
    let values = skewed(50_000);
    let frequent: Vec<i64> = (0..200u64)
        .map(|place| place.wrapping_mul(SCATTER) as i64)
        .collect();
    let rare = values.iter().filter(|value| !frequent.contains(value));
    let rare = rare.count();
    // Codes of 8 bits, 256 entries of at most 8 bytes; position and value of the rare ones, at most one bit a row
    // for the positions; and two per cent of directories.
    let expected = 50_000 + 256 * 8 + rare * 8 + (rare * 10).min(50_000) / 8;
    let bytes = size(CodecId::Pdict, &values);
    assert!(
        (expected * 96 / 100..expected * 102 / 100).contains(&bytes),
        "{bytes}, {expected}"
    );
    assert!(bytes < size(CodecId::Dictionary, &values) * 9 / 10);
    assert!(bytes < size(CodecId::Pfor, &values) / 2);
    let payload = encode(CodecId::Pdict, &values).unwrap();
    let decoder = open(CodecId::Pdict, &payload, values.len()).unwrap();
    assert_eq!(decoder.dictionary(), None, "some rows have no code");
    assert!(decoder.decode_codes(0, &mut [0; VECTOR_VALUES]).is_err());
}

#[test]
fn nothing_is_kept_aside_where_every_value_is_frequent() {
    let mut random = Random(3);
    let value = |_| random.below(100).wrapping_mul(SCATTER) as i64;
    let values: Vec<i64> = (0..20_000).map(value).collect();
    let mut bytes = vec![0; 4];
    let dictionary = encode(CodecId::Dictionary, &values).unwrap();
    bytes.extend((dictionary.len() as u32).to_le_bytes());
    bytes.extend(dictionary);
    assert!(encode(CodecId::Pdict, &values).unwrap() == bytes);
}

#[test]
fn the_width_of_codes_follows_from_the_histogram() {
    // Half the rows have one value, a quarter another, and so on: the rarest are not worth a bit more for all.
    let mut random = Random(5);
    let places: Vec<usize> = (0..4096)
        .map(|_| random.next().trailing_zeros() as usize)
        .collect();
    let value = |&place: &usize| (place as u64 + 1).wrapping_mul(SCATTER) as i64;
    let values: Vec<i64> = places.iter().map(value).collect();
    let chosen = size(CodecId::Pdict, &values);
    let mut counts = vec![0; 64];
    places.iter().for_each(|&place| counts[place] += 1);
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|left, right| right.cmp(left));
    // Of every width: bits of codes, dictionary, positions and values aside.
    let cost = |width: u32| {
        let entries = counts.len().min(1 << width);
        let aside: usize = counts[entries..].iter().sum();
        4096 * width as usize + entries * 64 + (aside * 10).min(4096) + aside * 64
    };
    let cheapest = (0..=6).map(cost).min().unwrap() / 8;
    assert!(
        (cheapest * 98 / 100..cheapest * 102 / 100 + 150).contains(&chosen),
        "{chosen}, {cheapest}"
    );
}

#[test]
fn sparse_takes_positions_and_values_of_the_others() {
    let values = mostly_one(50_000);
    let others = values.iter().filter(|&&value| value != 2048).count();
    // Ten bits of position and twelve of value.
    let expected = others * 22 / 8;
    let bytes = size(CodecId::Sparse, &values);
    assert!(
        (expected..expected * 106 / 100).contains(&bytes),
        "{bytes}, {expected}"
    );
    for other in [CodecId::Rle, CodecId::Pfor, CodecId::Dictionary] {
        assert!(bytes < size(other, &values), "{other}");
    }
    // Others that come together cost next to no positions.
    let together: Vec<i64> = (0..50_000i64)
        .map(|row| if row % 10_000 < 500 { row * row } else { -1 })
        .collect();
    assert!(size(CodecId::Sparse, &together) < 2500 * 32 / 8 + 400);
}

#[test]
fn columns_of_their_kind_get_these_codecs() {
    let chosen = |values: &RowGroupValues<'_>| {
        let choice = choose(values, &ChooseOptions::default());
        (choice.codec, choice.estimated_bytes)
    };
    let near = |estimated: usize, bytes: usize| estimated.abs_diff(bytes) * 7 < bytes;
    let skewed = skewed(ROWS_MAX);
    let (codec, estimated) = chosen(&RowGroupValues::Int64(&skewed));
    assert_eq!(codec, CodecId::Pdict);
    assert!(near(estimated, size(codec, &skewed)), "{estimated}");
    let mostly_one = mostly_one(ROWS_MAX);
    let (codec, estimated) = chosen(&RowGroupValues::Int64(&mostly_one));
    assert_eq!(codec, CodecId::Sparse);
    assert!(near(estimated, size(codec, &mostly_one)), "{estimated}");
    let mut random = Random(4);
    let value = |_| 1.0 + random.next() as f64 / u64::MAX as f64;
    let doubles: Vec<f64> = (0..ROWS_MAX).map(value).collect();
    let (codec, estimated) = chosen(&RowGroupValues::Float64(&doubles));
    assert_eq!(codec, CodecId::AlpRd);
    let bytes = quire_codec::float::encoded_bytes(codec, &doubles).unwrap();
    assert!(near(estimated, bytes), "{estimated}");
}

/// Sevens, and two other values at rows 5 and 9.
fn two_aside(row_count: usize) -> Vec<u8> {
    let mut values = vec![7i64; row_count];
    (values[5], values[9]) = (1000, 1002);
    encode(CodecId::Sparse, &values).unwrap()
}

/// Where the two positions of 10 bits stand in it: behind count, value, size and directory of the rows.
const POSITIONS: usize = 4 + 8 + 4 + 3;

fn with_positions(row_count: usize, first: u32, second: u32) -> Vec<u8> {
    let mut payload = two_aside(row_count);
    let written = (5u32 | 9 << 10).to_le_bytes();
    assert_eq!(payload[POSITIONS..POSITIONS + 3], written[..3]);
    let damaged = (first | second << 10).to_le_bytes();
    payload[POSITIONS..POSITIONS + 3].copy_from_slice(&damaged[..3]);
    payload
}

#[test]
fn positions_of_rows_aside_ascend_within_the_vector() {
    for row_count in [500, VECTOR_VALUES] {
        let decoded = |first, second| {
            let payload = with_positions(row_count, first, second);
            let mut decoder = open(CodecId::Sparse, &payload, row_count).unwrap();
            let mut out = [0; VECTOR_VALUES];
            let value = decoder.value(5);
            let mask = decoder.select_range(0, 1000..=1002, &mut [0; 16]);
            let group = decoder.decode_group(0, &mut [0; 128]);
            let vector = decoder.decode_vector(0, &mut out);
            assert_eq!(vector.is_ok(), mask.is_ok());
            assert_eq!(vector.is_ok(), group.is_ok());
            assert_eq!(vector.is_ok(), value.is_ok());
            vector.is_ok()
        };
        assert!(decoded(5, 9));
        assert!(decoded(0, row_count as u32 - 1));
        assert!(!decoded(9, 5), "descending");
        assert!(!decoded(5, 5), "twice");
        assert!(row_count == VECTOR_VALUES || !decoded(5, row_count as u32));
    }
}

#[test]
fn counts_of_rows_aside_must_agree() {
    let payload = two_aside(3000);
    assert!(open(CodecId::Sparse, &payload, 3000).is_ok());
    for count in [0u32, 1, 3, 3001, u32::MAX] {
        let mut damaged = payload.clone();
        damaged[..4].copy_from_slice(&count.to_le_bytes());
        assert!(open(CodecId::Sparse, &damaged, 3000).is_err(), "{count}");
    }
    let values = skewed(30_000);
    let payload = encode(CodecId::Pdict, &values).unwrap();
    let count = u32::from_le_bytes(payload[..4].try_into().unwrap());
    assert!(count > 2000);
    for count in [0, count - 1, count + 1, 30_001] {
        let mut damaged = payload.clone();
        damaged[..4].copy_from_slice(&count.to_le_bytes());
        assert!(open(CodecId::Pdict, &damaged, 30_000).is_err(), "{count}");
    }
}
