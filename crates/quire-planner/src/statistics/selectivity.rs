//! How many rows pass a filter.
//!
//! The rules of Selinger et al. (System R, 1979), with counted distinct values and bounds: equality
//! keeps 1/distinct, a range its share of [min, max], conjuncts multiply, ranges on one column and
//! lists of its values are intersected first. What cannot be known gets the shares that the row executor takes
//! ([`quire_exec::access::default_share`]).

use std::collections::{HashMap, HashSet};

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::{InList, Like};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Between, BinaryExpr, Cast, Expr, Operator};
use quire_exec::access::default_share::{EQUALITY, INEQUALITY, LEAST, PATTERN, UNKNOWN};
use quire_functions::FloatKey;

use super::column_profile::ColumnProfile;

/// Finds what is known of a column.
pub(crate) type Lookup<'a> = dyn Fn(&Column) -> Option<&'a ColumnProfile> + 'a;

/// Share of rows, 0 to 1, that pass all of `filters`.
pub fn selectivity<'a>(filters: &[Expr], lookup: &Lookup<'a>) -> f64 {
    let conjuncts = filters.iter().flat_map(split_conjunction);
    of_conjunction(conjuncts, lookup, true).clamp(LEAST, 1.0)
}

/// Share of rows that pass all of `conjuncts`; without `has_nulls`, of the rows that are not NULL.
fn of_conjunction<'e, 'a>(
    conjuncts: impl Iterator<Item = &'e Expr>,
    lookup: &Lookup<'a>,
    has_nulls: bool,
) -> f64 {
    let mut ranges: HashMap<&Column, SpanFraction> = HashMap::new();
    let mut lists: HashMap<&Column, ValueList> = HashMap::new();
    let mut kept = 1.0;
    for conjunct in conjuncts {
        if let Some((column, range)) = range_of(conjunct, lookup) {
            let known = ranges.entry(column).or_insert(SpanFraction::ALL);
            *known = known.intersect(range);
        } else if let Some(list) = ValueList::of(conjunct) {
            let column = list.column;
            let both = match lists.remove(column) {
                Some(known) => known.intersect(&list),
                None => list,
            };
            lists.insert(column, both);
        } else {
            kept *= of_condition(conjunct, lookup);
        }
    }
    for (column, range) in &ranges {
        let profile = lookup(column).filter(|_| has_nulls);
        let null_fraction = profile.map_or(0.0, |profile| profile.null_fraction);
        kept *= range.share() * (1.0 - null_fraction);
    }
    let listed = lists.values().map(|list| list.share(lookup, has_nulls));
    kept * listed.product::<f64>()
}

/// Distinct values of the column `name` that can remain when `filters` hold.
pub(super) fn narrowed(filters: &[Expr], name: &str, profile: &ColumnProfile) -> f64 {
    let lookup = |column: &Column| (column.name == name).then_some(profile);
    let conjuncts = filters.iter().flat_map(split_conjunction);
    let of_column = conjuncts.filter(|conjunct| {
        let columns = conjunct.column_refs();
        columns.len() == 1 && columns.iter().all(|column| column.name == name)
    });
    let share = of_conjunction(of_column, &lookup, false);
    (profile.distinct_count * share).max(1.0)
}

/// Part of a column's span, as fractions of it.
#[derive(Debug, Clone, Copy)]
struct SpanFraction {
    low: f64,
    high: f64,
    /// Share of one value, kept by a range that is a point.
    point: f64,
}

impl SpanFraction {
    const ALL: SpanFraction = SpanFraction {
        low: 0.0,
        high: 1.0,
        point: 0.0,
    };

    fn intersect(self, other: SpanFraction) -> SpanFraction {
        SpanFraction {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            point: self.point.max(other.point),
        }
    }

    fn share(self) -> f64 {
        (self.high - self.low).clamp(self.point.min(1.0), 1.0)
    }
}

/// The values that a condition allows for a column: `a = 1`, `a IN (1, 2)`, `a = 1 OR a = 2`. Lists for one column are intersected, as multiplying their
/// shares would assume that they are independent.
struct ValueList<'e> {
    column: &'e Column,
    values: Vec<&'e ScalarValue>,
}

impl<'e> ValueList<'e> {
    fn of(condition: &'e Expr) -> Option<Self> {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
                Operator::Eq => {
                    let (column, _, value) = compared(left, *op, right)?;
                    let values = vec![value];
                    Some(Self { column, values })
                }
                Operator::Or => {
                    let (mut either, or) = (Self::of(left)?, Self::of(right)?);
                    either.values.extend(or.values);
                    (either.column == or.column).then_some(either)
                }
                _ => None,
            },
            Expr::InList(InList {
                expr,
                list,
                negated: false,
            }) => {
                let column = column_of(expr)?;
                let values = list.iter().map(literal_of).collect::<Option<_>>()?;
                Some(Self { column, values })
            }
            _ => None,
        }
    }

    fn intersect(mut self, other: &Self) -> Self {
        self.values.retain(|value| other.values.contains(value));
        self
    }

    /// Share of the rows that have one of the values; without `has_nulls`, of the rows that are not NULL.
    fn share(&self, lookup: &Lookup<'_>, has_nulls: bool) -> f64 {
        let distinct: HashSet<&ScalarValue> = self.values.iter().copied().collect();
        let profile = lookup(self.column);
        let null_fraction = profile
            .filter(|_| !has_nulls)
            .map_or(0.0, |it| it.null_fraction);
        (of_value(profile) / (1.0 - null_fraction).max(LEAST) * distinct.len() as f64).min(1.0)
    }
}

