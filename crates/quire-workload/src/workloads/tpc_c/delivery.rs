//! The Delivery transaction (TPC-C, clause 2.7): the oldest new order of each district of a warehouse is delivered.
//!
//! Two deliveries may read the same oldest order. Only one deletes its row of `new_order`: the other one waits for that and then finds no
//! row, or fails under snapshot isolation; in both cases it is run again. All begin with district 1, so this happens before it has changed
//! anything.

use super::parameters::TerminalParameters;
use super::scale::DISTRICTS_OF_WAREHOUSE;
use crate::workloads::statements::{QueryResult, change_one, integer, money, now};
use crate::{SessionError, TransactionEnd, WorkloadSession, WorkloadTransaction};

/// The parameters of a delivery, and what is recorded of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    kind: usize,
    pub warehouse: i64,
    pub carrier: i64,
    /// Districts that had no new order, when it was executed last.
    pub skipped_districts: u32,
}

impl Delivery {
    /// Draws a carrier (clause 2.7.1).
    pub(super) fn draw(kind: usize, source: &mut TerminalParameters) -> Self {
        Self {
            kind,
            warehouse: source.warehouse,
            carrier: source.random.between(1, 10),
            skipped_districts: 0,
        }
    }

    /// Delivers the oldest order of a district, if there is one.
    fn deliver(
        &self,
        session: &mut dyn WorkloadSession,
        district: i64,
    ) -> Result<bool, SessionError> {
        let place = [integer(self.warehouse), integer(district)];
        let oldest = QueryResult::of(session, READ_OLDEST, &place)?;
        if oldest.count() == 0 {
            return Ok(false);
        }
        let order = oldest.integer(0, 0)?;
        let of_order = || {
            let [warehouse, district] = place.clone();
            [warehouse, district, integer(order)]
        };
        if session.execute(DELETE_NEW_ORDER, &of_order())? == 0 {
            return Err(SessionError::Retry(format!(
                "another delivery has taken order {order} of district {district}"
            )));
        }
        let customer = QueryResult::of_existing(session, READ_ORDER, &of_order())?.integer(0, 0)?;
        let with = |value| [&[value], of_order().as_slice()].concat();
        change_one(session, SET_CARRIER, &with(integer(self.carrier)))?;
        session.execute(SET_DELIVERY, &with(now()))?;
        let cents = QueryResult::of_existing(session, SUM_LINES, &of_order())?.unscaled(0, 0, 2)?;
        let [warehouse, district] = place.clone();
        let change = [money(cents), warehouse, district, integer(customer)];
        change_one(session, CHARGE_CUSTOMER, &change)?;
        Ok(true)
    }
}

impl WorkloadTransaction for Delivery {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        self.skipped_districts = 0;
        session.begin()?;
        for district in 1..=DISTRICTS_OF_WAREHOUSE {
            if !self.deliver(session, district)? {
                self.skipped_districts += 1;
            }
        }
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

const READ_OLDEST: &str = "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 \
    ORDER BY no_o_id LIMIT 1";
const DELETE_NEW_ORDER: &str =
    "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3";
const READ_ORDER: &str =
    "SELECT o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3";
const SET_CARRIER: &str =
    "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4";
const SET_DELIVERY: &str = "UPDATE order_line SET ol_delivery_d = $1 \
    WHERE ol_w_id = $2 AND ol_d_id = $3 AND ol_o_id = $4";
const SUM_LINES: &str = "SELECT SUM(ol_amount) FROM order_line \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
const CHARGE_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance + $1, \
    c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
