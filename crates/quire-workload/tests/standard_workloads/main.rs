//! TPC-C, TPC-B, sysbench and the tests of paper 4: their rows against the specifications, and their transactions on SQLite.

mod baidu;
mod harness;
mod sysbench;
mod tpc_b;
mod tpc_c_conditions;
mod tpc_c_rows;
