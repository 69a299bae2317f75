//! Nanoseconds a row of the expressions of TPC-H's queries 1 and 6: as trees that are walked, as register programs, and as machine code; and what
//! compiling costs. `cargo run --release -p quire-native --example avm_speed`. Each figure is the best of some rounds; all look at the same
//! tuples, compressed, with codes, and not, and a tree is given the columns that it needs decoded once per row.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use quire_exec::avm::{
    Accumulation, AggregateSlot, Attribute, ColumnBinding, Compiler, Native, Program,
    ProgramCompiler, RegisterPool, RegisterSet, TuplePlace, TupleSource,
};
use quire_exec::plan::{
    ComparisonExpression, DecimalOperation, Environment, Expression, Operator, PlanScalar,
    ValueKind,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType};
use quire_native::NativeCompiler;
use quire_tables::row_table::{TupleValue, Value};

const ROWS: usize = 20_000;
const ROUNDS: usize = 15;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Quantity, price, discount, tax, date of shipment.
const QUANTITY: usize = 0;
const PRICE: usize = 1;
const DISCOUNT: usize = 2;
const TAX: usize = 3;
const SHIPDATE: usize = 4;

struct Query {
    name: &'static str,
    condition: Expression,
    sums: Vec<Expression>,
}

struct Tuples {
    layout: Arc<TupleLayout>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

fn main() -> Result<(), Failure> {
    println!("query  tuples     tree ns  program ns  native ns  tree/program  program/native");
    for way in [Way::Plain, Way::Compressed, Way::Coded] {
        let tuples = tuples(way)?;
        for query in [query_1()?, query_6()] {
            let (tree_ns, tree_sums) = walk(&tuples, &query)?;
            let (program_ns, program_sums) = run(&tuples, &query, false)?;
            let (native_ns, native_sums) = run(&tuples, &query, true)?;
            if tree_sums != program_sums || tree_sums != native_sums {
                let all = format!("{tree_sums:?}, {program_sums:?} and {native_sums:?} differ");
                return Err(all.into());
            }
            println!(
                "{:<6} {:<10} {tree_ns:7.1} {program_ns:11.1} {native_ns:10.1} {:13.2} {:15.2}",
                query.name,
                format!("{way:?}"),
                tree_ns / program_ns,
                program_ns / native_ns
            );
        }
    }
    Ok(())
}

fn column(slot: usize) -> Expression {
    let kind = match slot {
        SHIPDATE => ValueKind::Integer,
        _ => ValueKind::Decimal,
    };
    Expression::Column {
        slot,
        kind,
        nullable: false,
    }
}

fn decimal(value: i128) -> Expression {
    Expression::Constant(Value::Decimal(value.into()))
}

fn pair(left: Expression, right: Expression) -> Box<[Expression; 2]> {
    Box::new([left, right])
}

fn all(conditions: Vec<Expression>) -> Expression {
    let mut conditions = conditions.into_iter();
    let first = conditions
        .next()
        .unwrap_or(Expression::Constant(Value::Boolean(true)));
    conditions.fold(first, |left, right| Expression::And(pair(left, right)))
}

fn compare(comparison: ComparisonExpression, slot: usize, right: Expression) -> Expression {
    Expression::Compare(comparison, pair(column(slot), right))
}

fn days(days: i64) -> Expression {
    Expression::Constant(Value::Integer(days))
}

fn query_1() -> Result<Query, Failure> {
    let operation = |operator, left, right| {
        DecimalOperation::new(operator, left, right).ok_or("no such decimal")
    };
    let subtract = operation(Operator::Subtract, 0, 2)?;
    let add = operation(Operator::Add, 0, 2)?;
    let multiply = operation(Operator::Multiply, 2, 2)?;
    let charge = operation(Operator::Multiply, 4, 2)?;
    let reduced = || {
        let rest = Expression::Decimal(subtract, pair(decimal(1), column(DISCOUNT)));
        Expression::Decimal(multiply, pair(column(PRICE), rest))
    };
    let taxed = Expression::Decimal(add, pair(decimal(1), column(TAX)));
    Ok(Query {
        name: "Q1",
        condition: compare(ComparisonExpression::LessOrEqual, SHIPDATE, days(10_471)),
        sums: vec![
            column(QUANTITY),
            column(PRICE),
            reduced(),
            Expression::Decimal(charge, pair(reduced(), taxed)),
            column(DISCOUNT),
        ],
    })
}

fn query_6() -> Query {
    let multiply = DecimalOperation::new(Operator::Multiply, 2, 2);
    Query {
        name: "Q6",
        condition: all(vec![
            compare(ComparisonExpression::GreaterOrEqual, SHIPDATE, days(8_766)),
            compare(ComparisonExpression::Less, SHIPDATE, days(9_131)),
            compare(ComparisonExpression::GreaterOrEqual, DISCOUNT, decimal(5)),
            compare(ComparisonExpression::LessOrEqual, DISCOUNT, decimal(7)),
            compare(ComparisonExpression::Less, QUANTITY, decimal(2_400)),
        ]),
        sums: multiply
            .map(|multiply| Expression::Decimal(multiply, pair(column(PRICE), column(DISCOUNT))))
            .into_iter()
            .collect(),
    }
}

/// How the tuples are stored.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Compressed,
    /// Discount and tax as codes, the others compressed.
    Coded,
}

