//! Time to find and decode one field of a tuple, to decode all, and to encode them, beside tuples that are not
//! compressed and beside the naive loop over lengths.
//!
//! `cargo run --release -p quire-lab --example field_speed`. Tuples lie end to end and are read in order. A field
//! is the same for a round over all tuples. Each figure is the best of 60 rounds, taken in turns.

use quire_codec::field::{FieldLayout, FieldType, FieldValue, TupleField};
use quire_lab::UniversalTable;
use std::hint::black_box;
use std::time::Instant;

const TUPLES: usize = 4_096;
const ROUNDS: usize = 60;

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn field(field_type: FieldType, nullable: bool) -> TupleField {
    TupleField {
        field_type,
        nullable,
    }
}

/// Relation R of the paper's §3.3.2.
fn relation() -> Vec<TupleField> {
    let int = FieldType::Int32;
    vec![
        field(int, true),
        field(int, true),
        field(FieldType::Double, false),
        field(int, true),
        field(int, true),
        field(int, false),
    ]
}

/// TPC-H `lineitem` without its flags, and with the lengths of its three strings.
fn lineitem() -> Vec<TupleField> {
    let date = FieldType::Date { base_days: 9_500 };
    let kinds = [
        [FieldType::Int32; 4].as_slice(),
        &[FieldType::Int64; 4],
        &[date; 3],
        &[FieldType::UInt32; 3],
    ];
    let kinds = kinds.concat();
    kinds.into_iter().map(|kind| field(kind, false)).collect()
}

fn value(field: TupleField, seed: &mut u64) -> FieldValue {
    let number = random(seed);
    let small = (number >> 8) as i64 >> (number % 24 + 32);
    if field.nullable && number.is_multiple_of(5) {
        return FieldValue::Null;
    }
    match field.field_type {
        FieldType::Double if number.is_multiple_of(2) => FieldValue::Double(small as f64 / 4.0),
        FieldType::Double => FieldValue::Double(small as f64 / 10.0),
        FieldType::UInt32 => FieldValue::Integer(small & 0xFF),
        FieldType::Date { base_days } => FieldValue::Integer(i64::from(base_days) + small % 2_500),
        FieldType::Int16 => FieldValue::Integer(small & 0x7FFF),
        FieldType::Int32 | FieldType::Int64 => FieldValue::Integer(small),
        FieldType::Int128 => FieldValue::Wide(i128::from(small)),
    }
}

/// Where the length code of a field is and what it means, for the naive loop.
struct Code {
    byte: usize,
    shift: u32,
    mask: usize,
    not_null: usize,
    unit: usize,
}

fn codes(fields: &[TupleField]) -> Vec<Code> {
    let (mut codes, mut bytes): (Vec<Code>, Vec<u32>) = (Vec::new(), vec![0]);
    for field in fields {
        let bits = field.code_bits();
        if bytes.last().is_some_and(|used| used + bits > 8) {
            bytes.push(0);
        }
        let byte = bytes.len() - 1;
        bytes[byte] += bits;
        codes.push(Code {
            byte,
            shift: bytes[byte],
            mask: (1 << bits) - 1,
            not_null: usize::from(!field.nullable),
            unit: if field.field_type == FieldType::Double {
                4
            } else {
                1
            },
        });
    }
    for code in &mut codes {
        code.shift = bytes[code.byte] - code.shift;
    }
    codes
}

/// Tuples of a table: per tuple the length codes, then the values.
struct Table {
    fields: Vec<TupleField>,
    layout: FieldLayout,
    codes: Vec<Code>,
    rows: Vec<Vec<FieldValue>>,
    tuples: Vec<u8>,
    starts: Vec<usize>,
    /// The same in slots of eight bytes and a byte for NULL, not compressed.
    plain: Vec<u8>,
}

fn table(fields: Vec<TupleField>) -> Result<Table, Box<dyn std::error::Error>> {
    let layout = FieldLayout::new(&fields);
    let mut seed = 88_172_645_463_325_252;
    let (mut rows, mut tuples, mut starts, mut plain) = (vec![], vec![], vec![], vec![]);
    for _ in 0..TUPLES {
        let row: Vec<FieldValue> = fields.iter().map(|&of| value(of, &mut seed)).collect();
        let start = tuples.len();
        let end = start + layout.code_bytes() + layout.encoded_bytes(&row)?;
        starts.push(start);
        tuples.resize(end, 0);
        let (codes, values) = tuples[start..].split_at_mut(layout.code_bytes());
        layout.encode(&row, codes, values)?;
        plain.extend(row.iter().flat_map(|value| match value {
            FieldValue::Null => [0; 8],
            FieldValue::Integer(value) => value.to_le_bytes(),
            FieldValue::Wide(value) => (*value as i64).to_le_bytes(),
            FieldValue::Double(value) => value.to_le_bytes(),
        }));
        plain.extend(row.iter().map(|value| u8::from(*value == FieldValue::Null)));
        rows.push(row);
    }
    tuples.extend([0; 8]);
    Ok(Table {
        codes: codes(&fields),
        fields,
        layout,
        rows,
        tuples,
        starts,
        plain,
    })
}

fn bits(value: FieldValue) -> u64 {
    match value {
        FieldValue::Null => 0,
        FieldValue::Integer(value) => value as u64,
        FieldValue::Wide(value) => value as u64,
        FieldValue::Double(value) => value.to_bits(),
    }
}

impl Table {
    fn tuple(&self, start: usize) -> (&[u8], &[u8]) {
        self.tuples[start..].split_at(self.layout.code_bytes())
    }

