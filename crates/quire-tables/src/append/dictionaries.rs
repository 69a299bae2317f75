//! Shared dictionaries: which one a column of a row group refers to (paper 2, §6.2.1 and §6.2.3).
//!
//! A column whose codec is a dictionary looks for those that earlier row groups have brought and that have nine of ten of its strings; it
//! refers to the one that makes its segment smallest, and keeps only the other strings. If none makes it smaller, and more rows may follow, it brings its own as a new
//! one: its strings go into pages of their own instead of the segment. Dictionaries of less than [`DICTIONARY_BYTES_MIN`] stay in their
//! segments, where they are read with the codes.
//!
//! As with codecs ([`super::precedent`]) the outcome depends on the rows and those before them, never on which worker was faster: a column waits until
//! the same column one row group before has said which dictionaries there are. A column that is put off, since it may follow another, brings none, and
//! only passes on what it was told. Columns that others may be maps from do not share: maps are from the codes of their own row group.

use std::sync::{Arc, OnceLock};

use quire_codec::{Corrupt, PhysicalType};
use quire_format::segment::{DictionarySegment, SharedDictionary};
use quire_format::table_root::{SharedDictionaryPointer, TableRoot};
use quire_store::PageKind;

use crate::definition::TableDefinition;
use crate::error::EngineError;
use crate::page_cluster::PageCluster;
use crate::pages::{PageSource, TransactionPages};
use crate::shared_dictionaries::{column_name, read_dictionary};

/// Dictionaries of a column: row groups whose strings are in none of so many keep their own.
const DICTIONARIES_MAX: usize = 4;

/// Bytes of its strings as they are stored from which a dictionary is shared: a request for a page of its own has to pay.
const DICTIONARY_BYTES_MIN: usize = 4096;

/// A dictionary of more stored bytes than so many times those of the own one is not read. Four times as many strings would not suit
/// ([`DictionarySegment::is_mostly_in`]); the rest is a margin, because lengths of strings differ, and how well they compress.
const STORED_FACTOR_MAX: u64 = 8;

/// A dictionary of the table, or one that a row group of this append has brought.
struct KnownDictionary {
    pointer: SharedDictionaryPointer,
    /// Read when it is first compared.
    opened: OnceLock<SharedDictionary>,
}

/// The dictionaries of a column after a row group, the oldest first.
#[derive(Clone, Default)]
struct KnownDictionaries {
    list: Vec<Arc<KnownDictionary>>,
    /// Whether the next row group may bring one.
    may_grow: bool,
}

/// What a row group leaves to the next.
type Slot = OnceLock<KnownDictionaries>;

/// Links row groups to those before them.
#[derive(Default)]
pub(super) struct DictionaryChain {
    /// What the table has, by column; nothing for columns that do not share.
    stored: Arc<[Option<KnownDictionaries>]>,
    last: Option<Arc<[Slot]>>,
}

impl DictionaryChain {
    /// Of rows that are appended to a table with this root.
    pub(super) fn new(definition: &TableDefinition, root: &TableRoot) -> Self {
        let has_blocks = definition.options.block_bytes.is_some();
        let stored = |(physical_type, dictionaries): (_, &Vec<SharedDictionaryPointer>)| {
            if has_blocks || physical_type != PhysicalType::Bytes {
                return None;
            }
            let known = |pointer: &SharedDictionaryPointer| {
                Arc::new(KnownDictionary {
                    pointer: pointer.clone(),
                    opened: OnceLock::new(),
                })
            };
            Some(KnownDictionaries {
                list: dictionaries.iter().map(known).collect(),
                may_grow: true,
            })
        };
        let columns = root.columns.iter();
        let columns = columns.map(|column| (column.physical_type, &column.dictionaries));
        DictionaryChain {
            stored: columns.map(stored).collect(),
            last: None,
        }
    }

    /// The link of the next row group.
    pub(super) fn next(&mut self, column_count: usize) -> DictionaryTurns {
        let own: Arc<[Slot]> = (0..column_count).map(|_| Slot::new()).collect();
        DictionaryTurns {
            stored: Arc::clone(&self.stored),
            before: self.last.replace(Arc::clone(&own)),
            own,
        }
    }
}

/// What the columns of a row group are told, and leave to the next.
pub(super) struct DictionaryTurns {
    stored: Arc<[Option<KnownDictionaries>]>,
    before: Option<Arc<[Slot]>>,
    /// One per column.
    own: Arc<[Slot]>,
}

impl DictionaryTurns {
    /// The turn of a column. Its successor goes on when it has ended.
    pub(super) fn turn(&self, column: usize) -> DictionaryTurn<'_> {
        DictionaryTurn {
            turns: self,
            column,
        }
    }

    fn shares(&self, column: usize) -> bool {
        self.stored.get(column).is_some_and(Option::is_some)
    }

    /// The dictionaries after the row group before; waits for its turn to end.
    fn known_before(&self, column: usize) -> KnownDictionaries {
        match (&self.before, self.stored.get(column)) {
            (Some(slots), Some(Some(_))) => slots[column].wait().clone(),
            (None, Some(Some(stored))) => stored.clone(),
            _ => KnownDictionaries::default(),
        }
    }
}

/// A column of a row group that has not yet said which dictionaries there are after it. Whoever waits for one that is dropped, because the append has failed,
/// is told that there are none.
pub(super) struct DictionaryTurn<'a> {
    turns: &'a DictionaryTurns,
    column: usize,
}

/// A segment that refers to a shared dictionary.
pub(super) struct SharedSegment {
    pub(super) segment: Vec<u8>,
    pub(super) fingerprint: u64,
    /// The dictionary, if it is a new one.
    pub(super) brought: Option<SharedDictionaryPointer>,
}

