//! Layouts and rows for the tests.

use proptest::prelude::*;
use quire_codec::field::{FieldLayout, FieldType, FieldValue, TupleField};

pub fn field(field_type: FieldType, nullable: bool) -> TupleField {
    TupleField {
        field_type,
        nullable,
    }
}

pub fn fields() -> impl Strategy<Value = TupleField> {
    let field_type = prop_oneof![
        Just(FieldType::Int16),
        Just(FieldType::Int32),
        Just(FieldType::Int128),
        Just(FieldType::UInt32),
        Just(FieldType::Int64),
        any::<i32>().prop_map(|base_days| FieldType::Date { base_days }),
        Just(FieldType::Date { base_days: 9_862 }),
        Just(FieldType::Double),
    ];
    (field_type, any::<bool>()).prop_map(|(field_type, nullable)| field(field_type, nullable))
}

/// Integers of every number of bits, and their neighbours at the edges of bytes.
fn integers(min: i64, max: i64) -> impl Strategy<Value = i64> {
    let any_width = (any::<i64>(), 0u32..64).prop_map(|(value, shift)| value >> shift);
    let edges = (0u32..64, -2i64..=2, any::<bool>()).prop_map(|(bit, near, negative)| {
        let edge = 1i64.wrapping_shl(bit).wrapping_add(near);
        if negative { edge.wrapping_neg() } else { edge }
    });
    let ends = prop_oneof![Just(min), Just(max)];
    prop_oneof![any_width, edges, ends].prop_map(move |value| {
        let span = i128::from(max) - i128::from(min) + 1;
        let within = (i128::from(value) - i128::from(min)).rem_euclid(span);
        (within + i128::from(min)) as i64
    })
}

/// Integers of every number of bits.
fn wide_integers() -> impl Strategy<Value = i128> {
    let any_width = (any::<i128>(), 0u32..128).prop_map(|(value, shift)| value >> shift);
    prop_oneof![any_width, Just(i128::MIN), Just(i128::MAX)]
}

fn doubles() -> impl Strategy<Value = f64> {
    let narrow = any::<u32>().prop_map(|bits| f64::from(f32::from_bits(bits)));
    let nans = any::<u64>().prop_map(|bits| f64::from_bits(bits | 0x7FF0_0000_0000_0000));
    let narrow_nans =
        any::<u64>().prop_map(|bits| f64::from_bits((bits | 0x7FF0_0000_0000_0000) & !0x1FFF_FFFF));
    let tiny = (0u64..1 << 26).prop_map(|units| units as f64 * 2f64.powi(-151));
    let any_bits = any::<u64>().prop_map(f64::from_bits);
    let edges = prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(f64::INFINITY),
        Just(f64::NAN),
        Just(f64::from(f32::MAX)),
        Just(f64::from(f32::MIN_POSITIVE)),
        Just(f64::MAX),
        Just(0.1)
    ];
    prop_oneof![narrow, nans, narrow_nans, tiny, any_bits, edges]
}

/// Values that `field` can hold.
pub fn values(field: TupleField) -> BoxedStrategy<FieldValue> {
    let (i32_min, i32_max) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let present = match field.field_type {
        FieldType::Int16 => integers(i64::from(i16::MIN), i64::from(i16::MAX)).boxed(),
        FieldType::Int32 | FieldType::Date { .. } => integers(i32_min, i32_max).boxed(),
        FieldType::UInt32 => integers(0, i64::from(u32::MAX)).boxed(),
        FieldType::Int64 => integers(i64::MIN, i64::MAX).boxed(),
        FieldType::Int128 => {
            return nullable(field, wide_integers().prop_map(FieldValue::Wide).boxed());
        }
        FieldType::Double => {
            return nullable(field, doubles().prop_map(FieldValue::Double).boxed());
        }
    };
    nullable(field, present.prop_map(FieldValue::Integer).boxed())
}

fn nullable(field: TupleField, present: BoxedStrategy<FieldValue>) -> BoxedStrategy<FieldValue> {
    if field.nullable {
        prop_oneof![1 => Just(FieldValue::Null), 3 => present].boxed()
    } else {
        present
    }
}

/// Fields, and a row of them.
pub fn rows(most_fields: usize) -> impl Strategy<Value = (Vec<TupleField>, Vec<FieldValue>)> {
    prop::collection::vec(fields(), 0..=most_fields).prop_flat_map(|fields| {
        let row: Vec<_> = fields.iter().map(|field| values(*field)).collect();
        (Just(fields), row)
    })
}

pub fn encode(layout: &FieldLayout, row: &[FieldValue]) -> (Vec<u8>, Vec<u8>) {
    let mut codes = vec![0xAA; layout.code_bytes()];
    let mut values = vec![0xAA; layout.encoded_bytes(row).unwrap()];
    layout.encode(row, &mut codes, &mut values).unwrap();
    (codes, values)
}

/// Values by their bits, since NaN is unequal to itself.
pub fn bits(row: &[FieldValue]) -> Vec<(u8, u128)> {
    let of = |value: &FieldValue| match value {
        FieldValue::Null => (0, 0),
        FieldValue::Integer(value) => (1, *value as u128),
        FieldValue::Double(value) => (2, u128::from(value.to_bits())),
        FieldValue::Wide(value) => (3, *value as u128),
    };
    row.iter().map(of).collect()
}
