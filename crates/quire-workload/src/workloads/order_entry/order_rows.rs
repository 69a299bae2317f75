//! Which orders and items are there at first?

use super::cardinality::OrderEntryRows;
use super::names;
use super::samples::{day, integer, money, normal, one_of, or_null, time};
use crate::workloads::run_clock::day_number;
use crate::{SeededRandom, SqlValue, WorkloadRowSink};
use std::io;

const HOUR_US: i64 = 3_600_000_000;

pub(super) fn orders(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for order_id in 1..=rows.orders {
        let mode = one_of(random, &names::ORDER_MODES);
        sink.row(&[
            SqlValue::Integer(order_id),
            time(
                random,
                day_number(2007, 1, 1),
                day_number(2012, 5, 1),
                HOUR_US,
            ),
            or_null(random, 0.2, mode),
            integer(random, 1, rows.customers),
            normal(random, 1, 10),
            money(random.normal_between(0, 10_000)),
            normal(random, 1, 1_000),
            normal(random, 0, 1_000),
            integer(random, 1, rows.warehouses),
            one_of(random, &names::DELIVERY_TYPES),
            integer(random, 1, 5),
            one_of(random, &names::WAITS),
            integer(random, 1, 10),
            one_of(random, &names::CUSTOMER_CLASSES),
            integer(random, 1, rows.cards),
            integer(random, 1, 10),
        ])?;
    }
    Ok(())
}

pub(super) fn items(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    let year_2000 = day_number(2000, 1, 1);
    let last_day = day_number(2012, 5, 3);
    for order_id in 1..=rows.orders {
        for line_item_id in 1..=random.between(1, 6) {
            let return_date = day(random, year_2000, last_day);
            sink.row(&[
                SqlValue::Integer(order_id),
                SqlValue::Integer(line_item_id),
                normal(random, 1, rows.products),
                money(random.normal_between(0, 2_000)),
                normal(random, 0, 10),
                day(random, day_number(2012, 1, 1), last_day),
                or_null(random, 0.97, return_date),
                one_of(random, &names::GIFT_WRAPS),
                one_of(random, &names::CONDITIONS),
                normal(random, 1, 1_000),
                day(random, year_2000, last_day),
            ])?;
        }
    }
    Ok(())
}
