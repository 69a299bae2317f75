//! The laws hold on every instruction set that this processor has.

use quire_codec::{Backend, active_backend, limit_backend};
use std::sync::{Mutex, PoisonError};

/// The instruction set is that of the process, so only one test at a time may depend on it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

pub fn on_every_backend(law: impl Fn(Backend)) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in [Backend::Portable, Backend::Avx2, Backend::Avx512] {
        limit_backend(backend);
        if active_backend() == backend {
            law(backend);
        } else {
            println!("not tested: this processor has no {backend:?}");
        }
    }
    limit_backend(Backend::detected());
}
