//! Tuples written the slow way, from the tables in the documentation: part 1 as a list of bits.

use quire_codec::CodecId;
use quire_codec::field::{FieldLayout, FieldType, FieldValue, TupleField, order_of_fewest_bytes};
use quire_format::tuple::TupleType;

use crate::rows::{Cell, Column, Storage, exact};

fn field_type(column: &Column) -> Option<FieldType> {
    let is_small = matches!(
        column.storage,
        Storage::Suppressed | Storage::Open(..) | Storage::Coded(_)
    );
    if !is_small {
        return None;
    }
    Some(match column.column_type {
        TupleType::Bool | TupleType::Float32 => return None,
        TupleType::Int16 => FieldType::Int16,
        TupleType::Int32 => FieldType::Int32,
        TupleType::Int64 | TupleType::Timestamp => FieldType::Int64,
        TupleType::Int128 { digits: 1..=4 } => FieldType::Int16,
        TupleType::Int128 { digits: 5..=9 } => FieldType::Int32,
        TupleType::Int128 { digits: 10..=18 } => FieldType::Int64,
        TupleType::Int128 { .. } => FieldType::Int128,
        TupleType::Float64 => FieldType::Double,
        TupleType::Date { base_days } => FieldType::Date { base_days },
        TupleType::Text | TupleType::Bytes => FieldType::UInt32,
    })
}

fn small_value(kind: FieldType, cell: &Option<Cell>) -> FieldValue {
    match cell {
        None => FieldValue::Null,
        Some(Cell::Integer(value)) => FieldValue::Integer(*value),
        Some(Cell::Wide(value)) if kind == FieldType::Int128 => FieldValue::Wide(*value),
        Some(Cell::Wide(value)) => FieldValue::Integer((*value).try_into().unwrap()),
        Some(Cell::Float64(value)) => FieldValue::Double(*value),
        Some(Cell::Bytes(bytes)) => FieldValue::Integer(bytes.len() as i64),
        other => panic!("{other:?}"),
    }
}

/// Where a value is among some.
fn position(entries: &[Cell], cell: &Option<Cell>) -> Option<usize> {
    let value = cell.as_ref()?.value();
    let is_same = |entry: &Cell| exact(entry.value()) == exact(value);
    entries.iter().position(is_same)
}

/// The entry of an open dictionary that a value has.
fn entry(column: &Column, cell: &Option<Cell>) -> Option<usize> {
    match &column.storage {
        Storage::Open(entries, _) => position(entries, cell),
        _ => None,
    }
}

/// Bytes of part 3.
fn fixed(column_type: TupleType, cell: &Option<Cell>) -> Vec<u8> {
    let width = match column_type {
        TupleType::Bool => 1,
        TupleType::Int16 => 2,
        TupleType::Int32 | TupleType::Float32 | TupleType::Date { .. } => 4,
        TupleType::Text | TupleType::Bytes => 4,
        TupleType::Int64 | TupleType::Float64 | TupleType::Timestamp => 8,
        TupleType::Int128 { digits } => 8 * (1 + usize::from(digits > 18)),
    };
    let whole = match cell {
        None => 0,
        Some(Cell::Bool(value)) => i128::from(*value),
        Some(Cell::Integer(value)) => i128::from(*value),
        Some(Cell::Wide(value)) => *value,
        Some(Cell::Float32(value)) => i128::from(value.to_bits()),
        Some(Cell::Float64(value)) => i128::from(value.to_bits()),
        Some(Cell::Bytes(bytes)) => bytes.len() as i128,
    };
    whole.to_le_bytes()[..width].to_vec()
}

/// Parts 2 and 4.
fn small_parts(columns: &[Column], row: &[Option<Cell>]) -> (Vec<u8>, Vec<u8>) {
    let (mut fields, mut values) = (Vec::new(), Vec::new());
    for (column, cell) in columns.iter().zip(row) {
        if let Some(kind) = field_type(column) {
            let is_open = matches!(column.storage, Storage::Open(..));
            fields.push(TupleField {
                field_type: kind,
                nullable: column.nullable || is_open,
            });
            values.push(match entry(column, cell) {
                Some(_) => FieldValue::Null,
                None => small_value(kind, cell),
            });
        }
    }
    let order = order_of_fewest_bytes(&fields);
    let ordered: Vec<_> = order.iter().map(|&index| fields[index]).collect();
    if FieldLayout::new(&ordered).code_bytes() < FieldLayout::new(&fields).code_bytes() {
        values = order.iter().map(|&index| values[index]).collect();
        fields = ordered;
    }
    let layout = FieldLayout::new(&fields);
    let mut codes = vec![0; layout.code_bytes()];
    let mut bytes = vec![0; layout.encoded_bytes(&values).unwrap()];
    layout.encode(&values, &mut codes, &mut bytes).unwrap();
    (codes, bytes)
}

/// The string in codes; none where that is not shorter, or the string is a mark.
fn string_codes(column: &Column, cell: &Option<Cell>) -> Option<Vec<u8>> {
    let (Storage::Coded(table), Some(Cell::Bytes(text))) = (&column.storage, cell) else {
        return None;
    };
    let bytes = table.to_bytes();
    let codes = match table.codec() {
        CodecId::Huffman => huffman_codes(&bytes, text),
        _ => fsst_codes(&bytes, text),
    };
    (codes.len() < text.len() && text[0] != 0xFF).then_some(codes)
}

