//! What a data set is in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_format::data_set::{
    DataSetDefinition, DataSetHead, DataSetItem, FileTime, InodeAttributes, InodeKind, ROOT_INODE,
    SnapshotDefinition,
};
use quire_store::{PageId, Pin};

use super::turn::{BatchTurn, SoleTurn, SyncTurn, SyncTurns};
use super::unlogged::UnloggedWrites;
use crate::context::DeviceContext;
use crate::dead::Boundaries;
use crate::error::DeviceStorageError;
use crate::generation::Generation;
use crate::options::EffectiveProperties;

/// A data set, or a snapshot of one, that is open. Operations may be called from several threads.
///
/// What an operation has changed is in memory until a [`DataSet::sync`], or until it takes too much memory. A crash leaves the state
/// as of a moment between two operations, no older than the newest sync.
pub struct DataSet {
    pub(super) context: Arc<DeviceContext>,
    /// For messages.
    pub(super) name: String,
    id: u64,
    /// `None` for a snapshot.
    pub(super) head_page: Option<PageId>,
    properties: Mutex<EffectiveProperties>,
    state: Mutex<SetState>,
    /// Whose turn it is to sync. Taken before that to write a batch.
    syncs: SyncTurns,
    /// Whose turn it is to write a batch of this data set.
    batches: SyncTurns,
    /// Held while the head is written, and between looking at what is to be written in a log page and writing it. A batch begins
    /// and commits with it, and is compressed without. Locked before the state.
    head_writing: Mutex<()>,
}

/// What operations work on.
pub(crate) struct SetState {
    /// As of the newest batch.
    pub(crate) head: DataSetHead,
    pub(crate) boundaries: Boundaries,
    /// Number of the next inode.
    pub(crate) next_inode: u64,
    /// What operations change.
    pub(super) current: Generation,
    /// What is being written.
    pub(super) frozen: Option<Arc<Generation>>,
    /// Has the pages of `head` while a batch that frees some is committed.
    pub(super) held: Option<Pin>,
    /// The newest batch was not synced.
    pub(super) is_unsynced: bool,
    /// How many have each inode open.
    pub(super) opened: HashMap<u64, u64>,
    /// What the next sync logs.
    pub(super) unlogged: UnloggedWrites,
}

impl DataSet {
    /// Opens a data set as its head describes it.
    pub(crate) fn open_live(
        context: &Arc<DeviceContext>,
        set: &DataSetDefinition,
        properties: EffectiveProperties,
    ) -> Result<Self, DeviceStorageError> {
        let reader = context.reader();
        let head = reader.decoded(set.head, |payload| {
            let head = DataSetHead::decode(payload)?;
            if head.id == set.id {
                return Ok(head);
            }
            let what = format!("head of data set {} where {} is expected", head.id, set.id);
            Err(quire_codec::Corrupt::new(what, 1))
        })?;
        let boundaries = Boundaries::of(set);
        let name = set.name.clone();
        let head_page = Some(set.head);
        Ok(Self::new(
            context, name, head_page, head, boundaries, properties,
        ))
    }

    /// Opens a snapshot, which nothing changes.
    pub(crate) fn open_snapshot(
        context: &Arc<DeviceContext>,
        set: &DataSetDefinition,
        snapshot: &SnapshotDefinition,
        properties: EffectiveProperties,
    ) -> Self {
        let head = DataSetHead {
            id: set.id,
            // Nothing is written with this head.
            has_dictionaries: false,
            root: snapshot.root,
            next_inode: u64::MAX,
            used_bytes: 0,
            totals: snapshot.totals,
            log: Vec::new(),
            dead: Vec::new(),
        };
        let name = format!("{}@{}", set.name, snapshot.name);
        Self::new(context, name, None, head, Boundaries::default(), properties)
    }

    fn new(
        context: &Arc<DeviceContext>,
        name: String,
        head_page: Option<PageId>,
        head: DataSetHead,
        boundaries: Boundaries,
        properties: EffectiveProperties,
    ) -> Self {
        let mut current = Generation::default();
        if head.root.is_none() {
            let root = root_directory((context.options.clock)(), properties.record_bytes);
            let key = DataSetItem::Attributes(ROOT_INODE).key();
            current.set_item(key, Some(root.encode()));
        }
        let state = SetState {
            next_inode: head.next_inode,
            boundaries,
            current,
            frozen: None,
            held: None,
            is_unsynced: false,
            opened: HashMap::new(),
            unlogged: UnloggedWrites::default(),
            head,
        };
        Self {
            context: Arc::clone(context),
            id: state.head.id,
            name,
            head_page,
            properties: Mutex::new(properties),
            state: Mutex::new(state),
            syncs: SyncTurns::default(),
            batches: SyncTurns::default(),
            head_writing: Mutex::default(),
        }
    }

    /// Name of the data set, or of the snapshot.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True for a snapshot, and in a volume that is open read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.head_page.is_none() || self.context.volume.is_read_only()
    }

    /// What holds for it.
    #[must_use]
    pub fn properties(&self) -> EffectiveProperties {
        *self
            .properties
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_properties(&self, properties: EffectiveProperties) {
        *self
            .properties
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = properties;
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// No other thread writes anything of this data set until the turn is dropped.
    pub(crate) fn take_sole_turn(&self) -> SoleTurn<'_> {
        let syncs = self.syncs.take();
        SoleTurn {
            batches: self.take_batch_turn(),
            _syncs: syncs,
        }
    }

    /// No other thread writes a batch of this data set until the turn is dropped.
    pub(super) fn take_batch_turn(&self) -> BatchTurn<'_> {
        BatchTurn {
            _turn: self.batches.take(),
        }
    }

    /// The turn for a sync; `None` when another thread has synced all that there was to sync.
    pub(super) fn take_turn_unless_synced(&self) -> Option<SyncTurn<'_>> {
        self.syncs.take_unless_synced()
    }

    /// Nobody else writes the head, and what the log has does not change.
    pub(super) fn lock_head_writing(&self) -> MutexGuard<'_, ()> {
        self.head_writing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The directory that a data set begins with.
fn root_directory(now: FileTime, record_bytes: u32) -> InodeAttributes {
    InodeAttributes {
        kind: InodeKind::Directory,
        record_bytes,
        mode: 0o755,
        uid: 0,
        gid: 0,
        links: 2,
        size: 0,
        device: 0,
        parent: ROOT_INODE,
        accessed: now,
        modified: now,
        changed: now,
    }
}
