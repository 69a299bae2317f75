//! Joins.

use super::blocks::BlockJoinPlan;
use super::builder::{Builder, Built};
use super::demand::Demand;
use super::join_sides::{Roles, parts_of, shown_of_pair, shown_places};
use super::kept::KeptInput;
use super::lookup::LookedUp;
use super::merge::MergeJoinSides;
use super::relation::all_columns;
use super::spilling::SpilledForm;
use crate::avm::{ColumnBinding, Program, Register};
use crate::plan::{Expression, Join, JoinKind as Planned, ValueKind};
use crate::tuple::{BlockJoin, HashJoin, JoinSides, LowerError, RegisterIterator, TupleJoinKind};

/// How a join is done.
pub(super) enum JoinMethod<'p> {
    /// The rows of the right side are kept, or else those of the left one.
    Hash { keeps_left: bool },
    /// The rows of a side are kept block by block, and the other one is read for each.
    Blocks(BlockJoinPlan),
    /// The rows of a table are looked up.
    LookUp(Box<LookedUp<'p>>),
    /// Both are read in the order of their keys, or sorted before.
    Merge(Box<MergeJoinSides<'p>>),
}

impl Builder<'_> {
    pub(super) fn join(&mut self, join: &Join, demand: &Demand) -> Result<Built, LowerError> {
        if let Some(wanted) = self.wanted_merge.take_if(|wanted| wanted.is_of(join)) {
            let merged = self.merged_in_order(join, wanted.keys)?.1;
            return self.merge(join, merged, demand);
        }
        match self.way(join)?.1 {
            JoinMethod::Hash { keeps_left } => self.hash_join(join, keeps_left, None, demand),
            JoinMethod::Blocks(blocks) => {
                self.hash_join(join, blocks.keeps_left, Some(blocks), demand)
            }
            JoinMethod::LookUp(looked_up) => self.look_up(join, &looked_up, demand),
            JoinMethod::Merge(merged) => self.merge(join, *merged, demand),
        }
    }

    /// The cheapest way to do a join, and what it costs: how many rows are read, kept, and looked for.
    pub(super) fn way<'p>(&self, join: &'p Join) -> Result<(f64, JoinMethod<'p>), LowerError> {
        let (left, right) = (self.estimate(&join.left)?, self.estimate(&join.right)?);
        let both_ns = left.cost_ns + right.cost_ns;
        let costs = self.join_costs();
        let keeping_right = both_ns + costs.hashing_ns(right.size(), left.size());
        let keeping_left = both_ns + costs.hashing_ns(left.size(), right.size());
        let may_keep_left = join.kind.shows_right() && keeping_left < keeping_right;
        let mut least = if may_keep_left {
            (keeping_left, JoinMethod::Hash { keeps_left: true })
        } else {
            (keeping_right, JoinMethod::Hash { keeps_left: false })
        };
        if let Some((cost_ns, blocks)) = self.by_blocks(join, (&*left, &*right))?
            && cost_ns < least.0
        {
            least = (cost_ns, JoinMethod::Blocks(blocks));
        }
        if let Some((merging_ns, merged)) = self.merged(join, (&*left, &*right))?
            && both_ns + merging_ns < least.0
        {
            least = (both_ns + merging_ns, JoinMethod::Merge(Box::new(merged)));
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
        blocks: Option<BlockJoinPlan>,
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
        let inner_rows = self.estimate(roles.inner)?.rows;
        let KeptInput {
            built: inner,
            keys: inner_keys,
            row,
            row_bytes,
            places: inner_places,
        } = self.inner_side(&roles, &inner_later, inner_rows, |builder, asked| {
            builder.plan(roles.inner, asked)
        })?;
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, join.residual.as_slice())?;
        let kind = self.hash_join_kind(join.kind, keeps_left)?;
        let (left_columns, left_tuples) = parts_of(&outer.places, &outer_later);
        let sides = JoinSides {
            kind,
            nulls_match: join.nulls_match,
            is_null_aware: join.is_null_aware,
            left_keys: outer_keys,
            right_keys: inner_keys,
            right: row,
            left_columns,
            left_tuples,
            condition,
        };
        let inputs = (outer.iterator, inner.iterator);
        let kept = (inner_rows, row_bytes);
        let iterator = self.looking(&roles, inputs, (sides, kept), blocks)?;
        let mark = match kind {
            TupleJoinKind::Mark(word) => Some(Register::Boolean(word)),
            _ => None,
        };
        Ok(Built {
            iterator,
            places: shown_places(join, places, mark),
        })
    }

    /// What looks for the rows that are kept.
    fn looking(
        &mut self,
        roles: &Roles<'_>,
        (outer, inner): (Box<dyn RegisterIterator>, Box<dyn RegisterIterator>),
        (sides, (kept_rows, row_bytes)): (JoinSides, (f64, f64)),
        blocks: Option<BlockJoinPlan>,
    ) -> Result<Box<dyn RegisterIterator>, LowerError> {
        let Some(blocks) = blocks else {
            let form = SpilledForm::of(&sides.right);
            let workspace = self.workspace(kept_rows, row_bytes, form);
            let join = HashJoin::new(outer, inner, sides, workspace, &mut self.registers)?;
            return Ok(Box::new(join));
        };
        let workspace = if blocks.restarts {
            self.workspace.clone()
        } else {
            let outer = self.estimate(roles.outer)?;
            self.workspace(outer.rows, outer.row_bytes(), SpilledForm::Registers)
        };
        let how = (workspace, blocks.restarts);
        let join = BlockJoin::new(outer, inner, sides, how, &mut self.registers)?;
        Ok(Box::new(join))
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

    /// The inner side, about so many of whose rows are kept at a time, with its keys.
    pub(super) fn inner_side(
        &mut self,
        roles: &Roles<'_>,
        later: &Demand,
        kept_rows: f64,
        side: impl FnOnce(&mut Self, &Demand) -> Result<Built, LowerError>,
    ) -> Result<KeptInput, LowerError> {
        let (plan, keys) = (roles.inner, &roles.inner_keys);
        let built = side(self, &later.clone().with(keys))?;
        self.kept_input((plan, kept_rows), built, keys, later)
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
