//! `quire_file()`: what the file is used for.

use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, plan_err};
use quire_tables::Engine;

use super::storage::figures_of;

pub struct FileFunction(pub Engine);

impl std::fmt::Debug for FileFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_file")
    }
}

impl TableFunctionImpl for FileFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_file takes no arguments");
        }
        let stats = self.0.volume().stats();
        figures_of(&[
            ("file_bytes", stats.file_bytes),
            ("live_bytes", stats.live_bytes),
            ("dead_bytes", stats.dead_bytes),
            ("free_bytes", stats.free_bytes),
            ("map_bytes", stats.map_bytes),
            ("log_bytes", stats.log_bytes),
            ("page_count", stats.page_count),
            ("commit_sequence", stats.commit_sequence),
        ])
    }
}
