//! Which parameters are prepared for transactions, and which are left?
//!
//! The original writes them to files before a run. Here they are drawn when they are needed, from a stock that the users of a run share: each new
//! name is drawn once, and each account is updated once before any is updated again.

use super::accounts::{Accounts, CallNumber};
use super::schema::{PACKAGES, REGIONS, SLOTS};
use crate::SeededRandom;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Kinds, in the order of [`Workload::kinds`](crate::Workload::kinds).
pub(super) const NEW_CUSTOMER: usize = 0;
pub(super) const UPDATE: usize = 1;
pub(super) const RETRIEVE: usize = 2;
/// Their weights.
pub(super) const WEIGHTS: [u32; 3] = [25, 100, 50];

/// A number for a slot of a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlotChange {
    /// From 1.
    pub(super) slot: i64,
    pub(super) number: CallNumber,
}

/// Parameters of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CircleParameters {
    pub(super) kind: usize,
    /// The account's name as a number.
    pub(super) account: i64,
    /// The call package of a new line.
    pub(super) package: i64,
    pub(super) changes: Vec<SlotChange>,
}

/// What is left of the parameters.
pub(super) struct ParameterStock {
    accounts: Accounts,
    left: Mutex<StockLeft>,
}

struct StockLeft {
    /// Transactions of each kind; `None` where there is no limit.
    transactions: Option<[u64; 3]>,
    new_names: DrawnOnce,
    further_new_names: i64,
    updated_accounts: DrawnOnce,
}

impl ParameterStock {
    /// Parameters without a limit, or for `prepared` transactions: a quarter as many new customers, as many updates, half as many queries.
    pub(super) fn new(accounts: Accounts, prepared: Option<u64>) -> Self {
        let left = StockLeft {
            transactions: prepared.map(|prepared| [prepared / 4, prepared, prepared / 2]),
            new_names: DrawnOnce::below(accounts.new_names()),
            further_new_names: accounts.new_names(),
            updated_accounts: DrawnOnce::below(accounts.count()),
        };
        Self {
            accounts,
            left: Mutex::new(left),
        }
    }

    /// Takes the parameters of a transaction of any kind that is left, by weight; `None` when there is none.
    pub(super) fn take(&self, random: &mut SeededRandom) -> Option<CircleParameters> {
        // Drawing does not panic, and if it did, numbers would be lost and nothing else.
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = left.take_kind(random)?;
        let account = match kind {
            NEW_CUSTOMER => self.accounts.new_name(left.draw_new_name(random)),
            UPDATE => self.accounts.account(left.draw_updated_account(random)),
            _ => self
                .accounts
                .account(random.between(0, self.accounts.count() - 1)),
        };
        drop(left);
        let changes = match kind {
            NEW_CUSTOMER => SLOTS,
            UPDATE => random.between(5, 9),
            _ => 0,
        };
        Some(CircleParameters {
            kind,
            account,
            package: random.between(1, PACKAGES),
            changes: (1..=changes)
                .map(|slot| SlotChange {
                    slot,
                    number: CallNumber {
                        region: random.between(0, REGIONS - 1),
                        digits: random.between(0, 999_999),
                    },
                })
                .collect(),
        })
    }
}

impl StockLeft {
    fn take_kind(&mut self, random: &mut SeededRandom) -> Option<usize> {
        let Some(left) = &mut self.transactions else {
            return Some(random.weighted(&WEIGHTS));
        };
        let mut weights = WEIGHTS;
        for (weight, &left) in weights.iter_mut().zip(&*left) {
            *weight *= u32::from(left > 0);
        }
        if weights == [0; 3] {
            return None;
        }
        let kind = random.weighted(&weights);
        left[kind] -= 1;
        Some(kind)
    }

    fn draw_new_name(&mut self, random: &mut SeededRandom) -> i64 {
        self.new_names.draw(random).unwrap_or_else(|| {
            self.further_new_names += 1;
            self.further_new_names - 1
        })
    }

    fn draw_updated_account(&mut self, random: &mut SeededRandom) -> i64 {
        loop {
            if let Some(number) = self.updated_accounts.draw(random) {
                return number;
            }
            self.updated_accounts.begin_again();
        }
    }
}

/// Numbers below a limit in random order, each once (R. Durstenfeld, *Algorithm 235: random permutation*, CACM 1964, with only the places that
/// differ from their numbers kept).
struct DrawnOnce {
    limit: i64,
    drawn: i64,
    moved: HashMap<i64, i64>,
}

impl DrawnOnce {
    fn below(limit: i64) -> Self {
        Self {
            limit,
            drawn: 0,
            moved: HashMap::new(),
        }
    }

    /// Another number; `None` when all were drawn.
    fn draw(&mut self, random: &mut SeededRandom) -> Option<i64> {
        if self.drawn >= self.limit {
            return None;
        }
        let place = random.between(self.drawn, self.limit - 1);
        // What lies at the first place moves to the drawn one, and the first place is never looked at again.
        let first = self.moved.remove(&self.drawn).unwrap_or(self.drawn);
        let number = if place == self.drawn {
            first
        } else {
            self.moved.insert(place, first).unwrap_or(place)
        };
        self.drawn += 1;
        Some(number)
    }

    fn begin_again(&mut self) {
        *self = Self::below(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::{Accounts, DrawnOnce, ParameterStock, SeededRandom};
    use std::collections::HashSet;

    #[test]
    fn each_number_is_drawn_once_in_any_order() {
        let mut numbers = DrawnOnce::below(1_000);
        let mut random = SeededRandom::new(3);
        let drawn: Vec<i64> = std::iter::from_fn(|| numbers.draw(&mut random)).collect();
        let distinct: HashSet<i64> = drawn.iter().copied().collect();
        assert_eq!((drawn.len(), distinct.len()), (1_000, 1_000));
        assert!(distinct.iter().all(|number| (0..1_000).contains(number)));
        // In a random order a number stays at its place with probability 1/1000: 1 on average, more than 8 once in a million.
        let in_place = drawn.iter().zip(0..).filter(|(a, b)| *a == b).count();
        assert!(in_place <= 8, "{in_place} numbers in place with seed 3");
    }

    #[test]
    fn a_stock_of_eight_thousand_serves_fourteen_thousand_transactions() {
        let stock = ParameterStock::new(Accounts::of_scale(0.01), Some(8_000));
        let mut random = SeededRandom::new(4);
        let mut taken = [0; 3];
        let (mut new, mut updated) = (HashSet::new(), HashSet::new());
        while let Some(parameters) = stock.take(&mut random) {
            taken[parameters.kind] += 1;
            match parameters.kind {
                0 => assert!(new.insert(parameters.account), "a new name comes twice"),
                1 => assert!(updated.insert(parameters.account), "updated twice"),
                _ => {}
            }
        }
        assert_eq!(taken, [2_000, 8_000, 4_000]);
        let in_first_half = updated.iter().filter(|&&name| name < 20_000_000).count();
        assert!(in_first_half <= 5_000 && updated.len() - in_first_half <= 5_000);
        assert!(
            new.iter()
                .all(|name| (20_000_000..20_005_000).contains(name))
        );
    }
}
