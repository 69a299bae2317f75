//! The Stock-Level transaction (TPC-C, clause 2.8): how many items of a district's last 20 orders run short?

use super::parameters::TerminalParameters;
use crate::workloads::statements::{QueryResult, integer};
use crate::{SessionError, TransactionEnd, WorkloadSession, WorkloadTransaction};

/// The parameters of the question, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockLevel {
    kind: usize,
    pub warehouse: i64,
    pub district: i64,
    pub threshold: i64,
    /// `None` until it is executed.
    pub low_items: Option<i64>,
}

const ORDERS: i64 = 20;

impl StockLevel {
    /// Draws a threshold; the district is the terminal's (clause 2.8.1).
    pub(super) fn draw(kind: usize, source: &mut TerminalParameters) -> Self {
        Self {
            kind,
            warehouse: source.warehouse,
            district: source.district,
            threshold: source.random.between(10, 20),
            low_items: None,
        }
    }
}

impl WorkloadTransaction for StockLevel {
    fn kind(&self) -> usize {
        self.kind
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        session.begin()?;
        let (warehouse, district) = (integer(self.warehouse), integer(self.district));
        let place = [warehouse.clone(), district.clone()];
        let next = QueryResult::of_existing(session, READ_NEXT, &place)?.integer(0, 0)?;
        let parameters = [
            warehouse.clone(),
            district,
            integer(next - ORDERS),
            integer(next),
            warehouse,
            integer(self.threshold),
        ];
        let counted = QueryResult::of_existing(session, COUNT_LOW, &parameters)?;
        self.low_items = Some(counted.integer(0, 0)?);
        session.commit()?;
        Ok(TransactionEnd::Committed)
    }
}

const READ_NEXT: &str = "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
const COUNT_LOW: &str = "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock \
    WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 \
    AND s_w_id = $5 AND s_i_id = ol_i_id AND s_quantity < $6";