/// The words of the bytes as bits, and ones up to a whole byte. Lengths are 4 bits each; words ascend with lengths, then bytes.
fn huffman_codes(table: &[u8], text: &[u8]) -> Vec<u8> {
    let length = |byte: usize| usize::from(table[byte / 2] >> (4 * (byte % 2)) & 15);
    let mut order: Vec<usize> = (0..256).collect();
    order.sort_by_key(|&byte| (length(byte), byte));
    let (mut words, mut next, mut before) = (vec![String::new(); 256], 0u32, 0);
    for byte in order {
        next <<= length(byte) - before;
        before = length(byte);
        words[byte] = format!("{next:0before$b}");
        next += 1;
    }
    let mut bits: String = text
        .iter()
        .map(|&byte| &*words[usize::from(byte)])
        .collect();
    bits.extend(std::iter::repeat_n(
        '1',
        bits.len().next_multiple_of(8) - bits.len(),
    ));
    let byte = |at: usize| u8::from_str_radix(&bits[8 * at..8 * at + 8], 2).unwrap();
    (0..bits.len() / 8).map(byte).collect()
}

/// The longest symbol at each place, or 255 and the byte.
fn fsst_codes(table: &[u8], text: &[u8]) -> Vec<u8> {
    let (lengths, mut rest) = table[1..].split_at(usize::from(table[0]));
    let mut symbols = Vec::new();
    for &length in lengths {
        let (symbol, behind) = rest.split_at(usize::from(length));
        symbols.push(symbol);
        rest = behind;
    }
    let (mut codes, mut left) = (Vec::new(), text);
    while !left.is_empty() {
        let fitting = (0..symbols.len()).filter(|&code| left.starts_with(symbols[code]));
        match fitting.min_by_key(|&code| usize::MAX - symbols[code].len()) {
            Some(code) => {
                codes.push(code as u8);
                left = &left[symbols[code].len()..];
            }
            None => {
                codes.extend([255, left[0]]);
                left = &left[1..];
            }
        }
    }
    codes
}

pub fn encode(columns: &[Column], row: &[Option<Cell>]) -> Vec<u8> {
    let codes: Vec<_> = (columns.iter().zip(row))
        .map(|(column, cell)| string_codes(column, cell))
        .collect();
    let stored = row.iter().zip(&codes).map(|(cell, codes)| match codes {
        Some(codes) => Some(Cell::Bytes(codes.clone())),
        None => cell.clone(),
    });
    let stored: Vec<_> = stored.collect();
    let row = stored.as_slice();
    let (mut bits, mut part_3, mut part_5) = (Vec::new(), Vec::new(), Vec::new());
    let mut behind = Vec::new();
    for ((column, cell), codes) in columns.iter().zip(row).zip(&codes) {
        let null = column.nullable.then_some(cell.is_none());
        if let Storage::Coded(_) = &column.storage {
            bits.push(codes.is_some());
        }
        if let Storage::Dictionary(entries, width) = &column.storage {
            let entry = position(entries, cell);
            let code = entry.map_or(0, |entry| entry + usize::from(column.nullable));
            bits.extend((0..*width).map(|bit| code >> bit & 1 == 1));
            continue;
        }
        if let Storage::Open(_, width) = &column.storage {
            let code = entry(column, cell).map_or(0, |entry| entry + 1);
            bits.extend((0..*width).map(|bit| code >> bit & 1 == 1));
            if code > 0 {
                continue;
            }
        }
        if let Storage::Padded(width) = column.storage {
            let width = usize::from(width);
            bits.extend(null);
            let mut field = match cell {
                Some(Cell::Bytes(text)) => text.clone(),
                _ => vec![0; width],
            };
            let is_odd = field.ends_with(b" ") || field.starts_with(&[0xFF]);
            if is_odd || field.len() > width {
                behind.extend((field.len() as u32).to_le_bytes());
                behind.append(&mut field);
                field = vec![0; width];
                field[0] = 0xFF;
            }
            field.resize(width, b' ');
            part_3.append(&mut field);
            continue;
        }
        if let Some(Cell::Bytes(bytes)) = cell {
            part_5.extend_from_slice(bytes);
        }
        if field_type(column).is_some() {
            continue;
        }
        bits.extend(null);
        match (&column.storage, column.column_type) {
            (Storage::Suppressed, TupleType::Bool) => {
                bits.push(matches!(cell, Some(Cell::Bool(true))))
            }
            (_, column_type) => part_3.extend(fixed(column_type, cell)),
        }
    }
    let byte =
        |bits: &[bool]| (bits.iter().rev()).fold(0u8, |byte, &bit| byte << 1 | u8::from(bit));
    let part_1: Vec<u8> = bits.chunks(8).map(byte).collect();
    let (part_2, part_4) = small_parts(columns, row);
    [part_1, part_2, part_3, part_4, part_5, behind].concat()
}
