//! TPC-B's rows, transactions and conditions.

use crate::harness::{LoadedDatabase, NONE, assert_seeded, rows_of, run, violated};
use quire_workload::workloads::tpc_b::{AccountRule, TpcB};
use quire_workload::{SqlValue, Workload};

fn small(rule: AccountRule) -> TpcB {
    TpcB {
        accounts_of_branch: 100,
        rule,
        ..TpcB::new(3, 5)
    }
}

/// Clause 4.2: for each branch, 10 tellers and 100,000 accounts, all with a balance of 0; rows of at least 100 bytes.
#[test]
fn rows_are_those_of_the_specification() {
    let workload = TpcB::new(2, 1);
    let rows = |table| rows_of(&workload, table);
    let (branches, tellers, accounts) = (
        rows("pgbench_branches"),
        rows("pgbench_tellers"),
        rows("pgbench_accounts"),
    );
    assert_eq!(
        (branches.len(), tellers.len(), accounts.len()),
        (2, 20, 200_000)
    );
    assert!(rows("pgbench_history").is_empty());
    for (of_branch, rows) in [(10, tellers), (100_000, accounts)] {
        for (index, row) in (0..).zip(rows) {
            let expected = [index + 1, index / of_branch + 1, 0].map(SqlValue::Integer);
            assert_eq!(row[..3], expected);
            assert_eq!(row[3].as_text().unwrap().len(), 84);
        }
    }
}

#[test]
fn conditions_hold_after_a_run_and_fail_after_damage() {
    for rule in [AccountRule::LocalAccounts, AccountRule::Pgbench] {
        let workload = small(rule);
        let database = LoadedDatabase::new(&workload);
        let mut session = database.session();
        for number in 0..3 {
            run(session.as_mut(), workload.user(number).as_mut(), 100);
        }
        let outcomes = workload.check(session.as_mut()).unwrap();
        assert_eq!(violated(&outcomes), NONE, "{rule:?}: {outcomes:#?}");
        assert_eq!(
            database.integer("SELECT COUNT(*) FROM pgbench_history"),
            300
        );
        let is_local = rule == AccountRule::LocalAccounts;
        let of_tellers: &[usize] = if is_local { &[5] } else { &[] };
        for (sql, expected) in [
            (
                "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 7",
                [&[1, 4], &[][..]],
            ),
            (
                "UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 7",
                [&[1, 3], of_tellers],
            ),
            (
                "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 3",
                [&[1, 2], of_tellers],
            ),
            (
                "INSERT INTO pgbench_history VALUES (1, 1, 1, 5, '2024-01-01 00:00:00', 'x')",
                [&[1, 2, 3, 4][..], &[]],
            ),
        ] {
            session.begin().unwrap();
            assert_eq!(session.execute(sql, &[]).unwrap(), 1);
            let outcomes = workload.check(session.as_mut()).unwrap();
            assert_eq!(violated(&outcomes), expected.concat(), "{rule:?}: {sql}");
            session.rollback().unwrap();
        }
    }
}

#[test]
fn a_seed_decides_rows_and_transactions() {
    let workload = |seed| TpcB {
        seed,
        ..small(AccountRule::LocalAccounts)
    };
    assert_seeded(|seed| Box::new(workload(seed)), true);
}
