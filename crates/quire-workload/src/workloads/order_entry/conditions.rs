//! Is the data of Order Entry consistent?
//!
//! The benchmark has no conditions of its own. What must hold follows from what its transactions do:
//!
//! - Generated totals have nothing to do with the items, as in the original. *Browse Orders* adds one to a quantity and the item's price to the
//!   order's total, so the totals of all generated orders less the worth of their items (price by quantity) stay the same in sum.
//! - *Order Products* inserts items of quantity 1 and writes the sum of their prices, so the total of each order of the run is the worth of its
//!   items, after *Browse Orders*, too.
//! - It takes one of each item from a stock; nothing else changes stocks. So a product's stocks are the generated ones less its items in orders of
//!   the run, counted by items, not by quantity.

use super::cardinality::OrderEntryRows;
use super::generation::generate;
use super::schema;
use crate::workloads::violations::{equal, none_found, unique_keys};
use crate::{ConditionOutcome, SessionError, SqlValue, WorkloadRowSink, WorkloadSession};
use std::io;

/// Columns of a reference, and of what it refers to: every value of the one has to be among those of the other.
const REFERENCES: [[&str; 4]; 8] = [
    [schema::ORDER_ITEMS, "order_id", schema::ORDERS, "order_id"],
    [
        schema::ORDERS,
        "customer_id",
        schema::CUSTOMERS,
        "customer_id",
    ],
    [
        schema::ADDRESSES,
        "customer_id",
        schema::CUSTOMERS,
        "customer_id",
    ],
    [
        schema::CARD_DETAILS,
        "customer_id",
        schema::CUSTOMERS,
        "customer_id",
    ],
    [
        schema::LOGON,
        "customer_id",
        schema::CUSTOMERS,
        "customer_id",
    ],
    [
        schema::CUSTOMERS,
        "preferred_address",
        schema::ADDRESSES,
        "address_id",
    ],
    [
        schema::CUSTOMERS,
        "preferred_card",
        schema::CARD_DETAILS,
        "card_id",
    ],
    [
        schema::ORDER_ITEMS,
        "product_id",
        schema::PRODUCT_INFORMATION,
        "product_id",
    ],
];
const WRONG_TOTALS: &str = "SELECT o.order_id, o.order_total, sum(i.unit_price * i.quantity) FROM orders o \
     LEFT JOIN order_items i ON i.order_id = o.order_id WHERE o.order_id > $1 GROUP BY o.order_id, o.order_total \
     HAVING o.order_total IS NULL OR o.order_total <> coalesce(sum(i.unit_price * i.quantity), 0) LIMIT 3";
const GENERATED_TOTALS: &str = "SELECT sum(order_total) FROM orders WHERE order_id <= $1";
const GENERATED_WORTH: &str =
    "SELECT sum(unit_price * quantity) FROM order_items WHERE order_id <= $1";
const STOCKS: &str =
    "SELECT product_id, sum(quantity_on_hand) FROM inventories GROUP BY product_id";
const ORDERED: &str =
    "SELECT product_id, count(*) FROM order_items WHERE order_id > $1 GROUP BY product_id";

/// What the generated rows sum up to.
pub(super) struct GeneratedSums {
    /// Totals of orders less the worth of items, in hundredths.
    totals_less_worth: i64,
    /// The stocks of each product, that of the first one at index 1.
    stocks: Vec<i64>,
}

impl GeneratedSums {
    /// Generates the rows again and sums them up.
    pub(super) fn of(rows: &OrderEntryRows, seed: u64) -> io::Result<Self> {
        let mut sums = Self {
            totals_less_worth: 0,
            stocks: vec![0; rows.products as usize + 1],
        };
        let unscaled = |value: &SqlValue| value.as_unscaled(2).unwrap_or(0);
        let integer = |value: &SqlValue| value.as_integer().unwrap_or(0);
        let mut add_total = EachRow(|row| sums.totals_less_worth += unscaled(&row[5]));
        generate(schema::ORDERS, rows, seed, &mut add_total)?;
        let mut subtract_worth =
            EachRow(|row| sums.totals_less_worth -= unscaled(&row[3]) * integer(&row[4]));
        generate(schema::ORDER_ITEMS, rows, seed, &mut subtract_worth)?;
        let mut add_stock =
            EachRow(|row| sums.stocks[integer(&row[0]) as usize] += integer(&row[2]));
        generate(schema::INVENTORIES, rows, seed, &mut add_stock)?;
        Ok(sums)
    }
}

