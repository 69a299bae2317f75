//! Segments byte for byte: one written out by hand, and of every scheme, marking, type and width against the
//! definition.

use crate::columns::{
    COMPRESSIONS, MARKINGS, Number, SCHEMES, Shape, Subject, by_vectors, column, mask, random,
};
use crate::definition::Definition;
use quire_lab::super_scalar::{
    Compression, DictionaryEncoder, Marking, Reference, Segment, SegmentSettings,
    SuperScalarDictionary, SuperScalarScheme, encode,
};
use std::sync::Arc;

/// Figure 6.3: 31415926535897932 in 3-bit PFOR. With the base 0 the digits 8 and 9 are exceptions, at 5, 11,
/// 12, 14; their codes are the gaps 5, 0, 1 and, for the last, 0.
#[test]
fn the_digits_of_pi_are_the_segment_of_the_figure() {
    let digits = [3u8, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2];
    #[rustfmt::skip]
    let image = [
        1, 1, 2, 3, 1, 0, 0, 0, // version, PFOR, u8, 3 bits, linked, no dictionary
        17, 0, 0, 0, 4, 0, 0, 0, // values, exceptions
        0, 0, 0, 0, 0, 0, 0, 0, // base
        44, 0, 0, 0, 60, 0, 0, 0, // codes, end
        0, 0, 0, 0, 0, 0, 0, 0, // no dictionary
        5, 0, 0, 0, // the first exception is at 5 and has none before it
        // 3 1 4 1 5 5 2 6, then 5 3 5 0 1 7 0 3, then 2 and padding: three bits each from the right, so the
        // first three bytes are 00 001 011, 1 101 001 1, 110 010 10.
        0b0000_1011, 0b1101_0011, 0b1100_1010,
        0b0101_1101, 0b1001_0001, 0b0110_0011,
        0b0000_0010, 0, 0, 0, 0, 0,
        9, 9, 8, 9, // the last exception comes first
    ];
    for compression in COMPRESSIONS {
        let settings = SegmentSettings {
            reference: Reference::Pfor { base: 0 },
            width: 3,
            marking: Marking::Linked,
            compression,
        };
        assert_eq!(
            encode(&digits, &settings).unwrap(),
            image,
            "{compression:?}"
        );
    }
    assert_eq!(
        by_vectors(&mut Segment::<u8>::open(&image, None).unwrap()),
        digits
    );
}

/// Escapes in the same digits: 7 is the largest code of 3 bits, so it is an exception too.
#[test]
fn escaped_digits_lose_the_largest_code() {
    let digits = [3i64, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2];
    #[rustfmt::skip]
    let codes = [
        0b0000_1011, 0b1101_0011, 0b1100_1011, // 3 1 4 1 5 x 2 6
        0b0101_1101, 0b1111_1111, 0b0111_1111, // 5 3 5 x x x x 3
        0b0000_0010, 0, 0, 0, 0, 0,
    ];
    let settings = SegmentSettings {
        reference: Reference::Pfor { base: 0 },
        width: 3,
        marking: Marking::Escaped,
        compression: Compression::Naive,
    };
    let image = encode(&digits, &settings).unwrap();
    assert_eq!(image[44..56], codes);
    let exceptions = [9i64, 7, 9, 8, 9].map(i64::to_le_bytes).concat();
    assert_eq!(image[56..], exceptions);
    assert_eq!(
        by_vectors(&mut Segment::<i64>::open(&image, None).unwrap()),
        digits
    );
}

/// A gap of 200 values, of which one code of 2 bits bridges 4: exceptions at 3, 7, 11 … 99 lead from 3 to 100,
/// and none leads over the entry point to 203.
#[test]
fn compulsory_exceptions_bridge_gaps_within_a_group_only() {
    let mut values = vec![1u16; 256];
    for outlier in [3, 100, 203] {
        values[outlier] = 1000;
    }
    let settings = SegmentSettings {
        reference: Reference::Pfor { base: 0 },
        width: 2,
        marking: Marking::Linked,
        compression: Compression::DoubleCursor,
    };
    let image = encode(&values, &settings).unwrap();
    // 3, 24 compulsory ones at 7, 11 … 99, 100; then 203, which is place 75 of group 1 after 26 exceptions.
    assert_eq!(image[12..16], 27u32.to_le_bytes());
    assert_eq!(image[40..44], 3u32.to_le_bytes());
    assert_eq!(image[44..48], (75u32 | 26 << 7).to_le_bytes());
    assert_eq!(
        by_vectors(&mut Segment::<u16>::open(&image, None).unwrap()),
        values
    );
}

