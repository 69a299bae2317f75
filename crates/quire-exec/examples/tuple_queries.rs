//! Queries 1 and 6 of TPC-H by register iterators, on the row table `lineitem` of a database:
//! `cargo run --release -p quire-exec --example tuple_queries -- FILE [ROUNDS]`. Prints the rows, and the milliseconds of each round.
//! The pool takes 4 GiB at most, so the first round reads and the others do not.

use std::sync::Arc;
use std::time::Instant;

use quire_exec::avm::{
    Accumulation, AggregateSlot, Attribute, ColumnBinding, Compiler, Program, Register,
    RegisterPool, RegisterSet, Tuple,
};
use quire_exec::plan::{
    ComparisonExpression, DecimalOperation, Expression, Operator, PlanScalar, ValueKind,
};
use quire_exec::tuple::{
    GroupPrograms, HashGroup, RegisterIterator, ScanPath, TableScan, Workspace,
};
use quire_store::pool::PoolOptions;
use quire_store::{FileDisk, OpenMode, Volume};
use quire_tables::row_table::Value;
use quire_tables::{Engine, EngineOptions, RowTable};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const COLUMN_COUNT: u16 = 16;
const QUANTITY: usize = 4;
const PRICE: usize = 5;
const DISCOUNT: usize = 6;
const TAX: usize = 7;
const RETURNFLAG: usize = 8;
const LINESTATUS: usize = 9;
const SHIPDATE: usize = 10;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name the database file")?;
    let rounds: usize = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let disk = Arc::new(FileDisk::open(path, OpenMode::ReadOnly)?);
    let volume = Volume::open(disk, OpenMode::ReadOnly)?;
    let options = EngineOptions {
        pool: PoolOptions {
            budget_bytes: 4 << 30,
            ..PoolOptions::default()
        },
        ..EngineOptions::default()
    };
    let engine = Engine::open_with(volume, options)?;
    let table = engine
        .snapshot()
        .row_table("lineitem")?
        .ok_or("no row table lineitem")?;
    for round in 0..rounds {
        for (name, query) in [("Q1", query_1()?), ("Q6", query_6()?)] {
            let start = Instant::now();
            let rows = run(&table, &query)?;
            let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
            if round == 0 {
                rows.iter().for_each(|row| println!("{row}"));
            }
            println!("{name} {elapsed_ms:8.1} ms");
        }
    }
    Ok(())
}

/// A condition, keys, and sums; the rows of a group are counted, too.
struct Query {
    condition: Expression,
    keys: Vec<Expression>,
    sums: Vec<Expression>,
}

fn column(slot: usize) -> Expression {
    let kind = match slot {
        SHIPDATE => ValueKind::Integer,
        RETURNFLAG | LINESTATUS => ValueKind::Bytes,
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

fn compare(comparison: ComparisonExpression, slot: usize, right: Expression) -> Expression {
    Expression::Compare(comparison, pair(column(slot), right))
}

fn date(days: i64) -> Expression {
    Expression::Constant(Value::Integer(days))
}

fn operation(operator: Operator, left: i8, right: i8) -> Result<DecimalOperation, Failure> {
    Ok(DecimalOperation::new(operator, left, right).ok_or("no such decimal")?)
}

fn query_1() -> Result<Query, Failure> {
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
        // 1998-09-02
        condition: compare(ComparisonExpression::LessOrEqual, SHIPDATE, date(10_471)),
        keys: vec![column(RETURNFLAG), column(LINESTATUS)],
        sums: vec![
            column(QUANTITY),
            column(PRICE),
            reduced(),
            Expression::Decimal(charge, pair(reduced(), taxed)),
            column(DISCOUNT),
        ],
    })
}

fn query_6() -> Result<Query, Failure> {
    let conditions = [
        compare(ComparisonExpression::GreaterOrEqual, SHIPDATE, date(8_766)),
        compare(ComparisonExpression::Less, SHIPDATE, date(9_131)),
        compare(ComparisonExpression::GreaterOrEqual, DISCOUNT, decimal(5)),
        compare(ComparisonExpression::LessOrEqual, DISCOUNT, decimal(7)),
        compare(ComparisonExpression::Less, QUANTITY, decimal(2_400)),
    ];
    let both = |left, right| Expression::And(pair(left, right));
    let multiply = operation(Operator::Multiply, 2, 2)?;
    Ok(Query {
        condition: conditions.into_iter().reduce(both).ok_or("no condition")?,
        keys: Vec::new(),
        sums: vec![Expression::Decimal(
            multiply,
            pair(column(PRICE), column(DISCOUNT)),
        )],
    })
}

