//! How much of a column table has to be looked at to find one key?
//!
//! A zone of 8,192 rows is left out if the key is not between its bounds. Where rows lie in the order of the key that leaves one zone of any table; where
//! they lie in any order it leaves all.

use std::cmp::Ordering;

use quire_tables::GROUP_ROWS;

use crate::measure::ProbeValue;
use crate::sampled_table::SampledTable;

/// Keys that are looked for.
const KEYS: usize = 64;

/// Zones that have to be looked at for one key, in the sample and in the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KeyReach {
    pub(super) sample_zones: f64,
    pub(super) whole_zones: f64,
}

impl KeyReach {
    /// Of the first column of the key, or of the one with the most different values.
    pub(super) fn of(sample: &SampledTable) -> Self {
        let column = sample.primary_key.first().copied();
        let column = column.unwrap_or_else(|| sample.most_distinct_column());
        let values: Vec<ProbeValue> = sample.values(column).map(ProbeValue::new).collect();
        let mut bounds: Vec<(&ProbeValue, &ProbeValue)> = Vec::new();
        let mut start = 0;
        for (_, rows) in sample.units() {
            let unit = &values[start..start + rows.len()];
            start += rows.len();
            bounds.extend(min_and_max(unit));
        }
        let step = values.len().div_ceil(KEYS).max(1);
        let mut covered = 0;
        let mut keys = 0;
        for key in values.iter().step_by(step) {
            let covers = |(min, max): &&(&ProbeValue, &ProbeValue)| {
                key.compare(min) != Some(Ordering::Less)
                    && key.compare(max) != Some(Ordering::Greater)
            };
            covered += bounds.iter().filter(covers).count();
            keys += 1;
        }
        // The unit that the key was taken from covers it by itself.
        let others = (covered as f64 - f64::from(keys)).max(0.0);
        let pairs = f64::from(keys) * bounds.len().saturating_sub(1) as f64;
        let share = if pairs > 0.0 { others / pairs } else { 0.0 };
        let zones = |rows: u64| {
            let all = rows as f64 / GROUP_ROWS as f64;
            (1.0 + share * (all - 1.0).max(0.0)).max(1.0)
        };
        Self {
            sample_zones: zones(sample.sampled_rows()),
            whole_zones: zones(sample.whole_rows.rows()),
        }
    }
}

fn min_and_max(values: &[ProbeValue]) -> Option<(&ProbeValue, &ProbeValue)> {
    let mut known = values.iter().filter(|value| !value.is_null());
    let first = known.next()?;
    Some(known.fold((first, first), |(min, max), value| {
        (
            if value.compare(min) == Some(Ordering::Less) {
                value
            } else {
                min
            },
            if value.compare(max) == Some(Ordering::Greater) {
                value
            } else {
                max
            },
        )
    }))
}
