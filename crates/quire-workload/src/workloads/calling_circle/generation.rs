//! Which rows does each table have at first?
//!
//! All of them follow from the number of accounts: every line has a full circle, and nothing is random.

use super::accounts::{Accounts, CallNumber, name_of};
use super::schema::{self, END, PACKAGES, REGIONS, SLOTS, START};
use crate::{SqlValue, WorkloadRowSink};
use std::io;

pub(super) fn generate(
    table: &str,
    accounts: Accounts,
    rows: &mut dyn WorkloadRowSink,
) -> io::Result<()> {
    match table {
        schema::DIAL_CODES => dial_codes(rows),
        schema::CALL_PACKAGES => call_packages(rows),
        schema::PACKAGE_SLOTS => package_slots(rows),
        schema::ACCOUNTS => each(accounts, |account| rows.row(&account_row(account))),
        schema::LINES => each(accounts, |account| rows.row(&line_row(account))),
        schema::CIRCLES => each(accounts, |account| circle(account, rows)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("Calling Circle has no table {table}: name one of its tables()"),
        )),
    }
}

fn each(accounts: Accounts, mut write: impl FnMut(i64) -> io::Result<()>) -> io::Result<()> {
    (0..accounts.count()).try_for_each(|number| write(accounts.account(number)))
}

fn dial_codes(rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
    let mut row = |id: i64, kind: &str, value: &str, text: &str, parent: SqlValue| {
        rows.row(&[
            SqlValue::Integer(id),
            START,
            END,
            SqlValue::text(kind),
            SqlValue::text(value),
            SqlValue::text(text),
            parent,
        ])
    };
    let (unused, country) = (schema::UNUSED_DIAL_CODE, schema::COUNTRY_DIAL_CODE);
    let parent = SqlValue::Integer(unused);
    row(unused, "INIT", schema::UNUSED, schema::UNUSED, parent)?;
    let text = "UK International Dial Code";
    row(country, "INTL", schema::COUNTRY, text, SqlValue::Null)?;
    for region in 0..REGIONS {
        let value = CallNumber { region, digits: 0 }.region_value();
        let text = format!("UK Dial Code for Id {}", region + 1);
        row(
            region + 1,
            "NATL",
            &value,
            &text,
            SqlValue::Integer(country),
        )?;
    }
    Ok(())
}

fn call_packages(rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
    (1..=PACKAGES).try_for_each(|package| {
        rows.row(&[
            SqlValue::Integer(package),
            START,
            END,
            SqlValue::Text(format!("Call Package for Id {package}")),
            SqlValue::Text(format!("cp{package}")),
        ])
    })
}

fn package_slots(rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
    (1..=PACKAGES)
        .flat_map(|package| (1..=SLOTS).map(move |slot| [package, slot]))
        .try_for_each(|row| rows.row(&row.map(SqlValue::Integer)))
}

fn account_row(account: i64) -> [SqlValue; 8] {
    [
        SqlValue::Integer(account),
        START,
        END,
        SqlValue::Text(name_of(account)),
        SqlValue::text(schema::PIN),
        START,
        SqlValue::Integer(0),
        START,
    ]
}

fn line_row(line: i64) -> [SqlValue; 9] {
    let number = CallNumber::of_account(line);
    [
        SqlValue::Integer(line),
        START,
        END,
        SqlValue::Integer(number.region + 1),
        SqlValue::Text(number.cli()),
        SqlValue::Integer(0),
        SqlValue::Integer(schema::UPDATES_ALLOWED),
        SqlValue::Integer(line % PACKAGES + 1),
        SqlValue::Integer(line),
    ]
}

fn circle(line: i64, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
    let cli = CallNumber::of_account(line).cli();
    (1..=SLOTS).try_for_each(|slot| {
        rows.row(&[
            SqlValue::Integer(line),
            SqlValue::Integer(slot),
            START,
            END,
            SqlValue::Integer((line + slot) % REGIONS + 1),
            SqlValue::text(cli.as_str()),
        ])
    })
}