/// Programs of one query, and where its columns are.
struct Programs {
    pool: RegisterPool,
    tuple: Tuple,
    places: Vec<ColumnBinding>,
}

impl Programs {
    fn new() -> Result<Self, Failure> {
        let mut pool = RegisterPool::default();
        let tuple = pool.tuple()?;
        let places = (0..COLUMN_COUNT).map(|ordinal| ColumnBinding::Attribute {
            attribute: Attribute { tuple, ordinal },
            is_shared: false,
        });
        Ok(Self {
            places: places.collect(),
            pool,
            tuple,
        })
    }

    /// A program that filters and computes; `later` are expressions of programs that follow.
    fn values<'e>(
        &mut self,
        condition: Option<&'e Expression>,
        outputs: &'e [Expression],
        later: &'e [Expression],
    ) -> Result<(Program, Vec<Register>), Failure> {
        let tuples = [(self.tuple, COLUMN_COUNT)];
        let mut compiler = Compiler::new(&mut self.pool, self.places.clone(), &tuples);
        compiler.announce(condition);
        compiler.announce(outputs);
        compiler.announce(later);
        if let Some(condition) = condition {
            compiler.filter(condition)?;
        }
        let registers = outputs
            .iter()
            .map(|output| compiler.output(output))
            .collect::<Result<_, _>>()?;
        let (program, places) = compiler.finish()?;
        self.places = places;
        Ok((program, registers))
    }

    fn sums(&mut self, sums: &[Expression]) -> Result<Program, Failure> {
        let tuples = [(self.tuple, COLUMN_COUNT)];
        let mut compiler = Compiler::new(&mut self.pool, self.places.clone(), &tuples);
        compiler.announce(sums);
        for (slot, sum) in (0..).zip(sums) {
            compiler.accumulate(AggregateSlot(slot), Accumulation::Sum(sum))?;
        }
        compiler.accumulate(
            AggregateSlot(u8::try_from(sums.len())?),
            Accumulation::CountRows,
        )?;
        Ok(compiler.finish()?.0)
    }

    fn results(&mut self, sums: usize) -> Result<(Program, Vec<Register>), Failure> {
        let mut compiler = Compiler::new(&mut self.pool, Vec::new(), &[]);
        let mut registers = Vec::new();
        for slot in 0..u8::try_from(sums)? {
            registers.push(compiler.result(AggregateSlot(slot), ValueKind::Decimal, 38)?);
        }
        registers.push(compiler.result(
            AggregateSlot(u8::try_from(sums)?),
            ValueKind::Integer,
            0,
        )?);
        Ok((compiler.finish()?.0, registers))
    }
}

fn run(table: &Arc<RowTable>, query: &Query) -> Result<Vec<String>, Failure> {
    let mut programs = Programs::new()?;
    let later: Vec<Expression> = query.keys.iter().chain(&query.sums).cloned().collect();
    let (filter, _) = programs.values(Some(&query.condition), &[], &later)?;
    let (keys, key_registers) = programs.values(None, &query.keys, &query.sums)?;
    let accumulate = programs.sums(&query.sums)?;
    let (results, outputs) = programs.results(query.sums.len())?;
    let mut registers = RegisterSet::new();
    let columns = [
        QUANTITY, PRICE, DISCOUNT, TAX, RETURNFLAG, LINESTATUS, SHIPDATE,
    ];
    let scan = TableScan::new(
        Arc::clone(table),
        ScanPath::all(),
        (programs.tuple, &columns),
        Some(filter),
        &mut registers,
    )?;
    let group_programs = GroupPrograms {
        input: (Vec::new(), vec![programs.tuple]),
        keys,
        key_registers: key_registers.clone(),
        accumulate,
        distinct: Vec::new(),
        results,
    };
    let mut groups = HashGroup::new(scan, group_programs, Workspace::default(), &mut registers)?;
    let mut rows = Vec::new();
    while groups.next(&mut registers)? {
        let shown =
            key_registers
                .iter()
                .chain(&outputs)
                .map(|register| match registers.value(*register) {
                    PlanScalar::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                    PlanScalar::Integer(value) => value.to_string(),
                    PlanScalar::Decimal(value) => value.to_string(),
                    other => format!("{other:?}"),
                });
        rows.push(shown.collect::<Vec<_>>().join(" "));
    }
    Ok(rows)
}