fn compression(way: Way, slot: usize, column_type: TupleType) -> Result<TupleCompression, Failure> {
    Ok(match way {
        Way::Plain => TupleCompression::None,
        Way::Coded if [DISCOUNT, TAX].contains(&slot) => {
            let values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(TupleValue::Wide);
            let dictionary = TupleDictionary::new(column_type, 4, &values)?;
            TupleCompression::OpenDictionary(Arc::new(dictionary))
        }
        Way::Compressed | Way::Coded => TupleCompression::NullSuppressed,
    })
}

fn tuples(way: Way) -> Result<Tuples, Failure> {
    let money = TupleType::Int128 { digits: 15 };
    let date = TupleType::Date { base_days: 8_000 };
    let mut columns = Vec::new();
    for (slot, column_type) in [money, money, money, money, date].into_iter().enumerate() {
        columns.push(TupleColumn {
            column_type,
            nullable: false,
            compression: compression(way, slot, column_type)?,
        });
    }
    let layout = TupleLayout::new(&columns)?;
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut below = |limit: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        i128::from(seed % limit)
    };
    for _ in 0..ROWS {
        let row = [
            TupleValue::Wide(100 * (1 + below(50))),
            TupleValue::Wide(90_000 + below(10_000_000)),
            TupleValue::Wide(below(11)),
            TupleValue::Wide(below(9)),
            TupleValue::Integer(8_036 + below(2_526) as i64),
        ];
        layout.encode(&row, &mut bytes)?;
        ends.push(bytes.len());
    }
    Ok(Tuples {
        layout: Arc::new(layout),
        bytes,
        ends,
    })
}

impl Tuples {
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        std::iter::once(0)
            .chain(self.ends.iter().copied())
            .zip(self.ends.iter().copied())
    }
}

/// Best time a row in nanoseconds.
fn best(mut round: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round()?;
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / ROWS as f64);
    }
    Ok(best)
}

fn walk(tuples: &Tuples, query: &Query) -> Result<(f64, Vec<i128>), Failure> {
    let environment = Environment::new(&[]);
    let mut sums = vec![0; query.sums.len()];
    let best_ns = best(|| {
        sums.fill(0);
        for (start, end) in tuples.iter() {
            let tuple = tuples.bytes.get(start..end).unwrap_or_default();
            let mut row = [TupleValue::Null; 5];
            row[SHIPDATE] = tuples.layout.field(tuple, SHIPDATE)?;
            if query.name == "Q6" {
                row[QUANTITY] = tuples.layout.field(tuple, QUANTITY)?;
                row[DISCOUNT] = tuples.layout.field(tuple, DISCOUNT)?;
            }
            if query.condition.evaluate(&row, &environment)? != PlanScalar::Boolean(true) {
                continue;
            }
            row[PRICE] = tuples.layout.field(tuple, PRICE)?;
            if query.name == "Q1" {
                for slot in [QUANTITY, DISCOUNT, TAX] {
                    row[slot] = tuples.layout.field(tuple, slot)?;
                }
            }
            for (sum, expression) in sums.iter_mut().zip(&query.sums) {
                if let PlanScalar::Decimal(value) = expression.evaluate(&row, &environment)? {
                    *sum += value;
                }
            }
        }
        black_box(&sums);
        Ok(())
    })?;
    Ok((best_ns, sums))
}

fn compiled(program: &Program, registers: &RegisterSet) -> Result<Native, Failure> {
    let compiler = NativeCompiler::new()?;
    let mut best_us = f64::INFINITY;
    let mut native = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        native = compiler.compile(program, registers);
        best_us = best_us.min(start.elapsed().as_secs_f64() * 1e6);
    }
    let instructions = program.draft().instructions.len();
    println!("compiled {instructions} instructions in {best_us:.0} us");
    Ok(Native::new(
        native.ok_or("no machine code of this program")?,
    ))
}

fn run(tuples: &Tuples, query: &Query, is_native: bool) -> Result<(f64, Vec<i128>), Failure> {
    let mut pool = RegisterPool::default();
    let tuple = pool.tuple()?;
    let places = (0..5)
        .map(|ordinal| ColumnBinding::Attribute {
            attribute: Attribute { tuple, ordinal },
            is_shared: false,
        })
        .collect();
    let mut compiler = Compiler::new(&mut pool, places, &[(tuple, 5)]);
    compiler.announce([&query.condition]);
    compiler.announce(&query.sums);
    compiler.filter(&query.condition)?;
    for (slot, expression) in (0..).zip(&query.sums) {
        compiler.accumulate(AggregateSlot(slot), Accumulation::Sum(expression))?;
    }
    let (program, _) = compiler.finish()?;
    if !is_native && std::env::args().any(|argument| argument == "--show") {
        println!("{program}");
    }
    let mut registers = RegisterSet::new();
    registers.set_source(tuple, TupleSource::Temporary(Arc::clone(&tuples.layout)));
    let buffer = registers.add_buffer();
    if let Some(bytes) = registers.buffer_mut(buffer) {
        bytes.clone_from(&tuples.bytes);
        // As scans do: machine code loads more than it needs.
        bytes.extend_from_slice(&[0; 16]);
    }
    let loaded = program.load(&mut registers)?;
    let native = if is_native {
        Some(compiled(&program, &registers)?)
    } else {
        None
    };
    let best_ns = best(|| {
        registers.begin_group(&program);
        for (start, end) in tuples.iter() {
            let place = TuplePlace {
                buffer,
                start: start as u32,
                key_bytes: 0,
                tuple_bytes: (end - start) as u32,
            };
            registers.set_tuple(tuple, place);
            match &native {
                Some(native) => program.run_native(native, loaded, &mut registers)?,
                None => program.run(loaded, &mut registers)?,
            };
        }
        Ok(())
    })?;
    Ok((best_ns, registers.slots(&program)))
}
