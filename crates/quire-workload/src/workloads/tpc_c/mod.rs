//! TPC-C, the order entry of a wholesale supplier (TPC Benchmark C, revision 5.11).
//!
//! Warehouses with ten districts each, customers, orders and stock, and five transactions of which 45 % enter an order. Results are *not*
//! TPC results: there are no keying and think times unless the driver has them, no terminals, and no rules of a measurement interval.
//!
//! ```
//! use quire_workload::workloads::tpc_c::{TpcC, TpcCScale};
//! use quire_workload::Workload;
//!
//! let workload = TpcC::new(TpcCScale::reduced(2), 1);
//! assert_eq!(workload.tables().len(), 9);
//! let mut terminal = workload.user(0);
//! let transaction = terminal.next().expect("TPC-C does not end");
//! println!("{}", workload.kinds()[transaction.kind()].name);
//! ```

mod conditions;
mod customer_search;
mod delivery;
mod new_order;
mod order_status;
mod parameters;
mod payment;
mod population;
mod random_values;
mod scale;
mod schema;
mod stock_level;

use crate::{
    ConditionOutcome, RowSink, SeededRandom, Session, SessionError, TableDefinition, Transaction,
    TransactionKind, User, Workload,
};
pub use delivery::Delivery;
pub use new_order::{NewOrder, NewOrderLine};
pub use order_status::OrderStatus;
pub use parameters::CustomerChoice;
use parameters::TerminalParameters;
pub use payment::Payment;
use population::Population;
use random_values::RunConstants;
pub use scale::TpcCScale;
use std::io;
use std::time::Duration;
pub use stock_level::StockLevel;

/// The workload.
#[derive(Clone, Copy, Debug)]
pub struct TpcC {
    population: Population,
}

/// The least shares of the other four that clause 5.2.3 allows, and 45 % of New-Order.
const WEIGHTS: [(&str, u32, bool); 5] = [
    ("new-order", 45, false),
    ("payment", 43, false),
    ("order-status", 4, true),
    ("delivery", 4, false),
    ("stock-level", 4, true),
];
const NEW_ORDER: usize = 0;
const PAYMENT: usize = 1;
const ORDER_STATUS: usize = 2;
const DELIVERY: usize = 3;
const STOCK_LEVEL: usize = 4;

impl TpcC {
    /// A database of that size, with the rows and transactions of a seed. There is at least one warehouse.
    pub fn new(scale: TpcCScale, seed: u64) -> Self {
        let scale = TpcCScale {
            warehouses: scale.warehouses.max(1),
            ..scale
        };
        let constants = RunConstants::of_seed(seed);
        Self {
            population: Population {
                scale,
                seed,
                constants,
            },
        }
    }

    /// New orders per minute, like tpmC but *not a TPC result*: those committed and those rolled back because of a wrong item (clause 5.4),
    /// in the time measured.
    pub fn new_orders_per_minute(new_orders: u64, measured: Duration) -> f64 {
        new_orders as f64 * 60.0 / measured.as_secs_f64()
    }
}

impl Workload for TpcC {
    fn name(&self) -> &'static str {
        "tpc-c"
    }

    fn about(&self) -> &'static str {
        "TPC-C 5.11: order entry of a wholesale supplier, by warehouses; not a TPC result"
    }

    fn tables(&self) -> Vec<TableDefinition> {
        schema::tables()
    }

    fn generate(&self, table: &str, rows: &mut dyn RowSink) -> io::Result<()> {
        self.population.generate(table, rows)
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        let kind = |(name, weight, reads_only)| TransactionKind {
            name,
            weight,
            reads_only,
        };
        WEIGHTS.map(kind).into()
    }

    /// Terminals are dealt to the warehouses in turn, and at each warehouse to its districts.
    fn user(&self, number: u32) -> Box<dyn User> {
        let Population {
            scale,
            seed,
            constants,
        } = self.population;
        let (warehouses, number) = (i64::from(scale.warehouses), i64::from(number));
        Box::new(Terminal(TerminalParameters {
            random: SeededRandom::of_part(seed, 1 << 63 | number as u64),
            scale,
            constants,
            warehouse: number % warehouses + 1,
            district: number / warehouses % scale::DISTRICTS_OF_WAREHOUSE + 1,
        }))
    }

    fn check(&self, session: &mut dyn Session) -> Result<Vec<ConditionOutcome>, SessionError> {
        conditions::evaluate(session, self.population.scale)
    }
}

/// A terminal of a warehouse.
struct Terminal(TerminalParameters);

impl User for Terminal {
    fn next(&mut self) -> Option<Box<dyn Transaction>> {
        let source = &mut self.0;
        let kind = source
            .random
            .weighted(&WEIGHTS.map(|(_, weight, _)| weight));
        Some(match kind {
            NEW_ORDER => Box::new(NewOrder::draw(kind, source)),
            PAYMENT => Box::new(Payment::draw(kind, source)),
            ORDER_STATUS => Box::new(OrderStatus::draw(kind, source)),
            DELIVERY => Box::new(Delivery::draw(kind, source)),
            STOCK_LEVEL => Box::new(StockLevel::draw(kind, source)),
            _ => unreachable!("there are five kinds"),
        })
    }
}
