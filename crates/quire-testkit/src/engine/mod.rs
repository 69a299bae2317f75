//! Tables under fire: random loads, changes, merges, drops and cleaning, a model of what must survive, and crashes and failing
//! disks everywhere.

mod campaign;
mod changes;
mod rows;
mod verify;
mod workload;

pub use campaign::{EngineReport, run_crashes, run_faults};
pub(crate) use changes::{change_rows, merge};
pub use rows::{EngineContents, Tables};
pub(crate) use rows::{batch, definition as load_definition, random_rows, read_tables};
