//! Columns and rows for the tests: a row is a vector of optional values.

use std::sync::Arc;

use proptest::prelude::*;
use quire_codec::CodecId;
use quire_codec::text::StringCodes;
use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};

/// A value that owns its bytes.
#[derive(Clone, Debug)]
pub enum Cell {
    Bool(bool),
    Integer(i64),
    Wide(i128),
    Float32(f32),
    Float64(f64),
    Bytes(Vec<u8>),
}

pub type Row = Vec<Option<Cell>>;

impl Cell {
    pub fn value(&self) -> TupleValue<'_> {
        match self {
            Self::Bool(value) => TupleValue::Bool(*value),
            Self::Integer(value) => TupleValue::Integer(*value),
            Self::Wide(value) => TupleValue::Wide(*value),
            Self::Float32(value) => TupleValue::Float32(*value),
            Self::Float64(value) => TupleValue::Float64(*value),
            Self::Bytes(value) => TupleValue::Bytes(value),
        }
    }
}

pub fn values(row: &[Option<Cell>]) -> Vec<TupleValue<'_>> {
    row.iter()
        .map(|cell| cell.as_ref().map_or(TupleValue::Null, Cell::value))
        .collect()
}

/// A value in words that tell all bits apart, since NaN is unequal to itself.
pub fn exact(value: TupleValue<'_>) -> String {
    match value {
        TupleValue::Float32(value) => format!("float32 {:x}", value.to_bits()),
        TupleValue::Float64(value) => format!("float64 {:x}", value.to_bits()),
        TupleValue::Coded(text) => match text.to_vec() {
            Ok(bytes) => format!("{:?}", TupleValue::Bytes(&bytes)),
            Err(error) => error.to_string(),
        },
        other => format!("{other:?}"),
    }
}

pub fn all_exact(values: &[TupleValue<'_>]) -> Vec<String> {
    values.iter().copied().map(exact).collect()
}

#[derive(Clone, Debug)]
pub enum Storage {
    Plain,
    Suppressed,
    /// Entries and bits of a code.
    Dictionary(Vec<Cell>, u32),
    /// The same for some of the values.
    Open(Vec<Cell>, u32),
    /// Strings in codes where these are shorter.
    Coded(Arc<StringCodes>),
    /// In so many bytes.
    Padded(u8),
}

#[derive(Clone, Debug)]
pub struct Column {
    pub column_type: TupleType,
    pub nullable: bool,
    pub storage: Storage,
}

impl Column {
    pub fn declared(&self) -> TupleColumn {
        let compression = match &self.storage {
            Storage::Plain => TupleCompression::None,
            Storage::Suppressed => TupleCompression::NullSuppressed,
            Storage::Dictionary(entries, code_bits) => {
                let values: Vec<_> = entries.iter().map(Cell::value).collect();
                let dictionary = TupleDictionary::new(self.column_type, *code_bits, &values);
                TupleCompression::Dictionary(Arc::new(dictionary.unwrap()))
            }
            Storage::Open(entries, code_bits) => {
                let values: Vec<_> = entries.iter().map(Cell::value).collect();
                let dictionary = TupleDictionary::new(self.column_type, *code_bits, &values);
                TupleCompression::OpenDictionary(Arc::new(dictionary.unwrap()))
            }
            Storage::Coded(table) => TupleCompression::StringCodes(Arc::clone(table)),
            Storage::Padded(bytes) => TupleCompression::Padded { bytes: *bytes },
        };
        TupleColumn {
            column_type: self.column_type,
            nullable: self.nullable,
            compression,
        }
    }
}

pub fn column(column_type: TupleType, nullable: bool, storage: Storage) -> Column {
    Column {
        column_type,
        nullable,
        storage,
    }
}

pub fn layout(columns: &[Column]) -> TupleLayout {
    let declared: Vec<_> = columns.iter().map(Column::declared).collect();
    TupleLayout::new(&declared).unwrap()
}

pub fn encode(layout: &TupleLayout, row: &[Option<Cell>]) -> Vec<u8> {
    let mut tuple = Vec::new();
    layout.encode(&values(row), &mut tuple).unwrap();
    tuple
}

pub fn types() -> impl Strategy<Value = TupleType> {
    prop_oneof![
        Just(TupleType::Bool),
        Just(TupleType::Int16),
        Just(TupleType::Int32),
        Just(TupleType::Int64),
        (1u8..=38).prop_map(|digits| TupleType::Int128 { digits }),
        Just(TupleType::Float32),
        Just(TupleType::Float64),
        any::<i32>().prop_map(|base_days| TupleType::Date { base_days }),
        Just(TupleType::Timestamp),
        Just(TupleType::Text),
        Just(TupleType::Bytes),
    ]
}

/// Values of a type, integers of every number of bits.
pub fn cells(column_type: TupleType) -> BoxedStrategy<Cell> {
    let bits = |most: u32| {
        (any::<i64>(), 0..most)
            .prop_map(move |(value, fewer)| Cell::Integer(value >> (64 - most + fewer)))
    };
    match column_type {
        TupleType::Bool => any::<bool>().prop_map(Cell::Bool).boxed(),
        TupleType::Int16 => bits(16).boxed(),
        TupleType::Int32 | TupleType::Date { .. } => bits(32).boxed(),
        TupleType::Int64 | TupleType::Timestamp => bits(64).boxed(),
        TupleType::Int128 { digits } => {
            let limit = 10_i128.pow(u32::from(digits));
            (any::<i128>(), 0u32..128)
                .prop_map(move |(value, fewer)| Cell::Wide((value >> fewer) % limit))
                .boxed()
        }
        TupleType::Float32 => any::<u32>()
            .prop_map(|bits| Cell::Float32(f32::from_bits(bits)))
            .boxed(),
        TupleType::Float64 => prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            any::<f32>().prop_map(f64::from),
            Just(-0.0),
        ]
        .prop_map(Cell::Float64)
        .boxed(),
        TupleType::Text | TupleType::Bytes => {
            let lengths = prop_oneof![4 => 0usize..20, 1 => 250usize..260];
            lengths
                .prop_flat_map(|length| prop::collection::vec(any::<u8>(), length))
                .prop_map(Cell::Bytes)
                .boxed()
        }
    }
}

