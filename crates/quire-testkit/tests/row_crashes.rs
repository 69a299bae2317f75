//! No crash and no failing disk loses a durable transaction, shows half of one, or changes their order; indexes, long values
//! and pages always agree with the rows.
//!
//! `QUIRE_SEED` chooses the first workload, `QUIRE_ROW_CASES` how many recoveries are tried, `QUIRE_WORKERS` how many threads
//! share them. A seed that failed is tried alone by `QUIRE_SEED=… QUIRE_ROW_CASES=1 QUIRE_WORKERS=1`.

use std::thread::available_parallelism;

use quire_testkit::random::environment_number;
use quire_testkit::rows::{RowCampaign, crash_rows, fail_rows};

fn campaign(first_seed: u64, has_threads: bool) -> RowCampaign {
    let cores = available_parallelism().map_or(1, |cores| cores.get() as u64);
    RowCampaign {
        first_seed: environment_number("QUIRE_SEED", first_seed),
        cases: environment_number("QUIRE_ROW_CASES", 5_000),
        has_threads,
        workers: environment_number("QUIRE_WORKERS", cores),
    }
}

#[test]
fn every_crash_leaves_the_transactions_up_to_one_that_is_no_older_than_the_last_durable_one() {
    let campaign = campaign(1, false);
    match crash_rows(campaign, |line| println!("{line}")) {
        Ok(report) => {
            println!("{report:?}");
            assert!(report.cases >= campaign.cases);
            if report.cases >= 5_000 {
                // A campaign that has not crashed everything has not tried much.
                assert!(report.more_survived > 0 && report.less_survived > 0);
                assert!(report.staged > 0 && report.nested > 0 && report.second > 0);
                assert!(report.activities.iter().all(|count| *count > 0));
            }
            if report.cases >= 50_000 {
                assert!(report.page_dictionaries > 0);
            }
        }
        Err(what) => panic!("{what}"),
    }
}

/// With threads that compress pages and make checkpoints: what happens does not depend on the seed alone.
#[test]
fn crashes_beside_threads() {
    let mut campaign = campaign(1_000_000, true);
    campaign.cases = campaign.cases.div_ceil(10);
    match crash_rows(campaign, |line| println!("{line}")) {
        Ok(report) => println!("{report:?}"),
        Err(what) => panic!("{what}"),
    }
}

#[test]
fn every_failing_disk_leaves_whole_transactions() {
    let seed = environment_number("QUIRE_SEED", 1);
    let workloads = environment_number("QUIRE_ROW_CASES", 5_000).div_ceil(20);
    match fail_rows(seed, workloads) {
        Ok(report) => {
            println!("{report:?}");
            assert!(
                report.stopped >= workloads / 8,
                "the faults must be felt: {report:?}"
            );
        }
        Err(what) => panic!("{what}"),
    }
}
