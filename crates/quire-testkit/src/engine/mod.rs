//! Tables under fire: random loads, changes, merges, drops and cleaning, a model of what must survive, and crashes and failing
//! disks everywhere.

mod campaign;
mod changes;
mod golden;
mod rows;
mod verify;
mod workload;

pub use campaign::{EngineReport, run_crashes, run_faults};
pub(crate) use changes::{change_rows, merge};
pub use golden::{
    GOLDEN_PAX_BLOCK_BYTES, GOLDEN_PAX_NAME, append_to_golden_pax, golden_pax_tables,
    make_golden_pax, read_golden_pax,
};
pub use rows::{EngineContents, Tables};
pub(crate) use rows::{batch, definition as load_definition, random_rows, read_tables};
