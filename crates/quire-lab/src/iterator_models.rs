//! Paper 1, §4.1.1: the classic model of iterators beside the extended one.
//!
//! A query over compressed tuples of orders and lines: a scan of the lines tests a date, a join looks their orders up and compares the same date with that of
//! the order, and a sum needs two more columns. In the classic model an iterator hands over one tuple: a join copies the two it has into a new one, and
//! who wants a column decodes it. In the extended model it hands over registers: pointers to tuples, and values that have been decoded.

use std::collections::HashMap;
use std::hint::black_box;
use std::ops::Range;

use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue, ValueError,
};

use crate::random::LabRandom;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};

/// Columns of a line.
const ORDER: usize = 0;
const PRICE: usize = 1;
const DISCOUNT: usize = 2;
const SHIPDATE: usize = 3;
/// Column of an order.
const ORDER_DATE: usize = 1;

const FIRST_DAY: i64 = 8_036;
const DAYS: u64 = 2_400;
/// A line is shipped so many days after its order, at most.
const SHIPPING_DAYS: u64 = 121;
/// What the query asks: shipped on time, and soon.
const SHIPPED_BY: i64 = FIRST_DAY + 1_800;
const SOON_DAYS: i64 = 60;

fn malformed(error: impl ToString) -> LabError {
    LabError::Pages(error.to_string())
}

/// Tuples behind each other.
struct IteratorTable {
    layout: TupleLayout,
    bytes: Vec<u8>,
    places: Vec<Range<usize>>,
}

impl IteratorTable {
    fn new(columns: &[TupleType], compression: &TupleCompression) -> Result<Self, LabError> {
        let column = |column_type: &TupleType| TupleColumn {
            column_type: *column_type,
            nullable: false,
            compression: compression.clone(),
        };
        let columns: Vec<_> = columns.iter().map(column).collect();
        Ok(Self {
            layout: TupleLayout::new(&columns).map_err(malformed)?,
            bytes: Vec::new(),
            places: Vec::new(),
        })
    }

    fn push(&mut self, row: &[TupleValue<'_>]) -> Result<(), LabError> {
        let start = self.bytes.len();
        let encoded: Result<_, ValueError> = self.layout.encode(row, &mut self.bytes);
        encoded.map_err(malformed)?;
        self.places.push(start..self.bytes.len());
        Ok(())
    }

    #[inline]
    fn number(&self, tuple: &[u8], column: usize) -> i64 {
        match self.layout.field(tuple, column) {
            Ok(TupleValue::Integer(number)) => number,
            Ok(TupleValue::Wide(number)) => number as i64,
            _ => 0,
        }
    }

    fn tuple(&self, place: &Range<usize>) -> &[u8] {
        self.bytes.get(place.clone()).unwrap_or_default()
    }
}

struct IteratorTables {
    lines: IteratorTable,
    orders: IteratorTable,
    order_of: HashMap<i64, Range<usize>>,
}

impl IteratorTables {
    /// Orders with four lines each, and comments of both as long as those of TPC-D.
    fn new(order_count: usize, compression: &TupleCompression) -> Result<Self, LabError> {
        let date = TupleType::Date { base_days: 8_000 };
        let money = TupleType::Int128 { digits: 15 };
        let line = [TupleType::Int64, money, money, date, TupleType::Text];
        let order = [TupleType::Int64, date, TupleType::Text];
        let mut tables = Self {
            lines: IteratorTable::new(&line, compression)?,
            orders: IteratorTable::new(&order, compression)?,
            order_of: HashMap::new(),
        };
        let mut random = LabRandom(11);
        let comment = [b'c'; 79];
        for number in 0..order_count {
            let key = number as i64 * 4 + 1;
            let day = FIRST_DAY + random.below(DAYS) as i64;
            let text = |limit: u64, random: &mut LabRandom| {
                let length = 10 + random.below(limit) as usize;
                TupleValue::Bytes(comment.get(..length).unwrap_or_default())
            };
            let row = [
                TupleValue::Integer(key),
                TupleValue::Integer(day),
                text(60, &mut random),
            ];
            tables.orders.push(&row)?;
            let place = tables.orders.places.last().cloned().unwrap_or_default();
            tables.order_of.insert(key, place);
            for _ in 0..4 {
                let row = [
                    TupleValue::Integer(key),
                    TupleValue::Wide(90_000 + i128::from(random.below(10_000_000))),
                    TupleValue::Wide(i128::from(random.below(11))),
                    TupleValue::Integer(day + 1 + random.below(SHIPPING_DAYS) as i64),
                    text(30, &mut random),
                ];
                tables.lines.push(&row)?;
            }
        }
        Ok(tables)
    }
}

/// An iterator of the classic model: the next tuple.
trait Classic {
    fn next(&mut self) -> Option<&[u8]>;
}

/// Lines that were shipped by a day.
struct ClassicScan<'t> {
    table: &'t IteratorTable,
    at: usize,
}

