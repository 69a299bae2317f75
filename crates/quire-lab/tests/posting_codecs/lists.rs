//! Lists of gaps of every shape.

use crate::random::Random;

pub struct List {
    pub name: &'static str,
    pub gaps: Vec<u32>,
}

/// A number of up to `bits` bits, every length equally likely.
fn skewed(random: &mut Random, bits: usize) -> u32 {
    let width = random.below(bits + 1) as u32;
    (random.next() % (1 << width)) as u32
}

/// Gap i as often as the i-th Fibonacci number, which gives the longest code words.
fn fibonacci(length: usize) -> Vec<u32> {
    let (mut now, mut next, mut gaps) = (1, 1, Vec::new());
    let mut gap = 1;
    while gaps.len() < length {
        gaps.extend(std::iter::repeat_n(gap, now));
        (now, next, gap) = (next, now + next, gap + 3);
    }
    gaps.truncate(length);
    gaps
}

pub fn lists() -> Vec<List> {
    let mut random = Random(43);
    let mut all = Vec::new();
    let mut add = |name, gaps| all.push(List { name, gaps });
    for length in (0..70).chain([100, 1000, 8000]) {
        add("zeros", vec![0; length]);
        add("one value", vec![1_000_003; length]);
        add(
            "bits",
            (0..length).map(|_| random.below(2) as u32).collect(),
        );
        add(
            "small",
            (0..length).map(|_| random.below(9) as u32).collect(),
        );
        add(
            "skewed to 28 bits",
            (0..length).map(|_| skewed(&mut random, 28)).collect(),
        );
        add(
            "skewed to 12 bits",
            (0..length).map(|_| skewed(&mut random, 12)).collect(),
        );
        add("largest", vec![(1 << 28) - 1; length]);
        add("fibonacci", fibonacci(length));
        add("ascending", (0..length as u32).collect());
    }
    all
}