    /// The loop that §3.3.3 calls naive: the codes of all fields before are decoded.
    fn naive_place(&self, codes: &[u8], field: usize) -> (usize, usize) {
        let (mut offset, mut length) = (0, 0);
        for code in &self.codes[..=field] {
            let bits = usize::from(codes[code.byte] >> code.shift) & code.mask;
            offset += length;
            length = (bits + code.not_null) * code.unit;
        }
        (offset, length)
    }

    fn naive_value(&self, start: usize, field: usize) -> u64 {
        let (codes, values) = self.tuple(start);
        let (offset, length) = self.naive_place(codes, field);
        let mut word = [0; 8];
        word[..length].copy_from_slice(&values[offset..offset + length]);
        u64::from_le_bytes(word)
    }

    fn plain_value(&self, tuple: usize, field: usize) -> FieldValue {
        let count = self.fields.len();
        let slots = &self.plain[tuple * count * 9..(tuple + 1) * count * 9];
        if slots[count * 8 + field] != 0 {
            return FieldValue::Null;
        }
        let word = slots[field * 8..]
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes));
        match self.fields[field].field_type {
            FieldType::Double => FieldValue::Double(f64::from_bits(word)),
            _ => FieldValue::Integer(word as i64),
        }
    }
}

/// A way to do the same work over all tuples; it is given the number of a field.
struct Way<'a> {
    name: &'a str,
    work: Box<dyn FnMut(usize) + 'a>,
    best_ns: f64,
}

fn way<'a>(name: &'a str, work: impl FnMut(usize) + 'a) -> Way<'a> {
    Way {
        name,
        work: Box::new(work),
        best_ns: f64::INFINITY,
    }
}

/// Takes the ways in turns and prints nanoseconds for a tuple.
fn race(title: &str, fields: &[usize], mut ways: Vec<Way>) {
    for _ in 0..ROUNDS {
        for way in &mut ways {
            let start = Instant::now();
            for &field in fields {
                (way.work)(field);
            }
            let ns = start.elapsed().as_nanos() as f64 / (TUPLES * fields.len()) as f64;
            way.best_ns = way.best_ns.min(ns);
        }
    }
    for way in ways {
        println!("{title:<34} {:<24} {:8.2} ns", way.name, way.best_ns);
    }
}

fn one_field(table: &Table, universal: Option<&UniversalTable>, title: &str, fields: &[usize]) {
    let ok = |value: Result<FieldValue, _>| value.map_or(0, bits);
    let mut ways = vec![
        way("not compressed", |field| {
            for tuple in 0..TUPLES {
                black_box(bits(table.plain_value(tuple, black_box(field))));
            }
        }),
        way("naive loop over lengths", |field| {
            for &start in &table.starts {
                black_box(table.naive_value(start, black_box(field)));
            }
        }),
        way("tables per byte", |field| {
            for &start in &table.starts {
                let (codes, values) = table.tuple(start);
                black_box(ok(table.layout.value(codes, values, black_box(field))));
            }
        }),
    ];
    if let Some(universal) = universal {
        ways.push(way("universal table", move |field| {
            for &start in &table.starts {
                let (codes, values) = table.tuple(start);
                black_box(ok(universal.value(codes, values, black_box(field))));
            }
        }));
    }
    race(title, fields, ways);
}

fn all_fields(table: &Table, universal: Option<&UniversalTable>) {
    let count = table.fields.len();
    let mut row = vec![FieldValue::Null; count];
    let (mut row_of_plain, mut row_of_universal) = (row.clone(), row.clone());
    let mut ways = vec![
        way("not compressed", |_| {
            for tuple in 0..TUPLES {
                for (field, value) in row_of_plain.iter_mut().enumerate() {
                    *value = table.plain_value(tuple, field);
                }
                black_box(&row_of_plain);
            }
        }),
        way("naive loop over lengths", |_| {
            for &start in &table.starts {
                for field in 0..count {
                    black_box(table.naive_value(start, field));
                }
            }
        }),
        way("tables per byte", |_| {
            for &start in &table.starts {
                let (codes, values) = table.tuple(start);
                let _ = black_box(table.layout.decode(codes, values, &mut row));
                black_box(&row);
            }
        }),
    ];
    if let Some(universal) = universal {
        ways.push(way("universal table", move |_| {
            for &start in &table.starts {
                let (codes, values) = table.tuple(start);
                let _ = black_box(universal.decode(codes, values, &mut row_of_universal));
                black_box(&row_of_universal);
            }
        }));
    }
    race("all fields", &[0], ways);
}

fn encode(table: &Table) {
    let mut codes = vec![0; table.layout.code_bytes()];
    let mut values = vec![0; 8 * table.fields.len()];
    let work = |_| {
        for row in &table.rows {
            if let Ok(bytes) = table.layout.encoded_bytes(row) {
                let _ = black_box(table.layout.encode(row, &mut codes, &mut values[..bytes]));
            }
        }
    };
    race("size, then encode", &[0], vec![way("", work)]);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (name, fields) in [("R of the paper", relation()), ("lineitem", lineitem())] {
        let table = table(fields)?;
        let universal = UniversalTable::new(&table.fields);
        println!(
            "{name}: {} fields, {} length bytes, {:.1} bytes a tuple (9 a field not compressed), universal table {} bytes",
            table.fields.len(),
            table.layout.code_bytes(),
            table.tuples.len() as f64 / TUPLES as f64,
            universal.as_ref().map_or(0, UniversalTable::table_bytes),
        );
        let each: Vec<usize> = (0..table.fields.len()).collect();
        let universal = universal.as_ref();
        one_field(&table, universal, "first field", &each[..1]);
        one_field(&table, universal, "last field", &each[each.len() - 1..]);
        one_field(&table, universal, "mean of the fields", &each);
        all_fields(&table, universal);
        encode(&table);
    }
    Ok(())
}
