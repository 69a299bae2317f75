//! The workloads.
