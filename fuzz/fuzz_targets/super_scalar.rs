//! Arbitrary bytes as a segment of the paper's layout: reading them may fail, and must do nothing worse; and
//! however they are read, they are the same values.
//!
//! The first byte chooses the type, the rest is the segment. Segments that reuse a dictionary get one of 20
//! values.
//!
//! `cargo +nightly fuzz run super_scalar`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_lab::super_scalar::{SuperScalarDictionary, GROUP_VALUES, Integer, Segment};
use std::sync::Arc;

fn read<T: Integer + From<bool>>(image: &[u8]) {
    let values: Vec<T> = (0..20).map(|row| T::from(row % 2 == 1)).collect();
    let earlier = SuperScalarDictionary::new(&values).map(Arc::new).ok();
    let Ok(mut segment) = Segment::<T>::open(image, earlier.as_ref()) else {
        return;
    };
    let mut vector_values = [T::default(); 1024];
    let mut group_values = [T::default(); GROUP_VALUES];
    for vector in 0..segment.value_count().div_ceil(1024).min(64) {
        let vector_is_right = segment.decode_vector(vector, &mut vector_values).is_ok();
        for part in 0..8 {
            let group = 8 * vector + part;
            let first = GROUP_VALUES * group;
            let Ok(rows) = segment.decode_group(group, &mut group_values) else {
                assert!(!vector_is_right || first >= segment.value_count());
                let _ = segment.value(first);
                continue;
            };
            let of_vector = &vector_values[GROUP_VALUES * part..][..rows];
            assert!(!vector_is_right || of_vector == &group_values[..rows]);
            for (place, value) in group_values[..rows].iter().enumerate().step_by(17) {
                assert_eq!(segment.value(first + place).as_ref(), Ok(value));
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, image)) = bytes.split_first() else {
        return;
    };
    match choice % 8 {
        0 => read::<i8>(image),
        1 => read::<u8>(image),
        2 => read::<i16>(image),
        3 => read::<u16>(image),
        4 => read::<i32>(image),
        5 => read::<u32>(image),
        6 => read::<i64>(image),
        _ => read::<u64>(image),
    }
});
