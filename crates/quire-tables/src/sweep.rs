//! Freeing what a transaction wrote ahead that a crash has ended.

use std::collections::HashSet;

use quire_format::volume::FIRST_FREE_PAGE;
use quire_kv::btree::{add_stored_pages, stored_dictionaries};
use quire_store::{Durability, PageId, PageKind, Pin, STAGING_PAGE, Volume, WriteBatch};

use crate::error::{EngineError, TransactionError};
use crate::snapshot::Snapshot;
use crate::stagings::{Leftovers, staging_mark};

/// Notes the pages of one kind of table. The pages on disk count, as one version of the volume has them.
type Walk = fn(&Pin, &Snapshot, &mut HashSet<PageId>) -> Result<(), EngineError>;

/// Who refers to pages. The log is not here: its own opening finds what is left over of it.
const WALKS: [Walk; 2] = [column_tables, trees];

/// Frees what nobody refers to, if there is a staging mark, and the mark with it. To be called while nobody else has the volume.
///
/// # Errors
/// What refers to pages cannot be read, or the batch cannot be written. Everything stays as it is then.
pub(crate) fn sweep(volume: &Volume) -> Result<(), TransactionError> {
    let pin = volume.pin();
    if !pin.contains(STAGING_PAGE) {
        return Ok(());
    }
    let pages = unreferenced_pages(&pin, None)?;
    let batch = volume.begin().map_err(EngineError::from)?;
    free(&batch, &pages, true)?;
    batch.commit_with(Durability::Unsynced)?;
    Ok(())
}

/// The same while others begin to write ahead: what they have is not looked at, and keeps the mark. Everybody can commit while what refers
/// to pages is read: a page that nobody refers to then is never referred to again.
///
/// # Errors
/// As [`sweep`].
pub(crate) fn sweep_leftovers(volume: &Volume, left: &Leftovers) -> Result<(), TransactionError> {
    let pages = unreferenced_pages(&volume.pin(), Some(left.end))?;
    let batch = volume.begin().map_err(EngineError::from)?;
    let frees_mark = left.registered.begin_end();
    let freed = free(&batch, &pages, frees_mark).map_err(TransactionError::from);
    // Done again if a crash undoes it.
    let swept = freed.and_then(|()| Ok(batch.commit_with(Durability::Unsynced)?));
    let is_left = left.registered.note_end(frees_mark, swept.is_ok());
    swept?;
    if is_left {
        left.registered.free_mark(volume)?;
    }
    Ok(())
}

fn free(batch: &WriteBatch, pages: &[PageId], frees_mark: bool) -> Result<(), EngineError> {
    pages.iter().try_for_each(|page| batch.free(*page))?;
    if frees_mark {
        batch.free(STAGING_PAGE)?;
    }
    Ok(())
}

/// Pages that the mark covers and nobody refers to, below `end` if there is one.
fn unreferenced_pages(pin: &Pin, end: Option<PageId>) -> Result<Vec<PageId>, EngineError> {
    let Some(mark) = staging_mark(pin)? else {
        return Ok(Vec::new());
    };
    let snapshot = Snapshot::committed(pin.clone())?;
    let mut referenced = HashSet::new();
    for walk in WALKS {
        walk(pin, &snapshot, &mut referenced)?;
    }
    let mut unreferenced = Vec::new();
    let is_covered = |page: &PageId| end.is_none_or(|end| *page < end);
    let covered = pin.pages_from(mark.first_page).into_iter();
    for page in covered.filter(is_covered) {
        if page.get() >= FIRST_FREE_PAGE
            && !referenced.contains(&page)
            && pin.kind(page)? != PageKind::Log
        {
            unreferenced.push(page);
        }
    }
    Ok(unreferenced)
}

fn column_tables(
    _: &Pin,
    snapshot: &Snapshot,
    pages: &mut HashSet<PageId>,
) -> Result<(), EngineError> {
    for entry in snapshot.catalog().tables.values() {
        pages.extend(&entry.root_pages);
        let state = entry.state(snapshot.source())?;
        pages.extend(state.root.dictionary_pages());
        for (index, row_group) in state.row_groups.iter().enumerate() {
            pages.extend(&row_group.pointer.pages);
            let loaded = row_group.row_group(&entry.definition, index, |pages| {
                snapshot.source().read(pages)
            })?;
            pages.extend(loaded.segment_pages());
        }
    }
    Ok(())
}

fn trees(pin: &Pin, snapshot: &Snapshot, pages: &mut HashSet<PageId>) -> Result<(), EngineError> {
    let dictionaries = stored_dictionaries(pin)?.trees;
    for tree in snapshot.catalog().all_trees() {
        add_stored_pages(pin, tree.root, pages)?;
        pages.extend(dictionaries.get(&tree.id).into_iter().flatten());
    }
    Ok(())
}
