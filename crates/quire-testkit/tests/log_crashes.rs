//! No crash loses a transaction that was durable, shows half of one, or changes their order.
//!
//! `QUIRE_SEED` chooses the first workload, `QUIRE_CASES` how many crashes are tried.

use quire_testkit::log::{crash_logs, fail_log_calls};
use quire_testkit::random::environment_number;

#[test]
fn every_crash_leaves_the_commits_up_to_one_that_is_no_older_than_the_last_durable_one() {
    let seed = environment_number("QUIRE_SEED", 1);
    let cases = environment_number("QUIRE_CASES", 4_000);
    match crash_logs(seed, cases) {
        Ok(report) => {
            println!("{report:?}");
            assert!(report.cases >= cases && report.lies_refused < report.lies);
            assert!(report.more_survived > 0 && report.commits > 0, "{report:?}");
        }
        Err(what) => panic!("{what}"),
    }
}

#[test]
fn every_failed_call_is_an_error_and_no_transaction_is_lost() {
    let seed = environment_number("QUIRE_SEED", 1);
    for seed in seed..seed + environment_number("QUIRE_WORKLOADS", 2) {
        match fail_log_calls(seed, 14) {
            Ok((runs, stopped)) => {
                println!("workload {seed}: {runs} runs, {stopped} stopped");
                assert!(stopped > runs / 8, "the faults must be felt");
            }
            Err(what) => panic!("{what}"),
        }
    }
}
