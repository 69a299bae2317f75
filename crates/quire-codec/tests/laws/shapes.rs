//! Columns of numbers as they occur, and as they had better not.

use crate::random::Random;

/// Row counts around the edges of a vector, and some beyond several.
pub const ROW_COUNTS: [usize; 10] = [0, 1, 2, 31, 127, 1023, 1024, 1025, 2048, 3333];

type Integers = Vec<(&'static str, Vec<i128>)>;

fn column<T>(row_count: usize, seed: u64, mut make: impl FnMut(&mut Random, usize) -> T) -> Vec<T> {
    let mut random = Random(seed);
    (0..row_count).map(|row| make(&mut random, row)).collect()
}

/// Name and values of every shape; the values are cut down to the type under test by wrapping.
pub fn integers(row_count: usize, seed: u64) -> Integers {
    [
        even(row_count, seed),
        uneven(row_count, seed),
        sequences(row_count, seed),
    ]
    .concat()
}

/// Values that are all alike.
fn even(rows: usize, seed: u64) -> Integers {
    vec![
        ("constant", column(rows, seed, |_, _| -77)),
        (
            "small range",
            column(rows, seed, |random, _| 500 + random.below(100) as i128),
        ),
        (
            "both signs",
            column(rows, seed, |random, _| random.below(2000) as i128 - 1000),
        ),
        (
            "any 64 bits",
            column(rows, seed, |random, _| random.next().into()),
        ),
        (
            "any 128 bits",
            column(rows, seed, |random, _| {
                i128::from(random.next()) << 64 | i128::from(random.next())
            }),
        ),
        (
            "multiples",
            column(rows, seed, |random, _| 17 + 1000 * random.below(30) as i128),
        ),
        (
            "large multiples",
            column(rows, seed, |random, _| {
                1_600_000_000_000_000 + 1_000_000 * random.below(1 << 30) as i128
            }),
        ),
        (
            "few distinct",
            column(rows, seed, |random, _| {
                i128::from(random.below(5).wrapping_mul(0x1234_5678_9ABC_DEF1))
            }),
        ),
    ]
}

/// Values of which a few are far from the others.
fn uneven(rows: usize, seed: u64) -> Integers {
    let extremes = [
        i64::MIN.into(),
        i64::MAX.into(),
        i128::MIN,
        i128::MAX,
        0,
        -1,
        0x7FFF,
        -0x8000,
    ];
    vec![
        (
            "high outliers",
            column(rows, seed, |random, row| match row % 40 {
                7 => random.next().into(),
                _ => random.below(60).into(),
            }),
        ),
        (
            "low outliers",
            column(rows, seed, |random, row| match row % 50 {
                3 => -1,
                _ => 30_000 + random.below(16) as i128,
            }),
        ),
        (
            "outliers both ways",
            column(rows, seed, |random, row| match row % 60 {
                3 => i64::MIN.into(),
                4 => i64::MAX.into(),
                _ => random.below(16).into(),
            }),
        ),
        (
            "extremes",
            column(rows, seed, |random, _| extremes[random.below(8) as usize]),
        ),
        (
            "frequent and rare",
            column(rows, seed, |random, _| match random.below(12) {
                0 => random.next().into(),
                _ => i128::from(random.below(20).wrapping_mul(0x1234_5678_9ABC_DEF1)),
            }),
        ),
        (
            "mostly one",
            column(rows, seed, |random, _| match random.below(25) {
                0 => random.below(4000) as i128 - 2000,
                _ => 7,
            }),
        ),
        (
            "mostly one, by vector",
            column(rows, seed, |random, row| match row / 1024 % 3 {
                0 => 7,
                1 if random.below(2) == 0 => random.below(100).into(),
                1 => 7,
                _ => random.next().into(),
            }),
        ),
    ]
}

/// Values that follow from the one before.
fn sequences(rows: usize, seed: u64) -> Integers {
    let (mut walk, mut jump) = (0, 0);
    vec![
        (
            "ascending",
            column(rows, seed, |_, row| 1_000_000 + row as i128),
        ),
        (
            "descending",
            column(rows, seed, |_, row| -(row as i128) * 3),
        ),
        (
            "runs",
            column(rows, seed, |_, row| (row as i128 / 13) * 7919),
        ),
        ("long runs", column(rows, seed, |_, row| row as i128 / 900)),
        (
            "random walk",
            column(rows, seed, |random, _| {
                walk += random.below(9) as i128 - 4;
                walk
            }),
        ),
        (
            "jumps",
            column(rows, seed, |random, row| {
                jump += if row % 100 == 0 {
                    random.below(1 << 40) as i128
                } else {
                    1
                };
                jump
            }),
        ),
    ]
}

type Floats = Vec<(&'static str, Vec<f64>)>;

/// Floating point columns.
pub fn floats(row_count: usize, seed: u64) -> Floats {
    [decimals(row_count, seed), specials(row_count, seed)].concat()
}

fn decimals(rows: usize, seed: u64) -> Floats {
    let mut walk = 0.0;
    vec![
        (
            "prices",
            column(rows, seed, |random, _| {
                random.below(1_000_000) as f64 / 100.0
            }),
        ),
        (
            "temperatures",
            column(rows, seed, |random, _| {
                (random.below(900) as f64 - 300.0) / 10.0
            }),
        ),
        (
            "whole",
            column(rows, seed, |random, _| random.below(1 << 20) as f64),
        ),
        ("constant", column(rows, seed, |_, _| 2.5)),
        (
            "mixed scales",
            column(rows, seed, |random, row| match row / 1024 % 2 {
                0 => random.below(1000) as f64 / 10.0,
                _ => random.below(1_000_000_000) as f64 / 1e6,
            }),
        ),
        (
            "runs",
            column(rows, seed, |_, row| (row / 100) as f64 * 0.1),
        ),
        (
            "random walk",
            column(rows, seed, |random, _| {
                walk += random.below(1000) as f64 / 1000.0 - 0.5;
                walk
            }),
        ),
    ]
}

fn specials(rows: usize, seed: u64) -> Floats {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from_bits(0x7FF0_0000_0000_0001),
        f64::from_bits(0xFFFF_FFFF_FFFF_FFFF),
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::MAX,
        f64::MIN,
        1e15,
        9_007_199_254_740_993.0,
        -1e300,
    ];
    let any_special = |random: &mut Random| special[random.below(14) as usize];
    vec![
        (
            "special",
            column(rows, seed, |random, _| any_special(random)),
        ),
        (
            "prices and special",
            column(rows, seed, |random, row| match row % 30 {
                9 => any_special(random),
                _ => random.below(1000) as f64 / 100.0,
            }),
        ),
        (
            "any bits",
            column(rows, seed, |random, _| f64::from_bits(random.next())),
        ),
        (
            "no decimals, and special",
            column(rows, seed, |random, row| match row % 70 {
                9 => any_special(random),
                _ => 1.0 + random.next() as f64 / u64::MAX as f64,
            }),
        ),
    ]
}

/// Columns of bits.
pub fn bits(row_count: usize, seed: u64) -> Vec<(&'static str, Vec<bool>)> {
    vec![
        ("false", column(row_count, seed, |_, _| false)),
        ("true", column(row_count, seed, |_, _| true)),
        (
            "half",
            column(row_count, seed, |random, _| random.below(2) == 0),
        ),
        (
            "few true",
            column(row_count, seed, |random, _| random.below(100) == 0),
        ),
        (
            "few false",
            column(row_count, seed, |random, _| random.below(100) != 0),
        ),
        ("runs", column(row_count, seed, |_, row| row / 77 % 2 == 0)),
        (
            "one in the middle",
            column(row_count, seed, |_, row| row == row_count / 2),
        ),
        (
            "last",
            column(row_count, seed, |_, row| row + 1 == row_count),
        ),
        (
            "alternating",
            column(row_count, seed, |_, row| row % 2 == 1),
        ),
        (
            "by vector",
            column(row_count, seed, |random, row| match row / 1024 % 3 {
                0 => false,
                1 => random.below(3) == 0,
                _ => random.below(50) != 0,
            }),
        ),
    ]
}
