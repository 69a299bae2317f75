//! Layouts and rows that cannot be, and what is said about them.

use std::sync::Arc;

use quire_codec::text::{FsstTable, HuffmanTable, StringCodes};
use quire_format::tuple::{
    DictionaryError, LayoutError, TupleColumn, TupleCompression, TupleDictionary, TupleLayout,
    TupleType, TupleValue, ValueError,
};

use crate::rows::{Cell, Storage, column, layout};

fn dictionary(code_bits: u32, values: &[i64]) -> Result<TupleDictionary, DictionaryError> {
    let values: Vec<_> = values.iter().copied().map(TupleValue::Integer).collect();
    TupleDictionary::new(TupleType::Int32, code_bits, &values)
}

fn with_dictionary(column_type: TupleType, nullable: bool, code_bits: u32) -> TupleColumn {
    let dictionary = dictionary(code_bits, &[5, 6]).unwrap();
    TupleColumn {
        column_type,
        nullable,
        compression: TupleCompression::Dictionary(Arc::new(dictionary)),
    }
}

#[test]
fn dictionaries_that_cannot_be_are_refused() {
    assert_eq!(
        dictionary(17, &[]).unwrap_err(),
        DictionaryError::CodeBits { code_bits: 17 }
    );
    let many = DictionaryError::TooMany {
        entries: 3,
        code_bits: 1,
        room: 2,
    };
    assert_eq!(dictionary(1, &[1, 2, 3]).unwrap_err(), many);
    let twice = DictionaryError::Duplicate { entry: 2 };
    assert_eq!(dictionary(2, &[4, 1, 4]).unwrap_err(), twice);
    let wide = DictionaryError::WrongValue {
        entry: 1,
        column_type: TupleType::Int32,
    };
    assert_eq!(dictionary(2, &[4, 1 << 40]).unwrap_err(), wide);
    let null = TupleDictionary::new(TupleType::Text, 1, &[TupleValue::Null]);
    assert!(matches!(
        null,
        Err(DictionaryError::WrongValue { entry: 0, .. })
    ));
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    for digits in [0, 39] {
        let decimal = column(TupleType::Int128 { digits }, false, Storage::Plain).declared();
        let error = TupleLayout::new(&[decimal]).unwrap_err();
        assert_eq!(error, LayoutError::Digits { column: 0, digits });
    }
    let error = TupleLayout::new(&[with_dictionary(TupleType::Int64, false, 1)]).unwrap_err();
    assert!(matches!(
        error,
        LayoutError::DictionaryType { column: 0, .. }
    ));
    assert!(TupleLayout::new(&[with_dictionary(TupleType::Int32, false, 1)]).is_ok());
    let error = TupleLayout::new(&[with_dictionary(TupleType::Int32, true, 1)]).unwrap_err();
    assert_eq!(error, LayoutError::NoCodeForNull { column: 0 });
    assert!(TupleLayout::new(&[with_dictionary(TupleType::Int32, true, 2)]).is_ok());
    let open = |values: &[i64], code_bits, column_type| {
        let dictionary = match column_type {
            TupleType::Bool => {
                TupleDictionary::new(TupleType::Bool, code_bits, &[TupleValue::Bool(true)])
            }
            _ => dictionary(code_bits, values),
        };
        TupleColumn {
            column_type,
            nullable: false,
            compression: TupleCompression::OpenDictionary(Arc::new(dictionary.unwrap())),
        }
    };
    // One code is for the others.
    let error = TupleLayout::new(&[open(&[1, 2], 1, TupleType::Int32)]).unwrap_err();
    assert_eq!(error, LayoutError::NoCodeForNull { column: 0 });
    assert!(TupleLayout::new(&[open(&[1], 1, TupleType::Int32)]).is_ok());
    let error = TupleLayout::new(&[open(&[], 1, TupleType::Bool)]).unwrap_err();
    assert!(matches!(error, LayoutError::NoOtherPlace { column: 0, .. }));
    for table in [
        StringCodes::from(FsstTable::train(&[])),
        StringCodes::from(HuffmanTable::train(&[])),
    ] {
        let table = Arc::new(table);
        let coded = |column_type| TupleColumn {
            column_type,
            nullable: false,
            compression: TupleCompression::StringCodes(Arc::clone(&table)),
        };
        assert!(TupleLayout::new(&[coded(TupleType::Text)]).is_ok());
        for column_type in [TupleType::Bytes, TupleType::Int32] {
            let error = TupleLayout::new(&[coded(column_type)]).unwrap_err();
            assert!(matches!(
                error,
                LayoutError::StringCodesType { column: 0, .. }
            ));
        }
    }
    for (column_type, bytes) in [(TupleType::Text, 0), (TupleType::Bytes, 7)] {
        let padded = TupleColumn {
            column_type,
            nullable: false,
            compression: TupleCompression::Padded { bytes },
        };
        let error = TupleLayout::new(&[padded]).unwrap_err();
        assert!(matches!(error, LayoutError::PaddedType { column: 0, .. }));
    }
    let many = vec![open(&[1], 1, TupleType::Int32); 65];
    assert!(TupleLayout::new(&many[..64]).is_ok());
    let error = TupleLayout::new(&many).unwrap_err();
    assert_eq!(error, LayoutError::TooManyOpen { dictionaries: 65 });
}

