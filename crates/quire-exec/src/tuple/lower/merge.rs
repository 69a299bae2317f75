//! Joins of tables in the order of their primary keys.

use super::base_scan::{BaseScan, scanned};
use super::builder::{Builder, Built};
use super::demand::Demand;
use super::join_sides::{InnerSide, Roles, kept_places, shown_of_pair, shown_places};
use super::relation::ChosenScan;
use crate::access::plain_column;
use crate::avm::ColumnBinding;
use crate::plan::{Expression, Join, JoinKind, Plan, ValueKind};
use crate::tuple::{LowerError, MergeJoin, MergeSides};

/// A side of a join whose rows come in the order of a primary key.
struct OrderedSide<'p> {
    base: BaseScan<'p>,
    /// Slots of the scan, by those of the plan.
    slots: Vec<usize>,
    chosen: ChosenScan,
}

/// Two such sides.
pub(super) struct MergeJoinSides<'p> {
    left: OrderedSide<'p>,
    right: OrderedSide<'p>,
    /// The positions of the join's keys in the order of the primary keys, and whether these descend.
    keys: Vec<(usize, bool)>,
}

impl OrderedSide<'_> {
    /// The position of each column of the primary key among `keys`, and whether it descends.
    fn keys(&self, keys: &[Expression]) -> Vec<(usize, bool)> {
        let table = &self.chosen.table;
        let ordinal = |key: &Expression| {
            let slot = self.slots.get(plain_column(key)?)?;
            self.chosen.ordinals.get(*slot).copied()
        };
        let given: Vec<Option<usize>> = keys.iter().map(ordinal).collect();
        let Some(primary) = &table.definition().primary_key else {
            return Vec::new();
        };
        let columns = primary.columns.iter();
        let found = columns.map_while(|part| {
            let position = given.iter().position(|given| *given == Some(part.column))?;
            Some((position, part.is_descending))
        });
        found.collect()
    }
}

impl Builder<'_> {
    /// Both sides of a join in the order of all its keys, if they come so.
    pub(super) fn merged<'p>(
        &self,
        join: &'p Join,
    ) -> Result<Option<MergeJoinSides<'p>>, LowerError> {
        let is_one_sided = matches!(
            join.kind,
            JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti | JoinKind::Mark
        );
        // Keys have one zero and one NaN.
        let mut kinds = join.keys.iter().map(|key| key.left.kind());
        let is_float = kinds.any(|kind| matches!(kind, ValueKind::Real | ValueKind::Double));
        if !is_one_sided || is_float || join.is_null_aware || join.keys.is_empty() {
            return Ok(None);
        }
        let (left, right) = (self.ordered(&join.left)?, self.ordered(&join.right)?);
        let (Some(left), Some(right)) = (left, right) else {
            return Ok(None);
        };
        let roles = Roles::new(join, false);
        let mut keys = left.keys(&roles.outer_keys);
        let mut others = right.keys(&roles.inner_keys);
        keys.truncate(join.keys.len());
        others.truncate(join.keys.len());
        let is_whole = keys.len() == join.keys.len() && keys == others;
        Ok(is_whole.then_some(MergeJoinSides { left, right, keys }))
    }

    fn ordered<'p>(&self, plan: &'p Plan) -> Result<Option<OrderedSide<'p>>, LowerError> {
        let Some((base, slots)) = scanned(plan) else {
            return Ok(None);
        };
        let chosen = self.chosen(&base)?;
        Ok(chosen.is_in_order().then_some(OrderedSide {
            base,
            slots,
            chosen,
        }))
    }

    pub(super) fn merge(
        &mut self,
        join: &Join,
        merged: MergeJoinSides<'_>,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let MergeJoinSides { left, right, keys } = merged;
        let mut roles = Roles::new(join, false);
        let in_order = |given: &[Expression]| {
            let keys = keys.iter();
            let keys = keys.filter_map(|(position, _)| given.get(*position).cloned());
            keys.collect::<Vec<Expression>>()
        };
        roles.outer_keys = in_order(&roles.outer_keys);
        roles.inner_keys = in_order(&roles.inner_keys);
        let shown = shown_of_pair(join, demand);
        let pair_demand = shown.clone().with(&join.residual);
        let (outer_later, inner_later) = roles.demands(&pair_demand);
        let asked = outer_later.clone().with(&roles.outer_keys);
        let outer = self.scan_in_order(left, &asked)?;
        let outer = self.counted(&join.left, outer)?;
        let (outer, left_keys) = self.computed(outer, &roles.outer_keys, &outer_later)?;
        let side = |builder: &mut Self, asked: &Demand| {
            let inner = builder.scan_in_order(right, asked)?;
            builder.counted(&join.right, inner)
        };
        let InnerSide {
            built: inner,
            keys: right_keys,
            kept,
        } = self.inner_side(&roles, &inner_later, side)?;
        let right_tuple = self.tuple(kept.len())?;
        let inner_places = kept_places(right_tuple, &kept, roles.inner.columns.len());
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, join.residual.as_slice())?;
        let (kind, mark) = self.lookup_kind(join.kind)?;
        let sides = MergeSides {
            kind,
            left_keys,
            right_keys,
            are_descending: keys
                .iter()
                .map(|(_, is_descending)| *is_descending)
                .collect(),
            right_columns: kept.iter().map(|(_, register)| *register).collect(),
            right_tuple,
            condition,
        };
        let (outer, inner) = (outer.iterator, inner.iterator);
        let iterator = MergeJoin::new(outer, inner, sides, &mut self.registers)?;
        Ok(Built {
            iterator: Box::new(iterator),
            places: shown_places(join, places, mark),
        })
    }

    /// A scan, of whose columns a projection lets some through.
    fn scan_in_order(
        &mut self,
        OrderedSide {
            base,
            slots,
            chosen,
        }: OrderedSide<'_>,
        demand: &Demand,
    ) -> Result<Built, LowerError> {
        let mut asked = Demand::none(chosen.ordinals.len());
        let slots_asked = slots.iter().enumerate();
        let slots_asked = slots_asked.filter(|(slot, _)| demand.is_asked(*slot));
        slots_asked.for_each(|(_, slot)| asked.ask(*slot));
        let Built { iterator, places } = self.scan_chosen(&base, chosen, &asked)?;
        let place = |slot: &usize| places.get(*slot).copied().unwrap_or(ColumnBinding::None);
        Ok(Built {
            iterator,
            places: slots.iter().map(place).collect(),
        })
    }
}
