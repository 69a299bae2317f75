//! Is what a loss of power left what it may leave?

use std::collections::BTreeMap;
use std::path::Path;

use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use quire::{Connection, Database, DatabaseOptions, Outcome};

use crate::recording::Acknowledged;
use crate::workload::{self, ACCOUNTS, FIRST_BALANCE, LOAD_ROWS};

/// Checks the file, opens it, compares it with what was acknowledged and with itself, writes to it and checks it again.
pub fn verify(path: &Path, acknowledged: &Acknowledged) -> Result<(), String> {
    let at_least = |kind: &str| acknowledged.get(kind).copied().unwrap_or(0);
    if at_least(workload::SCHEMA) == 1 {
        // Before that there may be no database in the file.
        check(path, true)?;
    }
    let options = DatabaseOptions {
        cache_bytes: 4 << 20,
        memory_bytes: 64 << 20,
        threads: 1,
        ..DatabaseOptions::default()
    };
    let database = Database::open_with(path, options).map_err(|error| format!("open: {error}"))?;
    let mut connection = database.connect();
    let names = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'account'";
    if numbers(&mut connection, names)? == [0] {
        return match at_least(workload::SCHEMA) {
            0 => Ok(()),
            _ => Err("the tables are lost".to_owned()),
        };
    }
    pairs_agree(&mut connection, at_least(workload::PAIR))?;
    balances_agree(&mut connection, at_least(workload::TRANSFER))?;
    loads_are_whole(&mut connection, at_least(workload::LOAD))?;
    index_agrees(&mut connection)?;
    execute(
        &mut connection,
        "INSERT INTO pair_row VALUES (1000000, 'after', 1)",
    )?;
    execute(
        &mut connection,
        "INSERT INTO pair_column VALUES (1000000, 'after', 1)",
    )?;
    drop(connection);
    drop(database);
    check(path, false)
}

/// A torn superblock is all that may be wrong, and that only before the file was opened again.
fn check(path: &Path, may_be_torn: bool) -> Result<(), String> {
    let report = Database::check(path).map_err(|error| format!("check: {error}"))?;
    let is_torn = |what: &str| may_be_torn && what.contains("superblock");
    let found = report.findings.iter().map(ToString::to_string);
    match found.filter(|what| !is_torn(what)).collect::<Vec<_>>() {
        found if found.is_empty() => Ok(()),
        found => Err(format!("check: {}", found.join("; "))),
    }
}

/// The rows of both tables are the same, and there is no gap in what was added one after the other.
fn pairs_agree(connection: &mut Connection, at_least: u64) -> Result<(), String> {
    let ids = numbers(connection, "SELECT id FROM pair_row ORDER BY id")?;
    let expected: Vec<i64> = (1..=ids.len() as i64).collect();
    same("ids of pair_row", &ids, &expected)?;
    enough("pairs", ids.len() as u64, at_least)?;
    let differing = "SELECT count(*) FROM pair_row AS r FULL JOIN pair_column AS c \
        ON r.id = c.id AND r.note = c.note AND r.number = c.number WHERE r.id IS NULL OR c.id IS NULL";
    same(
        "rows in one of the tables",
        &numbers(connection, differing)?,
        &[0],
    )
}

/// Each balance is what the ledger says, calculated here.
fn balances_agree(connection: &mut Connection, at_least: u64) -> Result<(), String> {
    let column = |connection: &mut Connection, name: &str| {
        numbers(
            connection,
            &format!("SELECT {name} FROM ledger ORDER BY id"),
        )
    };
    let ids = column(connection, "id")?;
    enough("transfers", ids.len() as u64, at_least)?;
    same(
        "ids of ledger",
        &ids,
        &(1..=ids.len() as i64).collect::<Vec<_>>(),
    )?;
    let mut balances: BTreeMap<i64, i64> = (1..=ACCOUNTS as i64)
        .map(|id| (id, FIRST_BALANCE))
        .collect();
    let moves = [column(connection, "debit")?, column(connection, "credit")?];
    for (at, amount) in column(connection, "amount")?.into_iter().enumerate() {
        *balances.entry(moves[0][at]).or_default() -= amount;
        *balances.entry(moves[1][at]).or_default() += amount;
    }
    let found = numbers(connection, "SELECT balance FROM account ORDER BY id")?;
    same(
        "balances",
        &found,
        &balances.into_values().collect::<Vec<_>>(),
    )
}

/// Files were loaded as a whole or not at all.
fn loads_are_whole(connection: &mut Connection, at_least: u64) -> Result<(), String> {
    let counts = numbers(
        connection,
        "SELECT count(*) FROM loaded GROUP BY note ORDER BY note",
    )?;
    same(
        "rows of a load",
        &counts,
        &vec![LOAD_ROWS as i64; counts.len()],
    )?;
    enough("loads", counts.len() as u64, at_least)
}

/// Rows found by the index are those found without it.
fn index_agrees(connection: &mut Connection) -> Result<(), String> {
    for number in 0..7 {
        let by_index = format!("SELECT id FROM pair_row WHERE note = 'note {number}' ORDER BY id");
        let by_scan =
            format!("SELECT id FROM pair_row WHERE note || '' = 'note {number}' ORDER BY id");
        let (by_index, by_scan) = (
            numbers(connection, &by_index)?,
            numbers(connection, &by_scan)?,
        );
        same("rows by index", &by_index, &by_scan)?;
    }
    Ok(())
}

fn same(what: &str, found: &[i64], expected: &[i64]) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {expected:?}"))
    }
}

fn enough(what: &str, found: u64, at_least: u64) -> Result<(), String> {
    if found >= at_least {
        Ok(())
    } else {
        Err(format!("{found} {what} of {at_least} acknowledged ones"))
    }
}

fn execute(connection: &mut Connection, sql: &str) -> Result<(), String> {
    workload::execute(connection, sql).map_err(|error| format!("{sql}: {error}"))
}

/// The first column of a query, as whole numbers.
fn numbers(connection: &mut Connection, sql: &str) -> Result<Vec<i64>, String> {
    let failed = |error: quire::Error| format!("{sql}: {error}");
    let mut found = Vec::new();
    if let Outcome::Rows(mut rows) = connection.execute(sql).map_err(failed)? {
        while let Some(batch) = rows.next_batch().map_err(failed)? {
            let column =
                cast(batch.column(0), &DataType::Int64).map_err(|error| error.to_string())?;
            found.extend(column.as_primitive::<Int64Type>().values());
        }
    }
    Ok(found)
}
