//! A disk in memory that fails: on purpose, repeatably, and in the ways real ones do.
//!
//! What has been written but not synced may be lost, torn or reordered by a crash ([`CrashImages`]).
//! A call may fail ([`Fault`]), the disk may be full, a sync may fail and drop what it should have
//! kept. Every operation is recorded, so one run of a program yields a crash at every one of them.

mod crash;
pub(super) mod operation;

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Disk;
use super::memory::read_range;

pub use crash::CrashImages;
use crash::crash_image;
use operation::DiskOperation;

/// The kinds of calls that can be made to fail. Each is counted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// [`Disk::read_at`].
    Read,
    /// [`Disk::write_at`].
    Write,
    /// [`Disk::sync`].
    Sync,
    /// [`Disk::set_len`].
    SetLen,
    /// [`Disk::discard`].
    Discard,
}

/// One thing that will go wrong.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Which calls.
    pub kind: FaultKind,
    /// The call that fails, counted from 0 since the disk was made.
    pub nth: u64,
    /// All later calls of the kind fail too.
    pub is_persistent: bool,
    /// The error they return.
    pub error: io::ErrorKind,
    /// For writes and discards: the part of the bytes, in 256ths, that reaches the disk nevertheless. For
    /// syncs: not 0 means that the unsynced writes are dropped for good, although reads still
    /// show them.
    pub effect: u8,
}

/// A disk in memory that fails.
#[derive(Debug)]
pub struct SimDisk {
    state: Mutex<SimulatedDiskState>,
}

#[derive(Debug, Default)]
struct SimulatedDiskState {
    /// What reads see.
    current: Vec<u8>,
    /// What survives any crash.
    durable: Vec<u8>,
    unsynced: Vec<DiskOperation>,
    journal: Option<Vec<DiskOperation>>,
    faults: Vec<Fault>,
    counts: [u64; 5],
    quota_bytes: Option<u64>,
}

impl SimDisk {
    /// A disk that holds `bytes`, all of them durable.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        let state = SimulatedDiskState {
            current: bytes.clone(),
            durable: bytes,
            ..SimulatedDiskState::default()
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// As [`SimDisk::new`], and every change is recorded.
    #[must_use]
    pub fn recording(bytes: Vec<u8>) -> Self {
        let disk = Self::new(bytes);
        disk.lock().journal = Some(Vec::new());
        disk
    }

    /// Arranges for a failure.
    pub fn add_fault(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    /// Takes all failures back.
    pub fn clear_faults(&self) {
        self.lock().faults.clear();
    }

    /// Limits the length of the disk; `None` lifts the limit.
    pub fn set_quota(&self, bytes: Option<u64>) {
        self.lock().quota_bytes = bytes;
    }

    /// Calls of a kind so far, failed ones included.
    #[must_use]
    pub fn call_count(&self, kind: FaultKind) -> u64 {
        self.lock().counts[kind as usize]
    }

    /// The recorded operations; empty unless the disk records.
    #[must_use]
    pub fn journal(&self) -> Vec<DiskOperation> {
        self.lock().journal.clone().unwrap_or_default()
    }

    /// Number of recorded operations.
    #[must_use]
    pub fn journal_len(&self) -> usize {
        self.lock().journal.as_ref().map_or(0, Vec::len)
    }

    /// What a crash now would leave; `seed` decides what becomes of the unsynced writes.
    #[must_use]
    pub fn crash(&self, seed: u64) -> Vec<u8> {
        let state = self.lock();
        crash_image(&state.durable, &state.unsynced, seed)
    }

    /// What a crash now would leave if the disk had kept nothing that was not synced.
    #[must_use]
    pub fn crash_losing_all(&self) -> Vec<u8> {
        self.lock().durable.clone()
    }

    /// What reads see now.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.lock().current.clone()
    }

    fn lock(&self) -> MutexGuard<'_, SimulatedDiskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SimulatedDiskState {
    /// Counts a call, and returns the fault that hits it.
    fn count(&mut self, kind: FaultKind) -> Option<Fault> {
        let nth = self.counts[kind as usize];
        self.counts[kind as usize] += 1;
        let hits = |fault: &&Fault| {
            fault.kind == kind && (nth == fault.nth || fault.is_persistent && nth > fault.nth)
        };
        self.faults.iter().find(hits).copied()
    }

    fn perform(&mut self, operation: DiskOperation) -> io::Result<()> {
        operation.apply(&mut self.current)?;
        if let Some(journal) = &mut self.journal {
            journal.push(operation.clone());
        }
        self.unsynced.push(operation);
        Ok(())
    }

    fn write_part(&mut self, bytes: &[u8], offset: u64, part_bytes: usize) -> io::Result<()> {
        if part_bytes == 0 {
            return Ok(());
        }
        self.perform(DiskOperation::Write {
            offset,
            bytes: bytes[..part_bytes].to_vec(),
        })
    }
}

impl Disk for SimDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.lock();
        match state.count(FaultKind::Read) {
            Some(fault) => Err(fault.error.into()),
            None => read_range(&state.current, buffer, offset),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(fault) = state.count(FaultKind::Write) {
            state.write_part(bytes, offset, bytes.len() * usize::from(fault.effect) / 256)?;
            return Err(fault.error.into());
        }
        let quota_bytes = state
            .quota_bytes
            .unwrap_or(u64::MAX)
            .max(state.current.len() as u64);
        let room_bytes = quota_bytes.saturating_sub(offset);
        if (bytes.len() as u64) > room_bytes {
            state.write_part(bytes, offset, room_bytes as usize)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.write_part(bytes, offset, bytes.len())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(fault) = state.count(FaultKind::Sync) {
            if fault.effect != 0 {
                state.unsynced.clear();
            }
            return Err(fault.error.into());
        }
        let SimulatedDiskState {
            durable,
            unsynced,
            journal,
            ..
        } = &mut *state;
        for operation in unsynced.drain(..) {
            operation.apply(durable)?;
        }
        if let Some(journal) = journal {
            journal.push(DiskOperation::Sync);
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.lock().current.len() as u64)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.lock();
        match state.count(FaultKind::SetLen) {
            Some(fault) => Err(fault.error.into()),
            None => state.perform(DiskOperation::SetLen(bytes)),
        }
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut state = self.lock();
        match state.count(FaultKind::Discard) {
            Some(fault) => {
                let part_bytes = bytes / 256 * u64::from(fault.effect);
                if part_bytes > 0 {
                    let bytes = part_bytes;
                    state.perform(DiskOperation::Discard { offset, bytes })?;
                }
                Err(fault.error.into())
            }
            None => state.perform(DiskOperation::Discard { offset, bytes }),
        }
    }

    fn name(&self) -> String {
        "(simulated)".to_owned()
    }
}
