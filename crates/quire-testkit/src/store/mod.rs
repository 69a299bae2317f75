//! Volumes under fire: random workloads, a model of what must survive, and crashes everywhere.

mod campaign;
mod faults;
mod golden;
mod model;
mod verify;
mod workload;

pub use campaign::{CampaignReport, run_campaign};
pub use faults::{FaultReport, fail_every_call};
pub use golden::{GOLDEN_NAMES, golden_pages, make_golden_files};
pub use model::{Acknowledgement, CommitHistory, State};
pub use verify::{Expectation, read_all, verify_recovery};
pub use workload::{StoreWorkload, WorkloadOptions, volume_options};
