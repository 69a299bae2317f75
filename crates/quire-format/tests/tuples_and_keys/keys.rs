//! The order of keys is the order of their values, whatever the types, the orders and the places of NULL; and keys give the values
//! back.

use std::cmp::Ordering;
use std::sync::OnceLock;

use proptest::prelude::*;
use quire_format::key::{KeyCode, KeyColumn, KeyLayout, successor};
use quire_format::tuple::{TupleType, TupleValue};

use crate::rows::{Cell, Row, all_exact, cells, types, values};

/// `ORDER BY` of one column.
fn compare_cells(column: KeyColumn, left: &Option<Cell>, right: &Option<Cell>) -> Ordering {
    let null_is = if column.nulls_first {
        Ordering::Less
    } else {
        Ordering::Greater
    };
    let (left, right) = match (left, right) {
        (None, None) => return Ordering::Equal,
        (None, Some(_)) => return null_is,
        (Some(_), None) => return null_is.reverse(),
        (Some(left), Some(right)) => (left, right),
    };
    let ascending = match (left, right) {
        (Cell::Bool(left), Cell::Bool(right)) => left.cmp(right),
        (Cell::Integer(left), Cell::Integer(right)) => left.cmp(right),
        (Cell::Wide(left), Cell::Wide(right)) => left.cmp(right),
        (Cell::Float32(left), Cell::Float32(right)) => {
            compare_floats(f64::from(*left), f64::from(*right))
        }
        (Cell::Float64(left), Cell::Float64(right)) => compare_floats(*left, *right),
        (Cell::Bytes(left), Cell::Bytes(right)) => left.cmp(right),
        other => panic!("{other:?}"),
    };
    if column.descending {
        ascending.reverse()
    } else {
        ascending
    }
}

/// As PostgreSQL: NaN equals NaN and is greater than all else, and zeros are equal.
fn compare_floats(left: f64, right: f64) -> Ordering {
    let (left_nan, right_nan) = (left.is_nan(), right.is_nan());
    left.partial_cmp(&right)
        .unwrap_or_else(|| left_nan.cmp(&right_nan))
}

fn compare_rows(columns: &[KeyColumn], left: &[Option<Cell>], right: &[Option<Cell>]) -> Ordering {
    let cells = columns.iter().zip(left).zip(right);
    cells.fold(Ordering::Equal, |order, ((column, left), right)| {
        order.then(compare_cells(*column, left, right))
    })
}

/// What a key gives back.
fn normal(cell: &Option<Cell>) -> Option<Cell> {
    match cell {
        Some(Cell::Float32(value)) if value.is_nan() => Some(Cell::Float32(f32::NAN)),
        Some(Cell::Float64(value)) if value.is_nan() => Some(Cell::Float64(f64::NAN)),
        Some(Cell::Float32(0.0)) => Some(Cell::Float32(0.0)),
        Some(Cell::Float64(0.0)) => Some(Cell::Float64(0.0)),
        other => other.clone(),
    }
}

pub fn encode(layout: &KeyLayout, row: &[Option<Cell>]) -> Vec<u8> {
    let mut key = Vec::new();
    layout.encode(&values(row), &mut key).unwrap();
    key
}

fn comes_back(layout: &KeyLayout, row: &[Option<Cell>]) {
    let key = encode(layout, row);
    let normal: Row = row.iter().map(normal).collect();
    let expected = all_exact(&values(&normal));
    let mut scratch = vec![0x55; 3];
    let mut decoded = vec![TupleValue::Null; row.len()];
    layout.decode(&key, &mut scratch, &mut decoded).unwrap();
    assert_eq!(all_exact(&decoded), expected);
    for (column, expected) in expected.iter().enumerate() {
        let mut scratch = Vec::new();
        let one = layout.field(&key, column, &mut scratch).unwrap();
        assert_eq!(&crate::rows::exact(one), expected);
        if layout.columns()[column].is_exact() {
            let given = crate::rows::exact(values(row)[column]);
            assert_eq!(&given, expected);
        }
    }
}

/// The layout of `columns`, and the same with codes for strings.
fn layouts(columns: &[KeyColumn]) -> [KeyLayout; 2] {
    static CODE: OnceLock<KeyCode> = OnceLock::new();
    let code = CODE.get_or_init(|| {
        let names: Vec<String> = (0..500)
            .map(|at| format!("aa\u{1}ÿ Customer {at}"))
            .collect();
        let code = KeyCode::train(names.iter().map(String::as_bytes));
        KeyCode::from_bytes(code.as_bytes()).unwrap()
    });
    let plain = KeyLayout::new(columns);
    let of = |column: &KeyColumn| {
        let is_string = matches!(column.column_type, TupleType::Text | TupleType::Bytes);
        is_string.then(|| code.clone())
    };
    let coded = plain.clone().with_codes(columns.iter().map(of).collect());
    [plain, coded]
}

