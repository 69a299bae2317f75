//! What comes out is what went in, by vectors, by groups and value by value, whatever the scheme, type, width,
//! marking and way of compressing; and the size announced is the size written.

use crate::columns::{
    COMPRESSIONS, MARKINGS, Number, SCHEMES, Subject, by_groups, by_vectors, column, shapes,
};
use proptest::prelude::*;
use quire_lab::super_scalar::{
    Compression, DictionaryEncoder, Marking, Reference, Segment, SegmentError, SegmentSettings,
    SuperScalarDictionary, SuperScalarScheme, VALUES_MAX, encode, encoded_bytes,
};
use std::sync::Arc;

fn obeys_the_laws<T: Number>(subject: &Subject<T>, width: usize, marking: Marking) {
    let settings = |compression| subject.settings(width, marking, compression);
    let image = encode(&subject.values, &settings(Compression::Naive)).unwrap();
    for compression in COMPRESSIONS {
        let settings = settings(compression);
        let other = encode(&subject.values, &settings).unwrap();
        assert!(other == image, "{compression:?} writes other bytes");
        assert_eq!(
            encoded_bytes(&subject.values, &settings).unwrap(),
            image.len()
        );
    }
    let mut segment = subject.open(&image).unwrap();
    assert_eq!(segment.scheme(), subject.scheme);
    assert_eq!(segment.width(), width);
    assert_eq!(segment.value_count(), subject.values.len());
    assert!(by_vectors(&mut segment) == subject.values, "by vectors");
    assert!(by_groups(&segment) == subject.values, "by groups");
    for (position, value) in subject.values.iter().enumerate() {
        assert_eq!(segment.value(position).unwrap(), *value, "value {position}");
    }
    refuses_what_is_not_there(&mut segment);
}

fn refuses_what_is_not_there<T: Number>(segment: &mut Segment<'_, T>) {
    let count = segment.value_count();
    for beyond in [count, usize::MAX] {
        assert!(segment.value(beyond).is_err());
    }
    for beyond in [count.div_ceil(128), usize::MAX / 128, usize::MAX] {
        assert!(
            segment
                .decode_group(beyond, &mut [T::default(); 128])
                .is_err()
        );
    }
    for beyond in [count.div_ceil(1024), usize::MAX / 1024, usize::MAX] {
        assert!(
            segment
                .decode_vector(beyond, &mut [T::default(); 1024])
                .is_err()
        );
    }
}

macro_rules! laws {
    ($($name:ident: $type:ty),*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(64))]
            $(#[test]
            fn $name(
                shape in shapes(),
                count in prop_oneof![0..300usize, 0..2500usize],
                scheme in prop::sample::select(&SCHEMES[..]),
                marking in prop::sample::select(&MARKINGS[..]),
                width in 0..=<$type as Number>::BITS,
                seed in any::<u64>(),
            ) {
                let subject = Subject::<$type>::new(column(shape, count, seed), scheme, seed % 997);
                obeys_the_laws(&subject, width, marking);
            })*
        }
    };
}
laws!(
    laws_of_i8: i8,
    laws_of_u8: u8,
    laws_of_i16: i16,
    laws_of_u16: u16,
    laws_of_i32: i32,
    laws_of_u32: u32,
    laws_of_i64: i64,
    laws_of_u64: u64
);

#[test]
fn a_dictionary_serves_later_segments_and_no_other_one_does() {
    let first: Vec<i32> = (0..5000).map(|row| row * row % 50 * 1_000_003).collect();
    let second: Vec<i32> = first.iter().rev().copied().collect();
    let subject = Subject::new(first, SuperScalarScheme::Pdict, 0);
    let settings = subject.settings(6, Marking::Linked, Compression::DoubleCursor);
    let image = encode(&subject.values, &settings).unwrap();
    let own = Segment::<i32>::open(&image, None).unwrap();
    let reusing = SegmentSettings {
        reference: Reference::Pdict {
            encoder: &subject.encoder,
            reuse: true,
        },
        ..settings
    };
    let later = encode(&second, &reusing).unwrap();
    let saved = 4 * subject.encoder.dictionary().count();
    assert_eq!(
        later.len() + saved,
        encode(&second, &settings).unwrap().len()
    );
    let mut segment = Segment::<i32>::open(&later, own.dictionary()).unwrap();
    assert!(by_vectors(&mut segment) == second);
    assert!(Segment::<i32>::open(&later, None).is_err());
    let mut values = subject.dictionary.clone();
    values.swap(0, 1);
    let other = Arc::new(SuperScalarDictionary::new(&values).unwrap());
    assert!(Segment::<i32>::open(&later, Some(&other)).is_err());
}

/// With repeated values a dictionary can be larger than the type; codes beyond the width are not used.
#[test]
fn a_dictionary_may_be_larger_than_the_width_allows() {
    let values: Vec<u8> = (0..2000u32).map(|row| (row % 251) as u8).collect();
    let mut subject = Subject::new(values, SuperScalarScheme::Pdict, 0);
    let repeated: Vec<u8> = [7u8; 300].into_iter().chain(0..=255).collect();
    let repeated = Arc::new(SuperScalarDictionary::new(&repeated).unwrap());
    subject.encoder = DictionaryEncoder::new(repeated);
    for width in 0..=8 {
        for marking in MARKINGS {
            obeys_the_laws(&subject, width, marking);
        }
    }
}

#[test]
fn what_a_segment_cannot_be_is_an_error() {
    let settings = |width| SegmentSettings {
        reference: Reference::Pfor { base: 0u8 },
        width,
        marking: Marking::Linked,
        compression: Compression::Predicated,
    };
    let too_wide = Err(SegmentError::TooWide { width: 9, limit: 8 });
    assert_eq!(encode(&[1], &settings(9)), too_wide);
    let many = vec![0; VALUES_MAX + 1];
    let too_many = SegmentError::TooManyValues {
        value_count: VALUES_MAX + 1,
        limit: VALUES_MAX,
    };
    assert_eq!(encode(&many, &settings(0)), Err(too_many.clone()));
    assert_eq!(encoded_bytes(&many, &settings(0)), Err(too_many));
    assert!(SuperScalarDictionary::<u64>::new(&[]).is_err());
    assert!(SuperScalarDictionary::<u8>::new(&vec![0; (1 << 20) + 1]).is_err());
}

/// The largest segment, all of it exceptions: the counts of the last entry points fill their 25 bits.
#[test]
fn the_largest_segment_fills_its_entry_points() {
    let values: Vec<u8> = (0..VALUES_MAX).map(|row| 1 + (row % 255) as u8).collect();
    let settings = SegmentSettings {
        reference: Reference::Pfor { base: 0 },
        width: 0,
        marking: Marking::Linked,
        compression: Compression::Predicated,
    };
    let image = encode(&values, &settings).unwrap();
    let segment = Segment::<u8>::open(&image, None).unwrap();
    assert_eq!(segment.exception_count(), VALUES_MAX);
    for position in [
        0,
        127,
        128,
        VALUES_MAX / 2,
        VALUES_MAX - 128,
        VALUES_MAX - 1,
    ] {
        assert_eq!(segment.value(position).unwrap(), values[position]);
    }
}
