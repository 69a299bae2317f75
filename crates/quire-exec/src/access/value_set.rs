//! Sets of values of one column: intervals in order that do not meet, and perhaps NULL.

use std::cmp::Ordering;
use std::ops::Bound;

use quire_tables::row_table::Value;

/// The values between two bounds. There may be values that no column has between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueInterval {
    pub(super) low: Bound<Value>,
    pub(super) high: Bound<Value>,
}

/// Some values of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ValueSet {
    /// Ascending, with something between any two of them.
    pub(super) intervals: Vec<ValueInterval>,
    pub(super) has_null: bool,
}

impl ValueInterval {
    pub(super) fn point(value: Value) -> Self {
        Self {
            low: Bound::Included(value.clone()),
            high: Bound::Included(value),
        }
    }

    pub(super) const ALL: Self = Self {
        low: Bound::Unbounded,
        high: Bound::Unbounded,
    };

    /// The value, if it is only one.
    pub(super) fn as_point(&self) -> Option<&Value> {
        match (&self.low, &self.high) {
            (Bound::Included(low), Bound::Included(high)) if low == high => Some(low),
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (
                Bound::Included(low) | Bound::Excluded(low),
                Bound::Included(high) | Bound::Excluded(high),
            ) => low >= high,
        }
    }

    /// Whether nothing is between this one and one that begins no earlier.
    fn meets(&self, next: &Self) -> bool {
        match (&self.high, &next.low) {
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
            (Bound::Excluded(high), Bound::Excluded(low)) => low < high,
            (Bound::Included(high) | Bound::Excluded(high), Bound::Included(low))
            | (Bound::Included(high), Bound::Excluded(low)) => low <= high,
        }
    }
}

/// Order of lower bounds.
fn compare_lows(left: &Bound<Value>, right: &Bound<Value>) -> Ordering {
    match (left, right) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Less,
        (_, Bound::Unbounded) => Ordering::Greater,
        (Bound::Included(left), Bound::Excluded(right)) => left.cmp(right).then(Ordering::Less),
        (Bound::Excluded(left), Bound::Included(right)) => left.cmp(right).then(Ordering::Greater),
        (Bound::Included(left), Bound::Included(right))
        | (Bound::Excluded(left), Bound::Excluded(right)) => left.cmp(right),
    }
}

/// Order of upper bounds.
fn compare_highs(left: &Bound<Value>, right: &Bound<Value>) -> Ordering {
    match (left, right) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(left), Bound::Excluded(right)) => left.cmp(right).then(Ordering::Greater),
        (Bound::Excluded(left), Bound::Included(right)) => left.cmp(right).then(Ordering::Less),
        (Bound::Included(left), Bound::Included(right))
        | (Bound::Excluded(left), Bound::Excluded(right)) => left.cmp(right),
    }
}

impl ValueSet {
    /// All values, NULL among them.
    pub(super) fn everything() -> Self {
        Self {
            intervals: vec![ValueInterval::ALL],
            has_null: true,
        }
    }

    /// The values of some intervals in any order.
    pub(super) fn of(mut intervals: Vec<ValueInterval>, has_null: bool) -> Self {
        intervals.retain(|interval| !interval.is_empty());
        intervals.sort_by(|left, right| compare_lows(&left.low, &right.low));
        let mut merged: Vec<ValueInterval> = Vec::with_capacity(intervals.len());
        for interval in intervals {
            match merged.last_mut().filter(|last| last.meets(&interval)) {
                Some(last) if compare_highs(&last.high, &interval.high).is_lt() => {
                    last.high = interval.high;
                }
                Some(_) => {}
                None => merged.push(interval),
            }
        }
        Self {
            intervals: merged,
            has_null,
        }
    }

    pub(super) fn is_everything(&self) -> bool {
        self.has_null && self.intervals == [ValueInterval::ALL]
    }

    /// What is in either.
    pub(super) fn or(mut self, other: Self) -> Self {
        self.intervals.extend(other.intervals);
        Self::of(self.intervals, self.has_null || other.has_null)
    }

    /// What is in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.intervals.iter(), other.intervals.iter());
        let (mut one, mut two) = (left.next(), right.next());
        let mut both = Vec::new();
        while let (Some(first), Some(second)) = (one, two) {
            let low = match compare_lows(&first.low, &second.low) {
                Ordering::Less => &second.low,
                _ => &first.low,
            };
            let ends_first = compare_highs(&first.high, &second.high).is_lt();
            let high = if ends_first {
                &first.high
            } else {
                &second.high
            };
            both.push(ValueInterval {
                low: low.clone(),
                high: high.clone(),
            });
            if ends_first {
                one = left.next()
            } else {
                two = right.next()
            }
        }
        both.retain(|interval| !interval.is_empty());
        Self {
            intervals: both,
            has_null: self.has_null && other.has_null,
        }
    }

    /// Its values, if they are so few that each is one; NULL comes last.
    pub(super) fn points(&self) -> Option<Vec<Value>> {
        let points = self.intervals.iter();
        let points = points.map(|interval| interval.as_point().cloned());
        let mut points = points.collect::<Option<Vec<Value>>>()?;
        if self.has_null {
            points.push(Value::Null);
        }
        Some(points)
    }
}
