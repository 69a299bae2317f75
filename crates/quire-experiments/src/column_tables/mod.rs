//! TPC-H in column tables, behind devices of any speed: what the experiments of paper 2 have in common.

mod answers;
mod codec_pair;
mod device_time;
mod equation;
mod layout;
mod loaded;
mod progress;
mod rounds;
mod session;
mod setup;
mod tpch_query;

pub(crate) use answers::AnswerComparison;
pub(crate) use codec_pair::CodecPair;
pub(crate) use device_time::{DeviceWork, sped_up};
pub(crate) use equation::{EquationTerms, TimeInMemory};
pub use layout::ColumnLayout;
pub(crate) use layout::PAX_BLOCK_BYTES;
pub(crate) use loaded::{ColumnCodecs, LoadedColumns};
pub(crate) use progress::ExperimentProgress;
pub(crate) use rounds::{TimeOnDevice, run_cold, run_in_memory};
pub(crate) use session::{DecompressionTarget, QueryRun, RunConditions};
pub use setup::ColumnTablesSetup;
pub(crate) use tpch_query::tpch_query;
