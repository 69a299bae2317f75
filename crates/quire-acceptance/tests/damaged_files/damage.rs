//! Pages with other bytes, written by the volume itself, which makes their checksums right.

use std::sync::Arc;

use quire_store::{Disk, MemDisk, OpenMode, PageId, PageKind, Volume, VolumeOptions};
use quire_testkit::random::TestRandom;

/// What was done to a page.
#[derive(Debug)]
#[allow(dead_code, reason = "for the message of a failure")]
pub struct Change {
    page: u64,
    kind: PageKind,
    how: &'static str,
}

/// A copy of the file with one to three pages changed.
pub fn damaged(original: &[u8], random: &mut TestRandom) -> (Vec<u8>, Vec<Change>) {
    let disk = Arc::new(MemDisk::from_bytes(original.to_vec()));
    let shared = Arc::clone(&disk) as Arc<dyn Disk>;
    let volume = Volume::open_with(shared, OpenMode::ReadWrite, VolumeOptions::default()).unwrap();
    let pin = volume.pin();
    let pages = pin.pages();
    let mut changes = Vec::new();
    for _ in 0..1 + random.below(3) {
        let page = chosen(&pages, &volume, random);
        let kind = pin.kind(page).unwrap();
        let mut payload = pin.read(page).unwrap().to_vec();
        let other = pages[random.below(pages.len() as u64) as usize];
        let how = change(&mut payload, &pin.read(other).unwrap(), random);
        let batch = volume.begin().unwrap();
        batch.replace(page, kind, &payload).unwrap();
        batch.commit().unwrap();
        changes.push(Change {
            page: page.get(),
            kind,
            how,
        });
    }
    drop(pin);
    volume.close().unwrap();
    (disk.to_bytes(), changes)
}

/// Any page, and each kind as often as the others: of some there is one among hundreds.
fn chosen(pages: &[PageId], volume: &Volume, random: &mut TestRandom) -> PageId {
    let pin = volume.pin();
    let wanted = PageKind::ALL[random.below(PageKind::ALL.len() as u64) as usize];
    let of_kind = pages
        .iter()
        .filter(|page| pin.kind(**page).unwrap() == wanted);
    let of_kind: Vec<_> = of_kind.copied().collect();
    let from = if of_kind.is_empty() { pages } else { &of_kind };
    from[random.below(from.len() as u64) as usize]
}

/// Changes a payload; headers, with their counts and lengths, are at its beginning, so that is where most changes are.
fn change(payload: &mut Vec<u8>, other: &[u8], random: &mut TestRandom) -> &'static str {
    if payload.is_empty() {
        payload.extend(random.bytes(8));
        return "bytes in an empty page";
    }
    let within = if random.chance(60) {
        payload.len().min(64)
    } else {
        payload.len()
    };
    let at = random.below(within as u64) as usize;
    match random.below(8) {
        0 => {
            for _ in 0..1 + random.below(8) {
                let at = random.below(payload.len() as u64) as usize;
                payload[at] ^= 1 << random.below(8);
            }
            "bits flipped"
        }
        1 => overwrite(payload, at, &extreme(random), "an extreme number"),
        2 => {
            payload.truncate(at);
            "cut off"
        }
        3 => {
            let added = random.below(5_000) as usize;
            payload.extend(random.bytes(added));
            "longer"
        }
        4 => overwrite(payload, at, &[0; 200], "zeros"),
        5 => {
            *payload = other.to_vec();
            "the bytes of another page"
        }
        6 => {
            let bytes = random.bytes(32);
            overwrite(payload, at, &bytes, "random bytes")
        }
        _ => {
            let from = random.below(payload.len() as u64) as usize;
            let piece = payload[from..payload.len().min(from + 64)].to_vec();
            overwrite(payload, at, &piece, "a piece of itself")
        }
    }
}

/// A count or a length that is too large, or nothing; of any width, as bytes and as a varint.
fn extreme(random: &mut TestRandom) -> Vec<u8> {
    let number: u64 = match random.below(5) {
        0 => 0,
        1 => 1 << random.below(63),
        2 => u64::MAX,
        3 => u64::from(u32::MAX) - random.below(3),
        _ => i64::MAX as u64,
    };
    match random.below(4) {
        0 => (number as u16).to_le_bytes().to_vec(),
        1 => (number as u32).to_le_bytes().to_vec(),
        2 => number.to_le_bytes().to_vec(),
        _ => [vec![0xff; random.below(9) as usize], vec![0x01]].concat(),
    }
}

fn overwrite(payload: &mut [u8], at: usize, bytes: &[u8], how: &'static str) -> &'static str {
    for (to, from) in payload[at..].iter_mut().zip(bytes) {
        *to = *from;
    }
    how
}
