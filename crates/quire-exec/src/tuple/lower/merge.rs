//! Joins side by side: of tables in the order of their primary keys, and of sides that are sorted for it.
//!
//! A side is sorted where the other one comes in order, so that only one of them may have to be written; both are, where the rows are wanted in
//! that order.

use super::base_scan::{BaseScan, scanned};
use super::builder::{Builder, Built};
use super::demand::Demand;
use super::estimate::PlanCost;
use super::join_sides::{Roles, shown_of_pair, shown_places};
use super::kept::KeptInput;
use super::relation::ChosenScan;
use super::wanted_merge::MergeKey;
use crate::access::plain_column;
use crate::avm::ColumnBinding;
use crate::plan::{Expression, Join, JoinKind, Plan, PlanSortKey, ValueKind};
use crate::tuple::{LowerError, MergeJoin, MergeOrder, MergeSides};

/// Rows of a key that are kept at a time: few.
const ROWS_OF_A_KEY: f64 = 1.0;

/// A side of a join whose rows come in the order of a primary key.
pub(super) struct OrderedSide<'p> {
    base: BaseScan<'p>,
    /// Slots of the scan, by those of the plan.
    slots: Vec<usize>,
    chosen: ChosenScan,
}

/// How the rows of a side get into order.
enum MergeSide<'p> {
    /// They come so.
    InOrder(OrderedSide<'p>),
    Sorted,
}

/// Two sides in order.
pub(super) struct MergeJoinSides<'p> {
    left: MergeSide<'p>,
    right: MergeSide<'p>,
    /// The keys of the join in the order in which rows are compared.
    keys: Vec<MergeKey>,
}

impl MergeJoinSides<'_> {
    /// How many of the sides are sorted.
    fn sorted_count(&self) -> usize {
        let sides = [&self.left, &self.right];
        let sorted = sides
            .iter()
            .filter(|side| matches!(side, MergeSide::Sorted));
        sorted.count()
    }
}

impl OrderedSide<'_> {
    /// The position of each column of the primary key among `keys`, and whether it descends; nothing if some keys are not among the first columns.
    fn order_of(&self, keys: &[Expression]) -> Option<Vec<MergeKey>> {
        let table = &self.chosen.table;
        let ordinal = |key: &Expression| {
            let slot = self.slots.get(plain_column(key)?)?;
            self.chosen.ordinals.get(*slot).copied()
        };
        let given: Vec<Option<usize>> = keys.iter().map(ordinal).collect();
        let primary = table.definition().primary_key.as_ref()?;
        let columns = primary.columns.iter();
        let found = columns.map_while(|part| {
            let position = given.iter().position(|given| *given == Some(part.column))?;
            let order = MergeOrder {
                is_descending: part.is_descending,
                nulls_first: false,
            };
            Some((position, order))
        });
        let found: Vec<MergeKey> = found.take(keys.len()).collect();
        (found.len() == keys.len()).then_some(found)
    }
}

/// Whether rows in one order are in the other, too. No value of a primary key is NULL, so where NULLs were does not matter.
fn is_alike(primary: &[MergeKey], keys: &[MergeKey]) -> bool {
    let plain = |(position, order): &MergeKey| (*position, order.is_descending);
    primary.iter().map(plain).eq(keys.iter().map(plain))
}

/// Whether rows of a join can be found side by side.
pub(super) fn may_be_merged(join: &Join) -> bool {
    let is_one_sided = matches!(
        join.kind,
        JoinKind::Inner | JoinKind::Left | JoinKind::Semi | JoinKind::Anti | JoinKind::Mark
    );
    // Keys have one zero and one NaN.
    let mut kinds = join.keys.iter().map(|key| key.left.kind());
    let is_float = kinds.any(|kind| matches!(kind, ValueKind::Real | ValueKind::Double));
    is_one_sided && !is_float && !join.is_null_aware && !join.keys.is_empty()
}

/// A side that comes in an order, and that order.
type FoundOrder<'p> = Option<(OrderedSide<'p>, Vec<MergeKey>)>;

