//! TPC-C, TPC-B, sysbench and the tests of paper 4: their rows against the specifications, their transactions on SQLite, and several users
//! at once on the servers that are installed.
#![allow(clippy::unwrap_used)]

mod baidu;
mod harness;
mod servers;
mod sysbench;
mod tpc_b;
mod tpc_c_conditions;
mod tpc_c_rows;
