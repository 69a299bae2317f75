//! Arbitrary bytes as a segment: what a scan asks of it may fail, and must do nothing worse.
//!
//! `cargo +nightly fuzz run segment`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_format::segment::SegmentReader;
use quire_fuzz::ask_all;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut reader) = SegmentReader::open(bytes.into()) {
        ask_all(&mut reader, 257);
    }
});
