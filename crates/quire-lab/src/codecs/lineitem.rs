//! Columns of TPC-H's `lineitem`, drawn as §4.2.3 of its specification describes.

use super::comment_text::CommentPool;
use crate::random::LabRandom;
use quire_codec::BytesVector;
use std::ops::RangeInclusive;

const SHIP_INSTRUCTIONS: [&str; 4] = [
    "DELIVER IN PERSON",
    "COLLECT COD",
    "NONE",
    "TAKE BACK RETURN",
];
const SHIP_MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
/// Days from 1992-01-01 to the last day an order can have, 1998-08-02.
const ORDER_DAYS: RangeInclusive<i32> = 0..=2405;
/// 1995-06-17, the specification's today, in days since 1992-01-01.
const CURRENT_DAY: i32 = 1263;

/// Values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum LineitemValues {
    Numbers(Vec<i32>),
    Strings(BytesVector),
}

/// A column of `lineitem`: money and percentages in hundredths, dates in days.
#[derive(Clone, Debug, PartialEq)]
pub struct LineitemColumn {
    pub name: &'static str,
    pub values: LineitemValues,
}

/// Rows of `lineitem`, one after the other.
#[derive(Debug)]
struct LineitemDraw {
    random: LabRandom,
    comments: CommentPool,
    order: i32,
    lines_left: i32,
    line: i32,
    order_day: i32,
}

/// One row of the columns that are drawn.
struct LineitemRow<'a> {
    numbers: [i32; 8],
    strings: [&'a str; 4],
}

const NUMBERS: [&str; 8] = [
    "l_orderkey",
    "l_linenumber",
    "l_quantity",
    "l_extendedprice",
    "l_discount",
    "l_suppkey",
    "l_shipdate",
    "l_commitdate",
];
const STRINGS: [&str; 4] = ["l_returnflag", "l_shipmode", "l_shipinstruct", "l_comment"];

impl LineitemDraw {
    fn new() -> Self {
        Self {
            random: LabRandom(62),
            comments: CommentPool::new(63),
            order: 0,
            lines_left: 0,
            line: 0,
            order_day: 0,
        }
    }

    fn draw(&mut self, range: RangeInclusive<i32>) -> i32 {
        let (first, last) = range.into_inner();
        first + self.random.below((last - first + 1) as u64) as i32
    }

    fn next_row(&mut self) -> LineitemRow<'_> {
        if self.lines_left == 0 {
            // Of 32 keys the first eight are used.
            self.order += if self.order % 32 == 7 { 25 } else { 1 };
            (self.lines_left, self.line) = (self.draw(1..=7), 0);
            self.order_day = self.draw(ORDER_DAYS);
        }
        (self.lines_left, self.line) = (self.lines_left - 1, self.line + 1);
        let (quantity, part) = (self.draw(1..=50), self.draw(1..=200_000));
        let retail_price = 90_000 + part / 10 % 20_001 + 100 * (part % 1_000);
        let ship_day = self.order_day + self.draw(1..=121);
        let receipt_day = ship_day + self.draw(1..=30);
        let numbers = [
            self.order,
            self.line,
            quantity,
            quantity * retail_price,
            self.draw(0..=10),
            self.draw(1..=10_000),
            ship_day,
            self.order_day + self.draw(30..=90),
        ];
        let return_flag = if receipt_day <= CURRENT_DAY {
            ["R", "A"][self.random.below(2) as usize]
        } else {
            "N"
        };
        let strings = [
            return_flag,
            SHIP_MODES[self.random.below(7) as usize],
            SHIP_INSTRUCTIONS[self.random.below(4) as usize],
            self.comments.cut(&mut self.random, 10, 43),
        ];
        LineitemRow { numbers, strings }
    }
}

/// What query 6 of TPC-H reads of a row: money and percentages in hundredths, days since 1992-01-01.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineitemRevenue {
    pub(crate) ship_day: i32,
    pub(crate) quantity: i32,
    pub(crate) price: i32,
    pub(crate) discount: i32,
}

/// Rows without end, always the same.
pub(crate) fn revenues() -> impl Iterator<Item = LineitemRevenue> {
    let mut draw = LineitemDraw::new();
    std::iter::repeat_with(move || {
        let [_, _, quantity, price, discount, _, ship_day, _] = draw.next_row().numbers;
        LineitemRevenue {
            ship_day,
            quantity,
            price,
            discount,
        }
    })
}

