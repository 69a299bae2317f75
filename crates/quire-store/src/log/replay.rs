//! Handing the records of the log to whoever redoes them.

use std::error::Error;

use quire_format::log::{LogContent, LogEntries, LogPage};
use quire_format::volume::PageId;

use super::VolumeLog;
use super::error::{LogError, ReplayError, corrupt_in};
use super::sequence::LogSequence;
use crate::volume::Pin;

impl VolumeLog {
    /// Calls `apply` with the records of every commit that counts, in the order of the commits; for a large transaction
    /// once for each part and once for the end, with the same sequence. The pages of the volume may be those of a later
    /// moment than a commit's, so records must be such that doing them again, in order, changes nothing.
    ///
    /// # Errors
    /// See [`ReplayError`].
    pub fn replay<E: Error + 'static>(
        &self,
        mut apply: impl FnMut(LogSequence, &[u8]) -> Result<(), E>,
    ) -> Result<(), ReplayError<E>> {
        let (pin, truncated_to, pages) = {
            let mut live = self.inner.lock_live();
            let pin = self.inner.volume.pin();
            live.reconcile(|page| pin.contains(page));
            let pages: Vec<_> = live
                .pages()
                .map(|live| (live.page, live.parts.clone()))
                .collect();
            (pin, live.truncated_to, pages)
        };
        let mut apply = |sequence, records: &[u8]| {
            apply(LogSequence(sequence), records)
                .map_err(|source| ReplayError::Apply { sequence, source })
        };
        for (page, parts) in pages {
            replay_page(&pin, page, &parts, truncated_to, &mut apply)?;
        }
        Ok(())
    }
}

fn replay_page<E: Error + 'static>(
    pin: &Pin,
    page: PageId,
    parts: &[PageId],
    truncated_to: u64,
    apply: &mut impl FnMut(u64, &[u8]) -> Result<(), ReplayError<E>>,
) -> Result<(), ReplayError<E>> {
    let payload = pin.read(page).map_err(LogError::from)?;
    let found = LogPage::decode(&payload).map_err(corrupt_in(pin, page))?;
    let body = found.body().map_err(corrupt_in(pin, page))?;
    let LogContent::Commits { first, count, .. } = found.content else {
        return Ok(());
    };
    let mut parts = parts.iter();
    for (entry, sequence) in LogEntries::new(&body, count).zip(first..) {
        let entry = entry.map_err(corrupt_in(pin, page))?;
        let part_count = entry.ends.map_or(0, |(_, count)| count as usize);
        let of_entry = parts.by_ref().take(part_count);
        if sequence <= truncated_to {
            of_entry.for_each(drop);
            continue;
        }
        for part in of_entry {
            let payload = pin.read(*part).map_err(LogError::from)?;
            let found = LogPage::decode(&payload).map_err(corrupt_in(pin, *part))?;
            apply(sequence, &found.body().map_err(corrupt_in(pin, *part))?)?;
        }
        apply(sequence, entry.records)?;
    }
    Ok(())
}
