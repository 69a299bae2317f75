//! Arbitrary bytes as an FSST table and as a tuple of strings that are stored in every way; what is read must be the same by every way,
//! and come back when it is encoded.
//!
//! `cargo +nightly fuzz run tuple`
#![no_main]
#![forbid(unsafe_code)]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use quire_codec::text::FsstTable;
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};

fn layout(kinds: &[u8], table: &Arc<FsstTable>) -> TupleLayout {
    let column = |kind: &u8| TupleColumn {
        column_type: TupleType::Text,
        nullable: kind & 8 != 0,
        compression: match kind & 7 {
            0 => TupleCompression::None,
            1 => TupleCompression::NullSuppressed,
            2..=4 => TupleCompression::Fsst(Arc::clone(table)),
            _ => TupleCompression::Padded {
                bytes: 1 + (kind >> 4),
            },
        },
    };
    let columns: Vec<TupleColumn> = kinds.iter().map(column).collect();
    TupleLayout::new(&columns).expect("columns of text")
}

/// What is read, without codes.
fn owned(value: TupleValue<'_>) -> Option<Vec<u8>> {
    match value {
        TupleValue::Bytes(bytes) => Some(bytes.to_vec()),
        TupleValue::Fsst(text) => Some(text.to_vec()),
        _ => None,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[count, table_bytes], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let Some((kinds, rest)) = rest.split_at_checked(usize::from(count % 8)) else {
        return;
    };
    let Some((table, tuple)) = rest.split_at_checked(usize::from(table_bytes)) else {
        return;
    };
    let table =
        Arc::new(FsstTable::from_bytes(table).unwrap_or_else(|_| FsstTable::train(&[table])));
    let layout = layout(kinds, &table);
    let mut values = vec![TupleValue::Null; kinds.len()];
    if layout.decode_all(tuple, &mut values).is_err() {
        for column in 0..=kinds.len() {
            let _ = layout.field(tuple, column);
        }
        return;
    }
    let read: Vec<Option<Vec<u8>>> = values.into_iter().map(owned).collect();
    for (column, expected) in read.iter().enumerate() {
        let one = layout.field(tuple, column).expect("all can be read");
        assert_eq!(owned(one), *expected);
    }
    let given: Vec<TupleValue<'_>> = (read.iter())
        .map(|string| {
            string
                .as_deref()
                .map_or(TupleValue::Null, TupleValue::Bytes)
        })
        .collect();
    let mut again = Vec::new();
    layout
        .encode(&given, &mut again)
        .expect("strings that were read");
    let mut decoded = vec![TupleValue::Null; kinds.len()];
    layout
        .decode_all(&again, &mut decoded)
        .expect("a tuple that was encoded");
    assert_eq!(decoded.into_iter().map(owned).collect::<Vec<_>>(), read);
});
