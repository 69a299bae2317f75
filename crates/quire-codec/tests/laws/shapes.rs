//! Columns of numbers as they occur, and as they had better not.

use crate::random::Random;

/// Row counts around the edges of a vector, and some beyond several.
pub const ROW_COUNTS: [usize; 10] = [0, 1, 2, 31, 127, 1023, 1024, 1025, 2048, 3333];

/// Name and values of every shape; the values are cut down to the type under test by wrapping.
pub fn integers(row_count: usize, seed: u64) -> Vec<(&'static str, Vec<i128>)> {
    let column = |make: &mut dyn FnMut(&mut Random, usize) -> i128| {
        let mut random = Random(seed);
        (0..row_count)
            .map(|row| make(&mut random, row))
            .collect::<Vec<i128>>()
    };
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
    let mut walk = 0;
    vec![
        ("constant", column(&mut |_, _| -77)),
        ("ascending", column(&mut |_, row| 1_000_000 + row as i128)),
        ("descending", column(&mut |_, row| -(row as i128) * 3)),
        (
            "small range",
            column(&mut |random, _| 500 + random.below(100) as i128),
        ),
        (
            "both signs",
            column(&mut |random, _| random.below(2000) as i128 - 1000),
        ),
        ("any 64 bits", column(&mut |random, _| random.next().into())),
        (
            "any 128 bits",
            column(&mut |random, _| i128::from(random.next()) << 64 | i128::from(random.next())),
        ),
        (
            "high outliers",
            column(&mut |random, row| match row % 40 {
                7 => random.next().into(),
                _ => random.below(60).into(),
            }),
        ),
        (
            "low outliers",
            column(&mut |random, row| match row % 50 {
                3 => -1,
                _ => 30_000 + random.below(16) as i128,
            }),
        ),
        (
            "outliers both ways",
            column(&mut |random, row| match row % 60 {
                3 => i64::MIN.into(),
                4 => i64::MAX.into(),
                _ => random.below(16).into(),
            }),
        ),
        (
            "extremes",
            column(&mut |random, _| extremes[random.below(8) as usize]),
        ),
        ("runs", column(&mut |_, row| (row as i128 / 13) * 7919)),
        ("long runs", column(&mut |_, row| row as i128 / 900)),
        (
            "multiples",
            column(&mut |random, _| 17 + 1000 * random.below(30) as i128),
        ),
        (
            "large multiples",
            column(&mut |random, _| {
                1_600_000_000_000_000 + 1_000_000 * random.below(1 << 30) as i128
            }),
        ),
        (
            "random walk",
            column(&mut |random, _| {
                walk += random.below(9) as i128 - 4;
                walk
            }),
        ),
        (
            "jumps",
            column(&mut |random, row| match row % 100 {
                0 => {
                    walk += random.below(1 << 40) as i128;
                    walk
                }
                _ => {
                    walk += 1;
                    walk
                }
            }),
        ),
        (
            "few distinct",
            column(&mut |random, _| {
                i128::from(random.below(5).wrapping_mul(0x1234_5678_9ABC_DEF1))
            }),
        ),
    ]
}

/// Floating point columns.
pub fn floats(row_count: usize, seed: u64) -> Vec<(&'static str, Vec<f64>)> {
    let column = |make: &mut dyn FnMut(&mut Random, usize) -> f64| {
        let mut random = Random(seed);
        (0..row_count)
            .map(|row| make(&mut random, row))
            .collect::<Vec<f64>>()
    };
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
    let mut walk = 0.0;
    vec![
        (
            "prices",
            column(&mut |random, _| random.below(1_000_000) as f64 / 100.0),
        ),
        (
            "temperatures",
            column(&mut |random, _| (random.below(900) as f64 - 300.0) / 10.0),
        ),
        (
            "whole",
            column(&mut |random, _| random.below(1 << 20) as f64),
        ),
        ("constant", column(&mut |_, _| 2.5)),
        (
            "mixed scales",
            column(&mut |random, row| match row / 1024 % 2 {
                0 => random.below(1000) as f64 / 10.0,
                _ => random.below(1_000_000_000) as f64 / 1e6,
            }),
        ),
        (
            "special",
            column(&mut |random, _| special[random.below(14) as usize]),
        ),
        (
            "prices and special",
            column(&mut |random, row| match row % 30 {
                9 => special[random.below(14) as usize],
                _ => random.below(1000) as f64 / 100.0,
            }),
        ),
        (
            "any bits",
            column(&mut |random, _| f64::from_bits(random.next())),
        ),
        ("runs", column(&mut |_, row| (row / 100) as f64 * 0.1)),
        (
            "random walk",
            column(&mut |random, _| {
                walk += random.below(1000) as f64 / 1000.0 - 0.5;
                walk
            }),
        ),
    ]
}

/// Columns of bits.
pub fn bits(row_count: usize, seed: u64) -> Vec<(&'static str, Vec<bool>)> {
    let column = |make: &mut dyn FnMut(&mut Random, usize) -> bool| {
        let mut random = Random(seed);
        (0..row_count)
            .map(|row| make(&mut random, row))
            .collect::<Vec<bool>>()
    };
    vec![
        ("false", column(&mut |_, _| false)),
        ("true", column(&mut |_, _| true)),
        ("half", column(&mut |random, _| random.below(2) == 0)),
        ("few true", column(&mut |random, _| random.below(100) == 0)),
        ("few false", column(&mut |random, _| random.below(100) != 0)),
        ("runs", column(&mut |_, row| row / 77 % 2 == 0)),
        (
            "one in the middle",
            column(&mut |_, row| row == row_count / 2),
        ),
        ("last", column(&mut |_, row| row + 1 == row_count)),
        ("alternating", column(&mut |_, row| row % 2 == 1)),
        (
            "by vector",
            column(&mut |random, row| match row / 1024 % 3 {
                0 => false,
                1 => random.below(3) == 0,
                _ => random.below(50) != 0,
            }),
        ),
    ]
}
