//! Optimal alphabetic codes: the shortest codes, on average, that are in the order of what they stand for.
//!
//! The algorithm is that of A. M. Garsia and M. L. Wachs (SIAM J. Computing 6, 1977), as D. E. Knuth gives it in *The
//! Art of Computer Programming* §6.2.2. A first tree is built: the leftmost neighbours that are followed by one no
//! lighter than the left of them are joined, and their sum moves to the left past everything lighter. The leaves of
//! the tree that is wanted have the same depths, and these say all.

#[derive(Clone, Copy)]
struct WaitingNode {
    weight: u64,
    node: usize,
}

/// Nodes that wait to be joined. Leaves are numbered from 0, their parents follow in the order of their making.
struct Joining {
    waiting: Vec<WaitingNode>,
    leaf_count: usize,
    /// Children of each parent.
    children: Vec<(usize, usize)>,
}

impl Joining {
    /// Joins the waiting `right - 1` and `right`, moves their sum to its place, and returns how many wait from
    /// there on.
    fn join(&mut self, right: usize) -> usize {
        let (a, b) = (self.waiting[right - 1], self.waiting[right]);
        let parent = WaitingNode {
            weight: a.weight + b.weight,
            node: self.leaf_count + self.children.len(),
        };
        self.children.push((a.node, b.node));
        self.waiting.remove(right);
        let mut at = right - 1;
        while at > 0 && self.waiting[at - 1].weight < parent.weight {
            self.waiting[at] = self.waiting[at - 1];
            at -= 1;
        }
        self.waiting[at] = parent;
        self.waiting.len() - at
    }

    /// Joins as [`Self::join`], and then whatever has to be joined because of it. Places are counted from the end,
    /// because joins further left leave that unchanged.
    fn join_all(&mut self, right: usize) {
        let mut moved = vec![self.join(right)];
        while let Some(&from_end) = moved.last() {
            let at = self.waiting.len() - from_end;
            if at >= 2 && self.waiting[at - 2].weight <= self.waiting[at].weight {
                moved.push(self.join(at - 1));
            } else {
                moved.pop();
            }
        }
    }
}

/// Lengths in bits of the optimal alphabetic code for `weights`, in their order. One weight alone has length 0.
pub(super) fn code_lengths(weights: &[u64]) -> Vec<u32> {
    let leaf_count = weights.len();
    let mut joining = Joining {
        waiting: Vec::with_capacity(leaf_count),
        leaf_count,
        children: Vec::with_capacity(leaf_count),
    };
    for (node, &weight) in weights.iter().enumerate() {
        joining.waiting.push(WaitingNode { weight, node });
        while let [.., left, _, right] = joining.waiting[..]
            && left.weight <= right.weight
        {
            joining.join_all(joining.waiting.len() - 2);
        }
    }
    while joining.waiting.len() > 1 {
        joining.join_all(joining.waiting.len() - 1);
    }
    let mut depths = vec![0; leaf_count + joining.children.len()];
    for (index, &(left, right)) in joining.children.iter().enumerate().rev() {
        let depth = depths[leaf_count + index] + 1;
        depths[left] = depth;
        depths[right] = depth;
    }
    depths.truncate(leaf_count);
    depths
}

#[cfg(test)]
mod tests {
    use super::code_lengths;

    /// The least weighted sum of depths over all trees with the leaves in order, tried root by root.
    fn least_cost(weights: &[u64]) -> u64 {
        let count = weights.len();
        let mut cost = vec![vec![0; count + 1]; count + 1];
        for span in 2..=count {
            for start in 0..=count - span {
                let end = start + span;
                let best = (start + 1..end).map(|root| cost[start][root] + cost[root][end]);
                cost[start][end] = best.min().unwrap() + weights[start..end].iter().sum::<u64>();
            }
        }
        cost[0][count]
    }

    /// Whether codes of these lengths, given out from zero upwards, fill all codes without a gap.
    fn is_a_tree_in_order(lengths: &[u32]) -> bool {
        let mut start = 0u64;
        for &length in lengths {
            let width = 1u64 << (60 - length);
            if !start.is_multiple_of(width) {
                return false;
            }
            start += width;
        }
        start == 1 << 60
    }

    #[test]
    fn codes_are_in_order_and_none_are_shorter() {
        let mut state = 0x0123_4567_89AB_CDEFu64;
        for case in 0..3_000 {
            let count = 1 + case % 40;
            let weights: Vec<u64> = (0..count)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let range = [1, 3, 10, 1_000, 1 << 20][case % 5];
                    1 + (state >> 33) % range * ((state >> 20) % 3)
                })
                .collect();
            let lengths = code_lengths(&weights);
            assert!(is_a_tree_in_order(&lengths), "{weights:?}: {lengths:?}");
            let pairs = weights.iter().zip(&lengths);
            let cost: u64 = pairs
                .map(|(weight, &length)| weight * u64::from(length))
                .sum();
            assert_eq!(cost, least_cost(&weights), "{weights:?}: {lengths:?}");
        }
    }

    #[test]
    fn equal_weights_have_equal_lengths() {
        assert_eq!(code_lengths(&[5; 8]), [3; 8]);
        assert_eq!(code_lengths(&[7]), [0]);
    }
}