impl Classic for ClassicScan<'_> {
    fn next(&mut self) -> Option<&[u8]> {
        loop {
            let tuple = self.table.tuple(self.table.places.get(self.at)?);
            self.at += 1;
            if self.table.number(tuple, SHIPDATE) <= SHIPPED_BY {
                return Some(tuple);
            }
        }
    }
}

/// Lines with their orders: a line, then the order, and where that begins.
struct ClassicJoin<'t> {
    tables: &'t IteratorTables,
    input: Box<dyn Classic + 't>,
    joined: Vec<u8>,
}

/// Bytes before a joined tuple that say where its second part begins.
const HEAD_BYTES: usize = 4;

fn parts(joined: &[u8]) -> (&[u8], &[u8]) {
    let Some((head, rest)) = joined.split_first_chunk::<HEAD_BYTES>() else {
        return (&[], &[]);
    };
    let middle = u32::from_le_bytes(*head) as usize;
    rest.split_at_checked(middle).unwrap_or_default()
}

impl Classic for ClassicJoin<'_> {
    fn next(&mut self) -> Option<&[u8]> {
        let IteratorTables {
            lines,
            orders,
            order_of,
        } = self.tables;
        loop {
            let line = self.input.next()?;
            let Some(place) = order_of.get(&lines.number(line, ORDER)) else {
                continue;
            };
            let order = orders.tuple(place);
            let days = lines.number(line, SHIPDATE) - orders.number(order, ORDER_DATE);
            if days <= SOON_DAYS {
                self.joined.clear();
                let middle = (line.len() as u32).to_le_bytes();
                self.joined.extend_from_slice(&middle);
                self.joined.extend_from_slice(line);
                self.joined.extend_from_slice(order);
                return Some(&self.joined);
            }
        }
    }
}

fn classic(tables: &IteratorTables) -> i64 {
    let scan = ClassicScan {
        table: &tables.lines,
        at: 0,
    };
    let mut join: Box<dyn Classic + '_> = Box::new(ClassicJoin {
        tables,
        input: Box::new(scan),
        joined: Vec::new(),
    });
    let mut sum = 0;
    while let Some(joined) = join.next() {
        let (line, order) = parts(joined);
        let price = tables.lines.number(line, PRICE);
        let discount = tables.lines.number(line, DISCOUNT);
        let days = tables.lines.number(line, SHIPDATE) - tables.orders.number(order, ORDER_DATE);
        sum += price * (100 - discount) * days;
    }
    sum
}

/// What iterators of the extended model share: where tuples are, and values.
#[derive(Default)]
struct Registers {
    line: Range<usize>,
    order: Range<usize>,
    shipdate: i64,
    days: i64,
}

/// An iterator of the extended model: whether there is a row in the registers.
trait Extended {
    fn next(&mut self, registers: &mut Registers) -> bool;
}

struct ExtendedScan<'t> {
    table: &'t IteratorTable,
    at: usize,
}

impl Extended for ExtendedScan<'_> {
    fn next(&mut self, registers: &mut Registers) -> bool {
        while let Some(place) = self.table.places.get(self.at) {
            self.at += 1;
            registers.shipdate = self.table.number(self.table.tuple(place), SHIPDATE);
            if registers.shipdate <= SHIPPED_BY {
                registers.line = place.clone();
                return true;
            }
        }
        false
    }
}

struct ExtendedJoin<'t> {
    tables: &'t IteratorTables,
    input: Box<dyn Extended + 't>,
}

