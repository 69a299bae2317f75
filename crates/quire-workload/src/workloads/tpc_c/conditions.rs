//! The twelve consistency conditions (TPC-C, clause 3.3.2).
//!
//! Plain grouped queries of one district at a time, which every database has, are compared here: databases differ in outer joins, and those
//! without decimals sum money with rounding errors. Money is compared in cents.

use super::scale::{DISTRICTS_OF_WAREHOUSE, TpcCScale};
use crate::workloads::statements::{QueryResult, integer};
use crate::{ConditionOutcome, SessionError, SqlValue, WorkloadSession};
use std::collections::{BTreeMap, BTreeSet};

/// Evaluates the conditions.
///
/// # Errors
/// When a query fails.
pub fn evaluate(
    session: &mut dyn WorkloadSession,
    scale: TpcCScale,
) -> Result<Vec<ConditionOutcome>, SessionError> {
    let mut tallies = ConditionTallies(NAMES.map(ConditionTally::new));
    for warehouse in 1..=i64::from(scale.warehouses) {
        let payments = Payments::read(session, warehouse)?;
        let mut districts_cents = 0;
        for district in 1..=DISTRICTS_OF_WAREHOUSE {
            let state = DistrictState::read(session, warehouse, district)?;
            districts_cents += state.ytd_cents;
            state.numbers(&mut tallies);
            state.orders(&mut tallies);
            state.customers(&payments, scale, &mut tallies);
            let paid = payments.of_district(district);
            tallies
                .of(9)
                .equal(&state.name, "d_ytd", state.ytd_cents, paid);
        }
        let name = format!("warehouse {warehouse}");
        let ytd = QueryResult::of_existing(session, READ_WAREHOUSE, &[integer(warehouse)])?;
        let ytd_cents = ytd.unscaled(0, 0, 2)?;
        tallies
            .of(1)
            .equal(&name, "w_ytd", ytd_cents, districts_cents);
        tallies
            .of(8)
            .equal(&name, "w_ytd", ytd_cents, payments.total());
    }
    Ok(tallies.0.into_iter().map(ConditionTally::outcome).collect())
}

const NAMES: [&str; 12] = [
    "3.3.2.1: w_ytd = sum(d_ytd)",
    "3.3.2.2: d_next_o_id - 1 = max(o_id) = max(no_o_id)",
    "3.3.2.3: max(no_o_id) - min(no_o_id) + 1 = rows of new_order",
    "3.3.2.4: sum(o_ol_cnt) = rows of order_line",
    "3.3.2.5: o_carrier_id is null if and only if new_order has the order",
    "3.3.2.6: o_ol_cnt = rows of order_line of the order",
    "3.3.2.7: ol_delivery_d is null if and only if o_carrier_id of the order is",
    "3.3.2.8: w_ytd = sum(h_amount)",
    "3.3.2.9: d_ytd = sum(h_amount)",
    "3.3.2.10: c_balance = sum(ol_amount) of delivered lines - sum(h_amount)",
    "3.3.2.11: rows of orders - rows of new_order = those delivered at first + sum(c_delivery_cnt)",
    "3.3.2.12: c_balance + c_ytd_payment = sum(ol_amount) of delivered lines",
];

/// The comparisons of a condition.
struct ConditionTally {
    name: &'static str,
    comparisons: u64,
    violations: u64,
    first: Vec<String>,
}

/// One of each condition.
struct ConditionTallies([ConditionTally; 12]);

impl ConditionTallies {
    /// That of a condition, by its number in the specification.
    fn of(&mut self, condition: usize) -> &mut ConditionTally {
        &mut self.0[condition - 1]
    }
}

const SHOWN_VIOLATIONS: usize = 5;

impl ConditionTally {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            comparisons: 0,
            violations: 0,
            first: Vec::new(),
        }
    }

    fn equal(&mut self, of: &str, what: &str, stored: i64, computed: i64) {
        self.note(stored == computed, || {
            format!("{of}: {what} is {stored}, not {computed}")
        });
    }

    fn note(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        self.comparisons += 1;
        if !holds {
            self.violations += 1;
            if self.first.len() < SHOWN_VIOLATIONS {
                self.first.push(violation());
            }
        }
    }

    /// A condition of which nothing was compared is not found to hold.
    fn outcome(self) -> ConditionOutcome {
        let holds = self.violations == 0 && self.comparisons > 0;
        let finding = if self.violations == 0 {
            format!("{} comparisons", self.comparisons)
        } else {
            format!(
                "{} of {} comparisons differ (money in cents): {}",
                self.violations,
                self.comparisons,
                self.first.join("; ")
            )
        };
        ConditionOutcome {
            name: self.name.to_owned(),
            holds,
            finding,
        }
    }
}

/// Cents that were paid at a warehouse, and by its customers.
struct Payments {
    at_district: BTreeMap<i64, i64>,
    by_customer: BTreeMap<(i64, i64), i64>,
}

