//! Which rows does each table have at first?

use super::cardinality::OrderEntryRows;
use super::{catalogue_rows, customer_rows, order_rows, schema};
use crate::{SeededRandom, WorkloadRowSink};
use std::io;

/// Generates the rows of a table; each table has numbers of its own.
pub(super) fn generate(
    table: &str,
    rows: &OrderEntryRows,
    seed: u64,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    let tables = schema::tables();
    let part = tables.iter().position(|known| known.name == table);
    let Some(part) = part else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("Order Entry has no table {table}: name one of its tables()"),
        ));
    };
    let random = &mut SeededRandom::of_part(seed, part as u64);
    match table {
        schema::CUSTOMERS => customer_rows::customers(rows, random, sink),
        schema::ADDRESSES => customer_rows::addresses(rows, random, sink),
        schema::CARD_DETAILS => customer_rows::cards(rows, random, sink),
        schema::LOGON => customer_rows::logons(rows, random, sink),
        schema::ORDERS => order_rows::orders(rows, random, sink),
        schema::ORDER_ITEMS => order_rows::items(rows, random, sink),
        schema::PRODUCT_INFORMATION => catalogue_rows::products(rows, random, sink),
        schema::PRODUCT_DESCRIPTIONS => catalogue_rows::descriptions(rows, random, sink),
        schema::WAREHOUSES => catalogue_rows::warehouses(rows, random, sink),
        schema::INVENTORIES => catalogue_rows::inventories(rows, random, sink),
        _ => catalogue_rows::metadata(rows, sink),
    }
}
