//! Compiled statements of a database, by their text.

use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::DataType;
use quire_tables::RowParts;

use super::compiled::Compiled;
use super::constant::ConstantSelect;
use super::general::GeneralStatement;

/// Statements in one generation; there are two.
const GENERATION_STATEMENTS: usize = 512;

/// What is known of a statement.
pub(crate) struct CachedStatement {
    pub(super) text: String,
    pub(super) parameter_types: Vec<Option<DataType>>,
    settings: u64,
    pub(super) kind: KnownKind,
}

/// What a statement is to this path.
pub(super) enum KnownKind {
    /// It is run here, as long as the table is what it was.
    Compiled(Box<CompiledStatement>),
    /// It is about no table.
    Constant(Box<ConstantSelect>),
    /// It begins or ends a transaction.
    Control(TransactionControl),
    /// It takes the general path, as long as the schema is what it was.
    General(GeneralStatement),
}

/// A statement that is compiled.
pub(super) struct CompiledStatement {
    pub(super) compiled: Compiled,
    /// The table it was compiled for.
    pub(super) parts: Arc<RowParts>,
    pub(super) name: String,
    /// It has met more rows than are read here: others do that better.
    pub(super) has_many_rows: AtomicBool,
}

/// A statement about the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionControl {
    Begin,
    Commit,
    RollBack,
}

/// The statements that were met last. When the younger generation is full, the older one is forgotten.
#[derive(Default)]
pub(crate) struct StatementCache {
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    younger: HashMap<u64, Arc<CachedStatement>>,
    older: HashMap<u64, Arc<CachedStatement>>,
}

impl fmt::Debug for StatementCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatementCache").finish_non_exhaustive()
    }
}

fn hash_of(text: &str, parameter_types: &[Option<DataType>], settings: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    parameter_types.hash(&mut hasher);
    settings.hash(&mut hasher);
    hasher.finish()
}

impl CachedStatement {
    pub(super) fn new(
        text: &str,
        parameter_types: &[Option<DataType>],
        settings: u64,
        kind: KnownKind,
    ) -> Self {
        Self {
            text: text.to_owned(),
            parameter_types: parameter_types.to_vec(),
            settings,
            kind,
        }
    }

    /// Whether it was compiled under these settings.
    pub(super) fn is_for(&self, settings: Option<u64>) -> bool {
        settings == Some(self.settings)
    }

    fn is_of(&self, text: &str, parameter_types: &[Option<DataType>], settings: u64) -> bool {
        self.text == text && self.parameter_types == parameter_types && self.settings == settings
    }
}

impl StatementCache {
    /// What is known of a statement.
    pub(super) fn get(
        &self,
        text: &str,
        parameter_types: &[Option<DataType>],
        settings: u64,
    ) -> Option<Arc<CachedStatement>> {
        let hash = hash_of(text, parameter_types, settings);
        let mut generations = self
            .generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = generations.younger.get(&hash) {
            return known
                .is_of(text, parameter_types, settings)
                .then(|| Arc::clone(known));
        }
        let known = generations.older.remove(&hash)?;
        let is_meant = known.is_of(text, parameter_types, settings);
        generations.add(hash, Arc::clone(&known));
        is_meant.then_some(known)
    }

    pub(super) fn add(&self, known: &Arc<CachedStatement>) {
        let hash = hash_of(&known.text, &known.parameter_types, known.settings);
        let mut generations = self
            .generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        generations.add(hash, Arc::clone(known));
    }
}

impl Generations {
    fn add(&mut self, hash: u64, known: Arc<CachedStatement>) {
        if self.younger.len() >= GENERATION_STATEMENTS {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(hash, known);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn known(text: &str) -> Arc<CachedStatement> {
        let kind = KnownKind::General(GeneralStatement::new(1));
        Arc::new(CachedStatement::new(text, &[], 0, kind))
    }

    #[test]
    fn statements_in_use_stay_and_others_go() {
        let cache = StatementCache::default();
        cache.add(&known("often"));
        for number in 0..5 * GENERATION_STATEMENTS {
            cache.add(&known(&format!("once {number}")));
            assert_eq!(cache.get("often", &[], 0).unwrap().text, "often");
        }
        assert!(cache.get("once 0", &[], 0).is_none());
        assert!(cache.get("often", &[], 1).is_none());
        assert!(cache.get("often", &[Some(DataType::Int32)], 0).is_none());
        let generations = cache.generations.lock().unwrap();
        assert!(generations.younger.len() + generations.older.len() <= 2 * GENERATION_STATEMENTS);
    }
}
