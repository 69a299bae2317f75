//! The log of row transactions under fire: a model of what must be redone, and crashes everywhere.

mod campaign;
mod model;
mod verify;
mod workload;

pub use campaign::{LogCampaignReport, crash_logs, fail_log_calls};
pub use model::{LogExpectation, LogHistory};
pub use verify::{open_log, verify_log};
pub use workload::LogWorkload;