/// Values at the edges of the classes of `column_type`.
fn edges(column_type: TupleType) -> Vec<Cell> {
    let mut integers: Vec<i128> = (0..127)
        .flat_map(|bit| [-1, 0, 1].map(|near| (1_i128 << bit) + near))
        .chain([31, 32, 33, 188, 189, 190, 191, i128::MAX])
        .collect();
    integers.extend(integers.clone().into_iter().map(|value| -value - 1));
    let within = |min: i128, max: i128| -> Vec<Cell> {
        let kept = integers.iter().filter(|value| (min..=max).contains(value));
        kept.map(|value| match column_type {
            TupleType::Int128 { .. } => Cell::Wide(*value),
            _ => Cell::Integer(*value as i64),
        })
        .collect()
    };
    match column_type {
        TupleType::Bool => vec![Cell::Bool(false), Cell::Bool(true)],
        TupleType::Int16 => within(i16::MIN.into(), i16::MAX.into()),
        TupleType::Int32 | TupleType::Date { .. } => within(i32::MIN.into(), i32::MAX.into()),
        TupleType::Int64 | TupleType::Timestamp => within(i64::MIN.into(), i64::MAX.into()),
        TupleType::Int128 { digits } => {
            let most = 10_i128.pow(u32::from(digits)) - 1;
            within(-most, most)
        }
        TupleType::Float32 => float_edges()
            .into_iter()
            .map(|value| Cell::Float32(value as f32))
            .chain([Cell::Float32(f32::from_bits(0xFFC0_0001))])
            .collect(),
        TupleType::Float64 => float_edges().into_iter().map(Cell::Float64).collect(),
        TupleType::Text | TupleType::Bytes => string_edges(),
    }
}

fn float_edges() -> Vec<f64> {
    let positive = [
        0.0,
        5e-324,
        1e-40,
        1e-30,
        0.1,
        1.0,
        1.5,
        1e30,
        1e300,
        f64::MAX,
    ];
    let mut all: Vec<f64> = positive.to_vec();
    all.extend(positive.map(|value| -value));
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]);
    all.push(f64::from_bits(f64::NAN.to_bits() | 5));
    all
}

/// All strings of up to two of the bytes that are not themselves, and their neighbours.
fn string_edges() -> Vec<Cell> {
    let bytes = [0, 1, 2, 3, b'a', 0xFD, 0xFE, 0xFF];
    let mut strings = vec![Vec::new()];
    for length in 0..2 {
        let longest: Vec<Vec<u8>> = strings
            .iter()
            .filter(|string| string.len() == length)
            .cloned()
            .collect();
        for string in longest {
            strings.extend(bytes.map(|byte| [&string[..], &[byte]].concat()));
        }
    }
    strings.into_iter().map(Cell::Bytes).collect()
}

/// All orders and places of NULL.
pub fn columns_of(column_type: TupleType) -> impl Iterator<Item = KeyColumn> {
    (0..8).map(move |bits| KeyColumn {
        column_type,
        nullable: bits & 1 != 0,
        descending: bits & 2 != 0,
        nulls_first: bits & 4 != 0,
    })
}

pub const ALL_TYPES: [TupleType; 13] = [
    TupleType::Bool,
    TupleType::Int16,
    TupleType::Int32,
    TupleType::Int64,
    TupleType::Int128 { digits: 3 },
    TupleType::Int128 { digits: 15 },
    TupleType::Int128 { digits: 38 },
    TupleType::Float32,
    TupleType::Float64,
    TupleType::Date { base_days: 9 },
    TupleType::Timestamp,
    TupleType::Text,
    TupleType::Bytes,
];

/// A column alone, where a string needs no mark of its end, and one before a boolean, which must not be compared with
/// what is in the first.
#[test]
fn edges_of_every_type_compare_as_values_in_every_order() {
    for column in ALL_TYPES.into_iter().flat_map(columns_of) {
        let next = KeyColumn {
            column_type: TupleType::Bool,
            nullable: false,
            ..column
        };
        for (columns, is_coded) in [
            (vec![column], false),
            (vec![column], true),
            (vec![column, next], false),
            (vec![column, next], true),
        ] {
            let [plain, coded] = layouts(&columns);
            let layout = if is_coded { coded } else { plain };
            let mut rows: Vec<Row> = Vec::new();
            let null = column.nullable.then_some(None);
            for cell in edges(column.column_type).into_iter().map(Some).chain(null) {
                let tails: &[bool] = match columns.len() {
                    1 => &[false],
                    _ => &[false, true],
                };
                rows.extend(tails.iter().map(|&tail| {
                    let cells = [cell.clone(), Some(Cell::Bool(tail))];
                    cells[..columns.len()].to_vec()
                }));
            }
            rows.sort_by(|left, right| compare_rows(&columns, left, right));
            let keys: Vec<_> = rows.iter().map(|row| encode(&layout, row)).collect();
            for (keys, rows) in keys.windows(2).zip(rows.windows(2)) {
                let expected = compare_rows(&columns, &rows[0], &rows[1]);
                assert_eq!(keys[0].cmp(&keys[1]), expected, "{columns:?} {rows:?}");
            }
            rows.iter().for_each(|row| comes_back(&layout, row));
        }
    }
}

