//! TPC-H in column tables, behind devices of any speed: what the experiments of paper 2 have in common.

mod codec_pair;
mod device_time;
mod equation;
mod loaded;
mod progress;
mod rounds;
mod session;
mod tpch_query;

pub(crate) use codec_pair::CodecPair;
pub(crate) use device_time::DeviceWork;
pub(crate) use equation::{EquationTerms, TimeInMemory};
pub(crate) use loaded::{ColumnCodecs, LoadedColumns};
pub(crate) use progress::ExperimentProgress;
pub(crate) use rounds::{TimeOnDevice, run_cold, run_in_memory};
pub(crate) use session::QueryRun;
pub(crate) use tpch_query::tpch_query;