impl Payments {
    fn read(session: &mut dyn WorkloadSession, warehouse: i64) -> Result<Self, SessionError> {
        let parameters = [integer(warehouse)];
        let at = QueryResult::of(session, PAID_AT_DISTRICTS, &parameters)?;
        let by = QueryResult::of(session, PAID_BY_CUSTOMERS, &parameters)?;
        let mut payments = Self {
            at_district: BTreeMap::new(),
            by_customer: BTreeMap::new(),
        };
        for row in 0..at.count() {
            let cents = at.unscaled(row, 1, 2)?;
            payments.at_district.insert(at.integer(row, 0)?, cents);
        }
        for row in 0..by.count() {
            let customer = (by.integer(row, 0)?, by.integer(row, 1)?);
            payments
                .by_customer
                .insert(customer, by.unscaled(row, 2, 2)?);
        }
        Ok(payments)
    }

    fn of_district(&self, district: i64) -> i64 {
        self.at_district.get(&district).copied().unwrap_or(0)
    }

    fn total(&self) -> i64 {
        self.at_district.values().sum()
    }
}

struct OrderRow {
    customer: i64,
    is_delivered: bool,
    lines: i64,
}

/// What order_line has of an order.
#[derive(Clone, Copy, Default)]
struct OrderLines {
    count: i64,
    delivered: i64,
    delivered_cents: i64,
}

struct CustomerRow {
    balance_cents: i64,
    payment_cents: i64,
    deliveries: i64,
}

/// All rows of a district that the conditions are about.
struct DistrictState {
    name: String,
    district: i64,
    next_order: i64,
    ytd_cents: i64,
    orders: BTreeMap<i64, OrderRow>,
    new_orders: BTreeSet<i64>,
    lines: BTreeMap<i64, OrderLines>,
    customers: BTreeMap<i64, CustomerRow>,
}

impl DistrictState {
    fn read(
        session: &mut dyn WorkloadSession,
        warehouse: i64,
        district: i64,
    ) -> Result<Self, SessionError> {
        let place = [integer(warehouse), integer(district)];
        let row = QueryResult::of_existing(session, READ_DISTRICT, &place)?;
        Ok(Self {
            name: format!("warehouse {warehouse}, district {district}"),
            district,
            next_order: row.integer(0, 0)?,
            ytd_cents: row.unscaled(0, 1, 2)?,
            orders: read_orders(session, &place)?,
            new_orders: read_new_orders(session, &place)?,
            lines: read_lines(session, &place)?,
            customers: read_customers(session, &place)?,
        })
    }

    /// Conditions 2 and 3. The second part of 2 is not about a district without new orders, and 3 holds for it.
    fn numbers(&self, tallies: &mut ConditionTallies) {
        let last = self.next_order - 1;
        let order_max = self.orders.keys().next_back().copied().unwrap_or(0);
        tallies
            .of(2)
            .equal(&self.name, "d_next_o_id - 1", last, order_max);
        let range = self.new_orders.first().zip(self.new_orders.last());
        let mut numbers = 0;
        if let Some((&least, &most)) = range {
            tallies.of(2).equal(&self.name, "max(no_o_id)", most, last);
            numbers = most - least + 1;
        }
        let rows = self.new_orders.len() as i64;
        tallies
            .of(3)
            .equal(&self.name, "rows of new_order", rows, numbers);
    }

    /// Conditions 4 to 7.
    fn orders(&self, tallies: &mut ConditionTallies) {
        let claimed = self.orders.values().map(|order| order.lines).sum();
        let stored = self.lines.values().map(|lines| lines.count).sum();
        tallies
            .of(4)
            .equal(&self.name, "rows of order_line", stored, claimed);
        for (id, order) in &self.orders {
            let is_new = self.new_orders.contains(id);
            tallies.of(5).note(order.is_delivered != is_new, || {
                let (a, b) = (order.is_delivered, is_new);
                format!(
                    "{}, order {id}: has a carrier: {a}, in new_order: {b}",
                    self.name
                )
            });
            let lines = self.lines.get(id).copied().unwrap_or_default();
            let name = format!("{}, order {id}", self.name);
            tallies
                .of(6)
                .equal(&name, "o_ol_cnt", order.lines, lines.count);
            let delivered = if order.is_delivered { lines.count } else { 0 };
            tallies
                .of(7)
                .equal(&name, "delivered lines", lines.delivered, delivered);
        }
        self.rows_without_an_order(tallies);
    }

    fn rows_without_an_order(&self, tallies: &mut ConditionTallies) {
        let is_missing = |id: &&i64| !self.orders.contains_key(id);
        for id in self.new_orders.iter().filter(is_missing) {
            tallies.of(5).note(false, || {
                format!("{}: order {id} is in new_order only", self.name)
            });
        }
        for id in self.lines.keys().filter(is_missing) {
            tallies.of(6).note(false, || {
                format!("{}: order {id} is in order_line only", self.name)
            });
        }
    }

