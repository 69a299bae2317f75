//! What do customers of a telephone company do with their circles of ten numbers that they call cheaply?
//!
//! Swingbench's Calling Circle, the second scenario of Suharjito and Kurnadi, *OLTP performance improvement using file-systems layer
//! compression* (§2.2, Table 3).

mod accounts;
mod conditions;
mod generation;
mod lookups;
mod parameters;
mod run;
mod schema;
mod slot_change;
mod transactions;

use crate::{
    ConditionOutcome, SeededRandom, SessionError, TransactionKind, User, Workload, WorkloadRowSink,
    WorkloadSession, WorkloadTable, WorkloadTransaction,
};
use accounts::Accounts;
use parameters::{ParameterStock, WEIGHTS};
use run::CallingCircleRun;
use std::io;
use std::sync::Arc;
use transactions::CircleTransaction;

/// The workload.
pub struct CallingCircle {
    seed: u64,
    accounts: Accounts,
    run: Arc<CallingCircleRun>,
}

impl CallingCircle {
    /// The workload at a scale, of which 1 is a million accounts and 10 the greatest, with the transactions of a seed. Its users never run
    /// out of parameters.
    pub fn new(scale: f64, seed: u64) -> Self {
        Self::with_stock(Accounts::of_scale(scale), seed, None)
    }

    /// The same with parameters for `prepared` transactions, as the original counts them: a quarter as many new customers, as many
    /// updates and half as many queries. Users end when these are used up. The paper prepares 8,000, for 14,000 transactions.
    #[must_use]
    pub fn prepared(self, prepared: u64) -> Self {
        Self::with_stock(self.accounts, self.seed, Some(prepared))
    }

    fn with_stock(accounts: Accounts, seed: u64, prepared: Option<u64>) -> Self {
        let stock = ParameterStock::new(accounts, prepared);
        Self {
            seed,
            accounts,
            run: Arc::new(CallingCircleRun::new(stock)),
        }
    }
}

impl Workload for CallingCircle {
    fn name(&self) -> &'static str {
        "calling-circle"
    }

    fn about(&self) -> &'static str {
        "Swingbench's Calling Circle: customers of a telephone company change the numbers that they call cheaply"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        schema::tables()
    }

    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        generation::generate(table, self.accounts, rows)
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        let names = [
            "New Customer",
            "Update Customer Details",
            "Retrieve Customer Details",
        ];
        names
            .into_iter()
            .zip(WEIGHTS)
            .map(|(name, weight)| TransactionKind {
                name,
                weight,
                // Retrieving logs in, which is recorded.
                reads_only: false,
            })
            .collect()
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        Box::new(CallingCircleUser {
            random: SeededRandom::of_part(self.seed, u64::from(number)),
            run: Arc::clone(&self.run),
        })
    }

    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        conditions::check(session)
    }
}

struct CallingCircleUser {
    random: SeededRandom,
    run: Arc<CallingCircleRun>,
}

impl User for CallingCircleUser {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        let parameters = self.run.stock.take(&mut self.random)?;
        Some(Box::new(CircleTransaction::new(&self.run, parameters)))
    }
}