/// 7, 9, 11, 8 by differences from 1 on, in two bits: 7 − 1 = 6 is the first total, so the first difference is
/// the base; 2 and 2 are 1 above it, and −3 is an exception.
#[test]
fn differences_start_from_a_total_that_makes_the_first_one_the_base() {
    let values = [7i32, 9, 11, 8];
    #[rustfmt::skip]
    let image = [
        1, 2, 5, 2, 1, 0, 0, 0,
        4, 0, 0, 0, 1, 0, 0, 0,
        1, 0, 0, 0, 0, 0, 0, 0,
        48, 0, 0, 0, 60, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0,
        3, 0, 0, 0, // the exception is at 3
        6, 0, 0, 0, // running total
        0b0001_0100, 0, 0, 0, 0, 0, 0, 0,
        0xFD, 0xFF, 0xFF, 0xFF,
    ];
    let settings = SegmentSettings {
        reference: Reference::PforDelta { base: 1 },
        width: 2,
        marking: Marking::Linked,
        compression: Compression::Predicated,
    };
    assert_eq!(encode(&values, &settings).unwrap(), image);
    assert_eq!(
        by_vectors(&mut Segment::<i32>::open(&image, None).unwrap()),
        values
    );
}

/// "a" is 0x61, whose FNV-1a is published as 0xE40C292C.
#[test]
fn a_dictionary_is_in_the_segment_and_known_by_its_fingerprint() {
    let values = [0x61u8, 0x62, 0x61];
    #[rustfmt::skip]
    let image = [
        1, 3, 2, 1, 1, 1, 0, 0,
        3, 0, 0, 0, 1, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0,
        45, 0, 0, 0, 50, 0, 0, 0,
        1, 0, 0, 0, 0x2C, 0x29, 0x0C, 0xE4,
        1, 0, 0, 0, // the exception is at 1
        0x61, // the dictionary
        0, 0, 0, 0, // the code of the exception is a gap, and the last one 0
        0x62,
    ];
    let dictionary = Arc::new(SuperScalarDictionary::new(&[0x61u8]).unwrap());
    let encoder = DictionaryEncoder::new(dictionary);
    let settings = SegmentSettings {
        reference: Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        },
        width: 1,
        marking: Marking::Linked,
        compression: Compression::Naive,
    };
    assert_eq!(encode(&values, &settings).unwrap(), image);
    assert_eq!(
        by_vectors(&mut Segment::<u8>::open(&image, None).unwrap()),
        values
    );
}

fn follows_the_definition<T: Number>() {
    let mut seed = u64::from(T::TYPE_ID);
    for width in 0..=T::BITS {
        for scheme in SCHEMES {
            // Three groups and a part of one that is no multiple of 32; sometimes more than a vector.
            let count = [300, 1100][usize::from(width % 8 == 3)];
            let shape = match scheme {
                SuperScalarScheme::Pfor => Shape::Near {
                    bits: width,
                    outliers_percent: random(&mut seed) % 20,
                },
                SuperScalarScheme::PforDelta => Shape::Ascending {
                    step: mask(width).min(1 << 40),
                    jumps_percent: random(&mut seed) % 20,
                },
                SuperScalarScheme::Pdict => Shape::Few {
                    distinct: 2 << width.min(9),
                },
            };
            let values: Vec<T> = column(shape, count, random(&mut seed));
            let subject = Subject::new(values, scheme, random(&mut seed) % 1000);
            writes_the_definition(&subject, width);
        }
    }
}

fn writes_the_definition<T: Number>(subject: &Subject<T>, width: usize) {
    let wide = |values: &[T]| {
        values
            .iter()
            .map(|value| value.to_u64())
            .collect::<Vec<u64>>()
    };
    let (bits, dictionary) = (wide(&subject.values), wide(&subject.dictionary));
    for marking in MARKINGS {
        let definition = Definition {
            scheme: subject.scheme as u8,
            type_id: T::TYPE_ID,
            value_bytes: T::BITS / 8,
            width,
            escaped: marking == Marking::Escaped,
            base: subject.base.to_u64(),
            dictionary: &dictionary,
            reuse: subject.reuse,
        };
        let expected = definition.segment(&bits);
        let name = format!(
            "{:?} {marking:?}, type {}, {width} bits",
            subject.scheme,
            T::TYPE_ID
        );
        for compression in COMPRESSIONS {
            let image = encode(
                &subject.values,
                &subject.settings(width, marking, compression),
            );
            assert!(image.unwrap() == expected, "{name}, {compression:?}");
        }
        let mut segment = subject.open(&expected).unwrap();
        assert!(by_vectors(&mut segment) == subject.values, "{name}");
    }
}

#[test]
fn segments_of_8_bits_follow_the_definition_at_every_width() {
    follows_the_definition::<i8>();
    follows_the_definition::<u8>();
}

#[test]
fn segments_of_16_bits_follow_the_definition_at_every_width() {
    follows_the_definition::<i16>();
    follows_the_definition::<u16>();
}

#[test]
fn segments_of_32_bits_follow_the_definition_at_every_width() {
    follows_the_definition::<i32>();
    follows_the_definition::<u32>();
}

#[test]
fn segments_of_64_bits_follow_the_definition_at_every_width() {
    follows_the_definition::<i64>();
    follows_the_definition::<u64>();
}
