//! Sizes of the tuples of TPC-H, compressed and not, beside table 3 of paper 1.
//!
//! `cargo run --release -p quire-format --example tuple_sizes -- DIRECTORY`, where the directory has `lineitem.csv` and
//! so on with a header line, as any TPC-H generator with CSV output writes them.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};

/// What a column of TPC-H is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integer,
    /// `DECIMAL(15, 2)`.
    Decimal,
    Date,
    Char(usize),
    /// A flag: one character of few.
    Flag,
    Varchar,
}
use Kind::{Char, Date, Decimal, Flag, Integer, Varchar};

/// A table, its columns, those that have few values in any amount of data, and its row of the paper's table 3: KB at scale
/// factor 1, compressed and not.
struct Table {
    name: &'static str,
    kinds: &'static [Kind],
    few: &'static [usize],
    paper_kb: (u32, u32),
}

const fn table(
    name: &'static str,
    kinds: &'static [Kind],
    few: &'static [usize],
    paper_kb: (u32, u32),
) -> Table {
    Table {
        name,
        kinds,
        few,
        paper_kb,
    }
}

const TABLES: [Table; 8] = [
    table(
        "lineitem",
        &[
            Integer,
            Integer,
            Integer,
            Integer,
            Decimal,
            Decimal,
            Decimal,
            Decimal,
            Flag,
            Flag,
            Date,
            Date,
            Date,
            Char(25),
            Char(10),
            Varchar,
        ],
        &[3, 4, 6, 7, 13, 14],
        (427_360, 758_540),
    ),
    table(
        "orders",
        &[
            Integer,
            Integer,
            Flag,
            Decimal,
            Date,
            Char(15),
            Char(15),
            Integer,
            Varchar,
        ],
        &[5, 7],
        (132_164, 177_900),
    ),
    table(
        "partsupp",
        &[Integer, Integer, Integer, Decimal, Varchar],
        &[],
        (112_588, 124_600),
    ),
    table(
        "part",
        &[
            Integer,
            Varchar,
            Char(25),
            Char(10),
            Varchar,
            Integer,
            Char(10),
            Decimal,
            Varchar,
        ],
        &[2, 3, 4, 5, 6],
        (24_120, 29_680),
    ),
    table(
        "customer",
        &[
            Integer,
            Varchar,
            Varchar,
            Integer,
            Char(15),
            Decimal,
            Char(10),
            Varchar,
        ],
        &[3, 6],
        (22_916, 28_256),
    ),
    table(
        "supplier",
        &[
            Integer,
            Char(25),
            Varchar,
            Integer,
            Char(15),
            Decimal,
            Varchar,
        ],
        &[3],
        (1_412, 1_640),
    ),
    table(
        "nation",
        &[Integer, Char(25), Integer, Varchar],
        &[],
        (4, 4),
    ),
    table("region", &[Integer, Char(25), Varchar], &[], (4, 4)),
];

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

