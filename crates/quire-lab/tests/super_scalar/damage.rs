//! Bytes that no encoder wrote: an error or other values, never a panic, a walk without end, or values that
//! depend on how they are read.

use crate::columns::{MARKINGS, Number, SCHEMES, Shape, Subject, column, random};
use proptest::prelude::*;
use quire_lab::super_scalar::{
    Compression, DictionaryEncoder, GROUP_VALUES, Marking, Reference, Segment, SegmentSettings,
    SuperScalarDictionary, SuperScalarScheme, encode,
};
use std::sync::Arc;

/// Reads everything in every way. A vector that can be decoded consists of its groups, and a group of its
/// values. Returns whether there was no error.
fn reads_without_harm<T: Number>(mut segment: Segment<'_, T>) -> bool {
    let mut right = true;
    let mut vector_values = [T::default(); 1024];
    let mut group_values = [T::default(); GROUP_VALUES];
    for vector in 0..segment.value_count().div_ceil(1024) {
        let vector_rows = segment.decode_vector(vector, &mut vector_values);
        right &= vector_rows.is_ok();
        for part in 0..8 {
            let group = 8 * vector + part;
            let Ok(rows) = segment.decode_group(group, &mut group_values) else {
                assert!(
                    vector_rows.as_ref().is_ok_and(|&rows| rows <= 128 * part)
                        || vector_rows.is_err()
                );
                for place in 0..GROUP_VALUES {
                    let _ = segment.value(GROUP_VALUES * group + place);
                }
                continue;
            };
            if vector_rows.is_ok() {
                assert!(vector_values[GROUP_VALUES * part..][..rows] == group_values[..rows]);
            }
            for (place, value) in group_values[..rows].iter().enumerate() {
                assert_eq!(segment.value(GROUP_VALUES * group + place).unwrap(), *value);
            }
        }
    }
    right
}

fn subject<T: Number>(scheme: SuperScalarScheme, seed: &mut u64) -> Subject<T> {
    let shape = match scheme {
        SuperScalarScheme::Pfor => Shape::Near {
            bits: 4,
            outliers_percent: 5,
        },
        SuperScalarScheme::PforDelta => Shape::Ascending {
            step: 12,
            jumps_percent: 5,
        },
        SuperScalarScheme::Pdict => Shape::Few { distinct: 20 },
    };
    Subject::new(
        column(shape, 170, random(seed)),
        scheme,
        2 * (random(seed) % 100),
    )
}

/// Truncations, an extension, and bits flipped: all of the header and the entry points, some of the rest.
fn survives_damage<T: Number>() {
    let mut seed = 7 + u64::from(T::TYPE_ID);
    for scheme in SCHEMES {
        let subject = subject::<T>(scheme, &mut seed);
        for marking in MARKINGS {
            for width in [0, 3, T::BITS] {
                let settings = subject.settings(width, marking, Compression::Naive);
                let image = encode(&subject.values, &settings).unwrap();
                assert!(reads_without_harm(subject.open(&image).unwrap()));
                for length in (0..image.len()).step_by(3) {
                    assert!(subject.open(&image[..length]).is_err(), "cut to {length}");
                }
                assert!(
                    subject.open(&[&image[..], &[0]].concat()).is_err(),
                    "extended"
                );
                let some = (384..8 * image.len()).step_by(61);
                for bit in (0..384).chain(some) {
                    let mut damaged = image.clone();
                    damaged[bit / 8] ^= 1 << (bit % 8);
                    let _ = subject.open(&damaged).map(reads_without_harm);
                }
            }
        }
    }
}

#[test]
fn damaged_segments_of_8_bits_do_no_harm() {
    survives_damage::<i8>();
}

#[test]
fn damaged_segments_of_16_bits_do_no_harm() {
    survives_damage::<u16>();
}

#[test]
fn damaged_segments_of_32_bits_do_no_harm() {
    survives_damage::<i32>();
}

#[test]
fn damaged_segments_of_64_bits_do_no_harm() {
    survives_damage::<u64>();
}

/// 256 values of 4 bits with exceptions at 10, 20 and 200; entry points at 40 and 44, codes from 48 on, 16 · 4
/// bytes a group.
fn example() -> Vec<u8> {
    let mut values = vec![5u64; 256];
    for outlier in [10, 20, 200] {
        values[outlier] = 1 << 40;
    }
    let settings = SegmentSettings {
        reference: Reference::Pfor { base: 0 },
        width: 4,
        marking: Marking::Linked,
        compression: Compression::Naive,
    };
    encode(&values, &settings).unwrap()
}

fn is_corrupt(change: impl FnOnce(&mut Vec<u8>)) {
    let mut image = example();
    assert!(reads_without_harm(
        Segment::<u64>::open(&image, None).unwrap()
    ));
    change(&mut image);
    let right = Segment::<u64>::open(&image, None).map(reads_without_harm);
    assert!(!right.unwrap_or(false));
}

#[test]
fn headers_no_encoder_wrote_are_corrupt() {
    // Version, scheme, type, width, marking, dictionary, padding, counts, offsets, length, dictionary.
    for field in [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 24, 28, 32, 36] {
        is_corrupt(|image| image[field] ^= 0xFF);
    }
    is_corrupt(|image| image[3] = 65);
    is_corrupt(|image| image[4] = 0);
}

