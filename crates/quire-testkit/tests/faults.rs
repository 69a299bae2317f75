//! Every single call of the disk fails, and nothing that was promised is lost.

use quire_testkit::random::environment_number;
use quire_testkit::store::{WorkloadOptions, fail_every_call};

#[test]
fn every_failed_call_is_an_error_and_nothing_is_lost() {
    let seed = environment_number("QUIRE_SEED", 1);
    let workloads = environment_number("QUIRE_WORKLOADS", 2);
    let options = WorkloadOptions {
        step_count: 25,
        ..WorkloadOptions::default()
    };
    for seed in seed..seed + workloads {
        match fail_every_call(seed, options) {
            Ok(report) => {
                println!("{report:?}");
                assert!(
                    report.stopped > report.runs / 4,
                    "the faults must be felt: {report:?}"
                );
            }
            Err(what) => panic!("{what}"),
        }
    }
}