/// Days from 1970-01-01 to `year-month-day`.
fn days(date: &str) -> Result<i64, Box<dyn Error>> {
    let mut parts = date.split('-').map(str::parse::<i64>);
    let mut part = || parts.next().ok_or("a date has three parts");
    let (year, month, day) = (part()??, part()??, part()??);
    // Years that start in March end with the leap day.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days_of_years = 365 * year + year / 4 - year / 100 + year / 400;
    Ok(days_of_years + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn value(kind: Kind, field: &str) -> Result<TupleValue<'_>, Box<dyn Error>> {
    Ok(match kind {
        Integer => TupleValue::Integer(field.parse()?),
        Decimal => TupleValue::Wide(field.replace('.', "").parse()?),
        Date => TupleValue::Integer(days(field)?),
        Char(_) | Flag | Varchar => TupleValue::Bytes(field.as_bytes()),
    })
}

fn column_type(kind: Kind) -> TupleType {
    match kind {
        Integer => TupleType::Int32,
        Decimal => TupleType::Int128 { digits: 15 },
        // 1995-06-17, in the middle of the dates of TPC-H.
        Date => TupleType::Date { base_days: 9_298 },
        Char(_) | Flag | Varchar => TupleType::Text,
    }
}

/// Bytes in the paper's uncompressed tuples, where `CHAR(n)` takes n bytes.
fn bytes_in_the_paper(kind: Kind, field: &str) -> usize {
    match kind {
        Integer | Date => 4,
        Decimal => 8,
        Char(width) => width,
        Flag => 1,
        Varchar => 4 + field.len(),
    }
}

fn dictionary(kind: Kind, column: &[&str]) -> Result<TupleCompression, Box<dyn Error>> {
    let different: BTreeSet<&str> = column.iter().copied().collect();
    let values: Result<Vec<_>, _> = different.iter().map(|field| value(kind, field)).collect();
    let code_bits = usize::BITS - (different.len() - 1).leading_zeros();
    let dictionary = TupleDictionary::new(column_type(kind), code_bits, &values?)?;
    Ok(TupleCompression::Dictionary(Arc::new(dictionary)))
}

/// Nothing; what the paper compresses; everything.
#[derive(Clone, Copy)]
enum Choice {
    Nothing,
    Paper,
    All,
}

fn tuple_bytes(
    table: &Table,
    rows: &[Vec<String>],
    choice: Choice,
) -> Result<usize, Box<dyn Error>> {
    let mut columns = Vec::new();
    for (index, &kind) in table.kinds.iter().enumerate() {
        let column: Vec<&str> = rows.iter().map(|row| row[index].as_str()).collect();
        let few = table.few.contains(&index);
        let compression = match choice {
            Choice::Nothing => TupleCompression::None,
            Choice::Paper if kind == Date => TupleCompression::None,
            Choice::Paper | Choice::All if kind == Flag => dictionary(kind, &column)?,
            Choice::All if few => dictionary(kind, &column)?,
            Choice::Paper | Choice::All => TupleCompression::NullSuppressed,
        };
        columns.push(TupleColumn {
            column_type: column_type(kind),
            nullable: false,
            compression,
        });
    }
    let layout = TupleLayout::new(&columns)?;
    let (mut tuple, mut total) = (Vec::new(), 0);
    for row in rows {
        let values: Result<Vec<_>, _> = table
            .kinds
            .iter()
            .zip(row)
            .map(|(kind, field)| value(*kind, field))
            .collect();
        tuple.clear();
        layout.encode(&values?, &mut tuple)?;
        total += tuple.len();
    }
    Ok(total)
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("which directory?")?;
    println!(
        "{:<9} {:>6} | {:>7} {:>7} {:>7} {:>7} | {:>7} {:>7} {:>7} {:>7}",
        "table",
        "rows",
        "CHAR(n)",
        "as is",
        "paper's",
        "all",
        "paper",
        "paper's",
        "all",
        "all/as is"
    );
    let (mut sums, mut paper_sums) = ([0; 4], (0, 0));
    for table in &TABLES {
        let text = fs::read_to_string(Path::new(&directory).join(format!("{}.csv", table.name)))?;
        let rows: Vec<_> = text.lines().skip(1).map(fields).collect();
        let padded = rows.iter().flat_map(|row| table.kinds.iter().zip(row));
        let sizes = [
            padded
                .map(|(kind, field)| bytes_in_the_paper(*kind, field))
                .sum(),
            tuple_bytes(table, &rows, Choice::Nothing)?,
            tuple_bytes(table, &rows, Choice::Paper)?,
            tuple_bytes(table, &rows, Choice::All)?,
        ];
        print(table.name, rows.len(), sizes, table.paper_kb);
        for (sum, size) in sums.iter_mut().zip(sizes) {
            *sum += size;
        }
        paper_sums.0 += table.paper_kb.0;
        paper_sums.1 += table.paper_kb.1;
    }
    print("all", 0, sums, paper_sums);
    Ok(())
}

fn print(name: &str, rows: usize, sizes: [usize; 4], paper_kb: (u32, u32)) {
    let each = sizes.map(|size| size as f64 / rows.max(1) as f64);
    let [padded, plain, paper, all] = sizes.map(|size| size as f64);
    println!(
        "{name:<9} {rows:>6} | {:>7.1} {:>7.1} {:>7.1} {:>7.1} | {:>7.2} {:>7.2} {:>7.2} {:>7.2}",
        each[0],
        each[1],
        each[2],
        each[3],
        f64::from(paper_kb.0) / f64::from(paper_kb.1),
        paper / padded,
        all / padded,
        all / plain,
    );
}
