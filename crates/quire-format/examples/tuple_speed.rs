//! Time to read fields of tuples and of keys, beside a structure that is not compressed.
//!
//! `cargo run --release -p quire-format --example tuple_speed`. Tuples are like those of TPC-H's `lineitem` and lie end to end.
//! Each figure is the best of 60 rounds over all tuples, the ways taken in turns.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use quire_format::key::{KeyColumn, KeyLayout};
use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};

const TUPLES: usize = 4_096;
const ROUNDS: usize = 60;
const FLAGS: [&str; 3] = ["A", "N", "R"];
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
const COMMENTS: &str = "egular courts above the even theodolites nag blithely along the furiously";

fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// What a caller does with a value: look which it is, and take it.
#[inline]
fn weight(value: TupleValue<'_>) -> usize {
    match value {
        TupleValue::Null => 0,
        TupleValue::Bool(value) => usize::from(value),
        TupleValue::Integer(value) => value as usize,
        TupleValue::Wide(value) => value as usize,
        TupleValue::Float32(value) => value.to_bits() as usize,
        TupleValue::Float64(value) => value.to_bits() as usize,
        TupleValue::Bytes(bytes) => bytes.as_ptr() as usize ^ bytes.len(),
        // No column of these has string codes.
        TupleValue::Coded(_) => 0,
    }
}

const INTEGERS: usize = 4;
const DECIMALS: usize = 4;
const DATES: usize = 3;
const FLAG: usize = INTEGERS + DECIMALS + DATES;
const MODE: usize = FLAG + 1;
const COMMENT: usize = MODE + 1;
const COLUMNS: usize = COMMENT + 1;

type Row = [TupleValue<'static>; COLUMNS];

fn row(number: usize, seed: &mut u64) -> Row {
    let mut pick = |most: u64| (random(seed) >> 8) % most;
    let mut row = [TupleValue::Null; COLUMNS];
    let integers = [number as u64, pick(200_000), pick(10_000), 1 + pick(7)];
    let decimals = [100 * pick(50), pick(9_000_000), pick(11), pick(9)];
    for (value, number) in row.iter_mut().zip(integers) {
        *value = TupleValue::Integer(number as i64);
    }
    for (value, number) in row[INTEGERS..].iter_mut().zip(decimals) {
        *value = TupleValue::Wide(i128::from(number));
    }
    for value in &mut row[INTEGERS + DECIMALS..FLAG] {
        *value = TupleValue::Integer(8_036 + pick(2_556) as i64);
    }
    row[FLAG] = TupleValue::Bytes(FLAGS[pick(3) as usize].as_bytes());
    row[MODE] = TupleValue::Bytes(MODES[pick(7) as usize].as_bytes());
    row[COMMENT] = TupleValue::Bytes(&COMMENTS.as_bytes()[..10 + pick(34) as usize]);
    row
}

fn types() -> Vec<TupleType> {
    let decimal = TupleType::Int128 { digits: 15 };
    let date = TupleType::Date { base_days: 9_298 };
    let numbers = [[TupleType::Int32; INTEGERS], [decimal; DECIMALS]].concat();
    [&numbers[..], &[date; DATES], &[TupleType::Text; 3]].concat()
}

fn layout(is_compressed: bool) -> Result<TupleLayout, Box<dyn Error>> {
    let mut columns = Vec::new();
    for (index, column_type) in types().into_iter().enumerate() {
        let dictionary = |bits, values: &[&str]| {
            let values: Vec<_> = values
                .iter()
                .map(|value| TupleValue::Bytes(value.as_bytes()))
                .collect();
            let dictionary = TupleDictionary::new(column_type, bits, &values)?;
            Ok::<_, Box<dyn Error>>(TupleCompression::Dictionary(Arc::new(dictionary)))
        };
        let compression = match index {
            _ if !is_compressed => TupleCompression::None,
            FLAG => dictionary(2, &FLAGS)?,
            MODE => dictionary(3, &MODES)?,
            _ => TupleCompression::NullSuppressed,
        };
        columns.push(TupleColumn {
            column_type,
            nullable: false,
            compression,
        });
    }
    Ok(TupleLayout::new(&columns)?)
}

/// A row as a program without compression keeps it: numbers in their places, and where each string is.
#[derive(Clone, Copy, Default)]
struct Plain {
    integers: [i32; INTEGERS],
    decimals: [i64; DECIMALS],
    dates: [i32; DATES],
    strings: [(u32, u32); 3],
}

struct Structures {
    rows: Vec<Plain>,
    heap: Vec<u8>,
}

impl Structures {
    fn push(&mut self, row: &Row) {
        let mut plain = Plain::default();
        for (index, value) in row.iter().enumerate() {
            match *value {
                TupleValue::Integer(value) if index < INTEGERS => {
                    plain.integers[index] = value as i32;
                }
                TupleValue::Integer(value) => {
                    plain.dates[index - INTEGERS - DECIMALS] = value as i32;
                }
                TupleValue::Wide(value) => plain.decimals[index - INTEGERS] = value as i64,
                TupleValue::Bytes(bytes) => {
                    let start = self.heap.len() as u32;
                    plain.strings[index - FLAG] = (start, bytes.len() as u32);
                    self.heap.extend_from_slice(bytes);
                }
                _ => {}
            }
        }
        self.rows.push(plain);
    }

    #[inline]
    fn value(&self, row: &Plain, column: usize) -> TupleValue<'_> {
        match column {
            0..INTEGERS => TupleValue::Integer(row.integers[column].into()),
            INTEGERS..8 => TupleValue::Wide(row.decimals[column - INTEGERS].into()),
            8..FLAG => TupleValue::Integer(row.dates[column - 8].into()),
            _ => {
                let (start, length) = row.strings[column - FLAG];
                TupleValue::Bytes(&self.heap[start as usize..(start + length) as usize])
            }
        }
    }
}

