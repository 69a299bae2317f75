//! The update functions: UF1 inserts orders with their lines, UF2 deletes others.

use crate::tpcd::BenchmarkFailure;
use crate::tpcd::data::{CHANGED, Files, Refresh, Totals};
use crate::tpcd::machine::Seconds;
use crate::tpcd::warehouse::Warehouse;

/// Runs both, each in a transaction, and looks at what they leave: counts and sums, and every invariant of the file.
pub(crate) fn run(
    mut warehouse: Warehouse,
    files: &Files,
    refresh: &[Refresh; 2],
) -> Result<[Seconds; 2], BenchmarkFailure> {
    warehouse.execute("CREATE TABLE old_orders (old_orderkey BIGINT NOT NULL) USING row")?;
    warehouse.copy("old_orders", &files.path("old_orders"))?;
    let mut inserting = Seconds::default();
    warehouse.execute("BEGIN")?;
    for (table, _, _) in CHANGED {
        inserting.add(warehouse.copy(table, &files.path(&format!("new_{table}")))?);
    }
    inserting.add(warehouse.measured("COMMIT")?.1);
    check(&mut warehouse, refresh, Refresh::after_inserts)?;
    let mut deleting = Seconds::default();
    for sql in [
        "BEGIN",
        "DELETE FROM lineitem WHERE l_orderkey IN (SELECT old_orderkey FROM old_orders)",
        "DELETE FROM orders WHERE o_orderkey IN (SELECT old_orderkey FROM old_orders)",
        "COMMIT",
    ] {
        deleting.add(warehouse.measured(sql)?.1);
    }
    check(&mut warehouse, refresh, Refresh::after_deletes)?;
    warehouse.close_and_check()?;
    Ok([inserting, deleting])
}

fn check(
    warehouse: &mut Warehouse,
    refresh: &[Refresh; 2],
    expected: fn(&Refresh) -> Totals,
) -> Result<(), BenchmarkFailure> {
    for ((table, _, amount), refresh) in CHANGED.into_iter().zip(refresh) {
        let sql = format!("SELECT count(*), CAST(sum({amount}) * 100 AS BIGINT) FROM {table}");
        let answer = warehouse.execute(&sql)?;
        let Totals { rows, cents } = expected(refresh);
        if answer.first_row() != [rows.to_string(), cents.to_string()] {
            return Err(BenchmarkFailure::Totals { table });
        }
    }
    Ok(())
}