#[test]
fn lists_that_leave_their_group_are_corrupt() {
    // The value at 125 is 5, which as a link leads out of the group.
    is_corrupt(|image| image[40] = 125);
    // More exceptions before the second group than there are.
    is_corrupt(|image| image[45] = 9);
    // The first entry point does not start at the first exception.
    is_corrupt(|image| image[40] |= 0x80);
}

#[test]
fn a_link_that_wraps_around_is_corrupt() {
    let mut values = vec![5u64; 128];
    values[10] = u64::MAX;
    values[20] = u64::MAX;
    let settings = SegmentSettings {
        reference: Reference::Pfor { base: 0 },
        width: 63,
        marking: Marking::Linked,
        compression: Compression::Naive,
    };
    let image = encode(&values, &settings).unwrap();
    for link in [i64::MAX, i64::MAX - 1, 118, 1 << 31, 1 << 32] {
        let mut damaged = image.clone();
        // Code 10 is bits 630 to 692 of the codes, which start at 44.
        for bit in 0..63 {
            let place = 630 + bit;
            let byte = &mut damaged[44 + place / 8];
            *byte = *byte & !(1 << (place % 8)) | ((link >> bit & 1) as u8) << (place % 8);
        }
        let segment = Segment::<u64>::open(&damaged, None).unwrap();
        assert!(segment.decode_group(0, &mut [0; 128]).is_err(), "{link}");
        assert!(!reads_without_harm(segment));
    }
}

/// 2⁵ codes and 20 values: codes 20 to 31 stand for nothing, whether they mark exceptions or not.
#[test]
fn codes_beyond_the_dictionary_are_corrupt() {
    let dictionary: Vec<u16> = (0..20).map(|value| 100 * value).collect();
    let encoder =
        DictionaryEncoder::new(Arc::new(SuperScalarDictionary::new(&dictionary).unwrap()));
    for marking in MARKINGS {
        let settings = SegmentSettings {
            reference: Reference::Pdict {
                encoder: &encoder,
                reuse: false,
            },
            width: 5,
            marking,
            compression: Compression::Predicated,
        };
        // An exception at 3 links to 30 with code 26.
        let mut values = vec![100u16; 128];
        values[3] = 1;
        values[30] = 1;
        let mut image = encode(&values, &settings).unwrap();
        assert!(reads_without_harm(
            Segment::<u16>::open(&image, None).unwrap()
        ));
        // Codes start after the header, an entry point and 20 values; the first five bits are code 0, now 21.
        image[40 + 4 + 40] |= 20;
        let mut segment = Segment::<u16>::open(&image, None).unwrap();
        assert!(
            segment.decode_vector(0, &mut [0; 1024]).is_err(),
            "{marking:?}"
        );
        assert!(segment.value(0).is_err());
        assert_eq!(segment.value(1).unwrap(), 100);
    }
}

#[test]
fn running_totals_that_do_not_follow_are_corrupt() {
    let values: Vec<i16> = (0..300).collect();
    let settings = SegmentSettings {
        reference: Reference::PforDelta { base: 1 },
        width: 1,
        marking: Marking::Linked,
        compression: Compression::Naive,
    };
    let mut image = encode(&values, &settings).unwrap();
    // Three entry points, then the totals of groups 0, 1 and 2.
    image[40 + 12 + 2] += 1;
    let segment = Segment::<i16>::open(&image, None).unwrap();
    assert!(segment.value(0).is_err());
    assert!(segment.value(299).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    /// A believable header and anything behind it.
    #[test]
    fn arbitrary_sections_do_no_harm(
        scheme in 1..=3u8,
        marking in 1..=2u8,
        width in 0..=64u8,
        value_count in 0..1500u32,
        exception_count in 0..600u32,
        seed in any::<u64>(),
        sparse in any::<bool>(),
    ) {
        let (exception_count, mut seed) = (exception_count.min(value_count), seed);
        let groups = value_count.div_ceil(128);
        let totals = if scheme == 2 { 8 * groups } else { 0 };
        let dictionary_count = if scheme == 3 { 9 } else { 0u32 };
        let codes_start = 40 + 4 * groups + totals + 8 * dictionary_count;
        let codes_bytes = value_count.div_ceil(32) * 4 * u32::from(width);
        let segment_bytes = codes_start + codes_bytes + 8 * exception_count;
        let mut image = vec![1, scheme, 8, width, marking, u8::from(scheme == 3), 0, 0];
        image.extend(value_count.to_le_bytes());
        image.extend(exception_count.to_le_bytes());
        image.extend(if scheme == 3 { 0u64 } else { 77 }.to_le_bytes());
        image.extend(codes_start.to_le_bytes());
        image.extend(segment_bytes.to_le_bytes());
        image.extend(dictionary_count.to_le_bytes());
        // The fingerprint of nine values of eight zero bytes: FNV-1a multiplies 72 times.
        let fingerprint = (0..72).fold(0x811C_9DC5u32, |hash, _| hash.wrapping_mul(0x0100_0193));
        image.extend(if scheme == 3 { fingerprint } else { 0 }.to_le_bytes());
        for group in 0..groups {
            let start = exception_count * group / groups;
            image.extend(((start << 7) | (random(&mut seed) as u32 % 128)).to_le_bytes());
        }
        image.extend(vec![0; (totals + 8 * dictionary_count) as usize]);
        while image.len() < segment_bytes as usize {
            let byte = random(&mut seed) as u8;
            image.push(if sparse { byte & 1 } else { byte });
        }
        let segment = Segment::<u64>::open(&image, None).unwrap();
        reads_without_harm(segment);
    }
}
