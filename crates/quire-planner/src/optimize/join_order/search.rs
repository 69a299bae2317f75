//! The cheapest join tree.
//!
//! A tree costs the sum over its joins, and the scans of those tables whose rows may be looked up instead ([`super::pricing`]).
//!
//! Estimates come from samples, and two orders often cost about the same. Of such the one that is
//! tried first is taken, so that the same rows are joined in the same order whatever the samples were.

use std::collections::HashMap;

use quire_exec::tuple::{BatchSide, RelationSize};

use super::estimate::{JoinEstimate, condition_share, estimate, semi_share};
use super::graph::{EqualityClass, InputSet, JoinGraph, Tree};
use super::pricing::{JoinPricing, SearchInput};
use super::settings::OrderSettings;

/// Most inputs for which all connected orders are tried: 3^10 pairs of sets are some 60,000.
const MAX_EXHAUSTIVE: usize = 10;

/// A column with this share of distinct values is a key.
const KEY_SHARE: f64 = 0.9;

/// A tree is better than another only if it costs less than this share of it, and a side is smaller
/// only if it has less than this share of the other's rows: smaller differences are within the error of estimates.
const CLEARLY_LESS: f64 = 0.95;

/// The cheapest tree over all inputs of `graph`, its semi joins in place.
pub(super) fn best_tree(graph: &JoinGraph, settings: &OrderSettings) -> Tree {
    let estimates: Vec<JoinEstimate> = graph.inputs.iter().map(estimate).collect();
    let pricing = JoinPricing::of(graph, settings);
    let mut inputs = SearchInput::all_of(graph, estimates, &pricing, settings);
    let (below, above) = place_semi_joins(graph, &inputs, &pricing);
    for semi in &below {
        let join = &graph.semi_joins[*semi];
        let input = &mut inputs[join.input];
        let share = semi_share(&join.join, &input.estimate);
        *input = input.clone().reduced(share);
    }
    let found = JoinOrderSearch::new(graph, &inputs, &pricing).run();
    let mut tree = with_semi_joins(graph, found.tree, &below);
    for semi in above {
        tree = Tree::Semi(semi, Box::new(tree));
    }
    tree
}

/// Semi joins that are better applied to their input, and those better applied to the result:
/// whichever has fewer rows to test.
fn place_semi_joins(
    graph: &JoinGraph,
    inputs: &[SearchInput],
    pricing: &JoinPricing,
) -> (Vec<usize>, Vec<usize>) {
    if graph.semi_joins.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let joined_rows = JoinOrderSearch::new(graph, inputs, pricing).run().rows;
    let numbers = 0..graph.semi_joins.len();
    numbers.partition(|semi| inputs[graph.semi_joins[*semi].input].estimate.rows <= joined_rows)
}

fn with_semi_joins(graph: &JoinGraph, tree: Tree, below: &[usize]) -> Tree {
    let inner = |tree: Box<Tree>| Box::new(with_semi_joins(graph, *tree, below));
    match tree {
        Tree::Join(left, right) => Tree::Join(inner(left), inner(right)),
        Tree::Semi(semi, tree) => Tree::Semi(semi, inner(tree)),
        Tree::Input(index) => {
            let own = below
                .iter()
                .filter(|semi| graph.semi_joins[**semi].input == index);
            own.fold(Tree::Input(index), |tree, semi| {
                Tree::Semi(*semi, Box::new(tree))
            })
        }
    }
}

/// A tree with its size and cost.
#[derive(Debug, Clone)]
struct JoinTreeCandidate {
    tree: Tree,
    set: InputSet,
    rows: f64,
    /// Of a row: bytes that are kept, and nanoseconds of putting it into a batch.
    row_bytes: f64,
    fields_ns: f64,
    cost_ns: f64,
}

impl JoinTreeCandidate {
    fn side(&self) -> BatchSide {
        BatchSide {
            size: RelationSize {
                rows: self.rows,
                row_bytes: self.row_bytes,
            },
            fields_ns: self.fields_ns,
        }
    }
}