impl Extended for ExtendedJoin<'_> {
    fn next(&mut self, registers: &mut Registers) -> bool {
        let IteratorTables {
            lines,
            orders,
            order_of,
        } = self.tables;
        while self.input.next(registers) {
            let key = lines.number(lines.tuple(&registers.line), ORDER);
            let Some(place) = order_of.get(&key) else {
                continue;
            };
            registers.days = registers.shipdate - orders.number(orders.tuple(place), ORDER_DATE);
            if registers.days <= SOON_DAYS {
                registers.order = place.clone();
                return true;
            }
        }
        false
    }
}

fn extended(tables: &IteratorTables) -> i64 {
    let scan = ExtendedScan {
        table: &tables.lines,
        at: 0,
    };
    let mut join: Box<dyn Extended + '_> = Box::new(ExtendedJoin {
        tables,
        input: Box::new(scan),
    });
    let (mut registers, mut sum) = (Registers::default(), 0);
    while join.next(&mut registers) {
        let line = tables.lines.tuple(&registers.line);
        let price = tables.lines.number(line, PRICE);
        let discount = tables.lines.number(line, DISCOUNT);
        sum += price * (100 - discount) * registers.days;
    }
    black_box(&registers.order);
    sum
}

/// Nanoseconds a line by the two models.
///
/// # Errors
/// When their sums differ.
pub(crate) fn figures(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let order_count = lab.size(2_000, 100);
    let ways = [
        ("compressed tuples", TupleCompression::NullSuppressed),
        ("plain tuples", TupleCompression::None),
    ];
    let (mut classics, mut extendeds) = (Vec::new(), Vec::new());
    for (name, compression) in &ways {
        let tables = IteratorTables::new(order_count, compression)?;
        if classic(&tables) != extended(&tables) {
            let codec = format!("iterators over {name}");
            return Err(LabError::NotRestored { codec });
        }
        let lines = tables.lines.places.len() as f64;
        let per_line = |model: fn(&IteratorTables) -> i64| {
            let nanoseconds = lab.nanoseconds_of(|| {
                black_box(model(black_box(&tables)));
            });
            nanoseconds / lines
        };
        classics.push(per_line(classic));
        extendeds.push(per_line(extended));
    }
    let ratio = classics
        .iter()
        .zip(&extendeds)
        .map(|(one, other)| one / other);
    let ratio = ratio.collect();
    Ok(vec![Figure {
        stem: "iterator-models",
        title: "A scan, a join and a sum by two models of iterators".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "section 4.1.1",
        chart: Chart::Bars,
        x: Axis::linear("tuples", ""),
        y: Axis::linear("time a line; ratio", "ns; times"),
        positions: Positions::labels(ways.iter().map(|(name, _)| *name)),
        series: vec![
            Series::new("classic", SeriesOrigin::Measured, classics),
            Series::new("extended", SeriesOrigin::Measured, extendeds),
            Series::new("ratio", SeriesOrigin::Measured, ratio),
        ],
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!("{order_count} orders of four lines in memory; expressions are compiled into both models alike, so that only copying and decoding again differ"),
            "the paper measured this only together with its register machine: more than a factor of two (section 4.3)".to_owned(),
        ],
    }])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_models_add_up_what_a_loop_over_decoded_rows_does() {
        for compression in [TupleCompression::NullSuppressed, TupleCompression::None] {
            let tables = IteratorTables::new(200, &compression).unwrap();
            let mut dates = HashMap::new();
            for place in &tables.orders.places {
                let tuple = tables.orders.tuple(place);
                let key = tables.orders.number(tuple, 0);
                dates.insert(key, tables.orders.number(tuple, ORDER_DATE));
            }
            let mut expected = 0;
            for place in &tables.lines.places {
                let values = [ORDER, PRICE, DISCOUNT, SHIPDATE]
                    .map(|column| tables.lines.number(tables.lines.tuple(place), column));
                let [order, price, discount, shipped] = values;
                let days = shipped - dates[&order];
                if shipped <= SHIPPED_BY && days <= SOON_DAYS {
                    expected += price * (100 - discount) * days;
                }
            }
            assert!(expected > 0);
            assert_eq!(classic(&tables), expected);
            assert_eq!(extended(&tables), expected);
        }
    }
}
