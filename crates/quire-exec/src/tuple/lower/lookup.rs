//! Joins by looking up rows of a table.

use std::sync::Arc;

use quire_tables::RowTable;

use super::base_scan::{BaseScan, scanned};
use super::builder::{Builder, Built};
use super::demand::Demand;
use super::join_sides::{Roles, parts_of, shown_of_pair, shown_places};
use super::relation::attributes;
use crate::access::{IndexLookup, Prices, lookup, plain_column};
use crate::avm::{ColumnBinding, Register, Trap};
use crate::plan::{ComparisonExpression, Expression, Join, JoinKind, ValueKind};
use crate::tuple::{IndexJoin, IndexJoinSides, LookupKind, LowerError, ScanPath, TableScan};

/// A side of a join whose rows are looked up in a table.
pub(super) struct LookedUp<'p> {
    roles: Roles<'p>,
    base: BaseScan<'p>,
    /// Slots of the scan, by those of the plan.
    slots: Vec<usize>,
    table: Arc<RowTable>,
    ordinals: Vec<usize>,
    lookup: IndexLookup,
    /// What must be true of a pair: the residual, and the keys that are not looked up.
    conditions: Vec<Expression>,
}

impl LookedUp<'_> {
    /// What a row of the other side costs.
    pub(super) fn cost_each_ns(&self) -> f64 {
        self.lookup.cost_each_ns
    }
}

/// A column, or one that is cast, in slots that begin later.
fn moved(expression: &Expression, by: usize) -> Option<Expression> {
    Some(match expression {
        Expression::Column {
            slot,
            kind,
            nullable,
        } => Expression::Column {
            slot: slot + by,
            kind: *kind,
            nullable: *nullable,
        },
        Expression::Cast(plan, inner) => {
            Expression::Cast(plan.clone(), Box::new(moved(inner, by)?))
        }
        fixed if fixed.is_constant() => fixed.clone(),
        _ => return None,
    })
}

/// The keys of a join that a lookup does not say, as conditions of a pair. None when that cannot be done.
fn equalities(join: &Join, lookup: &IndexLookup) -> Option<Vec<Expression>> {
    let comparison = if join.nulls_match {
        ComparisonExpression::NotDistinct
    } else {
        ComparisonExpression::Equal
    };
    let left_count = join.left.columns.len();
    let keys = join.keys.iter().enumerate();
    let others = keys.filter(|(position, _)| !lookup.given.contains(position));
    let equality = |(_, key): (usize, &crate::plan::JoinKey)| {
        // Keys have one NaN, comparisons have two.
        let is_exact = !matches!(key.left.kind(), ValueKind::Real | ValueKind::Double);
        let sides = [key.left.clone(), moved(&key.right, left_count)?];
        is_exact.then(|| Expression::Compare(comparison, Box::new(sides)))
    };
    others.map(equality).collect()
}