/// A join of two candidates, before its tree is built.
#[derive(Debug, Clone, Copy)]
struct JoinedPair {
    rows: f64,
    cost_ns: f64,
    /// Whether the second one is the side that is kept.
    keeps_second: bool,
}

struct JoinOrderSearch<'g> {
    graph: &'g JoinGraph,
    inputs: &'g [SearchInput],
    pricing: &'g JoinPricing,
    /// The inputs of each equality class.
    class_sets: Vec<InputSet>,
}

impl<'g> JoinOrderSearch<'g> {
    fn new(graph: &'g JoinGraph, inputs: &'g [SearchInput], pricing: &'g JoinPricing) -> Self {
        Self {
            graph,
            inputs,
            pricing,
            class_sets: graph.classes.iter().map(EqualityClass::inputs).collect(),
        }
    }

    fn run(&self) -> JoinTreeCandidate {
        let parts = self.components().into_iter().map(|set| {
            if set.count_ones() as usize <= MAX_EXHAUSTIVE {
                self.exhaustive(set)
            } else {
                self.greedy(set)
            }
        });
        // Unconnected parts are multiplied, smallest first.
        let mut parts: Vec<JoinTreeCandidate> = parts.collect();
        parts.sort_by(|a, b| a.rows.total_cmp(&b.rows));
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_else(|| self.single(0));
        parts.fold(first, |left, right| self.join(&left, &right))
    }

    fn single(&self, index: usize) -> JoinTreeCandidate {
        let input = self.inputs.get(index);
        JoinTreeCandidate {
            tree: Tree::Input(index),
            set: 1 << index,
            rows: input.map_or(1.0, |input| input.estimate.rows),
            row_bytes: input.map_or(0.0, |input| input.row_bytes),
            fields_ns: input.map_or(0.0, |input| input.fields_ns),
            cost_ns: input.map_or(0.0, SearchInput::scan_ns),
        }
    }

    /// Inputs grouped by being connected through equalities.
    fn components(&self) -> Vec<InputSet> {
        let mut components: Vec<InputSet> = (0..self.inputs.len()).map(|i| 1 << i).collect();
        for set in &self.class_sets {
            let (touched, mut rest): (Vec<_>, Vec<_>) = components
                .into_iter()
                .partition(|component| component & *set != 0);
            rest.push(
                touched
                    .into_iter()
                    .fold(0, |all, component| all | component),
            );
            components = rest;
        }
        components.sort_unstable();
        components
    }

    fn is_connected(&self, left: InputSet, right: InputSet) -> bool {
        let mut sets = self.class_sets.iter();
        sets.any(|set| set & left != 0 && set & right != 0)
    }

    /// Dynamic programming over the subsets of `all`.
    fn exhaustive(&self, all: InputSet) -> JoinTreeCandidate {
        let mut best: HashMap<InputSet, JoinTreeCandidate> = HashMap::new();
        let mut set = 0;
        // Subsets of `all` in increasing order, so that every proper subset comes first.
        loop {
            set = (set as i64 | !(all as i64)).wrapping_add(1) as InputSet & all;
            if set == 0 {
                break;
            }
            let candidate = if set.count_ones() == 1 {
                Some(self.single(set.trailing_zeros() as usize))
            } else {
                self.best_split(set, &best)
            };
            if let Some(candidate) = candidate {
                best.insert(set, candidate);
            }
        }
        best.remove(&all).unwrap_or_else(|| self.greedy(all))
    }

