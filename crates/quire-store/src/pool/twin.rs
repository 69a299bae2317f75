//! The compressed image that a frame holds, in a pool of twins (`policy`).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::volume::Volume;

/// The newest image of a page in the volume. It is in no cache as long as the frame has it, so a hit of the cache is a page without a frame.
pub(super) struct Twin {
    image: Arc<[u8]>,
    all: Arc<TwinBytes>,
}

/// Memory that the twins of a pool take.
#[derive(Default)]
pub(super) struct TwinBytes(AtomicUsize);

impl TwinBytes {
    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Twin {
    pub(super) fn new(image: &Arc<[u8]>, all: &Arc<TwinBytes>) -> Self {
        let cost_bytes = Volume::cached_cost_bytes(image.len());
        all.0.fetch_add(cost_bytes, Ordering::Relaxed);
        Self {
            image: Arc::clone(image),
            all: Arc::clone(all),
        }
    }

    pub(super) fn image(&self) -> &Arc<[u8]> {
        &self.image
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        let cost_bytes = Volume::cached_cost_bytes(self.image.len());
        self.all.0.fetch_sub(cost_bytes, Ordering::Relaxed);
    }
}
