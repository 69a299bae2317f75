//! No crash and no failing disk loses an acknowledged load or shows half of one.
//!
//! `QUIRE_SEED` chooses the first workload, `QUIRE_ENGINE_CASES` how many cases are tried.

use quire_testkit::engine::{run_crashes, run_faults};
use quire_testkit::random::environment_number;

#[test]
fn every_crash_leaves_whole_loads() {
    let seed = environment_number("QUIRE_SEED", 1);
    let cases = environment_number("QUIRE_ENGINE_CASES", 5_000);
    match run_crashes(seed, cases) {
        Ok(report) => {
            println!("{report:?}");
            assert!(report.cases >= cases);
            // A campaign that never sees both ends of a commit in flight has not tried much.
            assert!(report.in_flight_survived > 0 && report.in_flight_lost > 0);
            assert!(report.staged > 0 && report.nested > 0);
            assert!(report.dictionaries > 0, "row groups share dictionaries");
        }
        Err(what) => panic!("{what}"),
    }
}

#[test]
fn every_failing_disk_leaves_whole_loads() {
    let seed = environment_number("QUIRE_SEED", 1);
    let cases = environment_number("QUIRE_ENGINE_CASES", 5_000) / 5;
    match run_faults(seed, cases) {
        Ok(report) => {
            println!("{report:?}");
            assert!(report.cases >= cases);
        }
        Err(what) => panic!("{what}"),
    }
}
