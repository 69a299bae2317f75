//! What do the customers, clerks and warehouses of a shop do?
//!
//! Swingbench's Order Entry, version 2 of its schema, the first scenario of Suharjito and Kurnadi, *OLTP performance improvement using
//! file-systems layer compression* (§2.2, Table 2).

mod cardinality;
mod catalogue_rows;
mod conditions;
mod customer_changes;
mod customer_rows;
mod generation;
mod lookups;
mod names;
mod order_changes;
mod order_rows;
mod ordering;
mod reports;
mod run;
mod samples;
mod schema;

pub use cardinality::OrderEntryRows;

use crate::{
    ConditionOutcome, SeededRandom, SessionError, TransactionKind, User, Workload, WorkloadRowSink,
    WorkloadSession, WorkloadTable, WorkloadTransaction,
};
use conditions::GeneratedSums;
use customer_changes::{AddressChange, Registration};
use order_changes::{OrderBrowsing, Processing};
use ordering::{ProductBrowsing, ProductOrdering};
use reports::OrderReport;
use run::OrderEntryRun;
use std::io;
use std::sync::Arc;

/// Names of the kinds, their weights in Swingbench's configuration and in the paper's Table 2, and whether they change nothing.
const KINDS: [(&str, u32, u32, bool); 9] = [
    ("Customer Registration", 15, 15, false),
    ("Update Customer Details", 10, 10, false),
    ("Browse Products", 50, 40, false),
    ("Order Products", 40, 0, false),
    ("Process Orders", 5, 5, false),
    ("Browse Orders", 5, 5, false),
    ("Sales Rep Query", 2, 2, true),
    ("Warehouse Query", 2, 2, true),
    ("Warehouse Activity Query", 2, 2, true),
];
/// The kinds that Swingbench enables.
const ENABLED_KINDS: usize = 6;
/// Seeds of users are numbered from here, those of tables from 0.
const FIRST_USER_PART: u64 = 1_000;

/// How often each transaction is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderEntryWeights {
    /// Swingbench's configuration of version 2 of the schema: 15, 10, 50, 40, 5, 5.
    #[default]
    Swingbench,
    /// As Table 2 of the paper prints them: 15, 10, 40, none for Order Products, 5, 5.
    Paper,
}

/// The workload.
pub struct OrderEntry {
    seed: u64,
    weights: OrderEntryWeights,
    with_reports: bool,
    run: Arc<OrderEntryRun>,
}

impl OrderEntry {
    /// The workload at a scale, of which 1 is Swingbench's "1 GB", with the rows and transactions of a seed.
    pub fn new(scale: f64, seed: u64) -> Self {
        Self::with_rows(OrderEntryRows::of_scale(scale), seed)
    }

    /// The workload with tables of any number of rows.
    pub fn with_rows(rows: OrderEntryRows, seed: u64) -> Self {
        Self {
            seed,
            weights: OrderEntryWeights::default(),
            with_reports: false,
            run: Arc::new(OrderEntryRun::new(rows)),
        }
    }

    /// The same with other weights.
    #[must_use]
    pub fn weighted(mut self, weights: OrderEntryWeights) -> Self {
        self.weights = weights;
        self
    }

    /// The same with the three reporting queries, of weight 2 each.
    #[must_use]
    pub fn with_reports(mut self) -> Self {
        self.with_reports = true;
        self
    }
}

impl Workload for OrderEntry {
    fn name(&self) -> &'static str {
        "order-entry"
    }

    fn about(&self) -> &'static str {
        "Swingbench's Order Entry: customers of a shop register, browse products and order them"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        schema::tables()
    }

    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        generation::generate(table, &self.run.rows, self.seed, rows)
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        let kinds = if self.with_reports {
            &KINDS[..]
        } else {
            &KINDS[..ENABLED_KINDS]
        };
        kinds
            .iter()
            .map(|&(name, swingbench, paper, reads_only)| TransactionKind {
                name,
                weight: match self.weights {
                    OrderEntryWeights::Swingbench => swingbench,
                    OrderEntryWeights::Paper => paper,
                },
                reads_only,
            })
            .collect()
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        Box::new(OrderEntryUser {
            random: SeededRandom::of_part(self.seed, FIRST_USER_PART + u64::from(number)),
            weights: self.kinds().iter().map(|kind| kind.weight).collect(),
            run: Arc::clone(&self.run),
        })
    }

    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let generated =
            GeneratedSums::of(&self.run.rows, self.seed).map_err(|error| SessionError::Failed {
                statement: "generation of rows".into(),
                message: error.to_string(),
            })?;
        conditions::check(session, &self.run.rows, &generated)
    }
}

struct OrderEntryUser {
    random: SeededRandom,
    weights: Vec<u32>,
    run: Arc<OrderEntryRun>,
}

impl User for OrderEntryUser {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        let (run, random) = (&self.run, &mut self.random);
        let kind = random.weighted(&self.weights);
        Some(match kind {
            0 => Box::new(Registration::new(kind, run, random)),
            1 => Box::new(AddressChange::new(kind, run, random)),
            2 => Box::new(ProductBrowsing::new(kind, run, random)),
            3 => Box::new(ProductOrdering::new(kind, run, random)),
            4 => Box::new(Processing::new(kind, run, random)),
            5 => Box::new(OrderBrowsing::new(kind, run, random)),
            6 => Box::new(OrderReport::of_sales_rep(kind, random)),
            7 => Box::new(OrderReport::of_warehouse(kind, run, random)),
            _ => Box::new(OrderReport::of_activity(kind, run, random)),
        })
    }
}