    /// The cheapest join of two connected halves of `set`.
    fn best_split(
        &self,
        set: InputSet,
        best: &HashMap<InputSet, JoinTreeCandidate>,
    ) -> Option<JoinTreeCandidate> {
        let lowest = set & set.wrapping_neg();
        let mut found: Option<(JoinedPair, InputSet)> = None;
        let mut left = set;
        loop {
            left = left.wrapping_sub(1) & set;
            if left == 0 {
                break;
            }
            // Each split once: the half with the lowest input is called left.
            if left & lowest == 0 {
                continue;
            }
            let right = set & !left;
            let (Some(a), Some(b)) = (best.get(&left), best.get(&right)) else {
                continue;
            };
            if !self.is_connected(left, right) {
                continue;
            }
            let pair = self.pair(a, b);
            if found
                .as_ref()
                .is_none_or(|(known, _)| pair.cost_ns < CLEARLY_LESS * known.cost_ns)
            {
                found = Some((pair, left));
            }
        }
        let (pair, left) = found?;
        Some(candidate(best.get(&left)?, best.get(&(set & !left))?, pair))
    }

    /// Joins, again and again, the connected pair with the smallest result.
    fn greedy(&self, all: InputSet) -> JoinTreeCandidate {
        let members = (0..self.inputs.len()).filter(|index| all & (1 << index) != 0);
        let mut parts: Vec<JoinTreeCandidate> = members.map(|index| self.single(index)).collect();
        while parts.len() > 1 {
            let mut chosen: Option<(usize, usize, JoinedPair)> = None;
            for (i, a) in parts.iter().enumerate() {
                for (j, b) in parts.iter().enumerate().skip(i + 1) {
                    if !self.is_connected(a.set, b.set) {
                        continue;
                    }
                    let pair = self.pair(a, b);
                    if chosen
                        .as_ref()
                        .is_none_or(|(_, _, known)| pair.rows < known.rows)
                    {
                        chosen = Some((i, j, pair));
                    }
                }
            }
            let (i, j, pair) = chosen.unwrap_or_else(|| (0, 1, self.pair(&parts[0], &parts[1])));
            let joined = candidate(&parts[i], &parts[j], pair);
            parts.remove(j);
            parts[i] = joined;
        }
        parts.pop().unwrap_or_else(|| self.single(0))
    }

    fn join(&self, a: &JoinTreeCandidate, b: &JoinTreeCandidate) -> JoinTreeCandidate {
        candidate(a, b, self.pair(a, b))
    }

    /// The cheapest join of two parts. The side is kept that clearly costs less to keep; where none does, the one with fewer rows.
    fn pair(&self, a: &JoinTreeCandidate, b: &JoinTreeCandidate) -> JoinedPair {
        let rows = (a.rows * b.rows * self.share(a, b)).max(1.0);
        let keeping_ns = |kept: &JoinTreeCandidate, looking: &JoinTreeCandidate| {
            self.pricing.keeping_ns(kept.side(), looking.side(), rows)
        };
        let (first_ns, second_ns) = (keeping_ns(a, b), keeping_ns(b, a));
        let keeps_second = if second_ns < CLEARLY_LESS * first_ns {
            true
        } else if first_ns < CLEARLY_LESS * second_ns {
            false
        } else {
            b.rows < CLEARLY_LESS * a.rows
        };
        let hashing_ns = if keeps_second { second_ns } else { first_ns };
        let both_ns = a.cost_ns + b.cost_ns;
        let other_ways = [
            self.looking_up_ns(a, b),
            self.looking_up_ns(b, a),
            self.merging_ns(a, b).map(|ns| both_ns + ns),
        ];
        let other_ways = other_ways.into_iter().flatten();
        JoinedPair {
            rows,
            cost_ns: other_ways.fold(both_ns + hashing_ns, f64::min),
            keeps_second,
        }
    }

    /// The input that a part is, if it is one alone.
    fn alone(&self, part: &JoinTreeCandidate) -> Option<&SearchInput> {
        let is_alone = part.set.count_ones() == 1;
        let index = part.set.trailing_zeros() as usize;
        self.inputs.get(index).filter(|_| is_alone)
    }

