//! Expressions of TPC-D's queries 1 and 6, as Quire compiles them.

use quire_exec::avm::{
    Accumulation, AggregateSlot, Attribute, ColumnBinding, Compiler, Program, RegisterPool, Tuple,
};
use quire_exec::plan::{Environment, PlanScalar};
use quire_lab::{
    Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, Verdict, VerdictCase,
};
use quire_tables::row_table::TupleValue;

use super::best_round;
use super::failure::ExpressionFailure;
use super::programs_over_tuples::ProgramOverTuples;
use super::queries::{FilterSumQuery, query_1, query_6};
use super::tuples::{FieldStorage, ROWS, TpcdTuples, tuples};

/// Nanoseconds a row by the three ways, over plain tuples, compressed ones, and ones with codes.
///
/// # Errors
/// When the ways have different sums.
pub(crate) fn figure(rounds: usize) -> Result<Figure, ExpressionFailure> {
    let (mut names, mut nanoseconds) = (Vec::new(), [const { Vec::new() }; 3]);
    let mut compile_us = Vec::new();
    for storage in [
        FieldStorage::Plain,
        FieldStorage::Compressed,
        FieldStorage::Coded,
    ] {
        let tuples = tuples(storage)?;
        for query in [query_1()?, query_6()] {
            names.push(format!("{}, {}", query.name, storage.name()));
            let (program, tuple) = program(&query)?;
            let mut interpreted = ProgramOverTuples::new(&program, (tuple, &tuples), false)?;
            let mut native = ProgramOverTuples::new(&program, (tuple, &tuples), true)?;
            compile_us.push(interpreted.compile_us(rounds)?);
            let ways = [
                walk(&tuples, &query, rounds)?,
                run(&mut interpreted, rounds)?,
                run(&mut native, rounds)?,
            ];
            let [tree, program, native] = &ways;
            if tree.1 != program.1 || tree.1 != native.1 {
                return Err(format!("{tree:?}, {program:?} and {native:?} differ").into());
            }
            for (all, (one, _)) in nanoseconds.iter_mut().zip(ways) {
                all.push(one);
            }
        }
    }
    let ratio = |slow: &[f64], fast: &[f64]| -> Vec<f64> {
        slow.iter().zip(fast).map(|(a, b)| a / b).collect()
    };
    let [tree, program, native] = nanoseconds;
    let verdict = programs_save(&names, &ratio(&tree, &program));
    let compile_us = names.iter().zip(&compile_us);
    let compile_us: Vec<String> = compile_us
        .map(|(name, us)| format!("{name}: {us:.0}"))
        .collect();
    let series = vec![
        Series::new(
            "tree / program",
            SeriesOrigin::Measured,
            ratio(&tree, &program),
        ),
        Series::new(
            "program / native",
            SeriesOrigin::Measured,
            ratio(&program, &native),
        ),
        Series::new("trees", SeriesOrigin::Measured, tree),
        Series::new("programs", SeriesOrigin::Measured, program),
        Series::new("native code", SeriesOrigin::Measured, native),
    ];
    Ok(Figure {
        stem: "avm-expressions",
        title: "Expressions of queries 1 and 6: time a row, decoding included".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "section 4.1.2",
        chart: Chart::Bars,
        x: Axis::linear("query, tuples", ""),
        y: Axis::linear("ratio; time", "times; ns"),
        positions: Positions::Labels(names),
        series,
        verdicts: vec![verdict],
        notes: vec![
            format!("{ROWS} tuples in memory, processor time, the best of {rounds} rounds; trees get the columns they need decoded once a row"),
            format!("making native code takes once, in microseconds: {}", compile_us.join("; ")),
            "the paper: programs instead of trees, with its iterators, save more than a factor of two (section 4.3)".to_owned(),
        ],
    })
}

/// Section 4.3: "savings in CPU costs by more than a factor of two", with the iterators.
fn programs_save(names: &[String], ratios: &[f64]) -> Verdict {
    let cases = names.iter().zip(ratios);
    let cases = cases.map(|(name, &ratio)| VerdictCase::new(name.as_str(), ratio > 1.0, ratio));
    let claim = "programs need less of the processor than trees (the paper: less than half, together with its iterators)";
    Verdict::of_all(claim, &cases.collect::<Vec<_>>())
}

fn walk(
    tuples: &TpcdTuples,
    query: &FilterSumQuery,
    rounds: usize,
) -> Result<(f64, Vec<i128>), ExpressionFailure> {
    let environment = Environment::new(&[]);
    best_round(rounds, ROWS, || {
        let mut sums = vec![0; query.sums.len()];
        for (start, end) in tuples.iter() {
            let tuple = tuples.bytes.get(start..end).unwrap_or_default();
            let mut row = [TupleValue::Null; 5];
            for slot in query.tested {
                row[*slot] = tuples.layout.field(tuple, *slot)?;
            }
            if query.condition.evaluate(&row, &environment)? != PlanScalar::Boolean(true) {
                continue;
            }
            for slot in query.added {
                row[*slot] = tuples.layout.field(tuple, *slot)?;
            }
            for (sum, expression) in sums.iter_mut().zip(&query.sums) {
                if let PlanScalar::Decimal(value) = expression.evaluate(&row, &environment)? {
                    *sum += value;
                }
            }
        }
        Ok(sums)
    })
}

/// What filters and adds up, and the register of its tuple.
fn program(query: &FilterSumQuery) -> Result<(Program, Tuple), ExpressionFailure> {
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
    Ok((compiler.finish()?.0, tuple))
}

fn run(
    program: &mut ProgramOverTuples<'_>,
    rounds: usize,
) -> Result<(f64, Vec<i128>), ExpressionFailure> {
    best_round(rounds, ROWS, || {
        program.run(|_| ())?;
        Ok(program.sums())
    })
}
