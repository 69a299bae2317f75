//! Round trip, one value = the same value of its vector, size law, dictionaries.

use crate::columns::{CODECS, Column, Random, columns, long_value};
use quire_codec::text::{BytesDecoder, encode, encoded_bytes};
use quire_codec::{
    BytesSlice, BytesVector, CodecId, EncodeError, ROWS_MAX, vector_count, vector_rows,
};
use std::sync::Arc;

/// Decoder of `values` encoded; the payload lies within an image, as in a segment.
pub fn decoder(codec: CodecId, values: &BytesSlice) -> BytesDecoder {
    let payload = encode(codec, values).unwrap();
    let mut image = b"header".to_vec();
    image.extend_from_slice(&payload);
    image.extend_from_slice(b"trailer");
    BytesDecoder::open(codec, image.into(), 6..6 + payload.len(), values.len()).unwrap()
}

fn assert_round_trip(codec: CodecId, column: &Column) {
    let values = column.slice();
    let what = format!("{codec} on {}", column.name);
    let mut decoder = decoder(codec, &values);
    let mut all = BytesVector::new();
    for vector in 0..vector_count(values.len()) {
        let rows = decoder.decode_vector(vector, &mut all).unwrap();
        assert_eq!(rows, vector_rows(values.len(), vector), "{what}");
    }
    assert_eq!(all.len(), values.len(), "{what}");
    assert!(all.as_slice().iter().eq(values.iter()), "{what}");
    assert_eq!(
        decoder
            .decode_vector(vector_count(values.len()), &mut all)
            .unwrap(),
        0,
        "{what}"
    );
    assert!(
        decoder.value(values.len(), &mut Vec::new()).is_err(),
        "{what}"
    );
}

fn assert_values(codec: CodecId, column: &Column, rows: impl Iterator<Item = usize>) {
    let values = column.slice();
    let mut decoder = decoder(codec, &values);
    for row in rows {
        let mut value = b"before ".to_vec();
        decoder.value(row, &mut value).unwrap();
        assert_eq!(
            value.strip_prefix(b"before "),
            Some(values.get(row)),
            "{codec} on {}, row {row}",
            column.name
        );
    }
}

#[test]
fn every_codec_returns_what_it_was_given() {
    for column in columns() {
        for codec in CODECS {
            assert_round_trip(codec, &column);
        }
    }
}

#[test]
fn one_value_equals_the_value_in_its_vector() {
    for column in columns() {
        let rows = column.slice().len();
        for codec in CODECS {
            let mut random = Random(31);
            let near_edges = [0, 255, 256, 1023, 1024, rows.saturating_sub(1)];
            let anywhere = (0..200).map(|_| random.below(rows));
            assert_values(
                codec,
                &column,
                near_edges
                    .into_iter()
                    .chain(anywhere)
                    .filter(|row| *row < rows),
            );
        }
    }
}

/// Some rows of each vector, given by numbers that are larger by whole vectors.
fn assert_some_rows(codec: CodecId, column: &Column) {
    let values = column.slice();
    let mut decoder = decoder(codec, &values);
    let mut random = Random(53);
    for vector in 0..vector_count(values.len()) {
        let count = vector_rows(values.len(), vector);
        for wanted in [0, 1, 2, 5, 9, 300, count] {
            let mut places: Vec<usize> = (0..count).collect();
            while places.len() > wanted {
                places.swap_remove(random.below(places.len()));
            }
            places.sort_unstable();
            let rows: Vec<u32> = places.iter().map(|place| *place as u32 + 3072).collect();
            let mut out = BytesVector::new();
            out.push(b"before").unwrap();
            decoder.decode_rows(vector, &rows, &mut out).unwrap();
            let places = places.iter().map(|place| vector * 1024 + place);
            let expected = std::iter::once(&b"before"[..]).chain(places.map(|row| values.get(row)));
            let what = format!("{codec} on {}, {wanted} rows", column.name);
            assert!(out.as_slice().iter().eq(expected), "{what}");
            if count < 1024 {
                let before = out.clone();
                let beyond = decoder.decode_rows(vector, &[0, count as u32], &mut out);
                assert!(beyond.is_err(), "{what}");
                assert_eq!(out, before, "{what}");
            }
        }
    }
    let beyond = vector_count(values.len());
    let decoded = decoder.decode_rows(beyond, &[0], &mut BytesVector::new());
    assert!(decoded.is_err(), "{codec} on {}", column.name);
}

#[test]
fn some_rows_of_a_vector_are_those_of_the_whole() {
    for column in columns().iter().chain(&[long_value(true)]) {
        for codec in CODECS {
            assert_some_rows(codec, column);
        }
    }
    let equal = Column::new("equal", (0..1500).map(|_| b"same".to_vec()));
    assert_some_rows(CodecId::Constant, &equal);
}

#[test]
fn long_values_pass_through_every_codec() {
    for column in [long_value(true), long_value(false)] {
        for codec in CODECS {
            assert_round_trip(codec, &column);
            assert_values(codec, &column, [516, 517, 518, 1099].into_iter());
        }
    }
}

