//! The strings of shared dictionaries as Arrow arrays, each made once for all row groups of a scan.
//!
//! Whoever gets the same array for two row groups may take their codes for the same, too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::ArrayRef;

/// An array, once it is made.
pub(super) type SharedArray = Arc<OnceLock<ArrayRef>>;

/// The arrays, by column and fingerprint.
#[derive(Default)]
pub(super) struct SharedArrays(Mutex<HashMap<(usize, u64), SharedArray>>);

impl SharedArrays {
    pub(super) fn of(&self, column: usize, fingerprint: u64) -> SharedArray {
        let mut arrays = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(arrays.entry((column, fingerprint)).or_default())
    }
}