fn key_columns() -> impl Strategy<Value = KeyColumn> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (types(), flags).prop_map(
        |(column_type, (nullable, descending, nulls_first))| KeyColumn {
            column_type,
            nullable,
            descending,
            nulls_first,
        },
    )
}

fn key_cells(column: &KeyColumn) -> BoxedStrategy<Option<Cell>> {
    let edges = prop::sample::select(edges(column.column_type));
    let present = prop_oneof![cells(column.column_type), edges];
    if column.nullable {
        prop_oneof![1 => Just(None), 4 => present.prop_map(Some)].boxed()
    } else {
        present.prop_map(Some).boxed()
    }
}

/// Columns and rows that have many values in common.
pub fn keyed_rows() -> impl Strategy<Value = (Vec<KeyColumn>, Vec<Row>)> {
    prop::collection::vec(key_columns(), 1..5).prop_flat_map(|columns| {
        let few = |column: &KeyColumn| prop::collection::vec(key_cells(column), 3);
        let choices: Vec<_> = columns.iter().map(few).collect();
        let picks = prop::collection::vec(prop::collection::vec(0usize..3, columns.len()), 2..12);
        (Just(columns), choices, picks).prop_map(|(columns, choices, picks)| {
            let row = |picks: Vec<usize>| {
                let cells = picks.into_iter().zip(&choices);
                cells.map(|(pick, cells)| cells[pick].clone()).collect()
            };
            (columns, picks.into_iter().map(row).collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn keys_of_several_columns_compare_as_rows((columns, rows) in keyed_rows()) {
        for layout in layouts(&columns) {
            let keys: Vec<_> = rows.iter().map(|row| encode(&layout, row)).collect();
            for (left, left_key) in rows.iter().zip(&keys) {
                comes_back(&layout, left);
                for (right, right_key) in rows.iter().zip(&keys) {
                    prop_assert_eq!(left_key.cmp(right_key), compare_rows(&columns, left, right));
                }
            }
        }
    }

    #[test]
    fn keys_with_the_same_first_columns_lie_between_their_bounds((columns, rows) in keyed_rows()) {
        for (layout, row) in layouts(&columns).iter().flat_map(|layout| rows.iter().map(move |row| (layout, row))) {
            for count in 0..=columns.len() {
                let (mut low, mut high) = (vec![7], vec![7]);
                layout.encode_prefix(&values(&row[..count]), &mut low).unwrap();
                let is_bounded = layout.encode_successor(&values(&row[..count]), &mut high).unwrap();
                for other in &rows {
                    let key = [vec![7], encode(layout, other)].concat();
                    let same = compare_rows(&columns[..count], row, other) == Ordering::Equal;
                    let between = low <= key && (!is_bounded || key < high);
                    prop_assert_eq!(between, same);
                }
                if !is_bounded {
                    prop_assert_eq!(high, vec![7]);
                }
            }
        }
    }

    #[test]
    fn any_bytes_as_a_key_with_codes_are_values_or_an_error(
        (columns, _) in keyed_rows(),
        key in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let [_, layout] = layouts(&columns);
        let mut scratch = Vec::new();
        let mut decoded = vec![TupleValue::Null; columns.len()];
        let is_whole = layout.decode(&key, &mut scratch, &mut decoded).is_ok();
        for column in 0..columns.len() {
            let mut scratch = Vec::new();
            let one = layout.field(&key, column, &mut scratch);
            prop_assert!(one.is_ok() || !is_whole);
        }
        let mut scratch = Vec::new();
        prop_assert!(layout.field(&key, usize::MAX, &mut scratch).is_err());
    }

    #[test]
    fn successors_are_above_all_that_start_alike(prefix in prop::collection::vec(250u8.., 0..4), tail in any::<[u8; 2]>()) {
        let mut bound = prefix.clone();
        let longer = [&prefix[..], &tail].concat();
        if successor(&mut bound) {
            prop_assert!(longer < bound && prefix < bound);
            // The least: what is before it starts alike, or is before all that do.
            prop_assert_eq!(bound.len() <= prefix.len(), true);
            let mut before = bound.clone();
            *before.last_mut().unwrap() -= 1;
            prop_assert!(prefix.starts_with(&before));
            prop_assert!(prefix[before.len()..].iter().all(|&byte| byte == 255));
        } else {
            prop_assert!(prefix.iter().all(|&byte| byte == 255));
        }
    }
}
