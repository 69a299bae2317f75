//! Joins.

use super::relation::{all_columns, attributes};
use super::{BuildError, Builder, Built, Demand};
use crate::avm::{ColumnPlace, Register, Tuple};
use crate::iterators::{HashJoin, JoinKind, JoinSides};
use crate::plan::{Expression, Join, JoinKind as Planned, ValueKind};

/// The right side of a join: its keys, and what is kept of it, by slots.
struct RightSide {
    built: Built,
    keys: Vec<Register>,
    kept: Vec<(usize, Register)>,
}

impl Builder<'_> {
    pub(super) fn join(&mut self, join: &Join, demand: &Demand) -> Result<Built, BuildError> {
        let (left_count, right_count) = (join.left.columns.len(), join.right.columns.len());
        // What a pair is tested by, and what goes up.
        let mut pair_demand = match join.kind.shows_right() {
            true => demand.part(0, left_count + right_count),
            false => demand.part(0, left_count).part(0, left_count + right_count),
        };
        if let Some(residual) = &join.residual {
            pair_demand.add(residual);
        }
        let left_keys: Vec<Expression> = join.keys.iter().map(|key| key.left.clone()).collect();
        let right_keys: Vec<Expression> = join.keys.iter().map(|key| key.right.clone()).collect();
        let left_later = pair_demand.part(0, left_count);
        let left = self.plan(&join.left, &left_later.clone().with(&left_keys))?;
        let (left, left_keys) = self.computed(left, &left_keys, &left_later)?;
        let right_later = pair_demand.part(left_count, right_count);
        let right = self.right_side(join, &right_keys, &right_later)?;
        let RightSide {
            built: right,
            keys: right_keys,
            kept,
        } = right;
        let right_tuple = self.tuple(kept.len())?;
        let mut places = left.places.clone();
        places.extend(kept_places(right_tuple, &kept, right_count));
        // Only what the residual itself asks for is left to it; what goes up is shared.
        let shown = match join.kind.shows_right() {
            true => demand.part(0, left_count + right_count),
            false => demand.part(0, left_count).part(0, left_count + right_count),
        };
        let condition = match &join.residual {
            Some(residual) => {
                // A pair that is rejected must not leave registers that another place relies on.
                let mut tried = places.clone();
                Some(self.program(&mut tried, &shown, [residual], |compiler| {
                    compiler.filter(residual)
                })?)
            }
            None => None,
        };
        let kind = self.join_kind(join.kind)?;
        let (left_columns, left_tuples) = parts_of(&left.places);
        let sides = JoinSides {
            kind,
            nulls_match: join.nulls_match,
            is_null_aware: join.is_null_aware,
            left_keys,
            right_keys,
            right_columns: kept.iter().map(|(_, register)| *register).collect(),
            right_tuple,
            left_columns,
            left_tuples,
            condition,
        };
        let iterator = HashJoin::new(left.iterator, right.iterator, sides, &mut self.registers)?;
        if !join.kind.shows_right() {
            places.truncate(left_count);
        }
        if let JoinKind::Mark(word) = kind {
            places.push(ColumnPlace::Register(Register::Boolean(word)));
        }
        Ok(Built {
            iterator: Box::new(iterator),
            places,
        })
    }

    /// The right side with its keys, and with what is kept of it in registers: slots and registers.
    fn right_side(
        &mut self,
        join: &Join,
        keys: &[Expression],
        later: &Demand,
    ) -> Result<RightSide, BuildError> {
        let count = join.right.columns.len();
        let columns = all_columns(&join.right)?;
        let kept: Vec<usize> = (0..count).filter(|slot| later.is_asked(*slot)).collect();
        let mut computed = keys.to_vec();
        computed.extend(kept.iter().filter_map(|slot| columns.get(*slot).cloned()));
        let built = self.plan(&join.right, &Demand::none(count).with(&computed))?;
        let (built, mut registers) = self.computed(built, &computed, &Demand::none(count))?;
        let kept_registers = registers.split_off(keys.len());
        let kept = kept.into_iter().zip(kept_registers).collect();
        Ok(RightSide {
            built,
            keys: registers,
            kept,
        })
    }

    fn join_kind(&mut self, kind: Planned) -> Result<JoinKind, BuildError> {
        Ok(match kind {
            Planned::Inner => JoinKind::Inner,
            Planned::Left => JoinKind::Left,
            Planned::Right => JoinKind::Right,
            Planned::Full => JoinKind::Full,
            Planned::Semi => JoinKind::Semi,
            Planned::Anti => JoinKind::Anti,
            Planned::Mark => match self.pool.fresh(ValueKind::Boolean)? {
                Register::Boolean(word) => JoinKind::Mark(word),
                _ => return Err(BuildError::Unsupported("a mark in another register")),
            },
        })
    }
}

/// Where the columns of the right side are: attributes of the tuple that was kept, those that were.
fn kept_places(tuple: Tuple, kept: &[(usize, Register)], count: usize) -> Vec<ColumnPlace> {
    let stored = attributes(tuple, 0..kept.len());
    let mut places = vec![ColumnPlace::None; count];
    for ((slot, _), stored) in kept.iter().zip(stored) {
        if let Some(place) = places.get_mut(*slot) {
            *place = stored;
        }
    }
    places
}

/// The registers that columns are in, and the tuple registers that others are attributes of.
fn parts_of(places: &[ColumnPlace]) -> (Vec<Register>, Vec<Tuple>) {
    let (mut registers, mut tuples) = (Vec::new(), Vec::new());
    for place in places {
        match place {
            ColumnPlace::Register(register) => registers.push(*register),
            ColumnPlace::Attribute { attribute, .. } => tuples.push(attribute.tuple),
            ColumnPlace::None => {}
        }
    }
    tuples.sort_unstable();
    tuples.dedup();
    (registers, tuples)
}
