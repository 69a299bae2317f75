//! What a write transaction has of the engine.

use quire_kv::mvcc::DefinitionLocks;
use quire_store::Volume;

use crate::engine::Engine;

/// The engine, and locks of definitions: these are given back when it is dropped.
pub(super) struct WriterTicket {
    engine: Engine,
    locks: DefinitionLocks,
}

impl WriterTicket {
    pub(super) fn new(engine: &Engine, locks: DefinitionLocks) -> Self {
        let engine = engine.clone();
        Self { engine, locks }
    }

    /// Others may have the definitions from now on.
    pub(super) fn release_locks(&mut self) {
        self.locks.release();
    }

    pub(super) fn locks(&mut self) -> &mut DefinitionLocks {
        &mut self.locks
    }

    pub(super) fn volume(&self) -> &Volume {
        self.engine.volume()
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }
}