/// Tuples end to end.
struct Tuples {
    layout: TupleLayout,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Tuples {
    fn new(layout: TupleLayout, rows: &[Row]) -> Result<Self, Box<dyn Error>> {
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            layout.encode(row, &mut bytes)?;
            ends.push(bytes.len());
        }
        Ok(Self {
            layout,
            bytes,
            ends,
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ends
            .windows(2)
            .map(|ends| &self.bytes[ends[0]..ends[1]])
    }

    fn one(&self, column: usize) {
        for tuple in self.iter() {
            let value = self.layout.field(tuple, black_box(column));
            black_box(value.map_or(0, weight));
        }
    }

    fn column(&self, column: usize) {
        let sink = |value| {
            black_box(weight(value));
        };
        let _ = black_box(self.layout.decode_column(self.iter(), column, sink));
    }

    fn all(&self) {
        let mut values = [TupleValue::Null; COLUMNS];
        for tuple in self.iter() {
            let _ = black_box(self.layout.decode_all(tuple, &mut values));
            black_box(&values);
        }
    }

    fn encode(&self, rows: &[Row], out: &mut Vec<u8>) {
        out.clear();
        for row in rows {
            let _ = black_box(self.layout.encode(row, out));
        }
    }
}

struct Way<'a> {
    name: &'a str,
    work: Box<dyn FnMut() + 'a>,
    best_ns: f64,
}

fn way<'a>(name: &'a str, work: impl FnMut() + 'a) -> Way<'a> {
    Way {
        name,
        work: Box::new(work),
        best_ns: f64::INFINITY,
    }
}

fn race(title: &str, mut ways: Vec<Way<'_>>) {
    for _ in 0..ROUNDS {
        for way in &mut ways {
            let start = Instant::now();
            (way.work)();
            let ns = start.elapsed().as_nanos() as f64 / TUPLES as f64;
            way.best_ns = way.best_ns.min(ns);
        }
    }
    let figures: Vec<String> = ways
        .iter()
        .map(|way| format!("{} {:.1}", way.name, way.best_ns))
        .collect();
    println!("{title:<30} ns a tuple: {}", figures.join(", "));
}

fn tuples(rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let mut structures = Structures {
        rows: Vec::new(),
        heap: Vec::new(),
    };
    rows.iter().for_each(|row| structures.push(row));
    let plain = Tuples::new(layout(false)?, rows)?;
    let small = Tuples::new(layout(true)?, rows)?;
    let structure_bytes = TUPLES * size_of::<Plain>() + structures.heap.len();
    println!(
        "bytes a tuple: structure {:.1}, as is {:.1}, compressed {:.1}",
        structure_bytes as f64 / TUPLES as f64,
        plain.bytes.len() as f64 / TUPLES as f64,
        small.bytes.len() as f64 / TUPLES as f64
    );
    let columns = [
        ("first integer", 0),
        ("last integer", INTEGERS - 1),
        ("decimal", INTEGERS + 1),
        ("last date", FLAG - 1),
        ("flag", FLAG),
        ("comment", COMMENT),
    ];
    for (name, column) in columns {
        let structure = || {
            for row in &structures.rows {
                black_box(weight(structures.value(row, black_box(column))));
            }
        };
        let ways = vec![
            way("structure", structure),
            way("as is", || plain.one(column)),
            way("compressed", || small.one(column)),
            way("column as is", || plain.column(column)),
            way("column compressed", || small.column(column)),
        ];
        race(name, ways);
    }
    let every = || {
        let mut values = [TupleValue::Null; COLUMNS];
        for row in &structures.rows {
            for (column, value) in values.iter_mut().enumerate() {
                *value = structures.value(row, column);
            }
            black_box(&values);
        }
    };
    let ways = vec![
        way("structure", every),
        way("as is", || plain.all()),
        way("compressed", || small.all()),
    ];
    race("all 14 columns", ways);
    let (mut out, mut other) = (Vec::new(), Vec::new());
    let ways = vec![
        way("as is", || plain.encode(rows, &mut out)),
        way("compressed", || small.encode(rows, &mut other)),
    ];
    race("encode", ways);
    Ok(())
}

fn keys(
    rows: &[Row],
    columns: &[usize],
    descending: bool,
    name: &str,
) -> Result<(), Box<dyn Error>> {
    let column = |&column: &usize| KeyColumn {
        column_type: types()[column],
        nullable: false,
        descending,
        nulls_first: false,
    };
    let layout = KeyLayout::new(&columns.iter().map(column).collect::<Vec<_>>());
    let of =
        |row: &Row| -> Vec<TupleValue<'static>> { columns.iter().map(|&at| row[at]).collect() };
    let rows: Vec<_> = rows.iter().map(of).collect();
    let mut keys = Vec::new();
    for row in &rows {
        let mut key = Vec::new();
        layout.encode(row, &mut key)?;
        keys.push(key);
    }
    let bytes: usize = keys.iter().map(Vec::len).sum();
    let (mut key, mut scratch) = (Vec::new(), Vec::new());
    let encode = || {
        for row in &rows {
            key.clear();
            let _ = black_box(layout.encode(row, &mut key));
            black_box(&key);
        }
    };
    let decode = || {
        for key in &keys {
            let sink = |_, value| {
                black_box(weight(value));
            };
            let _ = black_box(layout.visit(key, &mut scratch, sink));
        }
    };
    let title = format!("key of {name}, {:.1} bytes", bytes as f64 / TUPLES as f64);
    race(&title, vec![way("encode", encode), way("decode", decode)]);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut seed = 88_172_645_463_325_252;
    let rows: Vec<Row> = (0..TUPLES).map(|number| row(number, &mut seed)).collect();
    tuples(&rows)?;
    keys(&rows, &[0, 3], false, "2 integers")?;
    keys(&rows, &[COMMENT], false, "a string")?;
    keys(&rows, &[COMMENT, 0], true, "a string and an integer, DESC")
}
