//! Section 4.1.2 of paper 1: expressions as trees of operators that are walked, as programs of the AVM, and as machine code.

mod expressions;
mod failure;
mod paper_programs;
mod programs_over_tuples;
mod queries;
mod tuples;

use std::hint::black_box;

use quire_exec::avm::{Native, Program, ProgramCompiler, RegisterSet};
use quire_lab::Figure;
use quire_native::NativeCompiler;

use crate::tpcd::BenchmarkFailure;
use crate::tpcd::machine::processor_time;
use failure::ExpressionFailure;

/// Runs the programs of the paper's figures 5 and 6, and the expressions of queries 1 and 6 that Quire compiles.
/// The best of `rounds` counts.
///
/// # Errors
/// When a way of computing an expression has another result than the others.
pub fn figures(rounds: usize) -> Result<Vec<Figure>, BenchmarkFailure> {
    let measured = paper_programs::figure(rounds)
        .and_then(|programs| Ok(vec![programs, expressions::figure(rounds)?]));
    measured.map_err(|error| BenchmarkFailure::Expressions(error.to_string()))
}

/// Nanoseconds a row and the result of a tree, of a program, and of its machine code.
type ThreeWays<T> = [(f64, T); 3];

/// The times, if all three ways have one result.
fn agreed<T: PartialEq + std::fmt::Debug>(
    ways: ThreeWays<T>,
) -> Result<[f64; 3], ExpressionFailure> {
    let [tree, program, native] = &ways;
    if tree.1 != program.1 || tree.1 != native.1 {
        return Err(format!("{tree:?}, {program:?} and {native:?} differ").into());
    }
    Ok(ways.map(|(ns, _)| ns))
}

/// The machine code of a program.
fn machine_code(program: &Program, registers: &RegisterSet) -> Result<Native, ExpressionFailure> {
    let native = NativeCompiler::new()?.compile(program, registers);
    Ok(Native::new(
        native.ok_or("no machine code of this program")?,
    ))
}

/// Least processor time a row in nanoseconds, of rounds over `rows` rows, and the result of the last round.
fn best_round<T>(
    rounds: usize,
    rows: usize,
    mut round: impl FnMut() -> Result<T, ExpressionFailure>,
) -> Result<(f64, T), ExpressionFailure> {
    let mut best_ns = f64::INFINITY;
    let mut last = round()?;
    for _ in 0..rounds {
        let start = processor_time();
        last = black_box(round()?);
        best_ns = best_ns.min((processor_time() - start).as_secs_f64() * 1e9 / rows as f64);
    }
    Ok((best_ns, last))
}