/// Twelve columns of `row_count` rows, eight of numbers and four of strings.
pub(super) fn lineitem(row_count: usize) -> Vec<LineitemColumn> {
    let mut draw = LineitemDraw::new();
    let mut numbers = NUMBERS.map(|_| Vec::with_capacity(row_count));
    let mut strings = STRINGS.map(|_| BytesVector::new());
    for _ in 0..row_count {
        let row = draw.next_row();
        for (column, value) in numbers.iter_mut().zip(row.numbers) {
            column.push(value);
        }
        for (column, value) in strings.iter_mut().zip(row.strings) {
            column.data.extend_from_slice(value.as_bytes());
            column.offsets.push(column.data.len() as u32);
        }
    }
    let numbers = numbers.map(LineitemValues::Numbers).into_iter();
    let strings = strings.map(LineitemValues::Strings).into_iter();
    let names = NUMBERS.into_iter().chain(STRINGS);
    names
        .zip(numbers.chain(strings))
        .map(|(name, values)| LineitemColumn { name, values })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use tpchgen::generators::LineItemGenerator;

    const ROWS: usize = 60_000;

    fn strings<'a>(columns: &'a [LineitemColumn], name: &str) -> Vec<&'a str> {
        let column = columns.iter().find(|column| column.name == name).unwrap();
        match &column.values {
            LineitemValues::Strings(values) => {
                let bytes = values.as_slice().iter();
                bytes.map(|one| str::from_utf8(one).unwrap()).collect()
            }
            LineitemValues::Numbers(_) => panic!("{name} has numbers"),
        }
    }

    /// Each value's share of all.
    fn shares<'a>(values: impl Iterator<Item = &'a str>) -> Vec<(&'a str, f64)> {
        let values: Vec<&str> = values.collect();
        let distinct: BTreeSet<&str> = values.iter().copied().collect();
        let count = |wanted: &str| values.iter().filter(|one| **one == wanted).count();
        distinct
            .into_iter()
            .map(|one| (one, count(one) as f64 / values.len() as f64))
            .collect()
    }

    fn assert_alike(ours: &[(&str, f64)], theirs: &[(&str, f64)]) {
        assert_eq!(ours.len(), theirs.len());
        for ((our, share), (their, other)) in ours.iter().zip(theirs) {
            assert_eq!(our, their);
            assert!((share - other).abs() < 0.02, "{our}: {share} {other}");
        }
    }

    #[test]
    fn strings_are_distributed_as_dbgen_distributes_them() {
        let ours = lineitem(ROWS);
        let generator = LineItemGenerator::new(0.01, 1, 1);
        let theirs: Vec<_> = generator.iter().take(ROWS).collect();
        let flags = theirs.iter().map(|row| row.l_returnflag);
        assert_alike(
            &shares(strings(&ours, "l_returnflag").into_iter()),
            &shares(flags),
        );
        let modes = theirs.iter().map(|row| row.l_shipmode);
        assert_alike(
            &shares(strings(&ours, "l_shipmode").into_iter()),
            &shares(modes),
        );
        let instructions = theirs.iter().map(|row| row.l_shipinstruct);
        let ours_instructions = strings(&ours, "l_shipinstruct").into_iter();
        assert_alike(&shares(ours_instructions), &shares(instructions));
    }

    #[test]
    fn comments_are_as_long_and_of_the_same_words_as_dbgens() {
        let ours = lineitem(ROWS);
        let ours: Vec<&str> = strings(&ours, "l_comment");
        let generator = LineItemGenerator::new(0.01, 1, 1);
        let theirs: Vec<&str> = generator
            .iter()
            .take(ROWS)
            .map(|row| row.l_comment)
            .collect();
        let mean = |comments: &[&str]| {
            let bytes: usize = comments.iter().map(|one| one.len()).sum();
            bytes as f64 / comments.len() as f64
        };
        assert!((mean(&ours) - mean(&theirs)).abs() < 0.3);
        assert!(ours.iter().all(|one| (10..=43).contains(&one.len())));
        // Whole words, those between spaces: each of the frequent ones has about its share in both.
        let words = |comments: &[&str]| -> Vec<String> {
            let inner = comments.iter().flat_map(|one| {
                let parts: Vec<&str> = one.split(' ').collect();
                let inner = parts.get(1..parts.len().saturating_sub(1));
                inner.unwrap_or_default().to_vec()
            });
            inner.map(str::to_owned).collect()
        };
        let (ours, theirs) = (words(&ours), words(&theirs));
        for word in [
            "packages",
            "deposits",
            "regular",
            "furiously",
            "the",
            "haggle",
            "above",
        ] {
            let share = |words: &[String]| {
                words.iter().filter(|one| *one == word).count() as f64 / words.len() as f64
            };
            let quotient = share(&ours) / share(&theirs);
            assert!((0.7..1.4).contains(&quotient), "{word}: {quotient}");
        }
    }
}
