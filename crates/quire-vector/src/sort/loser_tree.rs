//! The first of several sorted runs.

/// A tree of losers over runs (Knuth, The Art of Computer Programming, volume 3, §5.4.1). Each inner node has the run that lost the comparison there,
/// so that the next row of the winner is compared once on each level, with no other runs than those that lost on its path.
///
/// The runs themselves are the caller's: `is_before(one, other)` says whether the next row of one run comes before that of the other. A run without rows
/// comes after all others, and of equal rows those of the lower run come first where a merge is to be stable.
///
/// ```
/// let runs = [vec![2, 5], vec![1, 9], vec![3]];
/// let mut places = [0; 3];
/// let next = |places: &[usize; 3], run: usize| runs[run].get(places[run]).copied().unwrap_or(i32::MAX);
/// let mut tree = quire_vector::LoserTree::new(3, |one, other| next(&places, one) < next(&places, other));
/// let mut merged = Vec::new();
/// while next(&places, tree.winner()) < i32::MAX {
///     merged.push(next(&places, tree.winner()));
///     places[tree.winner()] += 1;
///     tree.replay(|one, other| next(&places, one) < next(&places, other));
/// }
/// assert_eq!(merged, [1, 2, 3, 5, 9]);
/// ```
#[derive(Debug)]
pub struct LoserTree {
    /// The winner of all, and the loser of each inner node from 1 on. The children of node `n` are `2n` and `2n + 1`; run `r` is the leaf `run_count + r`.
    losers: Vec<usize>,
}

impl LoserTree {
    /// # Panics
    ///
    /// If there are no runs.
    pub fn new(run_count: usize, is_before: impl Fn(usize, usize) -> bool) -> Self {
        assert!(run_count > 0, "a merge has runs");
        let mut winners = vec![0; run_count];
        winners.extend(0..run_count);
        let mut losers = vec![0; run_count];
        for node in (1..run_count).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if is_before(right, left) {
                (right, left)
            } else {
                (left, right)
            };
            (winners[node], losers[node]) = (winner, loser);
        }
        losers[0] = winners[1];
        Self { losers }
    }

    /// The run whose next row comes first.
    pub fn winner(&self) -> usize {
        self.losers[0]
    }

    /// Finds the winner again after the next row of the last one has changed.
    pub fn replay(&mut self, is_before: impl Fn(usize, usize) -> bool) {
        let mut winner = self.winner();
        let mut node = (self.losers.len() + winner) / 2;
        while node > 0 {
            if is_before(self.losers[node], winner) {
                std::mem::swap(&mut self.losers[node], &mut winner);
            }
            node /= 2;
        }
        self.losers[0] = winner;
    }
}