#[test]
fn added_columns_must_take_bytes_and_have_a_value_for_older_rows() {
    let plain = column(TupleType::Int32, false, Storage::Plain);
    let layout = layout(std::slice::from_ref(&plain));
    let one = column(
        TupleType::Bool,
        false,
        Storage::Dictionary(vec![Cell::Bool(true)], 0),
    );
    let no_bytes = layout.extended(&[one.declared()], &[TupleValue::Bool(true)]);
    assert_eq!(no_bytes.unwrap_err(), LayoutError::NoBytes);
    let none = layout.extended(&[], &[]);
    assert_eq!(none.unwrap_err(), LayoutError::NoBytes);
    let null = layout.extended(&[plain.declared()], &[TupleValue::Null]);
    let expected = LayoutError::Missing(ValueError::NotNull { column: 1 });
    assert_eq!(null.unwrap_err(), expected);
    let count = layout.extended(&[plain.declared()], &[]);
    assert!(matches!(count, Err(LayoutError::Missing(_))));
}

#[test]
fn values_that_a_column_does_not_hold_are_refused_and_leave_no_bytes() {
    let text = TupleValue::Bytes(b"x");
    let integer = TupleValue::Integer;
    let wide = TupleValue::Wide;
    let wrong_type = [
        (TupleType::Bool, integer(1)),
        (TupleType::Int32, wide(1)),
        (TupleType::Int32, text),
        (TupleType::Int128 { digits: 9 }, integer(1)),
        (TupleType::Float32, TupleValue::Float64(1.0)),
        (TupleType::Float64, TupleValue::Float32(1.0)),
        (TupleType::Text, integer(1)),
    ];
    let out_of_range = [
        (TupleType::Int16, integer(1 << 15)),
        (TupleType::Int32, integer(-(1 << 31) - 1)),
        (TupleType::Date { base_days: 9 }, integer(1 << 31)),
        (TupleType::Int128 { digits: 2 }, wide(100)),
        (TupleType::Int128 { digits: 38 }, wide(i128::MIN)),
    ];
    let cases = wrong_type.map(|case| (case, true)).into_iter();
    for ((kind, value), is_type) in cases.chain(out_of_range.map(|case| (case, false))) {
        for storage in [Storage::Plain, Storage::Suppressed] {
            let sound = column(TupleType::Text, false, storage.clone());
            let layout = layout(&[sound, column(kind, true, storage)]);
            let mut tuple = vec![1, 2, 3];
            let error = layout.encode(&[text, value], &mut tuple).unwrap_err();
            assert_eq!(tuple, [1, 2, 3]);
            assert_eq!(layout.encoded_bytes(&[text, value]), Err(error.clone()));
            match error {
                ValueError::WrongType { column: 1, .. } => assert!(is_type, "{value:?}"),
                ValueError::OutOfRange { column: 1, .. } => assert!(!is_type, "{value:?}"),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn missing_values_and_values_without_code_are_refused() {
    let columns = [
        column(TupleType::Int32, false, Storage::Suppressed).declared(),
        with_dictionary(TupleType::Int32, false, 1),
    ];
    let layout = TupleLayout::new(&columns).unwrap();
    let refused = |values: &[TupleValue<'_>]| {
        let mut tuple = Vec::new();
        let error = layout.encode(values, &mut tuple).unwrap_err();
        assert!(tuple.is_empty());
        error
    };
    let (five, seven) = (TupleValue::Integer(5), TupleValue::Integer(7));
    assert_eq!(
        refused(&[five, seven]),
        ValueError::NotInDictionary { column: 1 }
    );
    assert_eq!(
        refused(&[TupleValue::Null, five]),
        ValueError::NotNull { column: 0 }
    );
    assert_eq!(
        refused(&[five, TupleValue::Null]),
        ValueError::NotNull { column: 1 }
    );
    let count = ValueError::ColumnCount {
        given: 1,
        expected: 2,
    };
    assert_eq!(refused(&[five]), count);
}

/// A dictionary that has grown within its bits reads what was written before.
#[test]
fn a_longer_dictionary_reads_older_tuples() {
    let layout_with = |values: &[i64]| {
        let column = TupleColumn {
            column_type: TupleType::Int32,
            nullable: true,
            compression: TupleCompression::Dictionary(Arc::new(dictionary(2, values).unwrap())),
        };
        TupleLayout::new(&[column]).unwrap()
    };
    let (shorter, longer) = (layout_with(&[50, 40]), layout_with(&[50, 40, 30]));
    for value in [
        TupleValue::Null,
        TupleValue::Integer(50),
        TupleValue::Integer(40),
    ] {
        let mut tuple = Vec::new();
        shorter.encode(&[value], &mut tuple).unwrap();
        assert_eq!(longer.field(&tuple, 0), Ok(value));
    }
    let mut tuple = Vec::new();
    longer
        .encode(&[TupleValue::Integer(30)], &mut tuple)
        .unwrap();
    assert!(shorter.field(&tuple, 0).is_err());
}