pub fn columns() -> impl Strategy<Value = Column> {
    let entries = |column_type| prop::collection::vec(cells(column_type), 1..6).prop_map(different);
    (types(), any::<bool>()).prop_flat_map(move |(column_type, nullable)| {
        let storage = prop_oneof![
            1 => Just(Storage::Plain),
            2 => Just(Storage::Suppressed),
            1 => (entries(column_type), 0u32..8).prop_map(move |(entries, more_bits)| {
                let codes = entries.len() + usize::from(nullable);
                let fewest = usize::BITS - (codes - 1).leading_zeros();
                Storage::Dictionary(entries, fewest + more_bits)
            }),
            1 => (entries(column_type), 0u32..8).prop_map(move |(entries, more_bits)| {
                // Null suppression does not shorten these.
                if matches!(column_type, TupleType::Bool | TupleType::Float32) {
                    return Storage::Suppressed;
                }
                let fewest = usize::BITS - entries.len().leading_zeros();
                Storage::Open(entries, fewest + more_bits)
            }),
            2 => (prop::collection::vec(remarks(), 0..6), any::<bool>()).prop_map(move |(sample, is_huffman)| {
                if column_type != TupleType::Text {
                    return Storage::Suppressed;
                }
                let sample: Vec<&[u8]> = sample.iter().map(String::as_bytes).collect();
                let codec = if is_huffman { CodecId::Huffman } else { CodecId::Fsst };
                Storage::Coded(Arc::new(StringCodes::train(codec, &sample).unwrap()))
            }),
            1 => (1u8..30).prop_map(move |bytes| match column_type {
                TupleType::Text => Storage::Padded(bytes),
                _ => Storage::Plain,
            }),
        ];
        storage.prop_map(move |storage| column(column_type, nullable, storage))
    })
}

/// Strings that have much in common.
fn remarks() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["furiously ", "ironic ", "déjà ", "deposits", "x"]);
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

fn different(entries: Vec<Cell>) -> Vec<Cell> {
    let mut seen = std::collections::HashSet::new();
    let new = |cell: &Cell| seen.insert(exact(cell.value()));
    entries.into_iter().filter(new).collect()
}

/// Values that `column` holds.
pub fn column_cells(column: &Column) -> BoxedStrategy<Option<Cell>> {
    let present = match &column.storage {
        Storage::Dictionary(entries, _) => prop::sample::select(entries.clone()).boxed(),
        Storage::Open(entries, _) => prop_oneof![
            2 => prop::sample::select(entries.clone()),
            1 => cells(column.column_type),
        ]
        .boxed(),
        Storage::Coded(_) => {
            let remark = remarks().prop_map(|remark| Cell::Bytes(remark.into_bytes()));
            prop_oneof![2 => remark, 1 => cells(column.column_type)].boxed()
        }
        Storage::Padded(_) => {
            let blanks = ("[a-z ]{0,12}", 0usize..3).prop_map(|(text, blanks)| {
                let text = text + &" ".repeat(blanks);
                Cell::Bytes(text.into_bytes())
            });
            prop_oneof![2 => blanks, 1 => cells(column.column_type)].boxed()
        }
        Storage::Plain | Storage::Suppressed => cells(column.column_type),
    };
    if column.nullable {
        prop_oneof![1 => Just(None), 2 => present.prop_map(Some)].boxed()
    } else {
        present.prop_map(Some).boxed()
    }
}

/// Columns, and some rows of them.
pub fn tables(
    most_columns: usize,
    most_rows: usize,
) -> impl Strategy<Value = (Vec<Column>, Vec<Row>)> {
    prop::collection::vec(columns(), 0..=most_columns).prop_flat_map(move |columns| {
        let row: Vec<_> = columns.iter().map(column_cells).collect();
        (Just(columns), prop::collection::vec(row, 1..=most_rows))
    })
}
