//! Which part of a table's rows conditions are true of, by what is known of their columns.
//!
//! The rules of P. Selinger et al., *Access Path Selection in a Relational Database Management System* (SIGMOD 1979): of a column whose
//! values are known to be so many and to lie between two bounds, one value has an equal part of the rows, and a range as much of them
//! as of what is between the bounds. Conditions on several columns are taken for independent.

use std::ops::Bound;

use quire_codec::CodecScalar;
use quire_tables::row_table::Value;
use quire_tables::{RowColumnStatistics, RowStatistics, RowTable};

use super::choice::{ColumnPredicates, columns_of};
use super::default_share::{EQUALITY, INEQUALITY, LEAST, LIST_MAX, PATTERN, UNKNOWN};
use super::value_set::{ValueInterval, ValueSet};
use crate::plan::{ComparisonExpression, Environment, Expression};

/// The share of a table's rows of which all conditions are true, 0 to 1. Their slots are the columns of these ordinals.
pub(crate) fn share(
    table: &RowTable,
    statistics: &RowStatistics,
    ordinals: &[usize],
    conditions: &[&Expression],
    environment: &Environment<'_>,
) -> f64 {
    let mut share = 1.0;
    let mut is_known = vec![false; conditions.len()];
    for column in columns_of(table, ordinals, conditions) {
        let known = statistics.column(column.ordinal());
        let of_column = known.zip(column.values(environment));
        let Some(part) = of_column.and_then(|(known, set)| part_of(&set, known)) else {
            continue;
        };
        share *= part;
        note_known(&column, &mut is_known);
    }
    let others = conditions.iter().zip(is_known).filter(|(_, known)| !known);
    let others: f64 = others.map(|(condition, _)| rule(condition)).product();
    (share * others).clamp(LEAST, 1.0)
}

fn note_known(column: &ColumnPredicates<'_>, is_known: &mut [bool]) {
    for position in column.exact_positions() {
        if let Some(known) = is_known.get_mut(position) {
            *known = true;
        }
    }
}

/// The share of rows of which a condition is true of whose columns nothing is known.
pub(crate) fn rule(condition: &Expression) -> f64 {
    let negated_if = |is_negated: bool, share: f64| if is_negated { 1.0 - share } else { share };
    match condition {
        Expression::Compare(ComparisonExpression::Equal | ComparisonExpression::NotDistinct, _) => {
            EQUALITY
        }
        Expression::Compare(ComparisonExpression::NotEqual | ComparisonExpression::Distinct, _) => {
            1.0 - EQUALITY
        }
        Expression::Compare(..) => INEQUALITY,
        Expression::And(sides) => sides.iter().map(rule).product(),
        Expression::Or(sides) => {
            let [left, right] = sides.each_ref().map(rule);
            left + right - left * right
        }
        Expression::Not(inner) => 1.0 - rule(inner),
        Expression::In(_, list, is_negated) => {
            negated_if(*is_negated, (list.len() as f64 * EQUALITY).min(LIST_MAX))
        }
        Expression::Like(_, _, is_negated) => negated_if(*is_negated, PATTERN),
        Expression::IsNull(_, is_wanted) => negated_if(!is_wanted, EQUALITY),
        _ => UNKNOWN,
    }
}

/// The share of rows whose value is in the set. Nothing when it has ranges and the bounds are not known.
fn part_of(set: &ValueSet, known: &RowColumnStatistics) -> Option<f64> {
    let of_value = (1.0 - known.null_share) / known.distinct_count;
    let mut share = if set.has_null { known.null_share } else { 0.0 };
    for interval in &set.intervals {
        share += match interval.as_point() {
            Some(_) => of_value,
            None => (span_of(interval, known)? * (1.0 - known.null_share)).max(of_value),
        };
    }
    Some(share.min(1.0))
}

/// The part of what is between a column's bounds that an interval has.
fn span_of(interval: &ValueInterval, known: &RowColumnStatistics) -> Option<f64> {
    if *interval == ValueInterval::ALL {
        return Some(1.0);
    }
    let zone = &known.sample.as_ref()?.zone;
    let bounds = (zone.min.as_ref()?, zone.max.as_ref()?);
    let place = |bound: &Bound<Value>, unbounded: f64| match bound {
        Bound::Unbounded => Some(unbounded),
        Bound::Included(value) | Bound::Excluded(value) => place_of(value, bounds),
    };
    let (low, high) = (place(&interval.low, 0.0)?, place(&interval.high, 1.0)?);
    Some((high - low).max(0.0))
}

/// Where a value is between two bounds, 0 to 1.
fn place_of(value: &Value, (min, max): (&CodecScalar, &CodecScalar)) -> Option<f64> {
    let (value, min, max) = match (value, min, max) {
        (Value::Text(text), CodecScalar::Bytes(min), CodecScalar::Bytes(max)) => {
            of_bytes(text.as_bytes(), min, max)
        }
        (Value::Bytes(bytes), CodecScalar::Bytes(min), CodecScalar::Bytes(max)) => {
            of_bytes(bytes, min, max)
        }
        _ => (of_value(value)?, of_scalar(min)?, of_scalar(max)?),
    };
    if max <= min {
        return Some(0.5);
    }
    Some(((value - min) / (max - min)).clamp(0.0, 1.0))
}

fn of_value(value: &Value) -> Option<f64> {
    match value {
        Value::Boolean(value) => Some(f64::from(u8::from(*value))),
        Value::Integer(value) => Some(*value as f64),
        Value::Decimal(value) => Some(i128::from(*value) as f64),
        _ => None,
    }
}

/// A number as one that can be computed with; nothing for others.
pub(crate) fn of_scalar(scalar: &CodecScalar) -> Option<f64> {
    match scalar {
        CodecScalar::Bool(value) => Some(f64::from(u8::from(*value))),
        CodecScalar::Int16(value) => Some(f64::from(*value)),
        CodecScalar::Int32(value) => Some(f64::from(*value)),
        CodecScalar::Int64(value) => Some(*value as f64),
        CodecScalar::Int128(value) => Some(*value as f64),
        _ => None,
    }
}

/// Strings as numbers: the first bytes behind what both bounds begin with.
fn of_bytes(value: &[u8], min: &[u8], max: &[u8]) -> (f64, f64, f64) {
    let shared = min.iter().zip(max).take_while(|(min, max)| min == max);
    let shared = shared.count();
    let number = |bytes: &[u8]| {
        let mut first = [0; 8];
        let rest = bytes.get(shared..).unwrap_or_default();
        let count = rest.len().min(first.len());
        first[..count].copy_from_slice(&rest[..count]);
        u64::from_be_bytes(first) as f64
    };
    let prefix = |bytes: &[u8]| bytes[..bytes.len().min(shared)].to_vec();
    match prefix(value).cmp(&prefix(min)) {
        std::cmp::Ordering::Less => (0.0, number(min), number(max).max(1.0)),
        std::cmp::Ordering::Equal => (number(value), number(min), number(max)),
        std::cmp::Ordering::Greater => (f64::MAX, number(min), number(max).max(1.0)),
    }
}
