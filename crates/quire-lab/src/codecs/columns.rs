//! Columns to compress: with a given rate of exceptions, and as TPC-H has them.

use crate::random::LabRandom;

/// A value that no frame of reference can hold together with its like.
pub(super) fn scattered(code: u64) -> u64 {
    code.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// `count` values. In `percent` of 100 cases, by chance, one that is far from all others; else `value` of a code
/// of `width` bits. The largest code is left out: naive segments need it to escape.
pub(super) fn with_exceptions(
    count: usize,
    percent: u64,
    width: usize,
    value: impl Fn(u64) -> u64,
) -> Vec<u64> {
    let mut random = LabRandom(61 + percent);
    let codes = (1u64 << width) - 1;
    let mut next = || {
        if random.below(100) < percent {
            random.next() | 1 << 63
        } else {
            value(random.below(codes))
        }
    };
    (0..count).map(|_| next()).collect()
}

/// A column of `lineitem`.
pub(super) struct TpchColumn {
    pub(super) name: &'static str,
    pub(super) values: Vec<i32>,
}

/// Eight columns of `row_count` rows of `lineitem`, drawn as §4.2.3 of the TPC-H specification describes: money
/// and percentages in hundredths, dates in days since 1992-01-01.
pub(super) fn lineitem(row_count: usize) -> Vec<TpchColumn> {
    const NAMES: [&str; 8] = [
        "l_orderkey",
        "l_linenumber",
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_suppkey",
        "l_shipdate",
        "l_commitdate",
    ];
    let mut columns = NAMES.map(|name| TpchColumn {
        name,
        values: Vec::with_capacity(row_count),
    });
    let mut random = LabRandom(62);
    let mut draw = |range: std::ops::RangeInclusive<i32>| {
        let (first, last) = range.into_inner();
        first + random.below((last - first + 1) as u64) as i32
    };
    let (mut order, mut lines_left, mut line, mut order_date) = (0, 0, 0, 0);
    for _ in 0..row_count {
        if lines_left == 0 {
            // Of 32 keys the first eight are used.
            order += if order % 32 == 7 { 25 } else { 1 };
            (lines_left, line, order_date) = (draw(1..=7), 0, draw(0..=2405));
        }
        (lines_left, line) = (lines_left - 1, line + 1);
        let (quantity, part) = (draw(1..=50), draw(1..=200_000));
        let retail_price = 90_000 + part / 10 % 20_001 + 100 * (part % 1_000);
        let row = [
            order,
            line,
            quantity,
            quantity * retail_price,
            draw(0..=10),
            draw(1..=10_000),
            order_date + draw(1..=121),
            order_date + draw(30..=90),
        ];
        for (column, value) in columns.iter_mut().zip(row) {
            column.values.push(value);
        }
    }
    columns.into()
}
