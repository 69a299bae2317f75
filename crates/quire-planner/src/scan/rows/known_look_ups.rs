//! What looking up rows of a table costs, kept for the passes of the optimizer.
//!
//! The order of joins is chosen in each pass, and to estimate look-ups some pages of the table and of its indexes are read. They are read in the first pass; later ones
//! see the same costs, whatever is in memory by then, and so choose the same order.

use std::sync::{Arc, Mutex, PoisonError};

use quire_exec::access::TableLookUps;
use quire_exec::costs::CostModel;
use quire_tables::{RowScanError, RowTable};

/// Those of one table.
#[derive(Default)]
pub(super) struct KnownLookUps {
    known: Mutex<Vec<KnownLookUp>>,
}

struct KnownLookUp {
    costs: CostModel,
    may_be_given: Vec<usize>,
    look_ups: Option<Arc<TableLookUps>>,
}

impl KnownLookUps {
    /// Where joins may give the columns of these ordinals; nothing where no key begins with one of them.
    pub(super) fn find(
        &self,
        table: &RowTable,
        may_be_given: &[usize],
        costs: &CostModel,
    ) -> Result<Option<Arc<TableLookUps>>, RowScanError> {
        if let Some(known) = self.known(may_be_given, costs) {
            return Ok(known);
        }
        // No lock is held while pages are read.
        let look_ups = TableLookUps::of(table, may_be_given, costs)?.map(Arc::new);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push(KnownLookUp {
            costs: *costs,
            may_be_given: may_be_given.to_vec(),
            look_ups: look_ups.clone(),
        });
        Ok(look_ups)
    }

    fn known(
        &self,
        may_be_given: &[usize],
        costs: &CostModel,
    ) -> Option<Option<Arc<TableLookUps>>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known
            .iter()
            .find(|one| one.may_be_given == may_be_given && one.costs == *costs);
        found.map(|one| one.look_ups.clone())
    }
}