struct EachRow<F: FnMut(&[SqlValue])>(F);

impl<F: FnMut(&[SqlValue])> WorkloadRowSink for EachRow<F> {
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
        (self.0)(values);
        Ok(())
    }
}

/// All conditions.
pub(super) fn check(
    session: &mut dyn WorkloadSession,
    rows: &OrderEntryRows,
    generated: &GeneratedSums,
) -> Result<Vec<ConditionOutcome>, SessionError> {
    let mut outcomes = Vec::new();
    for table in schema::tables() {
        outcomes.push(unique_keys(session, &table.name, &table.primary_key)?);
    }
    for reference in REFERENCES {
        outcomes.push(refers(session, reference)?);
    }
    let last_generated = [SqlValue::Integer(rows.orders)];
    outcomes.push(none_found(
        session,
        "totals of the run's orders are the worth of their items",
        WRONG_TOTALS,
        &last_generated,
    )?);
    let totals = hundredths(session, GENERATED_TOTALS, &last_generated)?;
    let worth = hundredths(session, GENERATED_WORTH, &last_generated)?;
    outcomes.push(equal(
        "generated totals less the worth of their items are the same in sum",
        totals - worth,
        generated.totals_less_worth,
    ));
    outcomes.push(stocks_are_less_by_what_was_ordered(
        session,
        rows,
        &generated.stocks,
    )?);
    Ok(outcomes)
}

fn refers(
    session: &mut dyn WorkloadSession,
    [table, column, other, key]: [&str; 4],
) -> Result<ConditionOutcome, SessionError> {
    let sql = format!(
        "SELECT a.{column} FROM {table} a LEFT JOIN {other} b ON b.{key} = a.{column} \
         WHERE a.{column} IS NOT NULL AND b.{key} IS NULL LIMIT 3"
    );
    let name = format!("every {column} of {table} is in {other}");
    none_found(session, name, &sql, &[])
}

/// A sum in hundredths, 0 if there are no rows.
fn hundredths(
    session: &mut dyn WorkloadSession,
    sql: &str,
    parameters: &[SqlValue],
) -> Result<i64, SessionError> {
    let rows = session.query(sql, parameters)?;
    let sum = rows.first().and_then(|row| row.first()?.as_unscaled(2));
    Ok(sum.unwrap_or(0))
}

fn stocks_are_less_by_what_was_ordered(
    session: &mut dyn WorkloadSession,
    rows: &OrderEntryRows,
    generated: &[i64],
) -> Result<ConditionOutcome, SessionError> {
    let mut left = generated.to_vec();
    let stocks = session.query(STOCKS, &[])?;
    let ordered = session.query(ORDERED, &[SqlValue::Integer(rows.orders)])?;
    let mut unknown = 0;
    for row in stocks.iter().chain(&ordered) {
        let product = row[0]
            .as_integer()
            .and_then(|id| left.get_mut(usize::try_from(id).ok()?));
        match (product, row[1].as_integer()) {
            (Some(left), Some(count)) => *left -= count,
            _ => unknown += 1,
        }
    }
    let wrong: Vec<String> = (1..left.len())
        .filter(|&product| left[product] != 0)
        .map(|product| format!("product {product} by {}", left[product]))
        .collect();
    Ok(ConditionOutcome {
        name: "stocks are the generated ones less what was ordered in the run".into(),
        holds: wrong.is_empty() && unknown == 0,
        finding: if wrong.is_empty() {
            format!("{} products, {unknown} unknown ones", generated.len() - 1)
        } else {
            format!(
                "too few or too many: {}",
                wrong[..wrong.len().min(3)].join(", ")
            )
        },
    })
}
