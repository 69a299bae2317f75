//! The reference volume of each format version: what is in it, and how it was made.
//!
//! The files are under `tests/golden`; every later program must open them and find this.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::{CATALOG_PAGE, Disk, MemDisk, PageId, PageKind, Volume, VolumeOptions};

/// The two reference files: a closed one, and one whose process was killed after the same work.
pub const GOLDEN_NAMES: [&str; 2] = ["closed.volume", "killed.volume"];

/// Pages 16 to 55 are written; page `n` holds `37 n mod 1000` times the byte `n`. Then those that
/// 5 divides are freed, and those that 7 divides (and 5 does not) get 5000 times the byte 255.
/// The catalog is the text `quire golden volume 1`.
#[must_use]
pub fn golden_pages() -> BTreeMap<u64, Vec<u8>> {
    let content = |page: u64| match page {
        _ if page.is_multiple_of(5) => None,
        _ if page.is_multiple_of(7) => Some(vec![255; 5000]),
        _ => Some(vec![page as u8; (37 * page % 1000) as usize]),
    };
    let mut pages: BTreeMap<u64, Vec<u8>> = (16..56)
        .filter_map(|page| Some((page, content(page)?)))
        .collect();
    pages.insert(CATALOG_PAGE.get(), b"quire golden volume 1".to_vec());
    pages
}

/// Makes the reference files, in the order of [`GOLDEN_NAMES`].
///
/// # Errors
/// The message of the volume.
pub fn make_golden_files() -> Result<[Vec<u8>; 2], Box<dyn std::error::Error>> {
    let disk = Arc::new(MemDisk::new());
    let options = VolumeOptions {
        run_bytes: 8 << 10,
        clean_dead_percent: 100,
        salt_seed: Some(1),
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone() as Arc<dyn Disk>, options)?;
    for first in [16, 36] {
        let batch = volume.begin()?;
        for page in first..first + 20_u64 {
            let payload = vec![page as u8; (37 * page % 1000) as usize];
            let given = batch.write(PageKind::Segment, &payload)?;
            if given.get() != page {
                return Err(format!("page {given} was given out instead of {page}").into());
            }
        }
        batch.commit()?;
        volume.checkpoint()?;
    }
    let batch = volume.begin()?;
    for page in (16..56).filter_map(PageId::new) {
        if page.get().is_multiple_of(5) {
            batch.free(page)?;
        } else if page.get().is_multiple_of(7) {
            batch.replace(page, PageKind::RowGroup, &[255; 5000])?;
        }
    }
    batch.commit()?;
    let batch = volume.begin()?;
    batch.replace(CATALOG_PAGE, PageKind::Catalog, b"quire golden volume 1")?;
    batch.commit()?;
    let killed = disk.to_bytes();
    volume.close()?;
    Ok([disk.to_bytes(), killed])
}
