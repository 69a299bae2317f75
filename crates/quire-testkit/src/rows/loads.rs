//! Column tables: loads, changes of rows, merges, with the model beside them.

use quire_kv::mvcc::TransactionOptions;
use quire_tables::{AppendOptions, Engine};

use super::history::DiskActivity;
use super::session::text;
use super::workload::{OpenWorkloadTransaction, RowWorkload};
use crate::engine::{batch, change_rows, load_definition, merge, random_rows};

impl RowWorkload {
    /// Loads, changes, drops or empties a column table.
    pub(super) fn change_load(&mut self, open: &mut OpenWorkloadTransaction) -> Result<(), String> {
        let name = format!("load {}", self.random.below(2));
        let Some(rows) = open.state.loads.get_mut(&name) else {
            let half = open.transaction.tables().map_err(text)?;
            half.create_table(load_definition(&name)).map_err(text)?;
            open.state.loads.insert(name.clone(), Vec::new());
            return self.load(open, &name);
        };
        match self.random.below(10) {
            0 => {
                open.transaction.drop_table(&name).map_err(text)?;
                open.state.loads.remove(&name);
                Ok(())
            }
            1 => {
                rows.clear();
                open.transaction.truncate_table(&name).map_err(text)
            }
            2..6 => {
                open.transaction.begin_statement();
                change_rows(&mut open.transaction, &mut self.random, &name, rows)?;
                rows.sort();
                Ok(())
            }
            _ => self.load(open, &name),
        }
    }

    fn load(&mut self, open: &mut OpenWorkloadTransaction, name: &str) -> Result<(), String> {
        let added = random_rows(&mut self.random);
        let options = AppendOptions {
            workers: Some(1),
            row_group_rows: 1 + self.random.below(200) as usize,
            ..AppendOptions::default()
        };
        let half = open.transaction.tables().map_err(text)?;
        let mut appender = half.appender_with(name, options).map_err(text)?;
        appender.append(&batch(&added)?).map_err(text)?;
        appender.finish().map_err(text)?;
        let rows = open.state.loads.entry(name.to_owned()).or_default();
        rows.extend(added);
        rows.sort();
        Ok(())
    }

    /// Merges the changes of a column table into row groups. Afterwards there are the same rows.
    pub(super) fn merge(&mut self, engine: &Engine) -> Result<(), String> {
        self.enter(DiskActivity::Merge);
        for name in self.state.loads.keys() {
            let mut transaction = engine.transaction(TransactionOptions::default());
            merge(&mut transaction, &mut self.random, name)?;
            transaction.commit().map_err(text)?;
        }
        Ok(())
    }
}
