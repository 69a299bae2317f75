//! Writing the buffer of a batch as a run.

use std::sync::{Arc, MutexGuard};

use quire_format::volume::IMAGE_HEADER_BYTES;

use super::batch::WriteBatch;
use super::batch_runs::BatchRuns;
use super::placement::{Need, RunPlacement};
use super::writer::VolumeWriterState;
use crate::disk::is_full;
use crate::error::BatchWriteError;

impl WriteBatch {
    /// Writes the buffer while other threads go on filling a new one.
    pub(super) fn flush_shared<'a>(
        &'a self,
        mut runs: MutexGuard<'a, BatchRuns>,
    ) -> Result<(), BatchWriteError> {
        let needed_bytes = runs.buffer.len() as u64;
        let mut sealed = {
            let mut writer = self.inner.lock_writer();
            let prepared = self.inner.begin_session(&mut writer);
            // Unless the disk is full, all is made up for with the last run of the batch.
            let may = prepared.and_then(|()| self.may_take(&mut writer, &runs));
            let placed = may.map(|may| {
                if may {
                    place(&mut writer, &runs, Need::Ordinary)
                } else {
                    None
                }
            });
            match placed {
                Ok(Some(placement)) => runs.seal(placement, &writer),
                Ok(None) => {
                    runs.failed = true;
                    return Err(self.full(needed_bytes));
                }
                Err(error) => {
                    runs.failed = true;
                    return Err(error);
                }
            }
        };
        let tail_made = sealed.make_tail(&self.inner);
        runs.in_flight += 1;
        drop(runs);
        let written = tail_made.and_then(|()| sealed.write(&self.inner));
        let mut runs = self.lock_runs();
        runs.in_flight -= 1;
        runs.failed |= written.is_err();
        drop(runs);
        self.drained.notify_all();
        if written.as_ref().is_err_and(is_full) {
            self.inner.note_full(&mut self.inner.lock_writer(), true);
        }
        written.map_err(|error| self.inner.write_failed(error, needed_bytes))
    }

    /// Writes the buffer when nobody else uses the batch; may fall back to the reserve.
    pub(super) fn flush_alone(&self, runs: &mut BatchRuns) -> Result<(), BatchWriteError> {
        let mut writer = self.inner.lock_writer();
        let result = self.inner.begin_session(&mut writer);
        let result = result.and_then(|()| {
            if self.makes_room(runs) {
                Ok(())
            } else {
                self.inner.grow_ahead(&mut writer, runs.block_count())
            }
        });
        let result = result.and_then(|()| self.write_alone(&mut writer, runs));
        runs.failed |= result.is_err();
        result
    }

    fn write_alone(
        &self,
        writer: &mut VolumeWriterState,
        runs: &mut BatchRuns,
    ) -> Result<(), BatchWriteError> {
        let needed_bytes = runs.buffer.len() as u64;
        let left = self.left_of_reserve(runs, &writer.space);
        // What is copied to make the file shorter goes into its holes, if it can.
        let needs = if self.is_cleaning {
            [Need::Inside, Need::Ordinary]
        } else {
            [Need::Ordinary, Need::Inside]
        };
        let makes_room = left.map(|left| Need::MakesRoom { left });
        // On a full disk it goes into the reserve in long runs, not into short holes.
        let needs = if self.is_cleaning && writer.space.is_full {
            &needs[..0]
        } else {
            &needs[..]
        };
        let mut failure = self.full(needed_bytes);
        for need in needs.iter().copied().chain(makes_room) {
            if !self.may_take(writer, runs)? {
                continue;
            }
            let Some(placement) = place(writer, runs, need) else {
                continue;
            };
            if !self.leaves_enough(writer, runs)? {
                writer.space.undo(&placement);
                continue;
            }
            let mut sealed = runs.seal(placement, writer);
            sealed.absorb_tail();
            let Err(error) = sealed.write(&self.inner) else {
                return Ok(());
            };
            if !is_full(&error) {
                return Err(self.inner.write_failed(error, needed_bytes));
            }
            writer.space.undo(&placement);
            self.inner.note_full(writer, true);
            runs.unseal(sealed);
            failure = self.inner.write_failed(error, needed_bytes);
        }
        Err(failure)
    }

    /// On a full disk every batch leaves what those need that make more room than it does.
    fn may_take(
        &self,
        writer: &mut VolumeWriterState,
        runs: &BatchRuns,
    ) -> Result<bool, BatchWriteError> {
        if !writer.space.is_full {
            return Ok(true);
        }
        let wanted = runs.block_count() + 1 + self.blocks_left(runs, &writer.space);
        let lacking = writer.space.lacking(wanted);
        if lacking > 0 {
            // The disk may not be full any more.
            self.inner.grow_again(writer, lacking)?;
        }
        Ok(writer.space.lacking(wanted) == 0)
    }

    /// A run has been placed. As long as the disk is not full the file is made longer until it has what the batch has to leave; false
    /// when that is not possible.
    fn leaves_enough(
        &self,
        writer: &mut VolumeWriterState,
        runs: &BatchRuns,
    ) -> Result<bool, BatchWriteError> {
        if writer.space.is_full {
            return Ok(true);
        }
        let left = self.blocks_left(runs, &writer.space);
        let ahead = self.inner.blocks_ahead(writer, runs.block_count());
        self.inner.make_room(writer, left, ahead)
    }

    /// On a full disk: writes the buffer if it would not find a place together with another image, which follows without a gap.
    pub(super) fn fit_into_hole(
        &self,
        runs: &mut BatchRuns,
        payload_bytes: usize,
    ) -> Result<(), BatchWriteError> {
        runs.pack_images();
        let room_bytes = {
            let writer = self.inner.lock_writer();
            let left = self.left_of_reserve(runs, &writer.space);
            writer.space.run_room_bytes(left)
        };
        let with_image = (runs.buffer.len() + IMAGE_HEADER_BYTES + payload_bytes) as u64;
        if !runs.buffer.is_empty() && with_image > room_bytes {
            self.flush_alone(runs)
        } else {
            Ok(())
        }
    }

    fn full(&self, needed_bytes: u64) -> BatchWriteError {
        BatchWriteError::Full {
            file: Arc::clone(&self.inner.file),
            needed_bytes,
        }
    }
}

fn place(writer: &mut VolumeWriterState, runs: &BatchRuns, need: Need) -> Option<RunPlacement> {
    writer.space.place(runs.block_count(), need)
}
