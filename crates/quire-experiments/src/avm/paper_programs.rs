//! Figures 5 and 6 of paper 1: the paper's own programs, run.
//!
//! Figure 5 compares the date of shipment, attribute 10 of a tuple of `lineitem`, with a constant. Figure 6 adds up what
//! orders cost; its operands are in registers, where the scan has loaded them.

use std::hint::black_box;
use std::sync::Arc;

use quire_exec::avm::{Program, RegisterSet, Tuple, WordRegister, assemble};
use quire_exec::plan::{
    ComparisonExpression, Environment, Expression, FloatOperator, Operator, PlanScalar, ValueKind,
};
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType};
use quire_lab::{
    Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin, Verdict, VerdictCase,
};
use quire_tables::row_table::{TupleValue, Value};

use super::failure::ExpressionFailure;
use super::programs_over_tuples::ProgramOverTuples;
use super::tuples::{LineitemNumbers, ROWS, TpcdTuples};
use super::{ThreeWays, agreed, best_round, machine_code};

/// `shipdate <= 1998-02-09`: attribute 10 of the tuple in register 14, the result in register 13.
const FIGURE_5: [&str; 2] = ["LEQ_C_D_AC 10 14 '1998-02-09' 13", "AVM_STOP"];
/// `sum(extended_price * (1 - discount) * (1 + tax))` of registers 4, 5 and 6.
const FIGURE_6: [&str; 5] = [
    "SUB_C_F_CZ 1.0 5 7",
    "ADD_C_F_CZ 1.0 6 8",
    "MUL_C_F_ZZ 7 8 9",
    "MUL_A_F_ZZ 4 9 10",
    "AVM_STOP",
];
/// What Quire's assembler needs to know besides, which the paper does not print.
const FIGURE_5_DECLARES: &str = ".tuple 14 11\n";
const FIGURE_6_DECLARES: &str = ".input w4\n.input w5\n.input w6\n.slots 11\n";
const TUPLE: Tuple = Tuple(14);
const IS_EARLY: WordRegister = WordRegister(13);
const COLUMNS: usize = 11;
const SHIPDATE: usize = 10;
/// 1998-02-09 in days since 1970-01-01: 28 years of 365 days, 7 leap days, January, 8 days.
const LAST_DAY: i64 = 28 * 365 + 7 + 31 + 8;

const PROGRAMS: [&str; 3] = [
    "figure 5, plain tuples",
    "figure 5, compressed tuples",
    "figure 6, registers",
];

fn program(declares: &str, lines: &[&str]) -> Result<Program, ExpressionFailure> {
    Ok(assemble(&(declares.to_owned() + &lines.join("\n")))?)
}

/// The first eleven columns of `lineitem`.
fn lineitem(is_compressed: bool) -> Result<TpcdTuples, ExpressionFailure> {
    let compression = match is_compressed {
        true => TupleCompression::NullSuppressed,
        false => TupleCompression::None,
    };
    let money = TupleType::Int128 { digits: 15 };
    let mut types = [[TupleType::Int32; 4], [money; 4]].concat();
    types.extend([TupleType::Text; 2]);
    types.push(TupleType::Date { base_days: 8_000 });
    let columns: Vec<TupleColumn> = types
        .into_iter()
        .map(|column_type| TupleColumn {
            column_type,
            nullable: false,
            compression: compression.clone(),
        })
        .collect();
    let layout = TupleLayout::new(&columns)?;
    let mut numbers = LineitemNumbers::default();
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for number in 0..ROWS as i64 {
        let row: [TupleValue<'_>; COLUMNS] = [
            TupleValue::Integer(number / 4),
            TupleValue::Integer(numbers.below(200_000) as i64),
            TupleValue::Integer(numbers.below(10_000) as i64),
            TupleValue::Integer(number % 4 + 1),
            TupleValue::Wide(100 * (1 + numbers.below(50))),
            TupleValue::Wide(90_000 + numbers.below(10_000_000)),
            TupleValue::Wide(numbers.below(11)),
            TupleValue::Wide(numbers.below(9)),
            TupleValue::Bytes(b"N"),
            TupleValue::Bytes(b"O"),
            TupleValue::Integer(8_036 + numbers.below(2_526) as i64),
        ];
        layout.encode(&row, &mut bytes)?;
        ends.push(bytes.len());
    }
    Ok(TpcdTuples {
        layout: Arc::new(layout),
        bytes,
        ends,
    })
}