#[test]
fn a_segment_that_passes_the_training_sample_of_words_returns_whole() {
    let mut random = Random(41);
    let values = (0..9000).map(|row| match row {
        // A byte that the sample may well not see.
        8999 => vec![0xfe],
        _ => crate::columns::sentence(&mut random, 1400),
    });
    let column = Column::new("large", values.collect::<Vec<_>>());
    assert!(column.slice().data_bytes() > 5 << 20);
    assert_round_trip(CodecId::Words, &column);
    assert_values(CodecId::Words, &column, [0, 4321, 8998, 8999].into_iter());
}

#[test]
fn constant_holds_equal_values_only() {
    let equal = Column::new("equal", (0..3000).map(|_| b"same".to_vec()));
    assert_round_trip(CodecId::Constant, &equal);
    assert_values(CodecId::Constant, &equal, [0, 2999].into_iter());
    assert_round_trip(CodecId::Constant, &Column::new("none", []));
    let unequal = Column::new("unequal", [b"a".to_vec(), b"b".to_vec()]);
    assert_eq!(
        encode(CodecId::Constant, &unequal.slice()),
        Err(EncodeError::NotConstant)
    );
}

#[test]
fn announced_size_is_the_size() {
    for column in columns() {
        for codec in CODECS.into_iter().chain([CodecId::Constant]) {
            let size = encode(codec, &column.slice()).map(|payload| payload.len());
            assert_eq!(
                encoded_bytes(codec, &column.slice()),
                size,
                "{codec} on {}",
                column.name
            );
        }
    }
}

#[test]
fn encoders_write_the_same_bytes_every_time() {
    for column in columns() {
        for codec in CODECS {
            assert_eq!(
                encode(codec, &column.slice()),
                encode(codec, &column.slice())
            );
        }
    }
}

#[test]
fn vectors_decode_in_any_order() {
    let columns = columns();
    let column = columns
        .iter()
        .find(|column| column.name == "full vectors")
        .unwrap();
    for codec in CODECS {
        let values = column.slice();
        let mut decoder = decoder(codec, &values);
        for vector in [3, 0, 2, 2, 1] {
            let mut out = BytesVector::new();
            out.push(b"what was there").unwrap();
            decoder.decode_vector(vector, &mut out).unwrap();
            let expected = values.slice(vector * 1024..(vector + 1) * 1024);
            assert_eq!(out.as_slice().get(0), b"what was there");
            assert!(out.as_slice().iter().skip(1).eq(expected.iter()), "{codec}");
        }
    }
}

#[test]
fn dictionary_codes_stand_for_the_values_in_ascending_order() {
    for column in columns() {
        let values = column.slice();
        let mut decoder = decoder(CodecId::Dictionary, &values);
        let distinct: std::collections::BTreeSet<&[u8]> = values.iter().collect();
        let length = decoder.dictionary_len().unwrap();
        let dictionary: Vec<Vec<u8>> = (0..length as u32)
            .map(|code| decoder.dictionary_value(code).unwrap().to_vec())
            .collect();
        assert!(
            dictionary.iter().map(Vec::as_slice).eq(distinct),
            "{}",
            column.name
        );
        assert_eq!(decoder.dictionary_value(length as u32), None);
        let mut codes = [0; 1024];
        for vector in 0..vector_count(values.len()) {
            let rows = decoder.decode_codes(vector, &mut codes).unwrap();
            for (row, &code) in codes[..rows].iter().enumerate() {
                assert_eq!(dictionary[code as usize], values.get(vector * 1024 + row));
                assert_eq!(decoder.code(vector * 1024 + row), Ok(code));
            }
        }
        assert!(decoder.code(values.len()).is_err());
    }
}

#[test]
fn only_dictionaries_have_codes() {
    let column = Column::new("words", [b"a".to_vec()]);
    let mut decoder = decoder(CodecId::Words, &column.slice());
    assert_eq!(decoder.dictionary_len(), None);
    assert_eq!(decoder.dictionary_value(0), None);
    assert!(decoder.decode_codes(0, &mut [0; 1024]).is_err());
    assert!(decoder.code(0).is_err());
    assert_eq!(decoder.few_codes(), 0);
}

#[test]
fn encoders_refuse_what_no_payload_holds() {
    let rows = vec![0u32; ROWS_MAX + 2];
    for codec in CODECS {
        let too_many = BytesSlice {
            offsets: &rows,
            data: b"",
        };
        assert!(matches!(
            encode(codec, &too_many),
            Err(EncodeError::TooManyRows { .. })
        ));
        let backwards = BytesSlice {
            offsets: &[0, 2, 1],
            data: b"ab",
        };
        assert_eq!(encode(codec, &backwards), Err(EncodeError::BadOffsets));
        let outside = BytesSlice {
            offsets: &[0, 3],
            data: b"ab",
        };
        assert_eq!(encoded_bytes(codec, &outside), Err(EncodeError::BadOffsets));
    }
    let one = BytesSlice {
        offsets: &[0, 1],
        data: b"a",
    };
    assert!(matches!(
        encode(CodecId::Pfor, &one),
        Err(EncodeError::Unsupported { .. })
    ));
    let image: Arc<[u8]> = Arc::from(*b"a");
    assert!(BytesDecoder::open(CodecId::Alp, image, 0..1, 1).is_err());
}
