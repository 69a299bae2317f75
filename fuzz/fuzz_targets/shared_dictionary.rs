//! Arbitrary bytes as a shared dictionary and as a segment that refers to it: what a scan asks of them may fail, and must do nothing worse. The first
//! two bytes are the length of the dictionary.
//!
//! `cargo +nightly fuzz run shared_dictionary`
#![no_main]
#![forbid(unsafe_code)]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use quire_format::segment::{SegmentReader, SharedDictionary};
use quire_fuzz::ask_all;

fuzz_target!(|bytes: &[u8]| {
    let Some((length, bytes)) = bytes.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length));
    let Some((dictionary, segment)) = bytes.split_at_checked(length) else {
        return;
    };
    let Ok(dictionary) = SharedDictionary::open(dictionary) else {
        return;
    };
    let segment: Arc<[u8]> = segment.into();
    if let Ok(mut reader) = SegmentReader::open_shared_part(segment.into(), &dictionary) {
        ask_all(&mut reader, 7);
    }
});
