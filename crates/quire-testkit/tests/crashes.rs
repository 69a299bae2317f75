//! No crash loses what was acknowledged or shows half of anything.
//!
//! `QUIRE_SEED` chooses the first workload, `QUIRE_CASES` how many crashes are tried.

use quire_testkit::random::environment_number;
use quire_testkit::store::{WorkloadOptions, run_campaign};

#[test]
fn every_crash_leaves_the_last_commit_or_the_one_in_flight() {
    let seed = environment_number("QUIRE_SEED", 1);
    let cases = environment_number("QUIRE_CASES", 20_000);
    match run_campaign(seed, cases, WorkloadOptions::default()) {
        Ok(report) => {
            println!("{report:?}");
            assert!(report.cases >= cases);
        }
        Err(what) => panic!("{what}"),
    }
}
