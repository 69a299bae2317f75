//! How are orders processed, and changed by their customers?

use super::lookups::{Logon, addresses, customer};
use super::run::OrderEntryRun;
use crate::{
    SeededRandom, SessionError, SqlValue, TransactionEnd, WorkloadSession, WorkloadTransaction,
};
use std::sync::Arc;

/// `rownum < 10` in the original: nine orders at most.
const UNPROCESSED: &str = "SELECT o.order_id, oi.line_item_id, oi.product_id, oi.unit_price, oi.quantity, o.order_mode, o.order_status, \
     o.order_total, o.sales_rep_id, o.promotion_id, c.customer_id, c.cust_first_name, c.cust_last_name, c.credit_limit, c.cust_email, \
     o.order_date \
     FROM (SELECT order_id FROM orders WHERE order_status <= 4 AND warehouse_id = $1 LIMIT 9) waiting \
     JOIN orders o ON o.order_id = waiting.order_id JOIN customers c ON c.customer_id = o.customer_id \
     LEFT JOIN order_items oi ON oi.order_id = o.order_id";
const SET_STATUS: &str = "UPDATE orders SET order_status = $1 WHERE order_id = $2";
const ORDERS: &str = "SELECT order_id, order_date, order_mode, customer_id, order_status, order_total, sales_rep_id, promotion_id, \
     warehouse_id, delivery_type, cost_of_delivery, wait_till_all_available, delivery_address_id, customer_class, card_id, \
     invoice_address_id FROM orders WHERE customer_id = $1 LIMIT 14";
const ITEMS: &str = "SELECT order_id, line_item_id, unit_price, product_id, quantity, dispatch_date, return_date, gift_wrap, \
     item_condition, supplier_id, estimated_delivery FROM order_items WHERE order_id = $1 LIMIT 14";
const ONE_MORE: &str =
    "UPDATE order_items SET quantity = quantity + 1 WHERE order_id = $1 AND line_item_id = $2";
const ADD_TO_TOTAL: &str = "UPDATE orders SET order_total = order_total + $1 WHERE order_id = $2";

/// *Process Orders*: orders of a warehouse that wait, of which the first is processed.
pub(super) struct Processing {
    kind: usize,
    warehouse_id: i64,
    status: i64,
}

impl Processing {
    pub(super) fn new(kind: usize, run: &OrderEntryRun, random: &mut SeededRandom) -> Self {
        Self {
            kind,
            warehouse_id: random.between(1, run.rows.warehouses),
            status: random.between(5, 9),
        }
    }
}

impl WorkloadTransaction for Processing {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        let waiting = session.query(UNPROCESSED, &[SqlValue::Integer(self.warehouse_id)])?;
        if let Some(first) = waiting.first() {
            let parameters = [SqlValue::Integer(self.status), first[0].clone()];
            session.begin()?;
            session.execute(SET_STATUS, &parameters)?;
            session.commit()?;
        }
        Ok(TransactionEnd::Committed)
    }
}

/// *Browse Orders*: a customer with several orders wants one more of an item of one of them.
pub(super) struct OrderBrowsing {
    kind: usize,
    run: Arc<OrderEntryRun>,
    customer_id: i64,
    /// Which order and which of its items, modulo how many there are.
    picks: [u64; 2],
    logon: Logon,
}

impl OrderBrowsing {
    pub(super) fn new(kind: usize, run: &Arc<OrderEntryRun>, random: &mut SeededRandom) -> Self {
        Self {
            kind,
            run: Arc::clone(run),
            customer_id: random.between(1, run.rows.customers),
            picks: [random.next_u64(), random.next_u64()],
            logon: Logon::new(run),
        }
    }
}

impl WorkloadTransaction for OrderBrowsing {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        customer(session, self.customer_id)?;
        addresses(session, self.customer_id)?;
        self.logon.record(session, &self.run, self.customer_id)?;
        let orders = session.query(ORDERS, &[SqlValue::Integer(self.customer_id)])?;
        if orders.len() < 2 {
            return Ok(TransactionEnd::Committed);
        }
        let order_id = &picked(&orders, self.picks[0])[0];
        let items = session.query(ITEMS, std::slice::from_ref(order_id))?;
        if items.is_empty() {
            return Ok(TransactionEnd::Committed);
        }
        let item = picked(&items, self.picks[1]);
        session.begin()?;
        session.execute(ONE_MORE, &[order_id.clone(), item[1].clone()])?;
        session.execute(ADD_TO_TOTAL, &[item[2].clone(), order_id.clone()])?;
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

/// One of the rows, of which there is at least one.
fn picked<T>(rows: &[T], pick: u64) -> &T {
    &rows[(pick % rows.len() as u64) as usize]
}