/// Where the dictionaries of a column are read from and written to.
pub(super) struct DictionaryStorage<'a> {
    pub(super) source: &'a PageSource,
    pub(super) pages: &'a TransactionPages,
    pub(super) definition: &'a TableDefinition,
}

impl DictionaryTurn<'_> {
    /// Whether segments of the column may refer to dictionaries.
    pub(super) fn shares(&self) -> bool {
        self.turns.shares(self.column)
    }

    /// The segment refers to no dictionary.
    pub(super) fn pass_on(self) {
        self.leave(self.turns.known_before(self.column));
    }

    fn leave(&self, known: KnownDictionaries) {
        let _ = self.turns.own[self.column].set(known);
    }

    /// A smaller segment that refers to a dictionary, if there is one that suits, or if this one becomes one. `may_bring`: more rows may follow, and
    /// their columns wait for this turn.
    ///
    /// # Errors
    /// A dictionary cannot be read or written, or the segment is damaged.
    pub(super) fn share(
        self,
        segment: &Arc<[u8]>,
        may_bring: bool,
        storage: &DictionaryStorage<'_>,
    ) -> Result<Option<SharedSegment>, EngineError> {
        let damaged = |source| storage.damaged(self.column, source);
        let Some(own) = DictionarySegment::open(segment).map_err(damaged)? else {
            self.pass_on();
            return Ok(None);
        };
        let known = self.turns.known_before(self.column);
        let smallest = self.smallest(&own, &known, segment.len(), storage)?;
        if smallest.is_some() {
            self.leave(known);
            return Ok(smallest);
        }
        let may_bring = may_bring
            && known.may_grow
            && known.list.len() < DICTIONARIES_MAX
            && own.dictionary_bytes() >= DICTIONARY_BYTES_MIN;
        if !may_bring {
            self.leave(known);
            return Ok(None);
        }
        self.bring(&own, known, storage)
    }

    /// The smallest segment of less than `bytes` that refers to a known dictionary that suits; of equal ones that of the newest dictionary.
    fn smallest(
        &self,
        own: &DictionarySegment,
        known: &KnownDictionaries,
        bytes: usize,
        storage: &DictionaryStorage<'_>,
    ) -> Result<Option<SharedSegment>, EngineError> {
        let stored_bytes_max = own.dictionary_bytes() as u64 * STORED_FACTOR_MAX;
        let may_suit = |one: &&Arc<KnownDictionary>| one.pointer.stored_bytes <= stored_bytes_max;
        let mut smallest: Option<SharedSegment> = None;
        for one in known.list.iter().rev().filter(may_suit) {
            let dictionary = storage.open(self.column, one)?;
            if !own.is_mostly_in(&dictionary) {
                continue;
            }
            let segment = own.refer_to(&dictionary);
            let segment = segment.map_err(|source| storage.damaged(self.column, source))?;
            let bytes_before = smallest.as_ref().map_or(bytes, |one| one.segment.len());
            if segment.len() < bytes_before {
                smallest = Some(SharedSegment {
                    segment,
                    fingerprint: dictionary.fingerprint(),
                    brought: None,
                });
            }
        }
        Ok(smallest)
    }

    /// Makes a new dictionary of that of the segment.
    fn bring(
        self,
        own: &DictionarySegment,
        mut known: KnownDictionaries,
        storage: &DictionaryStorage<'_>,
    ) -> Result<Option<SharedSegment>, EngineError> {
        let shared = own.to_shared();
        let is_known = |fingerprint: u64| {
            let mut known = known.list.iter();
            known.any(|one| one.pointer.fingerprint == fingerprint)
        };
        let shared = shared.filter(|(dictionary, _)| !is_known(dictionary.fingerprint()));
        let Some((dictionary, stored)) = shared else {
            self.leave(known);
            return Ok(None);
        };
        let column = self.column;
        let pointer = storage.write(column, dictionary.fingerprint(), &stored)?;
        known.list.push(Arc::new(KnownDictionary {
            pointer: pointer.clone(),
            opened: OnceLock::from(dictionary.clone()),
        }));
        self.leave(known);
        let segment = own.refer_to(&dictionary);
        Ok(Some(SharedSegment {
            segment: segment.map_err(|source| storage.damaged(column, source))?,
            fingerprint: dictionary.fingerprint(),
            brought: Some(pointer),
        }))
    }
}

impl Drop for DictionaryTurn<'_> {
    fn drop(&mut self) {
        self.leave(KnownDictionaries::default());
    }
}

impl DictionaryStorage<'_> {
    fn name_of(&self, column: usize) -> String {
        column_name(self.definition, column)
    }

    /// The segment that has just been encoded is not one.
    fn damaged(&self, column: usize, source: Corrupt) -> EngineError {
        let what = format!("new segment of {}", self.name_of(column));
        EngineError::Corrupt { what, source }
    }

    fn open(
        &self,
        column: usize,
        known: &KnownDictionary,
    ) -> Result<SharedDictionary, EngineError> {
        if let Some(opened) = known.opened.get() {
            return Ok(opened.clone());
        }
        let read = |pages: &[_]| self.source.read(pages);
        let dictionary = read_dictionary(&known.pointer, || self.name_of(column), read)?;
        Ok(known.opened.get_or_init(|| dictionary).clone())
    }

    fn write(
        &self,
        column: usize,
        fingerprint: u64,
        stored: &[u8],
    ) -> Result<SharedDictionaryPointer, EngineError> {
        let cluster = PageCluster::Column(column);
        Ok(SharedDictionaryPointer {
            fingerprint,
            // Counted when the row groups are added to the table.
            row_group_count: 0,
            stored_bytes: stored.len() as u64,
            pages: self.pages.write(PageKind::Segment, cluster, stored)?,
        })
    }
}
