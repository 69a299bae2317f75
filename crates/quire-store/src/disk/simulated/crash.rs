//! What a crash leaves of the writes that were not synced.
//!
//! A device may have kept any of them: in part, and not in their order. What it keeps of one
//! write it keeps in units of a sector (512 bytes) or of a page (4096 bytes). The length of the
//! file is metadata of its own: it may be older than the bytes.

use super::operation::DiskOperation;

/// Up to here the volume overwrites what it needs; its two copies must survive a garbled sector.
const SUPERBLOCKS_END: u64 = 8192;

/// The bytes after a crash: `durable`, and of the `unsynced` operations whatever `seed` decides.
#[must_use]
pub(super) fn crash_image(durable: &[u8], unsynced: &[DiskOperation], seed: u64) -> Vec<u8> {
    let mut random = CrashRandom(seed);
    let mut image = durable.to_vec();
    match random.below(8) {
        0 => {}
        1 => apply_in_order(&mut image, unsynced),
        2 => {
            // Everything up to a moment, the last write torn.
            let kept = random.below(unsynced.len() as u64 + 1) as usize;
            apply_in_order(&mut image, &unsynced[..kept]);
            if let Some(last) = unsynced.get(kept) {
                apply_torn(&mut image, last, &mut random);
            }
        }
        3 => {
            // Everything but one.
            let lost = random.below(unsynced.len() as u64 + 1) as usize;
            for (index, operation) in unsynced.iter().enumerate() {
                if index != lost {
                    apply_whole(&mut image, operation);
                }
            }
        }
        4 => {
            // The latest first: the header before the data.
            for operation in unsynced.iter().rev() {
                match random.below(3) {
                    0 => {}
                    1 => apply_torn(&mut image, operation, &mut random),
                    _ => apply_whole(&mut image, operation),
                }
            }
        }
        _ => {
            let mut order: Vec<&DiskOperation> = unsynced.iter().collect();
            shuffle(&mut order, &mut random);
            for operation in order {
                match random.below(4) {
                    0 => {}
                    1 => apply_torn(&mut image, operation, &mut random),
                    _ => apply_whole(&mut image, operation),
                }
            }
        }
    }
    lose_growth(&mut image, durable.len(), &mut random);
    image
}

fn apply_in_order(image: &mut Vec<u8>, operations: &[DiskOperation]) {
    for operation in operations {
        apply_whole(image, operation);
    }
}

fn apply_whole(image: &mut Vec<u8>, operation: &DiskOperation) {
    // What was performed once can be performed again: it cannot fail.
    let _ = operation.apply(image);
}

/// Keeps some of the units of a write.
fn apply_torn(image: &mut Vec<u8>, operation: &DiskOperation, random: &mut CrashRandom) {
    let discarded;
    let (offset, bytes) = match operation {
        DiskOperation::Write { offset, bytes } => (offset, bytes),
        // As a write of zeros.
        DiskOperation::Discard { offset, bytes } => {
            let left = (image.len() as u64).saturating_sub(*offset);
            discarded = vec![0; left.min(*bytes) as usize];
            (offset, &discarded)
        }
        DiskOperation::SetLen(_) | DiskOperation::Sync => return,
    };
    let unit = if random.below(2) == 0 { 512 } else { 4096 };
    let prefix_only = random.below(2) == 0;
    let limit = random.below(bytes.len() as u64 + 1) as usize;
    let mut start = 0;
    while start < bytes.len() {
        let end =
            ((*offset as usize + start) / unit * unit + unit - *offset as usize).min(bytes.len());
        if *offset < SUPERBLOCKS_END && random.below(8) == 0 {
            garble(image, *offset as usize + start, end - start);
            start = end;
            continue;
        }
        let is_kept = if prefix_only {
            end <= limit
        } else {
            random.below(2) == 0
        };
        if is_kept {
            let piece = bytes[start..end].to_vec();
            let write = DiskOperation::Write {
                offset: offset + start as u64,
                bytes: piece,
            };
            apply_whole(image, &write);
        }
        start = end;
    }
}

/// The power failed while the device was writing this sector: it holds neither old nor new.
fn garble(image: &mut [u8], start: usize, length: usize) {
    let end = (start + length).min(image.len());
    image
        .iter_mut()
        .take(end)
        .skip(start)
        .for_each(|byte| *byte ^= 0x5a);
}

/// Sometimes the new length is lost, and with it the bytes behind the old one.
fn lose_growth(image: &mut Vec<u8>, durable_bytes: usize, random: &mut CrashRandom) {
    if image.len() <= durable_bytes {
        return;
    }
    let growth_bytes = (image.len() - durable_bytes) as u64;
    match random.below(4) {
        0 => image.truncate(durable_bytes),
        1 => {
            let kept_bytes = random.below(growth_bytes + 1) / 4096 * 4096;
            image.truncate(durable_bytes + kept_bytes as usize);
        }
        _ => {}
    }
}

fn shuffle(order: &mut [&DiskOperation], random: &mut CrashRandom) {
    for end in (1..order.len()).rev() {
        order.swap(end, random.below(end as u64 + 1) as usize);
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and good enough to choose faults.
struct CrashRandom(u64);

impl CrashRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }
}

/// Walks through a recorded run and yields what a crash would leave after each operation.
pub struct CrashImages<'a> {
    journal: &'a [DiskOperation],
    durable: Vec<u8>,
    /// Operations since the last sync: `journal[synced..position]`.
    synced: usize,
    position: usize,
}

impl<'a> CrashImages<'a> {
    /// `start` is what the disk held, durably, before the first operation.
    #[must_use]
    pub fn new(start: Vec<u8>, journal: &'a [DiskOperation]) -> Self {
        Self {
            journal,
            durable: start,
            synced: 0,
            position: 0,
        }
    }

    /// Operations that have happened.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Lets one more operation happen; false at the end.
    pub fn advance(&mut self) -> bool {
        let Some(operation) = self.journal.get(self.position) else {
            return false;
        };
        self.position += 1;
        if *operation == DiskOperation::Sync {
            apply_in_order(&mut self.durable, &self.journal[self.synced..self.position]);
            self.synced = self.position;
        }
        true
    }

    /// What a crash at this moment leaves.
    #[must_use]
    pub fn image(&self, seed: u64) -> Vec<u8> {
        crash_image(
            &self.durable,
            &self.journal[self.synced..self.position],
            seed,
        )
    }
}
