//! The cheapest join tree.
//!
//! Cost of a hash join: every row of the left side is put into a table, every row of the right
//! side looks into it, every result row is built. A tree costs the sum over its joins.
//!
//! Estimates come from samples, and two orders often cost about the same. Of such the one that is
//! tried first is taken, so that the same rows are joined in the same order whatever the samples were.

use std::collections::HashMap;

use super::estimate::{JoinEstimate, condition_share, estimate, semi_share};
use super::graph::{InputSet, JoinGraph, Tree};

/// Most inputs for which all connected orders are tried: 3^10 pairs of sets are some 60,000.
const MAX_EXHAUSTIVE: usize = 10;

/// Cost of a row, relative to a look-up, of putting it into a hash table.
const BUILD_COST: f64 = 2.0;
/// Cost of looking a row up.
const PROBE_COST: f64 = 1.0;
/// Cost of building a result row.
const OUTPUT_COST: f64 = 1.0;

/// A column with this share of distinct values is a key.
const KEY_SHARE: f64 = 0.9;

/// A tree is better than another only if it costs less than this share of it, and a side is smaller
/// only if it has less than this share of the other's rows: what is nearer are errors of estimates.
const CLEARLY_LESS: f64 = 0.95;

/// The cheapest tree over all inputs of `graph`, its semi joins in place.
pub(super) fn best_tree(graph: &JoinGraph) -> Tree {
    let inputs: Vec<JoinEstimate> = graph.inputs.iter().map(estimate).collect();
    let (below, above) = place_semi_joins(graph, &inputs);
    let mut reduced = inputs;
    for semi in &below {
        let join = &graph.semi_joins[*semi];
        let share = semi_share(&join.join, &reduced[join.input]);
        reduced[join.input] = reduced[join.input].clone().scaled(share);
    }
    let mut tree = with_semi_joins(
        graph,
        JoinOrderSearch::new(graph, reduced).run().tree,
        &below,
    );
    for semi in above {
        tree = Tree::Semi(semi, Box::new(tree));
    }
    tree
}

/// Semi joins that are better applied to their input, and those better applied to the result:
/// whichever has fewer rows to test.
fn place_semi_joins(graph: &JoinGraph, inputs: &[JoinEstimate]) -> (Vec<usize>, Vec<usize>) {
    if graph.semi_joins.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let joined_rows = JoinOrderSearch::new(graph, inputs.to_vec()).run().rows;
    let numbers = 0..graph.semi_joins.len();
    numbers.partition(|semi| inputs[graph.semi_joins[*semi].input].rows <= joined_rows)
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
    cost: f64,
}

struct JoinOrderSearch<'g> {
    graph: &'g JoinGraph,
    inputs: Vec<JoinEstimate>,
}

impl<'g> JoinOrderSearch<'g> {
    fn new(graph: &'g JoinGraph, inputs: Vec<JoinEstimate>) -> Self {
        Self { graph, inputs }
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
        let rows = self.inputs.get(index).map_or(1.0, |input| input.rows);
        JoinTreeCandidate {
            tree: Tree::Input(index),
            set: 1 << index,
            rows,
            cost: 0.0,
        }
    }

