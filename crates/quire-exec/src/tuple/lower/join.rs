//! Joins.

use super::builder::{Builder, Built};
use super::demand::Demand;
use super::join_sides::{InnerSide, Roles, kept_places, parts_of, shown_of_pair, shown_places};
use super::lookup::LookedUp;
use super::merge::MergeJoinSides;
use super::relation::all_columns;
use crate::avm::{ColumnBinding, Program, Register};
use crate::plan::{Expression, Join, JoinKind as Planned, ValueKind};
use crate::tuple::{HashJoin, JoinSides, LowerError, TupleJoinKind};

/// How a join is done.
pub(super) enum JoinMethod<'p> {
    /// The rows of the right side are kept, or else those of the left one.
    Hash { keeps_left: bool },
    /// The rows of a table are looked up.
    LookUp(Box<LookedUp<'p>>),
    /// Both are read in the order of their keys.
    Merge(Box<MergeJoinSides<'p>>),
}

impl Builder<'_> {
    pub(super) fn join(&mut self, join: &Join, demand: &Demand) -> Result<Built, LowerError> {
        match self.way(join)?.1 {
            JoinMethod::Hash { keeps_left } => self.hash_join(join, keeps_left, demand),
            JoinMethod::LookUp(looked_up) => self.look_up(join, &looked_up, demand),
            JoinMethod::Merge(merged) => self.merge(join, *merged, demand),
        }
    }

    /// The cheapest way to do a join, and what it costs: how many rows are read, kept, and looked for.
    pub(super) fn way<'p>(&self, join: &'p Join) -> Result<(f64, JoinMethod<'p>), LowerError> {
        let (left, right) = (self.estimate(&join.left)?, self.estimate(&join.right)?);
        let both_ns = left.cost_ns + right.cost_ns;
        let columns = (join.left.columns.len(), join.right.columns.len());
        let keeping_right = both_ns + self.hashing_ns(right.rows, left.rows, columns);
        let keeping_left = both_ns + self.hashing_ns(left.rows, right.rows, columns);
        let may_keep_left = join.kind.shows_right() && keeping_left < keeping_right;
        let mut least = if may_keep_left {
            (keeping_left, JoinMethod::Hash { keeps_left: true })
        } else {
            (keeping_right, JoinMethod::Hash { keeps_left: false })
        };
        let merging = both_ns + self.merging_ns(left.rows, right.rows);
        if let Some(merged) = self.merged(join)?.filter(|_| merging < least.0) {
            least = (merging, JoinMethod::Merge(Box::new(merged)));
        }
        for (is_swapped, outer) in [(false, left), (true, right)] {
            if let Some(looked_up) = self.looked_up(join, is_swapped)? {
                let cost_ns = outer.cost_ns + outer.rows * looked_up.cost_each_ns();
                if cost_ns < least.0 {
                    least = (cost_ns, JoinMethod::LookUp(Box::new(looked_up)));
                }
            }
        }
        Ok(least)
    }

    fn hash_join(
        &mut self,
        join: &Join,
        keeps_left: bool,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let roles = Roles::new(join, keeps_left);
        // What goes up, and with it what a pair is tested by.
        let shown = shown_of_pair(join, demand);
        let pair_demand = shown.clone().with(&join.residual);
        let (outer_later, inner_later) = roles.demands(&pair_demand);
        let outer = self.plan(roles.outer, &outer_later.clone().with(&roles.outer_keys))?;
        let (outer, outer_keys) = self.computed(outer, &roles.outer_keys, &outer_later)?;
        let outer = self.decoded_once(outer, &roles, join, &outer_later)?;
        let InnerSide {
            built: inner,
            keys: inner_keys,
            kept,
        } = self.inner_side(&roles, &inner_later, |builder, asked| {
            builder.plan(roles.inner, asked)
        })?;
        let inner_tuple = self.tuple(kept.len())?;
        let inner_places = kept_places(inner_tuple, &kept, roles.inner.columns.len());
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, join.residual.as_slice())?;
        let kind = self.hash_join_kind(join.kind, keeps_left)?;
        let (left_columns, left_tuples) = parts_of(&outer.places, &outer_later);
        let inner_rows = self.estimate(roles.inner)?.rows;
        let workspace = self.workspace(inner_rows, kept.len());
        let sides = JoinSides {
            kind,
            nulls_match: join.nulls_match,
            is_null_aware: join.is_null_aware,
            left_keys: outer_keys,
            right_keys: inner_keys,
            right_columns: kept.iter().map(|(_, register)| *register).collect(),
            right_tuple: inner_tuple,
            left_columns,
            left_tuples,
            condition,
        };
        let (outer, inner) = (outer.iterator, inner.iterator);
        let iterator = HashJoin::new(outer, inner, sides, workspace, &mut self.registers)?;
        let mark = match kind {
            TupleJoinKind::Mark(word) => Some(Register::Boolean(word)),
            _ => None,
        };
        Ok(Built {
            iterator: Box::new(iterator),
            places: shown_places(join, places, mark),
        })
    }

    /// Without keys every outer row is tried with each inner one: what is asked of it is decoded before.
    fn decoded_once(
        &mut self,
        outer: Built,
        roles: &Roles<'_>,
        join: &Join,
        later: &Demand,
    ) -> Result<Built, LowerError> {
        let Some(residual) = join.residual.as_ref().filter(|_| join.keys.is_empty()) else {
            return Ok(outer);
        };
        let first_slot = if roles.is_swapped {
            join.left.columns.len()
        } else {
            0
        };
        let columns = all_columns(roles.outer)?.into_iter().enumerate();
        let asked = columns.filter(|(slot, _)| residual.reads(first_slot + slot));
        let asked: Vec<Expression> = asked.map(|(_, column)| column).collect();
        Ok(self.computed(outer, &asked, later)?.0)
    }

    /// A program that rejects pairs of which a condition is not true.
    pub(super) fn pair_condition(
        &mut self,
        places: &[ColumnBinding],
        shown: &Demand,
        conditions: &[Expression],
    ) -> Result<Option<Program>, LowerError> {
        if conditions.is_empty() {
            return Ok(None);
        }
        // A pair that is rejected must not leave registers that another place relies on.
        let mut tried = places.to_vec();
        let program = self.program(&mut tried, shown, conditions, |compiler| {
            let mut conditions = conditions.iter();
            conditions.try_for_each(|condition| compiler.filter(condition))
        })?;
        Ok(Some(program))
    }

    /// The inner side with its keys, and with what is kept of it in registers: slots and registers.
    pub(super) fn inner_side(
        &mut self,
        roles: &Roles<'_>,
        later: &Demand,
        side: impl FnOnce(&mut Self, &Demand) -> Result<Built, LowerError>,
    ) -> Result<InnerSide, LowerError> {
        let (plan, keys) = (roles.inner, &roles.inner_keys);
        let count = plan.columns.len();
        let columns = all_columns(plan)?;
        let kept: Vec<usize> = (0..count).filter(|slot| later.is_asked(*slot)).collect();
        let mut computed = keys.clone();
        computed.extend(kept.iter().filter_map(|slot| columns.get(*slot).cloned()));
        let built = side(self, &Demand::none(count).with(&computed))?;
        let (built, mut registers) = self.computed(built, &computed, &Demand::none(count))?;
        let kept_registers = registers.split_off(keys.len());
        let kept = kept.into_iter().zip(kept_registers).collect();
        Ok(InnerSide {
            built,
            keys: registers,
            kept,
        })
    }

    fn hash_join_kind(
        &mut self,
        kind: Planned,
        keeps_left: bool,
    ) -> Result<TupleJoinKind, LowerError> {
        Ok(match kind {
            Planned::Inner => TupleJoinKind::Inner,
            Planned::Left if keeps_left => TupleJoinKind::Right,
            Planned::Right if keeps_left => TupleJoinKind::Left,
            Planned::Left => TupleJoinKind::Left,
            Planned::Right => TupleJoinKind::Right,
            Planned::Full => TupleJoinKind::Full,
            Planned::Semi => TupleJoinKind::Semi,
            Planned::Anti => TupleJoinKind::Anti,
            Planned::Mark => match self.pool.fresh(ValueKind::Boolean)? {
                Register::Boolean(word) => TupleJoinKind::Mark(word),
                _ => return Err(LowerError::Unsupported("a mark in another register")),
            },
        })
    }
}
