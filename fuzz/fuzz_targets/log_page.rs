//! Arbitrary bytes as a page of the log of row transactions, and as its root.
//!
//! `cargo +nightly fuzz run log_page`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_format::log::{LogContent, LogEntries, LogPage, LogRoot};
use quire_format::volume::MAX_PAYLOAD_BYTES;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(root) = LogRoot::decode(bytes) {
        assert_eq!(LogRoot::decode(&root.encode()), Ok(root));
    }
    let Ok(page) = LogPage::decode(bytes) else {
        return;
    };
    let Ok(body) = page.body() else {
        return;
    };
    assert!(body.len() <= MAX_PAYLOAD_BYTES);
    if let LogContent::Commits { count, .. } = page.content {
        let records = LogEntries::new(&body, count).flatten();
        assert!(records.map(|entry| entry.records.len()).sum::<usize>() <= body.len());
    }
});
