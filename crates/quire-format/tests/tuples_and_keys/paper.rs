//! Table 3 of the paper: `lineitem` compressed is 427,360 KB and 758,540 KB as it is. Rows are made here as §4.2.3 of TPC-H says, at
//! scale factor 1.

use quire_format::tuple::{TupleType, TupleValue};

use crate::rows::{Cell, Column, Row, Storage, column, layout, values};

/// Widths of the uncompressed table, `CHAR(n)` of n bytes: four integers, four decimals of 8 bytes, two flags, three dates, `CHAR(25)`,
/// `CHAR(10)`, and the length of the comment.
const FIXED_BYTES: usize = 4 * 4 + 4 * 8 + 2 + 3 * 4 + 25 + 10 + 4;

const INSTRUCTIONS: [&str; 4] = [
    "COLLECT COD",
    "DELIVER IN PERSON",
    "NONE",
    "TAKE BACK RETURN",
];
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];

fn dictionary(values: &[&str]) -> Storage {
    let bits = usize::BITS - (values.len() - 1).leading_zeros();
    let cells = values.iter().map(|value| Cell::Bytes((*value).into()));
    Storage::Dictionary(cells.collect(), bits)
}

fn lineitem() -> Vec<Column> {
    let decimal = TupleType::Int128 { digits: 15 };
    let date = TupleType::Date { base_days: 9_298 };
    let mut columns = vec![column(TupleType::Int32, false, Storage::Suppressed); 4];
    columns.extend(vec![column(decimal, false, Storage::Suppressed); 4]);
    columns.extend(vec![column(date, false, Storage::Suppressed); 3]);
    for values in [&["A", "N", "R"][..], &["F", "O"], &INSTRUCTIONS, &MODES] {
        columns.push(column(TupleType::Text, false, dictionary(values)));
    }
    columns.push(column(TupleType::Text, false, Storage::Suppressed));
    columns
}

fn row(seed: &mut u64) -> Row {
    let mut pick = |least: u64, most: u64| {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        least + (*seed >> 33) % (most - least + 1)
    };
    let integer = |value: u64| Some(Cell::Integer(value as i64));
    let decimal = |value: u64| Some(Cell::Wide(value.into()));
    let text = |value: &str| Some(Cell::Bytes(value.into()));
    let (quantity, shipped) = (pick(1, 50), pick(8_036, 10_561));
    vec![
        integer(pick(1, 6_000_000)),
        integer(pick(1, 200_000)),
        integer(pick(1, 10_000)),
        integer(pick(1, 7)),
        decimal(100 * quantity),
        decimal(quantity * pick(90_000, 200_000)),
        decimal(pick(0, 10)),
        decimal(pick(0, 8)),
        integer(shipped),
        integer(shipped - pick(0, 60)),
        integer(shipped + pick(1, 30)),
        text(["A", "N", "R"][pick(0, 2) as usize]),
        text(["F", "O"][pick(0, 1) as usize]),
        text(INSTRUCTIONS[pick(0, 3) as usize]),
        text(MODES[pick(0, 6) as usize]),
        text(&"c".repeat(pick(10, 43) as usize)),
    ]
}

#[test]
fn tuples_of_lineitem_take_at_most_the_share_of_the_paper() {
    let layout = layout(&lineitem());
    let (mut seed, mut compressed, mut uncompressed) = (7, 0, 0);
    for _ in 0..2_000 {
        let row = row(&mut seed);
        let values = values(&row);
        compressed += layout.encoded_bytes(&values).unwrap();
        let comment = match values[15] {
            TupleValue::Bytes(bytes) => bytes.len(),
            other => panic!("{other:?}"),
        };
        uncompressed += FIXED_BYTES + comment;
    }
    assert!(compressed * 758_540 <= uncompressed * 427_360);
}
