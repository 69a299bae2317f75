//! Rows that are longer than an entry may be.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_tables::SqlType;
use quire_tables::row_table::{
    BatchBuilder, EncodedRow, FieldStorage, PrimaryKeyPart, RowBuffer, RowColumn, RowError,
    RowLayout, RowLayoutSpec, RowSection, StoredValue, TupleValue, Value,
};

use crate::fixture::{Overflow, Random, nothing, schema};

fn layout(types: &[SqlType]) -> RowLayout {
    let column = |&sql_type: &SqlType| RowColumn {
        sql_type,
        nullable: true,
        storage: FieldStorage::NullSuppressed,
        key_code: None,
        dropped: false,
    };
    RowLayout::new(&RowLayoutSpec {
        sections: vec![RowSection {
            columns: types.iter().map(column).collect(),
            missing: Vec::new(),
        }],
        primary_key: vec![PrimaryKeyPart {
            ordinal: 0,
            descending: false,
        }],
        page_bytes: 4096,
    })
    .unwrap()
}

/// Text of which no chunk is like another.
fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..bytes).map(|_| b'a' + random.below(26) as u8).collect()
}

fn stored(row: &EncodedRow) -> Overflow {
    let chunks = row.chunks.iter();
    Overflow(
        chunks
            .map(|chunk| (chunk.key.clone(), chunk.bytes.clone()))
            .collect(),
    )
}

#[test]
fn long_values_come_back_and_everything_fits() {
    let layout = layout(&[
        SqlType::BigInt,
        SqlType::Text,
        SqlType::Bytea,
        SqlType::Text,
    ]);
    let limit = layout.entry_bytes_max();
    let mut row = EncodedRow::default();
    for lengths in [
        [0, 0, 0],
        [limit - 12, 0, 0],
        [limit, 0, 0],
        [limit / 2, limit / 2, 20],
        [3 * limit, 1, 100_000],
        [64 << 20, 0, 700],
    ] {
        let texts = [1, 2, 3].map(|seed| text(seed, lengths[seed as usize - 1]));
        let mut binary = texts[1].clone();
        if let Some(first) = binary.first_mut() {
            *first = 0xFF;
        }
        let values = [
            TupleValue::Integer(-1),
            TupleValue::Bytes(&texts[0]),
            TupleValue::Bytes(&binary),
            TupleValue::Bytes(&texts[2]),
        ];
        layout.encode_row(&values, 0, &mut row).unwrap();
        assert!(row.key.len() + row.tuple.len() <= limit);
        for chunk in &row.chunks {
            assert!(chunk.key.len() + chunk.bytes.len() <= limit);
        }
        let overflow = stored(&row);
        assert_eq!(overflow.0.len(), row.chunks.len());
        let (mut buffer, mut found) = (RowBuffer::default(), Vec::new());
        layout
            .decode_row(
                &row.key,
                &row.tuple,
                &mut buffer,
                overflow.fetch(),
                &mut found,
            )
            .unwrap();
        assert_eq!(found, values);
        let mut keys: Vec<Vec<u8>> = Vec::new();
        layout
            .visit_chunk_keys(&row.key, &row.tuple, |key| keys.push(key.to_vec()))
            .unwrap();
        keys.sort();
        let mut expected: Vec<_> = overflow.0.keys().cloned().collect();
        expected.sort();
        assert_eq!(keys, expected);
    }
}

#[test]
fn batches_fetch_long_values_of_wanted_columns_only() {
    let layout = Arc::new(layout(&[SqlType::BigInt, SqlType::Text, SqlType::Bytea]));
    let mut overflow = Overflow::default();
    let mut entries = Vec::new();
    let texts: Vec<Vec<u8>> = (0..40_u64).map(|at| text(at, 97 * at as usize)).collect();
    for (number, text) in texts.iter().enumerate() {
        let values = [
            TupleValue::Integer(number as i64),
            TupleValue::Bytes(text),
            TupleValue::Bytes(&texts[39 - number]),
        ];
        let mut row = EncodedRow::default();
        layout.encode_row(&values, 0, &mut row).unwrap();
        overflow.0.extend(stored(&row).0);
        entries.push(row);
    }
    for projection in [vec![0, 1, 2], vec![2], vec![1, 0]] {
        let schema = schema(&layout, &projection, false);
        let mut builder = BatchBuilder::new(layout.clone(), &projection, false, schema).unwrap();
        for row in &entries {
            builder.push(&row.key, &row.tuple);
        }
        let batch = builder.finish(overflow.fetch()).unwrap();
        for (number, text) in texts.iter().enumerate() {
            for (array, &ordinal) in batch.columns().iter().zip(&projection) {
                let sql_type = layout.sql_type(ordinal).unwrap();
                let found = Value::of_array(array.as_ref(), number, sql_type).unwrap();
                let expected = match ordinal {
                    0 => TupleValue::Integer(number as i64),
                    1 => TupleValue::Bytes(text),
                    _ => TupleValue::Bytes(&texts[39 - number]),
                };
                assert_eq!(found.as_tuple_value(), expected);
            }
        }
    }
    let schema = schema(&layout, &[0], false);
    let mut builder = BatchBuilder::new(layout, &[0], false, schema).unwrap();
    builder.push(&entries[39].key, &entries[39].tuple);
    let refuse = |_: &[u8], _: &mut Vec<u8>| -> Result<bool, Corrupt> { panic!("not wanted") };
    assert_eq!(builder.finish(refuse).unwrap().num_rows(), 1);
}

