//! Freeing what a transaction wrote ahead that a crash has ended.

use std::collections::HashSet;

use quire_format::staging_mark::StagingMark;
use quire_format::volume::FIRST_FREE_PAGE;
use quire_kv::btree::{add_stored_pages, stored_dictionaries};
use quire_store::{Durability, PageId, PageKind, Pin, STAGING_PAGE, Volume};

use crate::error::{EngineError, TransactionError};
use crate::snapshot::Snapshot;

/// Notes the pages of one kind of table. The pages on disk count, as one version of the volume has them.
type Walk = fn(&Pin, &Snapshot, &mut HashSet<PageId>) -> Result<(), EngineError>;

/// Who refers to pages. The log is not here: its own opening finds what is left over of it.
const WALKS: [Walk; 2] = [column_tables, trees];

/// The staging mark of a state, if there is one.
pub(crate) fn staging_mark(pin: &Pin) -> Result<Option<StagingMark>, EngineError> {
    if !pin.contains(STAGING_PAGE) {
        return Ok(None);
    }
    let mark = StagingMark::decode(&pin.read(STAGING_PAGE)?);
    mark.map(Some).map_err(|source| EngineError::Corrupt {
        what: "the staging mark".to_owned(),
        source,
    })
}

/// Frees what nobody refers to, if there is a staging mark, and the mark with it. To be called while no write
/// transaction is in progress.
///
/// # Errors
/// What refers to pages cannot be read, or the batch cannot be written. Everything stays as it is then.
pub(crate) fn sweep(volume: &Volume) -> Result<(), TransactionError> {
    if !volume.pin().contains(STAGING_PAGE) {
        return Ok(());
    }
    // With the turn, nobody else writes meanwhile.
    let batch = volume.begin().map_err(EngineError::from)?;
    let pin = volume.pin();
    for page in unreferenced_pages(&pin)? {
        batch.free(page).map_err(EngineError::from)?;
    }
    batch.free(STAGING_PAGE).map_err(EngineError::from)?;
    // Done again if a crash undoes it.
    batch.commit_with(Durability::Unsynced)?;
    Ok(())
}

/// Pages that the mark covers and nobody refers to.
fn unreferenced_pages(pin: &Pin) -> Result<Vec<PageId>, EngineError> {
    let Some(mark) = staging_mark(pin)? else {
        return Ok(Vec::new());
    };
    let snapshot = Snapshot::committed(pin.clone())?;
    let mut referenced = HashSet::new();
    for walk in WALKS {
        walk(pin, &snapshot, &mut referenced)?;
    }
    let mut unreferenced = Vec::new();
    for page in pin.pages_from(mark.first_page) {
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
        for (index, row_group) in state.row_groups.iter().enumerate() {
            pages.extend(&row_group.pointer.pages);
            let loaded = row_group.row_group(snapshot.source(), &entry.definition, index)?;
            pages.extend(loaded.columns.iter().flat_map(|column| &column.pages));
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