    /// Two tables that come in the order of the keys that they are joined by.
    fn merging_ns(&self, a: &JoinTreeCandidate, b: &JoinTreeCandidate) -> Option<f64> {
        let sides = (self.alone(a)?, self.alone(b)?);
        let is_joined = |set: &InputSet| set & a.set != 0 && set & b.set != 0;
        let class_count = self.class_sets.iter().filter(|set| is_joined(set)).count();
        let of_class = |class: usize| is_joined(&self.class_sets[class]);
        self.pricing.merging_ns(sides, class_count, of_class)
    }

    /// The rows of `outer`, and looking up those of `inner` for each, if that is a table with a key for it: it is not read then.
    fn looking_up_ns(&self, outer: &JoinTreeCandidate, inner: &JoinTreeCandidate) -> Option<f64> {
        let input = self.alone(inner)?;
        let is_given = |class: usize| self.class_sets[class] & outer.set != 0;
        Some(outer.cost_ns + input.looking_up_ns(outer.rows, is_given)?)
    }

    /// Share of the pairs of rows that the predicates between two sets keep.
    fn share(&self, left_part: &JoinTreeCandidate, right_part: &JoinTreeCandidate) -> f64 {
        let (left, right) = (left_part.set, right_part.set);
        let mut keys = 0;
        let (mut left_values, mut right_values) = (1.0, 1.0);
        let (mut left_owners, mut right_owners) = (0, 0);
        for (class, set) in self.graph.classes.iter().zip(&self.class_sets) {
            if set & left == 0 || set & right == 0 {
                continue;
            }
            keys += 1;
            for (part, values, owners) in [
                (left_part, &mut left_values, &mut left_owners),
                (right_part, &mut right_values, &mut right_owners),
            ] {
                let (owner, distinct) = self.fewest_values(class, part);
                *values *= distinct;
                *owners |= owner;
            }
        }
        let mut values = f64::max(left_values, right_values);
        if keys > 1 {
            // A composite key tells apart at most the rows of the table that it is the key of.
            let rows = |owners: InputSet| self.key_rows(owners);
            values = values.min(rows(left_owners).min(rows(right_owners)));
        }
        let conditions =
            self.graph.conditions.iter().filter(|(set, _)| {
                set & left != 0 && set & right != 0 && set & !(left | right) == 0
            });
        let share: f64 = conditions
            .map(|(_, c)| condition_share(c, self.inputs.iter().map(|input| &input.estimate)))
            .product();
        share / values.max(1.0)
    }

    /// The member of `class` in `part` with the fewest distinct values: after the joins within the
    /// part no more than these are left, and of a key no more than the part has rows.
    fn fewest_values(&self, class: &EqualityClass, part: &JoinTreeCandidate) -> (InputSet, f64) {
        let members = class
            .members
            .iter()
            .filter(|(input, _)| part.set & (1 << input) != 0);
        let values = members.map(|(input, expr)| {
            let owner = &self.inputs[*input].estimate;
            let distinct = owner.distinct(expr);
            let is_key = distinct >= KEY_SHARE * owner.base_rows;
            let left = if is_key {
                distinct.min(part.rows)
            } else {
                distinct
            };
            (1 << input, left)
        });
        values
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 1.0))
    }

    fn key_rows(&self, owners: InputSet) -> f64 {
        match owners.count_ones() {
            1 => {
                self.inputs[owners.trailing_zeros() as usize]
                    .estimate
                    .base_rows
            }
            _ => f64::INFINITY,
        }
    }
}

/// The tree of two parts and what was found of their join.
fn candidate(a: &JoinTreeCandidate, b: &JoinTreeCandidate, pair: JoinedPair) -> JoinTreeCandidate {
    let (left, right) = if pair.keeps_second { (b, a) } else { (a, b) };
    JoinTreeCandidate {
        tree: Tree::Join(Box::new(left.tree.clone()), Box::new(right.tree.clone())),
        set: a.set | b.set,
        rows: pair.rows,
        row_bytes: a.row_bytes + b.row_bytes,
        fields_ns: a.fields_ns + b.fields_ns,
        cost_ns: pair.cost_ns,
    }
}

#[cfg(test)]
mod tests;