/// Figure 5 over tuples; the result is the number of rows that the condition is true of.
fn shipdates(is_compressed: bool, rounds: usize) -> Result<ThreeWays<u64>, ExpressionFailure> {
    let tuples = lineitem(is_compressed)?;
    let program = program(FIGURE_5_DECLARES, &FIGURE_5)?;
    Ok([
        shipdates_by_tree(&tuples, rounds)?,
        shipdates_by_program(&tuples, &program, false, rounds)?,
        shipdates_by_program(&tuples, &program, true, rounds)?,
    ])
}

fn shipdates_by_tree(tuples: &TpcdTuples, rounds: usize) -> Result<(f64, u64), ExpressionFailure> {
    let environment = Environment::new(&[]);
    let column = Expression::Column {
        slot: SHIPDATE,
        kind: ValueKind::Integer,
        nullable: false,
    };
    let last = Expression::Constant(Value::Integer(LAST_DAY));
    let condition =
        Expression::Compare(ComparisonExpression::LessOrEqual, Box::new([column, last]));
    best_round(rounds, ROWS, || {
        let mut count = 0;
        for (start, end) in tuples.iter() {
            let tuple = tuples.bytes.get(start..end).unwrap_or_default();
            let mut row = [TupleValue::Null; COLUMNS];
            row[SHIPDATE] = tuples.layout.field(tuple, SHIPDATE)?;
            let is_early = condition.evaluate(&row, &environment)?;
            count += u64::from(is_early == PlanScalar::Boolean(true));
        }
        Ok(count)
    })
}

fn shipdates_by_program(
    tuples: &TpcdTuples,
    program: &Program,
    is_native: bool,
    rounds: usize,
) -> Result<(f64, u64), ExpressionFailure> {
    let mut over_tuples = ProgramOverTuples::new(program, (TUPLE, tuples), is_native)?;
    best_round(rounds, ROWS, || {
        let mut count = 0;
        over_tuples.run(|registers| count += u64::from(registers.word(IS_EARLY) == 1))?;
        Ok(count)
    })
}

/// Price, discount and tax of each row.
fn operands() -> Vec<[f64; 3]> {
    let mut numbers = LineitemNumbers::default();
    let mut cents = |least: i128, limit| (least + numbers.below(limit)) as f64 / 100.0;
    (0..ROWS)
        .map(|_| [cents(90_000, 10_000_000), cents(0, 11), cents(0, 9)])
        .collect()
}

/// Figure 6 over registers; the result is the sum.
fn charges(rounds: usize) -> Result<ThreeWays<f64>, ExpressionFailure> {
    let operands = operands();
    let program = program(FIGURE_6_DECLARES, &FIGURE_6)?;
    Ok([
        charges_by_tree(&operands, rounds)?,
        charges_by_program(&operands, &program, false, rounds)?,
        charges_by_program(&operands, &program, true, rounds)?,
    ])
}

fn charges_by_tree(operands: &[[f64; 3]], rounds: usize) -> Result<(f64, f64), ExpressionFailure> {
    let environment = Environment::new(&[]);
    let column = |slot| Expression::Column {
        slot,
        kind: ValueKind::Double,
        nullable: false,
    };
    let double = |operator, left, right| {
        Expression::Double(FloatOperator(operator), Box::new([left, right]))
    };
    let one = || Expression::Constant(Value::Double(1.0));
    let reduced = double(Operator::Subtract, one(), column(1));
    let taxed = double(Operator::Add, one(), column(2));
    let factor = double(Operator::Multiply, reduced, taxed);
    let charge = double(Operator::Multiply, column(0), factor);
    best_round(rounds, ROWS, || {
        let mut sum = 0.0;
        for values in operands {
            let row = values.map(TupleValue::Float64);
            if let PlanScalar::Double(value) = charge.evaluate(&row, &environment)? {
                sum += value;
            }
        }
        Ok(sum)
    })
}

