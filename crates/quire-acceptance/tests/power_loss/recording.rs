//! A file with a log of what was done to it, and what a loss of power may leave of the file.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use quire_store::{Disk, FileDisk};
use quire_testkit::random::TestRandom;

/// The smallest part of a write that a device keeps or loses as a whole.
const SECTOR_BYTES: usize = 512;

/// How many statements of each kind have been acknowledged.
pub type Acknowledged = BTreeMap<&'static str, u64>;

/// What happened to the file, in the order in which it ended; a sync also when it began.
enum Operation {
    Write { offset: u64, bytes: Vec<u8> },
    SetLength(u64),
    SyncBegun(u64),
    SyncEnded(u64),
    Acknowledged(&'static str, u64),
}

/// Passes everything on to a file.
pub struct RecordingDisk {
    file: FileDisk,
    log: Mutex<Vec<Operation>>,
    syncs: Mutex<u64>,
}

impl RecordingDisk {
    pub fn create(path: &Path) -> Arc<Self> {
        Arc::new(Self {
            file: FileDisk::open_or_create(path).unwrap(),
            log: Mutex::default(),
            syncs: Mutex::default(),
        })
    }

    /// A statement has returned: the `number`th of its kind.
    pub fn acknowledge(&self, kind: &'static str, number: u64) {
        self.note(Operation::Acknowledged(kind, number));
    }

    fn note(&self, operation: Operation) {
        self.log.lock().unwrap().push(operation);
    }

    /// What was done, when nobody has the disk any longer.
    pub fn into_log(self: Arc<Self>) -> Log {
        let disk = Arc::into_inner(self).expect("the database is closed");
        Log(disk.log.into_inner().unwrap())
    }
}

impl Disk for RecordingDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)?;
        let bytes = bytes.to_vec();
        self.note(Operation::Write { offset, bytes });
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let number = {
            let mut syncs = self.syncs.lock().unwrap();
            *syncs += 1;
            *syncs
        };
        self.note(Operation::SyncBegun(number));
        self.file.sync()?;
        self.note(Operation::SyncEnded(number));
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.note(Operation::SetLength(bytes));
        Ok(())
    }

    fn name(&self) -> String {
        self.file.name()
    }
}

/// What becomes of the writes that were not synced.
#[derive(Clone, Copy, Debug)]
pub enum CrashKind {
    /// None is there.
    Dropped,
    /// The first ones are.
    Prefix,
    /// Some are.
    Subset,
    /// Some are, and some of these in part.
    Torn,
}

impl CrashKind {
    pub const ALL: [Self; 4] = [Self::Dropped, Self::Prefix, Self::Subset, Self::Torn];
}

/// A file after a loss of power.
pub struct Crash {
    pub bytes: Vec<u8>,
    /// Operations before it.
    pub position: usize,
    pub acknowledged: Acknowledged,
}

/// All that happened to a file that was empty before.
pub struct Log(Vec<Operation>);

impl Log {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// For people.
    pub fn totals(&self) -> String {
        let written: usize = self.0.iter().map(Operation::byte_count).sum();
        let acknowledged = self.acknowledged(self.len());
        format!(
            "{} operations, {written} bytes, {acknowledged:?}",
            self.len()
        )
    }

    /// A loss of power at any moment.
    pub fn crash(&self, kind: CrashKind, random: &mut TestRandom) -> Crash {
        let position = random.below(self.0.len() as u64 + 1) as usize;
        let durable = self.durable(position);
        let mut file = Vec::new();
        for operation in &self.0[..durable] {
            operation.apply(&mut file);
        }
        self.lose(durable..position, kind, random, &mut file);
        Crash {
            bytes: file,
            position,
            acknowledged: self.acknowledged(position),
        }
    }

    fn acknowledged(&self, position: usize) -> Acknowledged {
        let mut acknowledged = Acknowledged::new();
        for operation in &self.0[..position] {
            if let Operation::Acknowledged(kind, number) = operation {
                acknowledged.insert(kind, *number);
            }
        }
        acknowledged
    }

    /// How many operations are durable at `position`: those before the beginning of a sync that has ended.
    fn durable(&self, position: usize) -> usize {
        let ended = self.0[..position].iter().filter_map(|done| match done {
            Operation::SyncEnded(number) => Some(*number),
            _ => None,
        });
        let Some(last) = ended.max() else { return 0 };
        let begins = |done: &Operation| matches!(done, Operation::SyncBegun(n) if *n == last);
        self.0.iter().position(begins).unwrap()
    }

    /// Applies what is kept of operations that were not synced.
    fn lose(
        &self,
        range: Range<usize>,
        kind: CrashKind,
        random: &mut TestRandom,
        file: &mut Vec<u8>,
    ) {
        let unsynced = &self.0[range];
        match kind {
            CrashKind::Dropped => {}
            CrashKind::Prefix => {
                let kept = random.below(unsynced.len() as u64 + 1) as usize;
                for operation in &unsynced[..kept] {
                    operation.apply(file);
                }
            }
            CrashKind::Subset | CrashKind::Torn => {
                let tears = matches!(kind, CrashKind::Torn);
                for operation in between_lengths(unsynced, random, file) {
                    match random.below(2) {
                        0 => {}
                        _ if tears && random.chance(50) => operation.apply_torn(file, random),
                        _ => operation.apply(file),
                    }
                }
            }
        }
    }
}

/// File systems keep changes of length in order with the writes around them. So all before one of them is applied, and what may be lost
/// is up to the next.
fn between_lengths<'a>(
    unsynced: &'a [Operation],
    random: &mut TestRandom,
    file: &mut Vec<u8>,
) -> &'a [Operation] {
    let is_length = |operation: &Operation| matches!(operation, Operation::SetLength(_));
    let parts: Vec<_> = unsynced.split_inclusive(is_length).collect();
    let chosen = random.below(parts.len() as u64) as usize;
    for operation in parts.iter().take(chosen).copied().flatten() {
        operation.apply(file);
    }
    match parts.get(chosen) {
        Some([writes @ .., Operation::SetLength(_)]) => writes,
        Some(writes) => writes,
        None => &[],
    }
}

impl Operation {
    fn byte_count(&self) -> usize {
        match self {
            Self::Write { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }

    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => write(file, *offset as usize, bytes),
            Self::SetLength(length) => file.resize(*length as usize, 0),
            _ => {}
        }
    }

    /// Some sectors of a write.
    fn apply_torn(&self, file: &mut Vec<u8>, random: &mut TestRandom) {
        if let Self::Write { offset, bytes } = self {
            for (index, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                if random.chance(50) {
                    write(file, *offset as usize + index * SECTOR_BYTES, sector);
                }
            }
        }
    }
}

fn write(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}
