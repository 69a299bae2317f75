//! Arbitrary bytes as an FSST table or a Huffman code, and as a tuple of strings that are stored in every way; what is read must be the same by every way,
//! and come back when it is encoded.
//!
//! `cargo +nightly fuzz run tuple`
#![no_main]
#![forbid(unsafe_code)]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use quire_codec::Corrupt;
use quire_codec::text::{FsstTable, HuffmanTable, StringCodes};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};

fn layout(kinds: &[u8], table: &Arc<StringCodes>) -> TupleLayout {
    let column = |kind: &u8| TupleColumn {
        column_type: TupleType::Text,
        nullable: kind & 8 != 0,
        compression: match kind & 7 {
            0 => TupleCompression::None,
            1 => TupleCompression::NullSuppressed,
            2..=4 => TupleCompression::StringCodes(Arc::clone(table)),
            _ => TupleCompression::Padded {
                bytes: 1 + (kind >> 4),
            },
        },
    };
    let columns: Vec<TupleColumn> = kinds.iter().map(column).collect();
    TupleLayout::new(&columns).expect("columns of text")
}

/// A table of the kind that the first byte says; one that is trained where the bytes are none.
fn table(bytes: &[u8]) -> StringCodes {
    match bytes.split_first() {
        Some((first, rest)) if first % 2 == 1 => HuffmanTable::from_bytes(rest)
            .unwrap_or_else(|_| HuffmanTable::train(&[rest]))
            .into(),
        _ => FsstTable::from_bytes(bytes)
            .unwrap_or_else(|_| FsstTable::train(&[bytes]))
            .into(),
    }
}

/// What is read, without codes; an error where these mean nothing.
fn owned(value: TupleValue<'_>) -> Result<Option<Vec<u8>>, Corrupt> {
    match value {
        TupleValue::Bytes(bytes) => Ok(Some(bytes.to_vec())),
        TupleValue::Coded(text) => text.to_vec().map(Some),
        _ => Ok(None),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&[count, table_bytes], rest)) = bytes.split_first_chunk() else {
        return;
    };
    let Some((kinds, rest)) = rest.split_at_checked(usize::from(count % 8)) else {
        return;
    };
    let Some((table_bytes, tuple)) = rest.split_at_checked(usize::from(table_bytes)) else {
        return;
    };
    let table = Arc::new(table(table_bytes));
    let layout = layout(kinds, &table);
    let mut values = vec![TupleValue::Null; kinds.len()];
    if layout.decode_all(tuple, &mut values).is_err() {
        for column in 0..=kinds.len() {
            let _ = layout.field(tuple, column);
        }
        return;
    }
    for (column, value) in values.iter().enumerate() {
        let one = layout.field(tuple, column).expect("all can be read");
        assert_eq!(owned(one), owned(*value));
    }
    let Ok(read) = values.into_iter().map(owned).collect::<Result<Vec<_>, _>>() else {
        return;
    };
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
    let decoded: Result<Vec<_>, _> = decoded.into_iter().map(owned).collect();
    assert_eq!(decoded, Ok(read));
});
