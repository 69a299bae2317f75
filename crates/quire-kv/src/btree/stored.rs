//! The pages of a tree as one state of the volume has them. Needs no pool, and knows nothing of what a pool has changed.

use std::collections::HashSet;

use quire_codec::Corrupt;
use quire_codec::block::{BlockOptions, open};
use quire_format::page_dictionary::DictionaryList;
use quire_format::row_page::{PageImage, RowPage};
use quire_store::{DICTIONARY_LIST_PAGE, PageId, Pin};

use super::error::StoredTreeError;

/// Adds the pages of the tree with that root that are in the volume: none of an empty tree, and not all of one whose pages
/// are being freed. Leaves are not read.
///
/// # Errors
/// An inner page cannot be read or understood, or leads to a page that is in `pages` already.
pub fn add_stored_pages(
    pin: &Pin,
    root: PageId,
    pages: &mut HashSet<PageId>,
) -> Result<(), StoredTreeError> {
    let mut pending = vec![(root, true)];
    while let Some((page, is_inner)) = pending.pop() {
        if !pin.contains(page) {
            continue;
        }
        if !pages.insert(page) {
            return Err(damaged(page, Corrupt::new("two pages refer to it", 0)));
        }
        if is_inner {
            let image = pin.read(page)?;
            let (level, children) = children(&image).map_err(|source| damaged(page, source))?;
            pending.extend(children.into_iter().map(|child| (child, level > 1)));
        }
    }
    Ok(())
}

/// The pages of the dictionaries of trees, by the numbers of the trees.
///
/// # Errors
/// The list cannot be read or understood.
pub fn stored_dictionaries(pin: &Pin) -> Result<DictionaryList, StoredTreeError> {
    if !pin.contains(DICTIONARY_LIST_PAGE) {
        return Ok(DictionaryList::default());
    }
    let list = DictionaryList::decode(&pin.read(DICTIONARY_LIST_PAGE)?);
    list.map_err(|source| StoredTreeError::Corrupt {
        what: "the list of dictionaries".to_owned(),
        source,
    })
}

fn damaged(page: PageId, source: Corrupt) -> StoredTreeError {
    StoredTreeError::Corrupt {
        what: format!("page {page} of a tree"),
        source,
    }
}

/// The level of a page, and the pages it refers to.
fn children(image: &[u8]) -> Result<(u8, Vec<PageId>), Corrupt> {
    let image = PageImage::open(image)?;
    let codec = open(image.codec(), &BlockOptions::default());
    let mut codec = codec.map_err(|error| Corrupt::new(error.to_string(), 0))?;
    let mut bytes = vec![0; image.page_bytes()];
    image.decode(codec.as_mut(), &mut bytes)?;
    let page = RowPage::open(&bytes)?;
    let count = match page.level() {
        0 => 0,
        _ => page.len(),
    };
    let children = (0..count).map(|index| page.child_at(index));
    Ok((page.level(), children.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use quire_codec::block::BlockCodecId;
    use quire_store::pool::{PageCodec, Pool, PoolOptions};
    use quire_store::{Durability, MemDisk, PageKind, Volume, VolumeOptions};

    use super::*;
    use crate::btree::{BTree, TreeOptions};

    fn stored(volume: &Volume, root: PageId) -> Result<HashSet<PageId>, StoredTreeError> {
        let mut pages = HashSet::new();
        add_stored_pages(&volume.pin(), root, &mut pages).map(|()| pages)
    }

    #[test]
    fn the_pages_are_those_that_a_check_of_the_tree_finds() {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
        let pool = Pool::new(&volume, PoolOptions::default());
        let options = TreeOptions {
            page_bytes: 4_096,
            ..TreeOptions::default()
        };
        let zstd = PageCodec::new(BlockCodecId::Zstd, None).unwrap();
        let tree = BTree::create(&pool, zstd, options, &pool.begin_change()).unwrap();
        assert!(stored(&volume, tree.root()).unwrap().is_empty());
        for round in 0..3_u64 {
            for number in 0..20_000_u64 {
                let key = (number * 7_919 + round).to_be_bytes();
                let guard = pool.begin_change();
                tree.put(&key, &[number as u8; 400], round + 1, &guard)
                    .unwrap();
            }
            let (flush, ()) = pool.prepare_flush(|| ()).unwrap();
            let batch = volume.begin().unwrap();
            flush.commit(batch, Durability::Unsynced).unwrap();
            let report = tree.check();
            assert!(report.height > 2 && report.findings.is_empty());
            let found = stored(&volume, tree.root()).unwrap();
            assert_eq!(found, report.pages.iter().copied().collect());
            assert_eq!(found.len(), volume.pin().pages().len());
        }
    }

    #[test]
    fn what_is_no_tree_is_an_error() {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Row, b"not an image").unwrap();
        batch.commit().unwrap();
        let error = stored(&volume, page).unwrap_err().to_string();
        assert!(error.contains(&format!("page {page} of a tree")), "{error}");
        let mut pages = HashSet::from([page]);
        assert!(add_stored_pages(&volume.pin(), page, &mut pages).is_err());
    }
}
