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
    ConditionOutcome, SeededRandom, SessionError, TransactionKind, User, Workload, WorkloadRowSink,
    WorkloadSession, WorkloadTable, WorkloadTransaction,
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

    fn tables(&self) -> Vec<WorkloadTable> {
        schema::tables()
    }

    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
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

    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        conditions::evaluate(session, self.population.scale)
    }
}

/// A terminal of a warehouse.
struct Terminal(TerminalParameters);

impl User for Terminal {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const WAREHOUSES: u32 = 4;

    fn terminal(seed: u64) -> TerminalParameters {
        let scale = TpcCScale::full(WAREHOUSES);
        TerminalParameters {
            random: SeededRandom::new(seed),
            scale,
            constants: RunConstants::of_seed(seed),
            warehouse: 2,
            district: 3,
        }
    }

    /// Whether so many of 20,000 are a share, within five standard deviations.
    #[track_caller]
    fn assert_share(count: usize, of: usize, share: f64) {
        let deviation = (share * (1.0 - share) * of as f64).sqrt();
        let distance = (count as f64 - share * of as f64).abs();
        assert!(distance < 5.0 * deviation, "{count} of {of} is not {share}");
    }

    /// Clause 2.4.1.
    #[test]
    fn new_orders_are_drawn_as_specified() {
        let mut source = terminal(21);
        let orders: Vec<NewOrder> = (0..20_000)
            .map(|_| NewOrder::draw(0, &mut source))
            .collect();
        let is_wrong = |order: &&NewOrder| order.lines.iter().any(|line| line.item > 100_000);
        let wrong: Vec<&NewOrder> = orders.iter().filter(is_wrong).collect();
        assert_share(wrong.len(), orders.len(), 0.01);
        for order in &wrong {
            let place = order.lines.iter().position(|line| line.item > 100_000);
            assert_eq!(place, Some(order.lines.len() - 1), "the last line");
        }
        let lines: Vec<&NewOrderLine> = orders.iter().flat_map(|order| &order.lines).collect();
        let remote = lines
            .iter()
            .filter(|line| line.supply_warehouse != 2)
            .count();
        assert_share(remote, lines.len(), 0.01);
        assert!(
            lines
                .iter()
                .all(|line| (1..=4).contains(&line.supply_warehouse))
        );
        assert!(lines.iter().all(|line| (1..=10).contains(&line.quantity)));
        let mean = lines.len() as f64 / orders.len() as f64;
        assert!((mean - 10.0).abs() < 0.15, "{mean}");
        for order in &orders {
            assert_eq!(order.warehouse, 2);
            assert!((1..=10).contains(&order.district));
            assert!((1..=3_000).contains(&order.customer));
            assert!((5..=15).contains(&order.lines.len()));
        }
        let first = orders.iter().filter(|order| order.district == 1).count();
        assert_share(first, orders.len(), 0.1);
    }

    /// Clause 2.5.1.
    #[test]
    fn payments_are_drawn_as_specified() {
        let mut source = terminal(22);
        let payments: Vec<Payment> = (0..20_000).map(|_| Payment::draw(1, &mut source)).collect();
        let share_of = |is: &dyn Fn(&&Payment) -> bool| payments.iter().filter(is).count();
        let remote = share_of(&|payment| payment.customer_warehouse != 2);
        assert_share(remote, payments.len(), 0.15);
        let by_name = share_of(&|one| matches!(one.customer, CustomerChoice::LastName(_)));
        assert_share(by_name, payments.len(), 0.6);
        for payment in &payments {
            assert!((100..=500_000).contains(&payment.cents));
            assert_eq!(payment.warehouse, 2);
            assert!((1..=4).contains(&payment.customer_warehouse));
            let is_home = payment.customer_warehouse == 2;
            assert!(!is_home || payment.customer_district == payment.district);
        }
    }

    #[test]
    fn the_other_transactions_are_drawn_as_specified() {
        let mut source = terminal(23);
        for _ in 0..1_000 {
            let status = OrderStatus::draw(2, &mut source);
            assert_eq!(status.warehouse, 2);
            assert!((1..=10).contains(&status.district));
            let delivery = Delivery::draw(3, &mut source);
            assert_eq!(delivery.warehouse, 2);
            assert!((1..=10).contains(&delivery.carrier));
            let level = StockLevel::draw(4, &mut source);
            assert_eq!((level.warehouse, level.district), (2, 3));
            assert!((10..=20).contains(&level.threshold));
        }
    }

    #[test]
    fn a_seed_decides_the_parameters() {
        let draw = |seed| {
            let mut source = terminal(seed);
            let draws = (0..50).map(|_| {
                (
                    NewOrder::draw(0, &mut source),
                    Payment::draw(1, &mut source),
                )
            });
            draws.collect::<Vec<_>>()
        };
        assert_eq!(draw(24), draw(24));
        assert_ne!(draw(24), draw(25));
    }

    /// The mix of clause 5.2.3, and homes of terminals of clause 2.4.1.1.
    #[test]
    fn kinds_come_in_their_shares() {
        let workload = TpcC::new(TpcCScale::full(WAREHOUSES), 26);
        let mut counts = [0; 5];
        let mut user = workload.user(9);
        for _ in 0..20_000 {
            counts[user.next().unwrap().kind()] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.45, 0.43, 0.04, 0.04, 0.04]) {
            assert_share(count, 20_000, share);
        }
        let kinds = workload.kinds();
        assert_eq!(kinds.iter().map(|kind| kind.weight).sum::<u32>(), 100);
    }

    /// 300 new orders in 90 seconds are 200 in a minute.
    #[test]
    fn new_orders_are_counted_by_the_minute() {
        let rate = TpcC::new_orders_per_minute(300, Duration::from_secs(90));
        assert!((rate - 200.0).abs() < 1e-9);
    }
}
