//! The primitives of query 6 of TPC-H: loops over one vector.
//!
//! As in the paper's system a predicate makes a list of the positions that fulfil it, without branches, and the next one goes through this list.

use std::hint::black_box;

use quire_codec::VECTOR_VALUES;

/// 1994-01-01 and 1995-01-01 in days since 1992-01-01.
const SHIP_DAYS: [i32; 2] = [731, 1_096];
const QUANTITY_END: i32 = 24;
/// In hundredths, both included.
const DISCOUNTS: [i64; 2] = [5, 7];

/// A vector of each column, all of the same length.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemVector<'v> {
    pub(super) ship_days: &'v [i32],
    pub(super) quantities: &'v [i32],
    pub(super) money: MoneyVector<'v>,
}

/// A vector of the two columns that are multiplied.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoneyVector<'v> {
    pub(super) prices: &'v [i64],
    pub(super) discounts: &'v [i64],
}

/// Where primitives leave their results: it stays in the processor's cache.
pub(super) struct PrimitiveResults {
    products: [i64; VECTOR_VALUES],
    positions: [u32; VECTOR_VALUES],
}

impl PrimitiveResults {
    pub(super) fn new() -> Self {
        Self {
            products: [0; VECTOR_VALUES],
            positions: [0; VECTOR_VALUES],
        }
    }

    /// The multiplication primitive: a product for every row.
    pub(super) fn multiply(&mut self, money: MoneyVector<'_>) -> &[i64] {
        let rows = money.prices.len().min(money.discounts.len());
        let products = &mut self.products[..rows.min(VECTOR_VALUES)];
        let factors = money.prices.iter().zip(money.discounts);
        for (product, (price, discount)) in products.iter_mut().zip(factors) {
            *product = price.wrapping_mul(*discount);
        }
        products
    }

    /// B: the products of all rows, added up.
    pub(super) fn revenue(&mut self, money: MoneyVector<'_>) -> i64 {
        sum(black_box(self.multiply(money)))
    }

    /// A: the products of the rows that fulfil the predicates, added up.
    pub(super) fn selected_revenue(&mut self, items: ItemVector<'_>) -> i64 {
        let selected = self.select(items);
        let positions = black_box(&self.positions[..selected]);
        for (product, &position) in self.products.iter_mut().zip(positions) {
            let row = position as usize;
            *product = items.money.prices[row].wrapping_mul(items.money.discounts[row]);
        }
        sum(black_box(&self.products[..selected]))
    }

    /// Leaves the positions of the rows that fulfil the predicates, and returns how many there are.
    fn select(&mut self, items: ItemVector<'_>) -> usize {
        let mut selected = 0;
        for (row, day) in items.ship_days.iter().enumerate().take(VECTOR_VALUES) {
            self.positions[selected] = row as u32;
            selected += usize::from((SHIP_DAYS[0]..SHIP_DAYS[1]).contains(day));
        }
        let selected = self.keep(selected, |row| items.quantities[row] < QUANTITY_END);
        let [first, last] = DISCOUNTS;
        self.keep(selected, |row| {
            (first..=last).contains(&items.money.discounts[row])
        })
    }

    /// Keeps those of the first `selected` positions that fulfil a predicate.
    fn keep(&mut self, selected: usize, holds: impl Fn(usize) -> bool) -> usize {
        let mut kept = 0;
        for at in 0..selected {
            let position = self.positions[at];
            self.positions[kept] = position;
            kept += usize::from(holds(position as usize));
        }
        kept
    }
}

fn sum(values: &[i64]) -> i64 {
    values.iter().fold(0, |sum, &one| sum.wrapping_add(one))
}
