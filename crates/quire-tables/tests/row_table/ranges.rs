//! Ranges of keys against a scan of all rows.

use std::ops::Bound;

use quire_tables::row_table::{
    ColumnRange, EncodedRow, IndexColumn, IndexLayout, RowColumn, RowLayout, RowLayoutSpec,
    TupleValue, Value,
};

use crate::fixture::{Random, borrowed, row, spec, value};

/// Few values, so that rows share them.
fn sparse_row(random: &mut Random, spec: &RowLayoutSpec, pool: &[Vec<Value>]) -> Vec<Value> {
    let mut values = row(random, spec);
    for (value, known) in values.iter_mut().zip(pool) {
        if !value.is_null() {
            *value = random.pick(known).clone();
        }
    }
    values
}

fn pool(random: &mut Random, spec: &RowLayoutSpec) -> Vec<Vec<Value>> {
    let columns: Vec<&RowColumn> = spec.columns().collect();
    let values = columns.into_iter().map(|column| match &column.storage {
        quire_tables::row_table::FieldStorage::Dictionary { entries, .. } => entries.clone(),
        _ => (0..4).map(|_| value(random, column.sql_type)).collect(),
    });
    values.collect()
}

fn bound(random: &mut Random, known: &[Value]) -> Bound<Value> {
    let value = if random.one_in(8) {
        Value::Null
    } else {
        random.pick(known).clone()
    };
    match random.below(3) {
        0 => Bound::Unbounded,
        1 => Bound::Included(value),
        _ => Bound::Excluded(value),
    }
}

/// A condition on the first columns of a key, as SQL says it.
struct Condition {
    equal: Vec<Value>,
    next: Option<(Bound<Value>, Bound<Value>)>,
}

impl Condition {
    fn random(random: &mut Random, ordinals: &[usize], pool: &[Vec<Value>], nulls: bool) -> Self {
        let count = random.below(ordinals.len() + 1);
        let equal = ordinals[..count].iter().map(|&ordinal| {
            if nulls && random.one_in(4) {
                Value::Null
            } else {
                random.pick(&pool[ordinal]).clone()
            }
        });
        let equal = equal.collect();
        let next = ordinals.get(count).filter(|_| !random.one_in(4));
        let next =
            next.map(|&ordinal| (bound(random, &pool[ordinal]), bound(random, &pool[ordinal])));
        Self { equal, next }
    }

    fn holds(&self, values: &[Value], ordinals: &[usize]) -> bool {
        let value = |at: usize| &values[ordinals[at]];
        let equal = self
            .equal
            .iter()
            .enumerate()
            .all(|(at, wanted)| value(at) == wanted);
        equal
            && self.next.as_ref().is_none_or(|(from, to)| {
                let value = value(self.equal.len());
                let above = match from {
                    Bound::Included(from) => !from.is_null() && value >= from,
                    Bound::Excluded(from) => !from.is_null() && value > from,
                    Bound::Unbounded => true,
                };
                let below = match to {
                    Bound::Included(to) => !to.is_null() && value <= to,
                    Bound::Excluded(to) => !to.is_null() && value < to,
                    Bound::Unbounded => true,
                };
                !value.is_null() && above && below
            })
    }

    fn next(&self) -> ColumnRange<'_> {
        fn borrowed(bound: &Bound<Value>) -> Bound<TupleValue<'_>> {
            match bound {
                Bound::Included(value) => Bound::Included(value.as_tuple_value()),
                Bound::Excluded(value) => Bound::Excluded(value.as_tuple_value()),
                Bound::Unbounded => Bound::Unbounded,
            }
        }
        match &self.next {
            None => ColumnRange::All,
            Some((from, to)) => ColumnRange::Between(borrowed(from), borrowed(to)),
        }
    }
}

#[test]
fn ranges_of_primary_keys_hold_exactly_the_wanted_rows() {
    let mut found = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let spec = spec(&mut random);
        let layout = RowLayout::new(&spec).unwrap();
        let pool = pool(&mut random, &spec);
        let rows: Vec<_> = (0..40)
            .map(|number| {
                let values = sparse_row(&mut random, &spec, &pool);
                let mut encoded = EncodedRow::default();
                layout
                    .encode_row(&borrowed(&values), number, &mut encoded)
                    .unwrap();
                (encoded.key, values)
            })
            .collect();
        for _ in 0..20 {
            let ordinals = layout.key_ordinals();
            let condition = Condition::random(&mut random, ordinals, &pool, false);
            let range = layout.key_range(&borrowed(&condition.equal), condition.next());
            let range = range.unwrap();
            for (key, values) in &rows {
                let wanted = condition.holds(values, ordinals);
                found += usize::from(wanted);
                assert_eq!(range.contains(key), wanted, "{values:?} {range:?}");
                assert!(!(wanted && range.is_empty()));
            }
        }
    }
    assert!(found > 10_000, "{found}");
}

#[test]
fn ranges_of_indexes_hold_exactly_the_wanted_rows() {
    let mut found = 0;
    for seed in 0..600 {
        let mut random = Random::new(7_000 + seed);
        let spec = spec(&mut random);
        let layout = RowLayout::new(&spec).unwrap();
        let pool = pool(&mut random, &spec);
        let count = layout.column_count();
        let first = random.below(count);
        let columns: Vec<IndexColumn> = (0..count.min(3))
            .map(|at| IndexColumn {
                ordinal: (first + at) % count,
                descending: random.one_in(2),
                nulls_first: random.one_in(2),
            })
            .collect();
        let index = IndexLayout::new(&layout, &columns, random.one_in(2)).unwrap();
        let rows: Vec<_> = (0..40)
            .map(|number| {
                let values = sparse_row(&mut random, &spec, &pool);
                let mut encoded = EncodedRow::default();
                layout
                    .encode_row(&borrowed(&values), number, &mut encoded)
                    .unwrap();
                let (mut key, mut value) = (Vec::new(), Vec::new());
                index
                    .encode_entry(&borrowed(&values), &encoded.key, &mut key, &mut value)
                    .unwrap();
                (key, values)
            })
            .collect();
        let ordinals = index.ordinals();
        let nullable: Vec<bool> = spec.columns().map(|column| column.nullable).collect();
        let nulls = ordinals
            .iter()
            .all(|&ordinal| nullable[ordinal] && !layout.key_ordinals().contains(&ordinal));
        for _ in 0..20 {
            let condition = Condition::random(&mut random, ordinals, &pool, nulls);
            let range = index.range(&borrowed(&condition.equal), condition.next());
            let range = range.unwrap();
            for (key, values) in &rows {
                let wanted = condition.holds(values, ordinals);
                found += usize::from(wanted);
                assert_eq!(range.contains(key), wanted, "{values:?} {range:?}");
            }
        }
    }
    assert!(found > 10_000, "{found}");
}