/// A column, how it is compared, and the literal, whichever of the two comes first.
fn compared<'e>(
    left: &'e Expr,
    op: Operator,
    right: &'e Expr,
) -> Option<(&'e Column, Operator, &'e ScalarValue)> {
    match (column_of(left), literal_of(right)) {
        (Some(column), Some(value)) => Some((column, op, value)),
        _ => Some((column_of(right)?, op.swap()?, literal_of(left)?)),
    }
}

/// The range that a comparison of a column with a literal selects.
fn range_of<'e>(condition: &'e Expr, lookup: &Lookup<'_>) -> Option<(&'e Column, SpanFraction)> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (column, op, value) = compared(left, *op, right)?;
            let (place, point) = place_of(column, value, lookup)?;
            let range = match op {
                Operator::Lt | Operator::LtEq => SpanFraction {
                    low: 0.0,
                    high: place,
                    point,
                },
                Operator::Gt | Operator::GtEq => SpanFraction {
                    low: place,
                    high: 1.0,
                    point,
                },
                _ => return None,
            };
            Some((column, range))
        }
        Expr::Between(Between {
            expr,
            negated: false,
            low,
            high,
        }) => {
            let column = column_of(expr)?;
            let (low, point) = place_of(column, literal_of(low)?, lookup)?;
            let (high, _) = place_of(column, literal_of(high)?, lookup)?;
            Some((column, SpanFraction { low, high, point }))
        }
        _ => None,
    }
}

/// Where between a column's bounds a value lies, 0 to 1, and the share of one value.
fn place_of(column: &Column, value: &ScalarValue, lookup: &Lookup<'_>) -> Option<(f64, f64)> {
    let profile = lookup(column)?;
    let min = number(profile.min.as_ref()?)?;
    let max = number(profile.max.as_ref()?)?;
    let value = number(value)?;
    let place = (value - min) / (max - min);
    // Neither between equal bounds nor beside infinite ones there is a place.
    let place = if place.is_nan() { 0.5 } else { place };
    Some((place.clamp(0.0, 1.0), 1.0 / profile.distinct_count))
}

/// A value on a scale that keeps differences; text has none.
fn number(value: &ScalarValue) -> Option<f64> {
    match value {
        ScalarValue::Int8(v) => v.map(f64::from),
        ScalarValue::Int16(v) => v.map(f64::from),
        ScalarValue::Int32(v) => v.map(f64::from),
        ScalarValue::Int64(v) => v.map(|v| v as f64),
        ScalarValue::UInt64(v) => v.map(|v| v as f64),
        ScalarValue::Float32(v) => v.map(f64::from),
        ScalarValue::Float64(v) => *v,
        ScalarValue::Decimal128(v, _, scale) => {
            v.map(|v| v as f64 / 10_f64.powi(i32::from(*scale)))
        }
        ScalarValue::Date32(v) => v.map(|days| f64::from(days) * 86_400.0),
        ScalarValue::TimestampSecond(v, _) => v.map(|v| v as f64),
        ScalarValue::TimestampMillisecond(v, _) => v.map(|v| v as f64 / 1e3),
        ScalarValue::TimestampMicrosecond(v, _) => v.map(|v| v as f64 / 1e6),
        ScalarValue::TimestampNanosecond(v, _) => v.map(|v| v as f64 / 1e9),
        _ => None,
    }
}

fn of_condition(condition: &Expr, lookup: &Lookup<'_>) -> f64 {
    if let Some((_, range)) = range_of(condition, lookup) {
        return range.share();
    }
    match condition {
        Expr::Literal(ScalarValue::Boolean(Some(value)), _) => f64::from(u8::from(*value)),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => of_binary(left, *op, right, lookup),
        Expr::Not(inner) | Expr::IsNotTrue(inner) => 1.0 - of_condition(inner, lookup),
        Expr::IsTrue(inner) => of_condition(inner, lookup),
        Expr::IsNull(inner) => null_fraction(inner, lookup),
        Expr::IsNotNull(inner) => 1.0 - null_fraction(inner, lookup),
        Expr::Between(Between { negated, .. }) => negate_if(*negated, UNKNOWN),
        Expr::InList(InList {
            expr,
            list,
            negated,
        }) => {
            let kept = (equality(expr, lookup) * list.len() as f64).min(1.0);
            negate_if(*negated, kept)
        }
        Expr::Like(like) => negate_if(like.negated, of_pattern(like, lookup)),
        _ => UNKNOWN,
    }
}

fn negate_if(negated: bool, kept: f64) -> f64 {
    if negated { 1.0 - kept } else { kept }
}

