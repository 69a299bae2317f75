//! Which customers, addresses, cards and logons are there at first?

use super::cardinality::OrderEntryRows;
use super::names::{self, first_name, last_name};
use super::samples::{
    UPPER_CASE, UPPER_CASE_AND_DIGITS, day, integer, money, normal, one_of, or_null, text, time,
};
use crate::workloads::run_clock::day_number;
use crate::{SeededRandom, SqlValue, WorkloadRowSink};
use std::io;

const SECOND_US: i64 = 1_000_000;
const HOUR_US: i64 = 3_600 * SECOND_US;
const YEAR_2000: i32 = day_number(2000, 1, 1);

/// A name whose place in the list is normally distributed: those in the middle are the most frequent ones.
fn sampled(
    random: &mut SeededRandom,
    rows: &OrderEntryRows,
    name: impl Fn(i64) -> String,
) -> String {
    name(random.normal_between(0, rows.names - 1))
}

pub(super) fn customers(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for customer_id in 1..=rows.customers {
        let email = format!(
            "{}.{}@{}.com",
            sampled(random, rows, first_name),
            sampled(random, rows, last_name),
            random.pick(&names::MAIL_SERVICES)
        );
        let credit_limit = names::CREDIT_LIMITS[random.normal_between(0, 11) as usize];
        let preferred_address = integer(random, 1, rows.addresses);
        sink.row(&[
            SqlValue::Integer(customer_id),
            SqlValue::Text(sampled(random, rows, first_name)),
            SqlValue::Text(sampled(random, rows, last_name)),
            text(random, UPPER_CASE, 2, 3),
            one_of(random, &names::COUNTRIES),
            money(credit_limit),
            SqlValue::Text(email),
            normal(random, 0, 1_000),
            day(random, YEAR_2000, day_number(2012, 5, 4)),
            one_of(random, &names::CUSTOMER_CLASSES),
            one_of(random, &names::SUGGESTIONS),
            day(random, day_number(1950, 1, 1), day_number(2000, 5, 5)),
            one_of(random, &["Y", "Y", "Y", "N"]),
            one_of(random, &["Y", "N", "N"]),
            or_null(random, 0.05, preferred_address),
            integer(random, 1, rows.cards),
        ])?;
    }
    Ok(())
}

pub(super) fn addresses(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for address_id in 1..=rows.addresses {
        let house_digits = random.between(1, 3) as usize;
        let house = SqlValue::Text(random.digits(house_digits));
        let street = names::street(
            random.between(0, names::ADJECTIVES - 1),
            random.pick::<&str>(&names::STREET_KINDS),
        );
        let post_code = text(random, UPPER_CASE_AND_DIGITS, 6, 6);
        let zip_code = SqlValue::Text(random.digits(6));
        sink.row(&[
            SqlValue::Integer(address_id),
            integer(random, 1, rows.customers),
            time(random, YEAR_2000, day_number(2012, 5, 6), HOUR_US),
            or_null(random, 0.1, house),
            SqlValue::Text(street),
            SqlValue::Text(names::town(random.between(0, names::TOWNS - 1))),
            SqlValue::Text(names::county(random.between(0, names::COUNTIES - 1))),
            one_of(random, &names::COUNTRIES),
            or_null(random, 0.5, post_code),
            or_null(random, 0.5, zip_code),
        ])?;
    }
    Ok(())
}

pub(super) fn cards(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for card_id in 1..=rows.cards {
        let is_valid = if random.below(34) == 0 { "N" } else { "Y" };
        sink.row(&[
            SqlValue::Integer(card_id),
            integer(random, 1, rows.customers),
            one_of(random, &names::CARD_TYPES),
            integer(random, 1_111_111_111, 1_410_065_407),
            day(random, day_number(2013, 8, 1), day_number(2018, 8, 1)),
            SqlValue::text(is_valid),
            integer(random, 1_111, 9_999),
        ])?;
    }
    Ok(())
}

pub(super) fn logons(
    rows: &OrderEntryRows,
    random: &mut SeededRandom,
    sink: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    for logon_id in 1..=rows.logons {
        sink.row(&[
            SqlValue::Integer(logon_id),
            integer(random, 1, rows.customers),
            time(random, YEAR_2000, day_number(2012, 5, 9), SECOND_US),
        ])?;
    }
    Ok(())
}
