//! What do the reporting queries ask, which Swingbench does not enable?

use super::run::OrderEntryRun;
use crate::{
    SeededRandom, SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction,
};
use std::sync::{Arc, LazyLock};

const SALES_REP: &str = "SELECT tt.order_total, tt.sales_rep_id, tt.order_date, c.cust_first_name, c.cust_last_name \
     FROM (SELECT order_total, sales_rep_id, order_date, customer_id, rank() OVER (ORDER BY order_total DESC) AS sal_rank \
     FROM orders WHERE sales_rep_id = $1) tt JOIN customers c ON c.customer_id = tt.customer_id WHERE tt.sal_rank <= 10";
/// `GROUP BY CUBE (order_mode, warehouse_id)` as the union of its grouping sets: SQLite and MariaDB have no `CUBE`.
const WAREHOUSE: &str = "SELECT o.order_mode, o.warehouse_id, sum(o.order_total), count(*) FROM orders o \
     JOIN warehouses w ON w.warehouse_id = o.warehouse_id WHERE w.warehouse_id = $1 GROUP BY o.order_mode, o.warehouse_id \
     UNION ALL SELECT o.order_mode, NULL, sum(o.order_total), count(*) FROM orders o \
     JOIN warehouses w ON w.warehouse_id = o.warehouse_id WHERE w.warehouse_id = $1 GROUP BY o.order_mode \
     UNION ALL SELECT NULL, o.warehouse_id, sum(o.order_total), count(*) FROM orders o \
     JOIN warehouses w ON w.warehouse_id = o.warehouse_id WHERE w.warehouse_id = $1 GROUP BY o.warehouse_id \
     UNION ALL SELECT NULL, NULL, sum(o.order_total), count(*) FROM orders o \
     JOIN warehouses w ON w.warehouse_id = o.warehouse_id WHERE w.warehouse_id = $1";

const WINDOWS: i64 = 12;
const WINDOW_US: i64 = 5 * 60 * 1_000_000;

/// Orders of a warehouse in each window of five minutes of the last hour; a window without orders has no row. `$1` is the warehouse, and the
/// windows go from one of the following parameters to the one before it.
static WAREHOUSE_ACTIVITY: LazyLock<String> = LazyLock::new(|| {
    let windows: Vec<String> = (1..=WINDOWS)
        .map(|window| {
            format!(
                "SELECT warehouse_id, {window} AS window_number, sum(order_total), count(*) FROM orders \
                 WHERE warehouse_id = $1 AND order_date BETWEEN ${} AND ${} GROUP BY warehouse_id",
                window + 2,
                window + 1
            )
        })
        .collect();
    windows.join(" UNION ALL ")
});

/// A reporting query with its parameters.
pub(super) struct OrderReport {
    kind: usize,
    question: ReportQuestion,
}

enum ReportQuestion {
    SalesRep(i64),
    Warehouse(i64),
    WarehouseActivity(i64, Arc<OrderEntryRun>),
}

impl OrderReport {
    /// *Sales Rep Query*: the ten greatest orders of a representative.
    pub(super) fn of_sales_rep(kind: usize, random: &mut SeededRandom) -> Self {
        let question = ReportQuestion::SalesRep(random.between(1, 1_000));
        Self { kind, question }
    }

    /// *Warehouse Query*: orders of a warehouse by mode.
    pub(super) fn of_warehouse(
        kind: usize,
        run: &OrderEntryRun,
        random: &mut SeededRandom,
    ) -> Self {
        let question = ReportQuestion::Warehouse(random.between(1, run.rows.warehouses));
        Self { kind, question }
    }

    /// *Warehouse Activity Query*: orders of a warehouse in the last hour.
    pub(super) fn of_activity(
        kind: usize,
        run: &Arc<OrderEntryRun>,
        random: &mut SeededRandom,
    ) -> Self {
        let warehouse_id = random.between(1, run.rows.warehouses);
        let question = ReportQuestion::WarehouseActivity(warehouse_id, Arc::clone(run));
        Self { kind, question }
    }
}

impl WorkloadTransaction for OrderReport {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        match &self.question {
            ReportQuestion::SalesRep(id) => session.query(SALES_REP, &[SqlValue::Integer(*id)])?,
            ReportQuestion::Warehouse(id) => session.query(WAREHOUSE, &[SqlValue::Integer(*id)])?,
            ReportQuestion::WarehouseActivity(id, run) => {
                let now_us = run.clock.now_us();
                let mut parameters = vec![SqlValue::Integer(*id)];
                parameters.extend(
                    (0..=WINDOWS).map(|window| SqlValue::Timestamp(now_us - window * WINDOW_US)),
                );
                session.query(&WAREHOUSE_ACTIVITY, &parameters)?
            }
        };
        Ok(TransactionEnd::Committed)
    }
}
