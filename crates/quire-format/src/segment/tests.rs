//! Bytes of the segment around its payload, and what is refused.

use super::{
    ChooseOptions, SegmentInput, SegmentReader, choose_and_encode, choose_codec, encode_segment,
};
use quire_codec::{
    BytesSlice, BytesVector, CodecId, CodecScalar, EncodeError, PhysicalType, ROWS_MAX,
    RowGroupValues,
};

fn plain(values: &[i16], validity: Option<&[u64]>) -> Vec<u8> {
    let input = SegmentInput {
        values: RowGroupValues::Int16(values),
        validity,
    };
    encode_segment(&input, CodecId::Plain).unwrap()
}

#[test]
fn header_has_the_documented_bytes() {
    let header = |validity: u8, nulls: u8, validity_bytes: u8| {
        [
            1,
            2,
            0,
            validity,
            3,
            0,
            0,
            0,
            nulls,
            0,
            0,
            0,
            validity_bytes,
            0,
            0,
            0,
            6,
            0,
            0,
            0,
        ]
    };
    let payload = [7, 0, 8, 0, 9, 0];
    assert_eq!(
        plain(&[7, 8, 9], None),
        [&header(0, 0, 0)[..], &payload].concat()
    );
    assert_eq!(
        plain(&[7, 8, 9], Some(&[0b111])),
        plain(&[7, 8, 9], None),
        "no NULL is no validity"
    );
    // Row 1 is NULL and takes the 7 before it; the bits 0b101 are a bitmap, kind 2.
    let filled = [7, 0, 7, 0, 9, 0];
    let expected = [&header(2, 1, 2)[..], &[2, 0b101], &filled].concat();
    assert_eq!(plain(&[7, 8, 9], Some(&[0b101])), expected);
    let expected = [&header(1, 3, 0)[..], &[0; 6]].concat();
    assert_eq!(plain(&[7, 8, 9], Some(&[0])), expected);
}

#[test]
fn nulls_at_the_start_take_the_first_value() {
    let image = plain(&[1, 2, 3, 4], Some(&[0b1100]));
    assert_eq!(image[image.len() - 8..], [3, 0, 3, 0, 3, 0, 4, 0]);
}

#[test]
fn constants_with_nulls_are_chosen_as_constants() {
    let input = SegmentInput {
        values: RowGroupValues::Int64(&[5, 0, 5]),
        validity: Some(&[0b101]),
    };
    let choice = choose_codec(&input, &ChooseOptions::default());
    assert_eq!(choice.codec, CodecId::Constant);
    let strings = BytesSlice {
        offsets: &[0, 3, 3, 6],
        data: b"abcabc",
    };
    let input = SegmentInput {
        values: RowGroupValues::Bytes(strings),
        validity: Some(&[0b101]),
    };
    let (choice, image) = choose_and_encode(&input, &ChooseOptions::default()).unwrap();
    assert_eq!(choice.codec, CodecId::Constant);
    let mut reader = SegmentReader::open(image.into()).unwrap();
    assert_eq!(reader.value(1), Ok(None));
    assert_eq!(
        reader.value(2),
        Ok(Some(CodecScalar::Bytes(b"abc".to_vec())))
    );
}

#[test]
fn a_forced_codec_is_used_or_refused() {
    let values: Vec<i32> = (0..500).collect();
    let input = SegmentInput {
        values: RowGroupValues::Int32(&values),
        validity: None,
    };
    for codec in CodecId::ALL {
        let options = ChooseOptions {
            forced: Some(codec),
            ..ChooseOptions::default()
        };
        match choose_and_encode(&input, &options) {
            Ok((choice, image)) => {
                assert_eq!(choice.codec, codec);
                let reader = SegmentReader::open(image.into()).unwrap();
                assert_eq!(reader.codec(), codec);
            }
            Err(EncodeError::NotConstant) => assert_eq!(codec, CodecId::Constant),
            Err(error) => {
                assert!(!codec.supports(PhysicalType::Int32), "{error}");
                let told = error.to_string();
                assert!(
                    told.contains(codec.name()) && told.contains("int32"),
                    "{told}"
                );
            }
        }
    }
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let rows = vec![false; ROWS_MAX + 1];
    let input = SegmentInput {
        values: RowGroupValues::Bool(&rows),
        validity: None,
    };
    let refused = encode_segment(&input, CodecId::Plain);
    assert!(matches!(refused, Err(EncodeError::TooManyRows { .. })));
    let input = SegmentInput {
        values: RowGroupValues::Int16(&[1, 2]),
        validity: Some(&[3, 0]),
    };
    let refused = encode_segment(&input, CodecId::Plain);
    assert_eq!(
        refused,
        Err(EncodeError::ValidityLength {
            words: 2,
            expected: 1,
            row_count: 2
        })
    );
    let choice = choose_codec(&input, &ChooseOptions::default());
    assert_eq!(choice.raw_bytes, 4, "choosing leaves the error to encoding");
}

#[test]
fn other_versions_and_types_are_named() {
    let mut image = plain(&[7, 8, 9], None);
    image[0] = 3;
    let refused = SegmentReader::open(image.clone().into()).unwrap_err();
    assert!(
        refused.to_string().contains("segment version 3"),
        "{refused}"
    );
    image[0] = 1;
    let mut reader = SegmentReader::open(image.clone().into()).unwrap();
    let refused = reader.decode_i32(0, &mut [0; 1024]).unwrap_err();
    assert!(
        refused.what.contains("int16") && refused.what.contains("int32"),
        "{refused}"
    );
    assert!(reader.decode_bytes(0, &mut BytesVector::new()).is_err());
    assert!(reader.decode_codes(0, &mut [0; 1024]).is_err());
    for (offset, wrong) in [
        (1, 0),
        (1, 9),
        (2, 250),
        (2, CodecId::Alp as u8),
        (3, 3),
        (8, 1),
    ] {
        let mut damaged = image.clone();
        damaged[offset] = wrong;
        assert!(
            SegmentReader::open(damaged.into()).is_err(),
            "byte {offset} = {wrong}"
        );
    }
}

#[test]
fn a_null_count_that_is_not_that_of_the_bits_is_corrupt() {
    let mut image = plain(&[7, 8, 9], Some(&[0b101]));
    image[8] = 2;
    assert!(SegmentReader::open(image.into()).is_err());
}

#[test]
fn decimals_of_64_bits_are_read_as_128() {
    let values: Vec<i64> = (0..2000).map(|row| row * row - 700_000).collect();
    let input = SegmentInput {
        values: RowGroupValues::Int64(&values),
        validity: None,
    };
    let mut reader =
        SegmentReader::open(encode_segment(&input, CodecId::Pfor).unwrap().into()).unwrap();
    let mut out = [0i128; 1024];
    assert_eq!(reader.decode_i128(1, &mut out), Ok(976));
    assert!(
        out[..976]
            .iter()
            .zip(&values[1024..])
            .all(|(wide, value)| *wide == i128::from(*value))
    );
}

#[test]
fn the_estimate_is_the_size_of_the_image() {
    let values: Vec<i32> = (0..5000).collect();
    let words = vec![0xFFFF_FFFF_0000_FFFF; 79];
    let input = SegmentInput {
        values: RowGroupValues::Int32(&values),
        validity: Some(&words),
    };
    let (choice, image) = choose_and_encode(&input, &ChooseOptions::default()).unwrap();
    let length = image.len();
    assert_eq!(
        choice.estimated_bytes, length,
        "the whole column was looked at"
    );
    assert_eq!(choice.raw_bytes, 20_000);
}
