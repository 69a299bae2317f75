//! Arbitrary bytes as a row-group page, of columns with pages and of a block.
//!
//! `cargo +nightly fuzz run row_group`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_format::row_group::RowGroup;

fuzz_target!(|bytes: &[u8]| {
    let Ok(row_group) = RowGroup::decode(bytes) else {
        return;
    };
    // Decoding has checked what refers to a block.
    for column in 0..row_group.columns.len() {
        if let Some(range) = row_group.column_range(column) {
            assert!(range.end as u64 <= row_group.column_image_bytes(column));
        }
        if row_group.has_block() {
            assert_eq!(row_group.column_pages(column), row_group.block);
        }
    }
    // A bound may be NaN, which is unequal to itself; its bytes are not.
    let encoded = row_group.encode();
    let again = RowGroup::decode(&encoded).map(|decoded| decoded.encode());
    assert_eq!(again, Ok(encoded));
});