impl Builder<'_> {
    /// The cheapest way to join side by side where a side comes in the order of all keys, and what it costs besides its inputs.
    pub(super) fn merged<'p>(
        &self,
        join: &'p Join,
        (left, right): (&PlanCost, &PlanCost),
    ) -> Result<Option<(f64, MergeJoinSides<'p>)>, LowerError> {
        if !may_be_merged(join) {
            return Ok(None);
        }
        let (left_side, right_side) = self.ordered_sides(join)?;
        let keys = match (&left_side, &right_side) {
            (None, None) => return Ok(None),
            (Some((_, keys)), None) | (None, Some((_, keys))) => keys.clone(),
            // Where their orders differ, the one with less rows is sorted.
            (Some(_), Some((_, right_keys))) if left.rows < right.rows => right_keys.clone(),
            (Some((_, left_keys)), Some(_)) => left_keys.clone(),
        };
        let sides = (left_side, right_side);
        Ok(Some(self.merged_by((left, right), keys, sides)))
    }

    /// The same in an order that is wanted.
    pub(super) fn merged_in_order<'p>(
        &self,
        join: &'p Join,
        keys: Vec<MergeKey>,
    ) -> Result<(f64, MergeJoinSides<'p>), LowerError> {
        let (left, right) = (self.estimate(&join.left)?, self.estimate(&join.right)?);
        let sides = self.ordered_sides(join)?;
        Ok(self.merged_by((&*left, &*right), keys, sides))
    }

    /// Both sides in this order, each sorted if it does not come so.
    fn merged_by<'p>(
        &self,
        (left, right): (&PlanCost, &PlanCost),
        keys: Vec<MergeKey>,
        sides: (FoundOrder<'p>, FoundOrder<'p>),
    ) -> (f64, MergeJoinSides<'p>) {
        let in_order = |side: FoundOrder<'p>| match side {
            Some((side, order)) if is_alike(&order, &keys) => MergeSide::InOrder(side),
            _ => MergeSide::Sorted,
        };
        let (left_side, right_side) = (in_order(sides.0), in_order(sides.1));
        let sides = MergeJoinSides {
            left: left_side,
            right: right_side,
            keys,
        };
        // The rows of a key have a share of the memory, too.
        let shares = 1 + sides.sorted_count();
        let sorting_ns = |side: &MergeSide<'_>, estimate: &PlanCost| match side {
            MergeSide::InOrder(_) => 0.0,
            MergeSide::Sorted => self.sorting_ns(estimate, shares),
        };
        let costs = self.join_costs();
        let own_ns = costs.merging_ns(left.rows, right.rows, sides.keys.len())
            + sorting_ns(&sides.left, left)
            + sorting_ns(&sides.right, right);
        (own_ns, sides)
    }

    fn ordered_sides<'p>(
        &self,
        join: &'p Join,
    ) -> Result<(FoundOrder<'p>, FoundOrder<'p>), LowerError> {
        let roles = Roles::new(join, false);
        let of_keys = |side: Option<OrderedSide<'p>>, keys: &[Expression]| {
            let side = side?;
            let order = side.order_of(keys)?;
            Some((side, order))
        };
        Ok((
            of_keys(self.ordered(&join.left)?, &roles.outer_keys),
            of_keys(self.ordered(&join.right)?, &roles.inner_keys),
        ))
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
        // Sorts and the rows of a key have equal shares of what the join may keep.
        let shares = 1 + merged.sorted_count();
        let MergeJoinSides { left, right, keys } = merged;
        let mut roles = Roles::new(join, false);
        let in_order = |given: &[Expression]| {
            let keys = keys.iter();
            let keys = keys.filter_map(|(position, _)| given.get(*position).cloned());
            keys.collect::<Vec<Expression>>()
        };
        roles.outer_keys = in_order(&roles.outer_keys);
        roles.inner_keys = in_order(&roles.inner_keys);
        let orders: Vec<MergeOrder> = keys.iter().map(|(_, order)| *order).collect();
        let shown = shown_of_pair(join, demand);
        let pair_demand = shown.clone().with(&join.residual);
        let (outer_later, inner_later) = roles.demands(&pair_demand);
        let asked = outer_later.clone().with(&roles.outer_keys);
        let outer_keys = sort_keys(&roles.outer_keys, &orders);
        let outer = self.merge_side(left, &join.left, (&outer_keys, shares), &asked)?;
        let (outer, left_keys) = self.computed(outer, &roles.outer_keys, &outer_later)?;
        let inner_keys = sort_keys(&roles.inner_keys, &orders);
        let side = |builder: &mut Self, asked: &Demand| {
            builder.merge_side(right, &join.right, (&inner_keys, shares), asked)
        };
        let KeptInput {
            built: inner,
            keys: right_keys,
            row,
            places: inner_places,
            ..
        } = self.inner_side(&roles, &inner_later, ROWS_OF_A_KEY, side)?;
        let places = roles.pair(&outer.places, &inner_places);
        let condition = self.pair_condition(&places, &shown, join.residual.as_slice())?;
        let (kind, mark) = self.lookup_kind(join.kind)?;
        let may_be_null = |key: &Expression| key.may_be_null();
        let sides = MergeSides {
            kind,
            left_keys,
            right_keys,
            orders,
            has_nulls: roles.outer_keys.iter().any(may_be_null)
                || roles.inner_keys.iter().any(may_be_null),
            nulls_match: join.nulls_match,
            right: row,
            condition,
        };
        let (outer, inner) = (outer.iterator, inner.iterator);
        let workspace = self.share_of_workspace(shares);
        let iterator = MergeJoin::new(outer, inner, sides, workspace, &mut self.registers)?;
        Ok(Built {
            iterator: Box::new(iterator),
            places: shown_places(join, places, mark),
        })
    }

    /// A side in the order of its keys.
    fn merge_side(
        &mut self,
        side: MergeSide<'_>,
        plan: &Plan,
        (keys, shares): (&[PlanSortKey], usize),
        asked: &Demand,
    ) -> Result<Built, LowerError> {
        match side {
            MergeSide::InOrder(side) => {
                let built = self.scan_in_order(side, asked)?;
                self.counted(plan, built)
            }
            MergeSide::Sorted => self.sorted_side(plan, (keys, shares), asked),
        }
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

/// The keys of a side as those of a sort.
fn sort_keys(keys: &[Expression], orders: &[MergeOrder]) -> Vec<PlanSortKey> {
    let keys = keys.iter().zip(orders);
    let keys = keys.map(|(expression, order)| PlanSortKey {
        expression: expression.clone(),
        is_descending: order.is_descending,
        nulls_first: order.nulls_first,
    });
    keys.collect()
}
