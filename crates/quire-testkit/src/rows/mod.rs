//! Row tables under fire: random transactions over rows, definitions and column tables, a model of what must
//! survive, and crashes and failing disks everywhere.

mod campaign;
mod definitions;
mod faults;
mod fills;
mod history;
mod loads;
mod model;
mod options;
mod schema;
mod session;
mod statements;
mod verify;
mod workload;

pub use campaign::{RowCampaign, RowReport, crash_rows};
pub use faults::fail_rows;
pub use history::DiskActivity;
pub use options::{engine_options, volume_options};
pub use schema::Row;
pub use session::{KeyedRow, read_rows};
pub use verify::verify_engine;
