//! Work without the interpreter's lock, which Ctrl-C ends.

use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use quire::CancelHandle;

/// Runs `work` while other threads of Python run. If a signal's handler raises an exception meanwhile, as that of Ctrl-C does,
/// the statement is cancelled, and the exception comes back beside what the work gave.
pub fn without_lock<T: Send>(
    py: Python<'_>,
    cancel: &CancelHandle,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let (noted, cancel) = (Arc::clone(&raised), cancel.clone());
    let result = py.detach(move || {
        let look_at_signals = move || {
            if let Err(exception) = Python::attach(|py| py.check_signals()) {
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(exception);
                cancel.cancel();
            }
        };
        quire::while_waiting(Rc::new(look_at_signals), work)
    });
    let exception = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    (result, exception)
}