impl Builder<'_> {
    /// How the right side of a join, or else the left one, is looked up, if it can be.
    pub(super) fn looked_up<'p>(
        &self,
        join: &'p Join,
        is_swapped: bool,
    ) -> Result<Option<LookedUp<'p>>, LowerError> {
        let can_be = match (join.kind, is_swapped) {
            (JoinKind::Inner, _) | (JoinKind::Right, true) => true,
            (JoinKind::Left | JoinKind::Semi | JoinKind::Mark, false) => true,
            (JoinKind::Anti, false) => !join.is_null_aware,
            _ => false,
        };
        let roles = Roles::new(join, is_swapped);
        let Some((base, slots)) = scanned(roles.inner).filter(|_| can_be) else {
            return Ok(None);
        };
        let (table, ordinals) = self.table(base.scan)?;
        let ordinal = |key: &Expression| {
            let slot = slots.get(plain_column(key)?)?;
            ordinals.get(*slot).copied()
        };
        let given: Vec<Option<usize>> = roles.inner_keys.iter().map(ordinal).collect();
        let look_ups = self.estimate(roles.outer)?.rows;
        let prices = Prices::of_look_ups(&table, &self.costs, &[], look_ups);
        let prices = prices.map_err(Trap::from)?;
        let found = lookup(&table, &given, &prices).map_err(Trap::from)?;
        let found = found.and_then(|lookup| Some((equalities(join, &lookup)?, lookup)));
        let Some((mut conditions, lookup)) = found else {
            return Ok(None);
        };
        conditions.extend(join.residual.clone());
        Ok(Some(LookedUp {
            roles,
            base,
            slots,
            table,
            ordinals,
            lookup,
            conditions,
        }))
    }

    pub(super) fn look_up(
        &mut self,
        join: &Join,
        looked_up: &LookedUp<'_>,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let (roles, lookup) = (&looked_up.roles, &looked_up.lookup);
        let shown = shown_of_pair(join, demand);
        let pair_demand = shown.clone().with(&looked_up.conditions);
        let (outer_later, inner_later) = roles.demands(&pair_demand);
        let keys = lookup.given.iter();
        let keys = keys.filter_map(|position| roles.outer_keys.get(*position).cloned());
        let keys: Vec<Expression> = keys.collect();
        let outer = self.plan(roles.outer, &outer_later.clone().with(&keys))?;
        let (outer, left_keys) = self.computed(outer, &keys, &outer_later)?;
        let (right, inner_places) = self.looked_up_scan(looked_up, &inner_later)?;
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, &looked_up.conditions)?;
        let (kind, mark) = self.lookup_kind(join.kind)?;
        let (right_columns, _) = parts_of(&inner_places, &inner_later);
        let sides = IndexJoinSides {
            kind,
            left_keys,
            nulls_match: join.nulls_match,
            right_columns,
            condition,
        };
        let iterator = IndexJoin::new(outer.iterator, right, sides, &mut self.registers)?;
        Ok(Built {
            iterator: Box::new(iterator),
            places: shown_places(join, places, mark),
        })
    }

    /// The scan of what is looked up, and where its columns are.
    fn looked_up_scan(
        &mut self,
        looked_up: &LookedUp<'_>,
        demand: &Demand,
    ) -> Result<(TableScan, Vec<ColumnBinding>), LowerError> {
        let LookedUp {
            base,
            slots,
            table,
            ordinals,
            lookup,
            ..
        } = looked_up;
        let mut later = Demand::none(ordinals.len());
        let asked = slots.iter().enumerate();
        let asked = asked.filter(|(slot, _)| demand.is_asked(*slot));
        asked.for_each(|(_, slot)| later.ask(*slot));
        let tuple = self.tuple(table.layout().row_key_ordinal() + 1)?;
        let mut places = attributes(tuple, ordinals.iter().copied());
        let conditions = &base.conditions;
        let program = self.program(
            &mut places,
            &later,
            conditions.iter().copied(),
            |compiler| {
                let mut conditions = conditions.iter();
                conditions.try_for_each(|condition| compiler.filter(condition))
            },
        )?;
        let read = later.with(conditions.iter().copied());
        let wanted = ordinals.iter().enumerate();
        let wanted = wanted.filter(|(slot, _)| read.is_asked(*slot));
        let wanted: Vec<usize> = wanted.map(|(_, ordinal)| *ordinal).collect();
        let path = ScanPath {
            index: lookup.index,
            ranges: Vec::new(),
            row_estimate: Some(lookup.rows_each.round() as u64),
            ..ScanPath::all()
        };
        let program = (!conditions.is_empty()).then_some(program);
        let registers = &mut self.registers;
        let scan = TableScan::new(
            Arc::clone(table),
            path,
            (tuple, &wanted),
            program,
            registers,
        )?;
        let place = |slot: &usize| places.get(*slot).copied().unwrap_or(ColumnBinding::None);
        Ok((scan, slots.iter().map(place).collect()))
    }

    pub(super) fn lookup_kind(
        &mut self,
        kind: JoinKind,
    ) -> Result<(LookupKind, Option<Register>), LowerError> {
        Ok(match kind {
            JoinKind::Inner => (LookupKind::Inner, None),
            // The inner side of a right join is the left one.
            JoinKind::Left | JoinKind::Right => (LookupKind::Left, None),
            JoinKind::Semi => (LookupKind::Semi, None),
            JoinKind::Anti => (LookupKind::Anti, None),
            JoinKind::Mark => match self.pool.fresh(ValueKind::Boolean)? {
                Register::Boolean(word) => (LookupKind::Mark(word), Some(Register::Boolean(word))),
                _ => return Err(LowerError::Unsupported("a mark in another register")),
            },
            JoinKind::Full => return Err(LowerError::Unsupported("a full join by looking up")),
        })
    }
}
