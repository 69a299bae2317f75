//! The Order-Status transaction (TPC-C, clause 2.6): a customer asks for the last order.

use super::customer_search::customer_id;
use super::parameters::{CustomerChoice, TerminalParameters};
use crate::workloads::statements::{QueryResult, integer};
use crate::{SessionError, TransactionEnd, WorkloadSession, WorkloadTransaction};

/// The parameters of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    kind: usize,
    pub warehouse: i64,
    pub district: i64,
    pub customer: CustomerChoice,
}

impl OrderStatus {
    /// Draws a customer of the home warehouse (clause 2.6.1).
    pub(super) fn draw(kind: usize, source: &mut TerminalParameters) -> Self {
        Self {
            kind,
            warehouse: source.warehouse,
            district: source.any_district(),
            customer: source.customer_choice(),
        }
    }
}

impl WorkloadTransaction for OrderStatus {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let id = customer_id(session, self.warehouse, self.district, &self.customer)?;
        let customer = [integer(self.warehouse), integer(self.district), integer(id)];
        QueryResult::of_existing(session, READ_CUSTOMER, &customer)?;
        let order = QueryResult::of_existing(session, READ_LAST_ORDER, &customer)?;
        let of_order = [
            integer(self.warehouse),
            integer(self.district),
            integer(order.integer(0, 0)?),
        ];
        QueryResult::of_existing(session, READ_LINES, &of_order)?;
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

const READ_CUSTOMER: &str = "SELECT c_balance, c_first, c_middle, c_last FROM customer \
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
const READ_LAST_ORDER: &str = "SELECT o_id, o_entry_d, o_carrier_id FROM orders \
    WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1";
const READ_LINES: &str = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