fn charges_by_program(
    operands: &[[f64; 3]],
    program: &Program,
    is_native: bool,
    rounds: usize,
) -> Result<(f64, f64), ExpressionFailure> {
    let mut registers = RegisterSet::new();
    let loaded = program.load(&mut registers)?;
    let native = is_native
        .then(|| machine_code(program, &registers))
        .transpose()?;
    let (best_ns, ()) = best_round(rounds, ROWS, || {
        registers.begin_group(program);
        for values in operands {
            for (register, value) in (4..).zip(values) {
                registers.set_double(WordRegister(register), *value);
            }
            match &native {
                Some(native) => program.run_native(native, loaded, &mut registers)?,
                None => program.run(loaded, &mut registers)?,
            };
        }
        black_box(&registers);
        Ok(())
    })?;
    let result = assemble(".slots 11\nRES_C_F #10 w0\nSTOP")?;
    let loaded = result.load(&mut registers)?;
    result.run(loaded, &mut registers)?;
    let bits = registers.word(WordRegister(0)) as u64;
    Ok((best_ns, f64::from_bits(bits)))
}

/// Nanoseconds a row of the paper's programs.
///
/// # Errors
/// When the ways have different results.
pub(super) fn figure(rounds: usize) -> Result<Figure, ExpressionFailure> {
    let measured = [
        agreed(shipdates(false, rounds)?)?,
        agreed(shipdates(true, rounds)?)?,
        agreed(charges(rounds)?)?,
    ];
    let names = ["tree", "the paper's program", "the same as machine code"];
    let series = names.into_iter().enumerate().map(|(way, name)| {
        let values = measured.iter().map(|ways| ways[way]).collect();
        Series::new(name, SeriesOrigin::Measured, values)
    });
    Ok(Figure {
        stem: "avm-programs",
        title: "The paper's programs: time a row".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "figures 5 and 6",
        chart: Chart::Bars,
        x: Axis::linear("program, operands", ""),
        y: Axis::linear("time", "ns"),
        positions: Positions::labels(PROGRAMS),
        series: series.collect(),
        verdicts: vec![programs_save(&measured)],
        notes: notes(rounds),
    })
}

/// Section 4.3, which counts the extended iterators in.
fn programs_save(measured: &[[f64; 3]]) -> Verdict {
    let cases = PROGRAMS.into_iter().zip(measured);
    let cases = cases.map(|(name, [tree, program, _])| {
        let ratio = tree / program;
        VerdictCase::new(name, ratio > 2.0, ratio)
    });
    let claim = "the paper's programs need less than half of the processor that trees need (the paper: together with its iterators)";
    Verdict::of_all(claim, &cases.collect::<Vec<_>>())
}

fn notes(rounds: usize) -> Vec<String> {
    vec![
        format!("figure 5, shipdate <= 1998-02-09: {}", FIGURE_5.join("; ")),
        format!(
            "figure 6, sum(extended_price * (1 - discount) * (1 + tax)): {}",
            FIGURE_6.join("; ")
        ),
        format!(
            "{ROWS} rows in memory, processor time, the best of {rounds} rounds; the tree of figure 5 gets its column decoded once a \
             row, operands of figure 6 are doubles that every way is given anew for each row"
        ),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn all_ways_have_the_results_that_plain_arithmetic_has() {
        let expected = operands().iter().fold(0.0, |sum, [price, discount, tax]| {
            sum + price * ((1.0 - discount) * (1.0 + tax))
        });
        for (_, sum) in charges(1).unwrap() {
            assert_eq!(sum, expected);
        }
        let tuples = lineitem(true).unwrap();
        let days = tuples.iter().filter(|(start, end)| {
            let tuple = &tuples.bytes[*start..*end];
            let day = tuples.layout.field(tuple, SHIPDATE).unwrap();
            matches!(day, TupleValue::Integer(day) if day <= LAST_DAY)
        });
        let expected = days.count() as u64;
        assert!(expected > 0 && expected < ROWS as u64);
        for is_compressed in [false, true] {
            for (_, count) in shipdates(is_compressed, 1).unwrap() {
                assert_eq!(count, expected);
            }
        }
    }
}
