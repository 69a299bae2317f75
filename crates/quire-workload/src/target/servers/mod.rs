//! How is a server of a system started in a directory, for a workload alone?
//!
//! Each start makes the database if the directory has none, takes a free port of this machine's loopback, and waits until the server answers.
//! The server ends with the target that is returned; started again in the same directory, it has the same data. Commits are on the
//! disk when they return.

mod mariadb;
mod postgresql;
mod programs;
mod quire;

pub use mariadb::start_mariadb;
pub use postgresql::start_postgresql;
pub use quire::start_quire;

/// What a server may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// Pages kept in memory: `shared_buffers`, `innodb_buffer_pool_size`, Quire's `--cache`.
    pub pool_bytes: u64,
    pub connections_max: u32,
}

impl Default for ServerSettings {
    /// 128 MiB; 500 users and 10 others.
    fn default() -> Self {
        Self {
            pool_bytes: 128 << 20,
            connections_max: 510,
        }
    }
}

impl ServerSettings {
    fn pool_mib(&self) -> u64 {
        (self.pool_bytes >> 20).max(16)
    }
}
