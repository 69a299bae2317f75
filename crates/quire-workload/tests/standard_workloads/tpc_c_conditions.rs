//! The transactions of TPC-C on SQLite, and its consistency conditions: they hold, and each fails when its data is damaged.

use crate::harness::{LoadedDatabase, NONE, run, violated};
use quire_workload::workloads::tpc_c::{TpcC, TpcCScale};
use quire_workload::{TransactionEnd, User, Workload, WorkloadSession, WorkloadTransaction};

const WAREHOUSES: u32 = 2;
const OF_EACH_KIND: usize = 200;

/// A user who leaves out transactions of a kind that was run often enough.
struct EvenUser<'a> {
    user: Box<dyn User>,
    counts: &'a mut [usize; 5],
    most: usize,
}

impl User for EvenUser<'_> {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        while self.counts.iter().any(|&count| count < self.most) {
            let transaction = self.user.next()?;
            let count = &mut self.counts[transaction.kind()];
            if *count < self.most {
                *count += 1;
                return Some(transaction);
            }
        }
        None
    }
}

fn workload(seed: u64) -> TpcC {
    TpcC::new(TpcCScale::reduced(WAREHOUSES), seed)
}

#[test]
fn all_conditions_hold_at_load_and_after_hundreds_of_transactions_of_each_kind() {
    let workload = workload(3);
    let database = LoadedDatabase::new(&workload);
    let mut session = database.session();
    let outcomes = workload.check(session.as_mut()).unwrap();
    assert_eq!(outcomes.len(), 12);
    assert_eq!(violated(&outcomes), NONE, "{outcomes:#?}");

    let mut counts = [0; 5];
    let mut ends = Vec::new();
    for number in 0..4 {
        let mut user = EvenUser {
            user: workload.user(number),
            counts: &mut counts,
            most: OF_EACH_KIND * (number as usize + 1) / 4,
        };
        ends.extend(run(session.as_mut(), &mut user, usize::MAX));
        let outcomes = workload.check(session.as_mut()).unwrap();
        assert_eq!(
            violated(&outcomes),
            NONE,
            "after user {number}: {outcomes:#?}"
        );
    }
    assert_eq!(counts, [OF_EACH_KIND; 5]);
    assert_rows_after(&database, &ends);
}

/// Counts that follow from what was run, without the conditions.
fn assert_rows_after(database: &LoadedDatabase, ends: &[(usize, TransactionEnd)]) {
    let committed = |kind| {
        ends.iter()
            .filter(move |end| **end == (kind, TransactionEnd::Committed))
    };
    let new_orders = committed(0).count() as i64;
    let payments = committed(1).count() as i64;
    assert_eq!(
        database.integer("SELECT COUNT(*) FROM orders"),
        600 + new_orders
    );
    assert_eq!(
        database.integer("SELECT COUNT(*) FROM history"),
        600 + payments
    );
    assert_eq!(
        database.integer("SELECT SUM(d_next_o_id) FROM district"),
        20 * 31 + new_orders
    );
    assert_eq!(
        database.integer("SELECT SUM(c_payment_cnt) FROM customer"),
        600 + payments
    );
    // An order line takes goods from the stock once.
    assert_eq!(
        database.integer("SELECT SUM(s_order_cnt) FROM stock"),
        database.integer("SELECT COUNT(*) FROM order_line WHERE ol_o_id > 30")
    );
    assert_eq!(
        database.integer("SELECT SUM(s_ytd) FROM stock"),
        database.integer("SELECT SUM(ol_quantity) FROM order_line WHERE ol_o_id > 30")
    );
    assert_eq!(
        database.integer("SELECT SUM(s_remote_cnt) FROM stock"),
        database.integer("SELECT COUNT(*) FROM order_line WHERE ol_supply_w_id <> ol_w_id")
    );
    // 200 deliveries of ten districts: more than there were orders, so all that were there in time are delivered.
    let delivered = database.integer("SELECT SUM(c_delivery_cnt) FROM customer");
    let waiting = database.integer("SELECT COUNT(*) FROM new_order");
    assert_eq!(delivered + waiting, 180 + new_orders);
    assert!(delivered >= 180, "{delivered}");
    let quantities = "SELECT COUNT(*) FROM stock WHERE s_quantity < 10 OR s_quantity > 100";
    assert_eq!(database.integer(quantities), 0);
    let bad = "SELECT COUNT(*) FROM customer WHERE c_credit = 'BC' AND c_payment_cnt > 1 AND \
               (c_data NOT LIKE '% % % % % %' OR LENGTH(c_data) > 500)";
    assert_eq!(database.integer(bad), 0);
}

