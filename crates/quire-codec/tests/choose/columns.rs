//! Columns of every type, each with the shape of a column that exists.

use quire_codec::{BytesVector, RowGroupValues};

/// A seeded source of numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Values of one type.
pub enum Owned {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl Owned {
    pub fn values(&self) -> RowGroupValues<'_> {
        match self {
            Self::Bool(values) => RowGroupValues::Bool(values),
            Self::Int16(values) => RowGroupValues::Int16(values),
            Self::Int32(values) => RowGroupValues::Int32(values),
            Self::Int64(values) => RowGroupValues::Int64(values),
            Self::Int128(values) => RowGroupValues::Int128(values),
            Self::Float32(values) => RowGroupValues::Float32(values),
            Self::Float64(values) => RowGroupValues::Float64(values),
            Self::Bytes(values) => RowGroupValues::Bytes(values.as_slice()),
        }
    }
}

/// Numbers of several shapes, `rows` of each.
fn numbers(rows: usize, random: &mut Random) -> Vec<(&'static str, Vec<i64>)> {
    let mut column = |make: &mut dyn FnMut(&mut Random, usize) -> i64| -> Vec<i64> {
        (0..rows).map(|row| make(random, row)).collect()
    };
    let mut key = 0;
    vec![
        ("constant", column(&mut |_, _| 4711)),
        (
            "few bits",
            column(&mut |random, _| 8036 + random.below(2526) as i64),
        ),
        ("any bits", column(&mut |random, _| random.next() as i64)),
        (
            "outliers",
            column(&mut |random, row| match row % 50 {
                7 => random.next() as i64 >> 3,
                _ => random.below(100) as i64,
            }),
        ),
        (
            "ascending",
            column(&mut |random, _| {
                key += random.below(5) as i64;
                key
            }),
        ),
        (
            "runs",
            column(&mut |_, row| (row as i64 / 40).wrapping_mul(0x1234_5678_9ABC)),
        ),
        (
            "scattered few",
            column(&mut |random, _| (random.below(300) as i64).wrapping_mul(0x0FED_CBA9_8765_4321)),
        ),
        (
            "scattered many",
            column(&mut |random, _| {
                (random.below(rows as u64 / 3 + 1) as i64).wrapping_mul(0x0FED_CBA9_8765_4321)
            }),
        ),
        (
            "changes at half",
            column(&mut |random, row| {
                if row < rows / 2 {
                    random.below(16) as i64
                } else {
                    row as i64 * 1_000_003 + random.below(1 << 20) as i64
                }
            }),
        ),
        (
            "cents",
            column(&mut |random, _| 100 * random.below(50) as i64),
        ),
    ]
}

fn text(rows: usize, mut make: impl FnMut(usize) -> String) -> Owned {
    let mut column = BytesVector::new();
    for row in 0..rows {
        column.push(make(row).as_bytes()).unwrap();
    }
    Owned::Bytes(column)
}

fn texts(rows: usize, random: &mut Random) -> Vec<(String, Owned)> {
    const WORDS: [&str; 12] = [
        "the",
        "pending",
        "deposits",
        "sleep",
        "furiously",
        "across",
        "final",
        "requests",
        "even",
        "ideas",
        "haggle",
        "quickly",
    ];
    let words = |random: &mut Random, count: u64| {
        let chosen = (0..count).map(|_| WORDS[random.below(12) as usize]);
        chosen.collect::<Vec<_>>().join(" ")
    };
    let titles: Vec<String> = (0..rows as u64 / 6 + 1)
        .map(|one| format!("{} {one} {}", words(random, 5), words(random, 4)))
        .collect();
    vec![
        (
            "keys".to_owned(),
            text(rows, |row| format!("Customer#{row:09}")),
        ),
        (
            "modes".to_owned(),
            text(rows, |_| WORDS[random.below(7) as usize].to_owned()),
        ),
        (
            "remarks".to_owned(),
            text(rows, |_| {
                let count = 3 + random.below(7);
                words(random, count)
            }),
        ),
        (
            "titles, each some times".to_owned(),
            text(rows, |_| {
                titles[random.below(titles.len() as u64) as usize].clone()
            }),
        ),
        (
            "noise".to_owned(),
            text(rows, |_| {
                (0..10)
                    .map(|_| char::from(33 + random.below(90) as u8))
                    .collect()
            }),
        ),
    ]
}

/// Every shape in every type that can hold it.
pub fn columns(rows: usize, seed: u64) -> Vec<(String, Owned)> {
    let mut random = Random(seed);
    let mut columns = Vec::new();
    for (name, values) in numbers(rows, &mut random) {
        let mut push = |kind: &str, column| columns.push((format!("{name} {kind}"), column));
        push(
            "i16",
            Owned::Int16(values.iter().map(|&value| value as i16).collect()),
        );
        push(
            "i32",
            Owned::Int32(values.iter().map(|&value| value as i32).collect()),
        );
        push(
            "i128",
            Owned::Int128(values.iter().map(|&value| i128::from(value) << 9).collect()),
        );
        push(
            "f64",
            Owned::Float64(values.iter().map(|&value| value as f64 / 100.0).collect()),
        );
        push(
            "f32",
            Owned::Float32(
                values
                    .iter()
                    .map(|&value| (value % 100_000) as f32 / 10.0)
                    .collect(),
            ),
        );
        push(
            "bool",
            Owned::Bool(values.iter().map(|value| value % 3 == 0).collect()),
        );
        push("i64", Owned::Int64(values));
    }
    columns.extend(texts(rows, &mut random));
    columns
}