    /// Inputs grouped by being connected through equalities.
    fn components(&self) -> Vec<InputSet> {
        let mut components: Vec<InputSet> = (0..self.inputs.len()).map(|i| 1 << i).collect();
        for class in &self.graph.classes {
            let set = class.inputs();
            let (touched, mut rest): (Vec<_>, Vec<_>) = components
                .into_iter()
                .partition(|component| component & set != 0);
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
        self.graph.classes.iter().any(|class| {
            let set = class.inputs();
            set & left != 0 && set & right != 0
        })
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
        let mut found: Option<JoinTreeCandidate> = None;
        let mut left = set;
        loop {
            left = left.wrapping_sub(1) & set;
            if left == 0 {
                return found;
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
            let joined = self.join(a, b);
            if found
                .as_ref()
                .is_none_or(|known| joined.cost < CLEARLY_LESS * known.cost)
            {
                found = Some(joined);
            }
        }
    }

    /// Joins, again and again, the connected pair with the smallest result.
    fn greedy(&self, all: InputSet) -> JoinTreeCandidate {
        let members = (0..self.inputs.len()).filter(|index| all & (1 << index) != 0);
        let mut parts: Vec<JoinTreeCandidate> = members.map(|index| self.single(index)).collect();
        while parts.len() > 1 {
            let mut chosen: Option<(usize, usize, JoinTreeCandidate)> = None;
            for (i, a) in parts.iter().enumerate() {
                for (j, b) in parts.iter().enumerate().skip(i + 1) {
                    if !self.is_connected(a.set, b.set) {
                        continue;
                    }
                    let joined = self.join(a, b);
                    if chosen
                        .as_ref()
                        .is_none_or(|(_, _, known)| joined.rows < known.rows)
                    {
                        chosen = Some((i, j, joined));
                    }
                }
            }
            let (i, j, joined) = match chosen {
                Some(pair) => pair,
                None => (0, 1, self.join(&parts[0], &parts[1])),
            };
            parts.remove(j);
            parts[i] = joined;
        }
        parts.pop().unwrap_or_else(|| self.single(0))
    }

    /// Joins two parts, the smaller as the side that is kept.
    fn join(&self, a: &JoinTreeCandidate, b: &JoinTreeCandidate) -> JoinTreeCandidate {
        let (left, right) = if b.rows < CLEARLY_LESS * a.rows {
            (b, a)
        } else {
            (a, b)
        };
        let set = left.set | right.set;
        let rows = (left.rows * right.rows * self.share(left, right)).max(1.0);
        let cost = left.cost
            + right.cost
            + BUILD_COST * left.rows
            + PROBE_COST * right.rows
            + OUTPUT_COST * rows;
        let tree = Tree::Join(Box::new(left.tree.clone()), Box::new(right.tree.clone()));
        JoinTreeCandidate {
            tree,
            set,
            rows,
            cost,
        }
    }

    /// Share of the pairs of rows that the predicates between two sets keep.
    fn share(&self, left_part: &JoinTreeCandidate, right_part: &JoinTreeCandidate) -> f64 {
        let (left, right) = (left_part.set, right_part.set);
        let mut keys = 0;
        let (mut left_values, mut right_values) = (1.0, 1.0);
        let (mut left_owners, mut right_owners) = (0, 0);
        for class in &self.graph.classes {
            if class.inputs() & left == 0 || class.inputs() & right == 0 {
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
            .map(|(_, c)| condition_share(c, &self.inputs))
            .product();
        share / values.max(1.0)
    }

    /// The member of `class` in `part` with the fewest distinct values: after the joins within the
    /// part no more than these are left, and of a key no more than the part has rows.
    fn fewest_values(
        &self,
        class: &super::graph::EqualityClass,
        part: &JoinTreeCandidate,
    ) -> (InputSet, f64) {
        let members = class
            .members
            .iter()
            .filter(|(input, _)| part.set & (1 << input) != 0);
        let values = members.map(|(input, expr)| {
            let owner = &self.inputs[*input];
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
            1 => self.inputs[owners.trailing_zeros() as usize].base_rows,
            _ => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The walk over subsets that `exhaustive` uses.
    fn subsets(all: InputSet) -> Vec<InputSet> {
        let mut found = Vec::new();
        let mut set = 0;
        loop {
            set = (set as i64 | !(all as i64)).wrapping_add(1) as InputSet & all;
            if set == 0 {
                return found;
            }
            found.push(set);
        }
    }

    #[test]
    fn subsets_come_in_increasing_order() {
        assert_eq!(subsets(0b1011), [1, 2, 3, 8, 9, 10, 11]);
        assert_eq!(subsets(1 << 62), [1 << 62]);
    }
}
