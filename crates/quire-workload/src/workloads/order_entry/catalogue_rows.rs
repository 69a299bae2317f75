//! Which products are there, and how many of each in which warehouse?

use super::cardinality::OrderEntryRows;
use super::names;
use super::samples::{
    LETTERS_AND_DIGITS, LETTERS_AND_SPACE, LETTERS_DIGITS_AND_SPACE, integer, money, one_of, text,
};
use crate::{SeededRandom, SqlValue, WorkloadRowSink};
use std::io;

pub(super) fn products(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for product_id in 1..=rows.products {
        sink.row(&[
            SqlValue::Integer(product_id),
            text(random, LETTERS_DIGITS_AND_SPACE, 10, 35),
            text(random, LETTERS_AND_SPACE, 40, 150),
            integer(random, 1, rows.categories()),
            integer(random, 1, 9),
            // Up to 99 years and a month.
            SqlValue::Integer(random.between(0, 99) * 12 + 1),
            integer(random, 0, 999_999),
            one_of(random, &names::PRODUCT_STATES),
            money(random.between(1, 5_000)),
            money(random.between(1, 5_000)),
            text(random, LETTERS_AND_DIGITS, 6, 32),
        ])?;
    }
    Ok(())
}

pub(super) fn descriptions(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for product_id in 1..=rows.products {
        sink.row(&[
            SqlValue::Integer(product_id),
            text(random, LETTERS_AND_DIGITS, 1, 3),
            text(random, LETTERS_DIGITS_AND_SPACE, 10, 20),
            text(random, LETTERS_DIGITS_AND_SPACE, 30, 150),
        ])?;
    }
    Ok(())
}

pub(super) fn warehouses(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for warehouse_id in 1..=rows.warehouses {
        sink.row(&[
            SqlValue::Integer(warehouse_id),
            text(random, LETTERS_AND_DIGITS, 1, 35),
            integer(random, 0, 9_999),
        ])?;
    }
    Ok(())
}

/// A product is in eight to ten tenths of the warehouses, the first ones.
pub(super) fn inventories(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for product_id in 1..=rows.products {
        let least = (rows.warehouses * 4 / 5).max(1);
        for warehouse_id in 1..=random.between(least, rows.warehouses) {
            sink.row(&[
                SqlValue::Integer(product_id),
                SqlValue::Integer(warehouse_id),
                integer(random, 0, 99_999_999),
            ])?;
        }
    }
    Ok(())
}

/// The least and the greatest keys of customers and orders.
pub(super) fn metadata(rows: &OrderEntryRows, sink: &mut dyn WorkloadRowSink) -> io::Result<()> {
    let keys = [
        ("SOE_MIN_CUSTOMER_ID", 1),
        ("SOE_MAX_CUSTOMER_ID", rows.customers),
        ("SOE_MIN_ORDER_ID", 1),
        ("SOE_MAX_ORDER_ID", rows.orders),
    ];
    for (key, value) in keys {
        sink.row(&[SqlValue::text(key), SqlValue::text(value.to_string())])?;
    }
    Ok(())
}