/// What is done to the data just loaded, and the conditions that must not hold then, and no others.
const DAMAGES: [(&[&str], &[usize]); 20] = [
    (
        &["UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2"],
        &[1, 8],
    ),
    (
        &["UPDATE district SET d_ytd = d_ytd - 0.01 WHERE d_w_id = 1 AND d_id = 3"],
        &[1, 9],
    ),
    (
        &[
            "UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 1",
            "UPDATE district SET d_ytd = d_ytd + 0.01 WHERE d_w_id = 1 AND d_id = 3",
        ],
        &[8, 9],
    ),
    (
        &["UPDATE district SET d_next_o_id = 32 WHERE d_w_id = 2 AND d_id = 10"],
        &[2],
    ),
    (
        &["DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 30"],
        &[2, 5, 11],
    ),
    (
        &["DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 25"],
        &[3, 5, 11],
    ),
    (
        &["INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 21)"],
        &[5, 11],
    ),
    (
        &["INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (1, 1, 31)"],
        &[2, 5, 11],
    ),
    (
        &["UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 7"],
        &[4, 6],
    ),
    (
        &[
            "UPDATE orders SET o_ol_cnt = o_ol_cnt + 1 WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 7",
            "UPDATE orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_w_id = 1 AND o_d_id = 2 AND o_id = 8",
        ],
        &[6],
    ),
    (
        &[
            "DELETE FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 4 AND ol_o_id = 9 AND ol_number = 1",
        ],
        &[4, 6],
    ),
    (
        &[
            "UPDATE order_line SET ol_o_id = 99 WHERE ol_w_id = 2 AND ol_d_id = 4 AND ol_o_id = 9 AND ol_number = 1",
        ],
        &[6],
    ),
    (
        &["UPDATE orders SET o_carrier_id = NULL WHERE o_w_id = 2 AND o_d_id = 1 AND o_id = 21"],
        &[5, 7],
    ),
    (
        &[
            "UPDATE order_line SET ol_delivery_d = NULL WHERE ol_w_id = 2 AND ol_d_id = 1 AND ol_o_id = 21 AND ol_number = 1",
        ],
        &[7],
    ),
    (
        &["UPDATE history SET h_d_id = 2 WHERE h_w_id = 1 AND h_d_id = 1 AND h_c_id = 5"],
        &[9],
    ),
    (
        &["UPDATE history SET h_amount = 10.01 WHERE h_w_id = 1 AND h_d_id = 1 AND h_c_id = 5"],
        &[8, 9, 10],
    ),
    (
        &[
            "UPDATE customer SET c_balance = c_balance + 0.01 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 5",
        ],
        &[10, 12],
    ),
    (
        &[
            "UPDATE customer SET c_balance = c_balance + 0.01, c_ytd_payment = c_ytd_payment - 0.01 \
           WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 5",
        ],
        &[10],
    ),
    (
        &["UPDATE customer SET c_delivery_cnt = 1 WHERE c_w_id = 1 AND c_d_id = 9 AND c_id = 30"],
        &[11],
    ),
    (
        &["UPDATE customer SET c_ytd_payment = 9.99 WHERE c_w_id = 1 AND c_d_id = 9 AND c_id = 30"],
        &[12],
    ),
];

#[test]
fn each_condition_fails_when_its_data_is_damaged() {
    let workload = workload(4);
    let database = LoadedDatabase::new(&workload);
    let mut session = database.session();
    for (statements, expected) in DAMAGES {
        session.begin().unwrap();
        for statement in statements {
            assert_eq!(session.execute(statement, &[]).unwrap(), 1, "{statement}");
        }
        let outcomes = workload.check(session.as_mut()).unwrap();
        assert_eq!(
            violated(&outcomes),
            expected,
            "{statements:?}: {outcomes:#?}"
        );
        session.rollback().unwrap();
    }
    for number in 1..=12 {
        let is_tested = DAMAGES
            .iter()
            .any(|(_, violated)| violated.contains(&number));
        assert!(is_tested, "no damage is done to condition {number}");
    }
    assert_eq!(violated(&workload.check(session.as_mut()).unwrap()), NONE);
}

#[test]
fn findings_name_the_rows_that_violate_a_condition() {
    let workload = workload(5);
    let database = LoadedDatabase::new(&workload);
    let mut session: Box<dyn WorkloadSession> = database.session();
    let sql =
        "UPDATE customer SET c_ytd_payment = 9.99 WHERE c_w_id = 2 AND c_d_id = 9 AND c_id = 30";
    session.execute(sql, &[]).unwrap();
    let outcomes = workload.check(session.as_mut()).unwrap();
    let finding = &outcomes[11].finding;
    assert!(outcomes[11].name.starts_with("3.3.2.12"));
    assert!(
        finding.contains("warehouse 2, district 9, customer 30"),
        "{finding}"
    );
    assert!(finding.contains("is -1, not 0"), "{finding}");
}
