//! Expressions of TPC-D's queries 1 and 6, as Quire compiles them.

use quire_exec::avm::{
    Accumulation, AggregateSlot, Attribute, ColumnBinding, Compiler, Program, RegisterPool, Tuple,
};
use quire_exec::plan::{Environment, PlanScalar};
use quire_lab::{
    Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, Verdict, VerdictCase,
};
use quire_tables::row_table::TupleValue;

use super::failure::ExpressionFailure;
use super::programs_over_tuples::ProgramOverTuples;
use super::queries::{FilterSumQuery, query_1, query_6};
use super::tuples::{ROWS, TpcdFieldStorage, TpcdTuples, tuples};
use super::{agreed, best_round};

/// One query over tuples of one storage.
struct ExpressionTimes {
    name: String,
    /// Nanoseconds a row of trees, programs and machine code.
    ways_ns: [f64; 3],
    /// What making the machine code takes once.
    compile_us: f64,
}

/// Nanoseconds a row by the three ways, over plain tuples, compressed ones, and ones with codes.
///
/// # Errors
/// When the ways have different sums.
pub(crate) fn figure(rounds: usize) -> Result<Figure, ExpressionFailure> {
    let mut times = Vec::new();
    for storage in [
        TpcdFieldStorage::Plain,
        TpcdFieldStorage::Compressed,
        TpcdFieldStorage::Coded,
    ] {
        let tuples = tuples(storage)?;
        for query in [query_1()?, query_6()] {
            let name = format!("{}, {}", query.name, storage.name());
            times.push(measured(name, &tuples, &query, rounds)?);
        }
    }
    let names = times.iter().map(|times| times.name.clone());
    Ok(Figure {
        stem: "avm-expressions",
        title: "Expressions of queries 1 and 6: time a row, decoding included".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "section 4.1.2",
        chart: Chart::Bars,
        x: Axis::linear("query, tuples", ""),
        y: Axis::linear("ratio; time", "times; ns"),
        positions: Positions::Labels(names.collect()),
        series: series(&times),
        verdicts: vec![programs_save(&times)],
        notes: notes(&times, rounds),
    })
}

fn measured(
    name: String,
    tuples: &TpcdTuples,
    query: &FilterSumQuery,
    rounds: usize,
) -> Result<ExpressionTimes, ExpressionFailure> {
    let (program, tuple) = program(query)?;
    let mut interpreted = ProgramOverTuples::new(&program, (tuple, tuples), false)?;
    let mut native = ProgramOverTuples::new(&program, (tuple, tuples), true)?;
    let compile_us = interpreted.compile_us(rounds)?;
    let ways_ns = agreed([
        walk(tuples, query, rounds)?,
        run(&mut interpreted, rounds)?,
        run(&mut native, rounds)?,
    ])?;
    Ok(ExpressionTimes {
        name,
        ways_ns,
        compile_us,
    })
}

fn series(times: &[ExpressionTimes]) -> Vec<Series> {
    let of = |name: &str, value: fn([f64; 3]) -> f64| {
        let values = times.iter().map(|times| value(times.ways_ns));
        Series::new(name, SeriesOrigin::Measured, values.collect())
    };
    vec![
        of("tree / program", |[tree, program, _]| tree / program),
        of("program / native", |[_, program, native]| program / native),
        of("trees", |[tree, ..]| tree),
        of("programs", |[_, program, _]| program),
        of("native code", |[.., native]| native),
    ]
}

fn notes(times: &[ExpressionTimes], rounds: usize) -> Vec<String> {
    let compiling = times
        .iter()
        .map(|times| format!("{}: {:.0}", times.name, times.compile_us));
    let compiling: Vec<String> = compiling.collect();
    vec![
        format!("{ROWS} tuples in memory, processor time, the best of {rounds} rounds; trees get the columns they need decoded once a row"),
        format!("making native code takes once, in microseconds: {}", compiling.join("; ")),
        "the paper: programs instead of trees, with its iterators, save more than a factor of two (section 4.3)".to_owned(),
    ]
}

/// Section 4.3: "savings in CPU costs by more than a factor of two", with the iterators.
fn programs_save(times: &[ExpressionTimes]) -> Verdict {
    let cases = times.iter().map(|times| {
        let [tree, program, _] = times.ways_ns;
        let ratio = tree / program;
        VerdictCase::new(times.name.as_str(), ratio > 1.0, ratio)
    });
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