    /// Conditions 10 to 12.
    fn customers(&self, payments: &Payments, scale: TpcCScale, tallies: &mut ConditionTallies) {
        let mut charged: BTreeMap<i64, i64> = BTreeMap::new();
        for (id, order) in &self.orders {
            let lines = self.lines.get(id).copied().unwrap_or_default();
            *charged.entry(order.customer).or_default() += lines.delivered_cents;
        }
        for (id, customer) in &self.customers {
            let name = format!("{}, customer {id}", self.name);
            let charged = charged.get(id).copied().unwrap_or(0);
            let paid = payments.by_customer.get(&(self.district, *id)).copied();
            let balance = customer.balance_cents;
            tallies
                .of(10)
                .equal(&name, "c_balance", balance, charged - paid.unwrap_or(0));
            let both = balance + customer.payment_cents;
            tallies
                .of(12)
                .equal(&name, "c_balance + c_ytd_payment", both, charged);
        }
        let delivered = self.orders.len() as i64 - self.new_orders.len() as i64;
        let deliveries: i64 = self.customers.values().map(|one| one.deliveries).sum();
        let computed = scale.first_new_order() - 1 + deliveries;
        tallies
            .of(11)
            .equal(&self.name, "delivered orders", delivered, computed);
    }
}

fn read_orders(
    session: &mut dyn WorkloadSession,
    place: &[SqlValue],
) -> Result<BTreeMap<i64, OrderRow>, SessionError> {
    let rows = QueryResult::of(session, READ_ORDERS, place)?;
    let order = |row| {
        let order = OrderRow {
            customer: rows.integer(row, 1)?,
            is_delivered: rows.nullable_integer(row, 2)?.is_some(),
            lines: rows.integer(row, 3)?,
        };
        Ok((rows.integer(row, 0)?, order))
    };
    (0..rows.count()).map(order).collect()
}

fn read_new_orders(
    session: &mut dyn WorkloadSession,
    place: &[SqlValue],
) -> Result<BTreeSet<i64>, SessionError> {
    let rows = QueryResult::of(session, READ_NEW_ORDERS, place)?;
    (0..rows.count()).map(|row| rows.integer(row, 0)).collect()
}

fn read_lines(
    session: &mut dyn WorkloadSession,
    place: &[SqlValue],
) -> Result<BTreeMap<i64, OrderLines>, SessionError> {
    let rows = QueryResult::of(session, READ_LINES, place)?;
    let mut orders = BTreeMap::new();
    for row in 0..rows.count() {
        let lines = OrderLines {
            count: rows.integer(row, 1)?,
            delivered: rows.integer(row, 2)?,
            delivered_cents: 0,
        };
        orders.insert(rows.integer(row, 0)?, lines);
    }
    let sums = QueryResult::of(session, SUM_DELIVERED, place)?;
    for row in 0..sums.count() {
        let lines: &mut OrderLines = orders.entry(sums.integer(row, 0)?).or_default();
        lines.delivered_cents = sums.unscaled(row, 1, 2)?;
    }
    Ok(orders)
}

fn read_customers(
    session: &mut dyn WorkloadSession,
    place: &[SqlValue],
) -> Result<BTreeMap<i64, CustomerRow>, SessionError> {
    let rows = QueryResult::of(session, READ_CUSTOMERS, place)?;
    let customer = |row| {
        let customer = CustomerRow {
            balance_cents: rows.unscaled(row, 1, 2)?,
            payment_cents: rows.unscaled(row, 2, 2)?,
            deliveries: rows.integer(row, 3)?,
        };
        Ok((rows.integer(row, 0)?, customer))
    };
    (0..rows.count()).map(customer).collect()
}

const READ_WAREHOUSE: &str = "SELECT w_ytd FROM warehouse WHERE w_id = $1";
const READ_DISTRICT: &str =
    "SELECT d_next_o_id, d_ytd FROM district WHERE d_w_id = $1 AND d_id = $2";
const READ_ORDERS: &str =
    "SELECT o_id, o_c_id, o_carrier_id, o_ol_cnt FROM orders WHERE o_w_id = $1 AND o_d_id = $2";
const READ_NEW_ORDERS: &str = "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2";
const READ_LINES: &str = "SELECT ol_o_id, COUNT(*), COUNT(ol_delivery_d) FROM order_line \
    WHERE ol_w_id = $1 AND ol_d_id = $2 GROUP BY ol_o_id";
const SUM_DELIVERED: &str = "SELECT ol_o_id, SUM(ol_amount) FROM order_line \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_delivery_d IS NOT NULL GROUP BY ol_o_id";
const READ_CUSTOMERS: &str = "SELECT c_id, c_balance, c_ytd_payment, c_delivery_cnt \
    FROM customer WHERE c_w_id = $1 AND c_d_id = $2";
const PAID_AT_DISTRICTS: &str =
    "SELECT h_d_id, SUM(h_amount) FROM history WHERE h_w_id = $1 GROUP BY h_d_id";
const PAID_BY_CUSTOMERS: &str = "SELECT h_c_d_id, h_c_id, SUM(h_amount) FROM history \
    WHERE h_c_w_id = $1 GROUP BY h_c_d_id, h_c_id";
