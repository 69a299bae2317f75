//! Arbitrary bytes as the map from one column to another: what a scan asks of it may fail, and must do nothing worse. The first byte
//! says which reference the map has: one with a dictionary, or one of integers.
//!
//! `cargo +nightly fuzz run map`
#![no_main]
#![forbid(unsafe_code)]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use quire_codec::{CodecId, RowGroupValues};
use quire_format::segment::{SegmentInput, SegmentReader, encode_segment};
use quire_fuzz::ask_all;

/// The references that `segment_seeds` makes its maps for.
static REFERENCES: LazyLock<[Arc<[u8]>; 2]> = LazyLock::new(|| {
    let numbers: Vec<i32> = (0..300).map(|row| row * row % 31).collect();
    [CodecId::Dictionary, CodecId::Pfor].map(|codec| {
        let values = RowGroupValues::Int32(&numbers);
        let input = SegmentInput {
            values,
            validity: None,
        };
        encode_segment(&input, codec).unwrap_or_default().into()
    })
});

fuzz_target!(|bytes: &[u8]| {
    let Some((which, image)) = bytes.split_first() else {
        return;
    };
    let reference = Arc::clone(&REFERENCES[usize::from(*which) % 2]);
    let Ok(reference) = SegmentReader::open(reference) else {
        unreachable!("the references are sound");
    };
    let Ok(mut reader) = SegmentReader::open_map(&image.into(), &reference) else {
        return;
    };
    ask_all(&mut reader, 7);
});
