//! Joins: every left row with every right row.

use quire_exec::plan::{Join, JoinKind};
use quire_tables::row_table::Value;

use super::{Interpreter, NaiveError, Row};

impl Interpreter<'_> {
    pub(super) fn join(&self, join: &Join) -> Result<Vec<Row>, NaiveError> {
        let left = self.rows(&join.left)?;
        let right = self.rows(&join.right)?;
        let left_keys = left.iter().map(|row| {
            let keys = join.keys.iter().map(|key| self.plain(&key.left, row));
            keys.collect::<Result<Row, _>>()
        });
        let right_keys = right.iter().map(|row| {
            let keys = join.keys.iter().map(|key| self.plain(&key.right, row));
            keys.collect::<Result<Row, _>>()
        });
        let left_keys = left_keys.collect::<Result<Vec<_>, _>>()?;
        let right_keys = right_keys.collect::<Result<Vec<_>, _>>()?;
        if join.is_null_aware {
            return Ok(not_in(&left, &left_keys, &right_keys));
        }
        let (left_width, right_width) = (join.left.columns.len(), join.right.columns.len());
        let mut rows = Vec::new();
        let mut is_matched = vec![false; right.len()];
        for (row, keys) in left.iter().zip(&left_keys) {
            let mut has_match = false;
            for (place, other) in right.iter().enumerate() {
                let are_equal = are_equal(keys, &right_keys[place], join.nulls_match);
                if !are_equal {
                    continue;
                }
                let both = [row.as_slice(), other].concat();
                let is_match = match &join.residual {
                    Some(residual) => self.is_true(residual, &both)?,
                    None => true,
                };
                if is_match {
                    (has_match, is_matched[place]) = (true, true);
                    if join.kind.shows_right() {
                        rows.push(both);
                    }
                }
            }
            match join.kind {
                JoinKind::Left | JoinKind::Full if !has_match => {
                    rows.push([row.as_slice(), &vec![Value::Null; right_width]].concat());
                }
                JoinKind::Semi if has_match => rows.push(row.clone()),
                JoinKind::Anti if !has_match => rows.push(row.clone()),
                JoinKind::Mark => {
                    rows.push([row.as_slice(), &[Value::Boolean(has_match)]].concat());
                }
                _ => {}
            }
        }
        if join.kind.keeps_right() {
            let alone = right.iter().zip(is_matched);
            for (other, _) in alone.filter(|(_, is_matched)| !is_matched) {
                rows.push([&vec![Value::Null; left_width], other.as_slice()].concat());
            }
        }
        Ok(rows)
    }
}

fn are_equal(left: &[Value], right: &[Value], nulls_match: bool) -> bool {
    let mut pairs = left.iter().zip(right);
    pairs.all(|(left, right)| left == right && (nulls_match || !left.is_null()))
}

/// `NOT IN` as SQL has it: true only if every comparison is false, none unknown.
fn not_in(left: &[Row], left_keys: &[Row], right_keys: &[Row]) -> Vec<Row> {
    let pairs = left.iter().zip(left_keys);
    let kept = pairs.filter(|(_, key)| {
        right_keys.iter().all(|other| {
            let mut sides = key.iter().zip(other);
            sides.any(|(left, right)| !left.is_null() && !right.is_null() && left != right)
        })
    });
    kept.map(|(row, _)| row.clone()).collect()
}
