//! Finding the pages of the log when a volume is opened.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};

use quire_format::log::{LogContent, LogEntries, LogPage, LogRoot};
use quire_format::volume::{LOG_ROOT_PAGE, PageId, PageKind};

use super::error::{LogError, corrupt, corrupt_in};
use super::inner::LogInner;
use super::live::{LivePage, LivePages};
use super::{LogOptions, VolumeLog};
use crate::volume::{Pin, Volume};

impl VolumeLog {
    /// Finds the log of a volume; one that never had any has an empty one. Reads the pages that count, writes nothing.
    /// Then [`VolumeLog::replay`] is due, before the first commit.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn open(volume: &Volume, options: LogOptions) -> Result<Self, LogError> {
        let live = find(&volume.pin())?;
        Ok(Self {
            inner: Arc::new(LogInner {
                volume: volume.clone(),
                commit_delay_us: options.commit_delay_us,
                filling: Mutex::default(),
                gathered: Condvar::new(),
                live: Mutex::new(live),
            }),
        })
    }
}

fn find(pin: &Pin) -> Result<LivePages, LogError> {
    if !pin.contains(LOG_ROOT_PAGE) {
        return Ok(LivePages::new(0));
    }
    let payload = pin.read(LOG_ROOT_PAGE)?;
    let root = LogRoot::decode(&payload).map_err(corrupt_in(pin, LOG_ROOT_PAGE))?;
    let mut search = LogSearch {
        pin,
        live: LivePages::new(root.truncated_to),
        parts: BTreeMap::new(),
        is_first: true,
    };
    for page in root
        .first_page
        .map_or_else(Vec::new, |first| pin.pages_from(first))
    {
        if pin.kind(page)? == PageKind::Log {
            search.take(page)?;
        }
    }
    Ok(search.finish())
}

struct LogSearch<'a> {
    pin: &'a Pin,
    live: LivePages,
    /// Parts whose end was not found yet, by the number of their transaction: ordinal and page.
    parts: BTreeMap<u64, Vec<(u32, PageId)>>,
    is_first: bool,
}

impl LogSearch<'_> {
    fn take(&mut self, page: PageId) -> Result<(), LogError> {
        let payload = self.pin.read(page)?;
        let found = LogPage::decode(&payload).map_err(corrupt_in(self.pin, page))?;
        match found.content {
            LogContent::Part { large, ordinal } => {
                let parts = self.parts.entry(large).or_default();
                parts.push((ordinal, page));
                Ok(())
            }
            LogContent::Commits { first, count, .. } => {
                let last = first + u64::from(count) - 1;
                if last <= self.live.truncated_to {
                    // Only a rebuilt page map can have brought it back.
                    self.live.orphans.push(page);
                    return Ok(());
                }
                self.follows(page, first)?;
                let parts = self.parts_that_end(page, &found)?;
                self.live.push(LivePage {
                    page,
                    last,
                    bytes: payload.len() as u64,
                    parts,
                });
                Ok(())
            }
        }
    }

    /// Proves that no commit is missing between those found so far and `first`.
    fn follows(&mut self, page: PageId, first: u64) -> Result<(), LogError> {
        let is_next = first == self.live.next || self.is_first && first < self.live.next;
        self.is_first = false;
        if is_next {
            return Ok(());
        }
        let expected = self.live.next;
        let detail = format!("it begins with commit {first}, where {expected} should follow");
        Err(corrupt(self.pin, page, detail))
    }

    /// The parts of the transactions that end in this page.
    fn parts_that_end(
        &mut self,
        page: PageId,
        found: &LogPage<'_>,
    ) -> Result<Vec<PageId>, LogError> {
        let LogContent::Commits {
            count,
            ends_large: true,
            ..
        } = found.content
        else {
            return Ok(Vec::new());
        };
        let body = found.body().map_err(corrupt_in(self.pin, page))?;
        let mut pages = Vec::new();
        for entry in LogEntries::new(&body, count) {
            let entry = entry.map_err(corrupt_in(self.pin, page))?;
            let Some((large, part_count)) = entry.ends else {
                continue;
            };
            let parts = self.parts.remove(&large).unwrap_or_default();
            let ordinals = parts.iter().map(|(ordinal, _)| *ordinal);
            if !ordinals.eq(0..part_count) {
                let detail = format!("parts of the large transaction {large} are missing");
                return Err(corrupt(self.pin, page, detail));
            }
            pages.extend(parts.into_iter().map(|(_, page)| page));
        }
        Ok(pages)
    }

    fn finish(mut self) -> LivePages {
        let unfinished = self.parts.into_values().flatten();
        self.live.orphans.extend(unfinished.map(|(_, page)| page));
        self.live
    }
}