#[test]
fn what_cannot_be_cut_out_is_refused_with_its_size() {
    let layout = layout(&[SqlType::Text, SqlType::Text]);
    let mut row = EncodedRow::default();
    let long = text(1, 600);
    let key = [TupleValue::Bytes(&long), TupleValue::Null];
    let error = layout.encode_row(&key, 0, &mut row).unwrap_err();
    let limit = layout.key_bytes_max();
    assert_eq!(error, RowError::KeyTooLong { bytes: 600, limit });

    let huge = vec![b'x'; (64 << 20) + 1];
    let value = [TupleValue::Bytes(b"k"), TupleValue::Bytes(&huge)];
    let error = layout.encode_row(&value, 0, &mut row).unwrap_err();
    assert!(matches!(error, RowError::ValueTooLong { column: 1, .. }));

    let wide = self::layout(&[SqlType::Double; 300]);
    let values = vec![TupleValue::Float64(0.1); 300];
    let error = wide.encode_row(&values, 0, &mut row).unwrap_err();
    let RowError::RowTooLong { bytes, limit } = error else {
        panic!("{error}");
    };
    assert!(
        bytes > limit && bytes > 299 * 8 && bytes < 310 * 9,
        "{bytes}"
    );
}

#[test]
fn missing_and_wrong_chunks_are_errors() {
    let layout = layout(&[SqlType::BigInt, SqlType::Text]);
    let long = text(1, 5000);
    let mut row = EncodedRow::default();
    let values = [TupleValue::Integer(1), TupleValue::Bytes(&long)];
    layout.encode_row(&values, 0, &mut row).unwrap();
    assert!(row.chunks.len() > 5);
    let read = |overflow: &Overflow| {
        let (mut buffer, mut found) = (RowBuffer::default(), Vec::new());
        layout
            .decode_row(
                &row.key,
                &row.tuple,
                &mut buffer,
                overflow.fetch(),
                &mut found,
            )
            .map(|()| found.len())
    };
    assert_eq!(read(&stored(&row)).unwrap(), 2);
    for chunk in &row.chunks {
        let mut overflow = stored(&row);
        overflow.0.get_mut(&chunk.key).unwrap().pop();
        assert!(read(&overflow).is_err());
        overflow.0.remove(&chunk.key);
        assert!(read(&overflow).is_err());
    }
    // The mark is the only string of the tuple, at its end: FF 01, length, chunk length.
    let mark = row.tuple.len() - 8;
    assert_eq!(row.tuple[mark..mark + 6], [0xFF, 0x01, 0x88, 0x13, 0, 0]);
    for (at, byte) in [(1, 2), (1, 0), (5, 0x7F)] {
        let mut tuple = row.tuple.clone();
        tuple[mark + at] = byte;
        let mut scratch = Vec::new();
        assert!(layout.field(&row.key, &tuple, 1, &mut scratch).is_err());
    }
    let mut scratch = Vec::new();
    let field = layout.field(&row.key, &row.tuple, 1, &mut scratch).unwrap();
    let StoredValue::Long(mark) = field else {
        panic!("{field:?}");
    };
    assert_eq!(
        (mark.value_bytes(), mark.chunk_count()),
        (5000, row.chunks.len())
    );
    let mut buffer = RowBuffer::default();
    let mut values = Vec::new();
    let read = layout.decode_row(&row.key, &row.tuple, &mut buffer, nothing, &mut values);
    assert!(read.is_err());
}