fn of_binary(left: &Expr, op: Operator, right: &Expr, lookup: &Lookup<'_>) -> f64 {
    match op {
        Operator::And => of_condition(left, lookup) * of_condition(right, lookup),
        Operator::Or => {
            let (a, b) = (of_condition(left, lookup), of_condition(right, lookup));
            a + b - a * b
        }
        Operator::Eq | Operator::IsNotDistinctFrom => {
            equality(left, lookup).min(equality(right, lookup))
        }
        Operator::NotEq | Operator::IsDistinctFrom => {
            1.0 - equality(left, lookup).min(equality(right, lookup))
        }
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => INEQUALITY,
        _ => UNKNOWN,
    }
}

/// Share of rows in which `expr` equals one given value.
fn equality(expr: &Expr, lookup: &Lookup<'_>) -> f64 {
    match expr {
        Expr::Literal(..) => 1.0,
        _ => of_value(column_of(expr).and_then(lookup)),
    }
}

/// Share of the rows that have a given value in a column.
fn of_value(profile: Option<&ColumnProfile>) -> f64 {
    profile.map_or(EQUALITY, |profile| {
        (1.0 - profile.null_fraction) / profile.distinct_count.max(1.0)
    })
}

fn null_fraction(expr: &Expr, lookup: &Lookup<'_>) -> f64 {
    column_of(expr)
        .and_then(lookup)
        .map_or(EQUALITY, |profile| profile.null_fraction)
}

fn of_pattern(like: &Like, lookup: &Lookup<'_>) -> f64 {
    let pattern = literal_of(&like.pattern).and_then(|value| value.try_as_str().flatten());
    let has_wildcard = pattern.is_none_or(|text| text.contains(['%', '_']));
    if has_wildcard {
        PATTERN
    } else {
        equality(&like.expr, lookup)
    }
}

/// The column under casts and keys of floats.
fn column_of(expr: &Expr) -> Option<&Column> {
    match FloatKey::argument_of(expr).unwrap_or(expr) {
        Expr::Column(column) => Some(column),
        Expr::Cast(Cast { expr, .. }) => column_of(expr),
        Expr::Alias(alias) => column_of(&alias.expr),
        _ => None,
    }
}

fn literal_of(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value),
        Expr::Cast(Cast { expr, .. }) => literal_of(expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::{col, lit};

    use super::*;

    fn share(filters: &[Expr]) -> f64 {
        let profile = ColumnProfile {
            distinct_count: 100.0,
            null_fraction: 0.0,
            null_count: 0,
            min: Some(ScalarValue::Int32(Some(0))),
            max: Some(ScalarValue::Int32(Some(100))),
            bounds_are_exact: true,
            value_bytes: 4.0,
            kept_bytes: 4.0,
        };
        let lookup = |column: &Column| (column.name == "a").then_some(&profile);
        // The profile lives as long as the look-up.
        let lookup: &Lookup<'_> = &lookup;
        selectivity(filters, lookup)
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-6
    }

    #[test]
    fn ranges_take_their_share_and_meet() {
        assert!(near(share(&[col("a").lt(lit(25))]), 0.25));
        assert!(near(share(&[lit(25).gt(col("a"))]), 0.25));
        assert!(near(
            share(&[col("a").gt_eq(lit(25)), col("a").lt(lit(75))]),
            0.5
        ));
        assert!(near(share(&[col("a").between(lit(25), lit(75))]), 0.5));
        // Beyond the bounds only a single value's share is left.
        assert!(near(share(&[col("a").gt(lit(1000))]), 0.01));
    }

    #[test]
    fn equality_keeps_one_value() {
        assert!(near(share(&[col("a").eq(lit(5))]), 0.01));
        assert!(near(share(&[col("a").not_eq(lit(5))]), 0.99));
        assert!(near(
            share(&[col("a").in_list(vec![lit(1), lit(2)], false)]),
            0.02
        ));
        assert!(near(
            share(&[col("a").eq(lit(5)).or(col("a").eq(lit(6)))]),
            0.02
        ));
    }

    #[test]
    fn lists_of_one_column_are_intersected() {
        let one_of = |values: &[i32]| {
            let values = values.iter().map(|value| lit(*value)).collect();
            col("a").in_list(values, false)
        };
        let five_or_six = col("a").eq(lit(5)).or(lit(6).eq(col("a")));
        assert!(near(
            share(&[five_or_six.clone(), col("a").eq(lit(5))]),
            0.01
        ));
        assert!(near(
            share(&[five_or_six.clone().and(one_of(&[6, 6, 7]))]),
            0.01
        ));
        assert!(near(share(&[five_or_six, one_of(&[7])]), LEAST));
        assert!(near(
            share(&[one_of(&[1, 2]), col("b").eq(lit(1))]),
            0.02 * EQUALITY
        ));
    }

    #[test]
    fn unknown_columns_get_the_constants() {
        assert!(near(share(&[col("b").gt(lit(1))]), INEQUALITY));
        assert!(near(share(&[col("b").eq(lit(1))]), EQUALITY));
    }
}
