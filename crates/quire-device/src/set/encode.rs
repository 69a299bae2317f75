//! Compressing what is written, on several threads and without a lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use quire_format::data_set::DataSetCodec;

use super::file_codec::FileChange;
use super::frozen::FrozenState;
use super::state::DataSet;
use crate::error::DeviceStorageError;
use crate::options::EffectiveProperties;
use crate::records::{EncodedRecord, RecordCodec, RecordCoder};

/// A thread more is of use for so many records.
const RECORDS_PER_THREAD: usize = 4;

/// A record that is to be written.
pub(super) struct RecordJob<'a> {
    pub(super) inode: u64,
    pub(super) index: u64,
    content: &'a Arc<Vec<u8>>,
    codec: RecordCodec,
    /// `None` for a hole.
    pub(super) encoded: Option<EncodedRecord>,
}

impl RecordJob<'_> {
    pub(super) fn raw_bytes(&self) -> usize {
        self.content.len()
    }

    fn encode(
        &self,
        coder: &mut RecordCoder,
        properties: &EffectiveProperties,
    ) -> Result<Option<EncodedRecord>, DeviceStorageError> {
        // As in ZFS, zeros are holes unless compression is off.
        let finds_holes = properties.compression != DataSetCodec::OFF;
        let is_hole = finds_holes && self.content.iter().all(|byte| *byte == 0);
        if is_hole || self.content.is_empty() {
            return Ok(None);
        }
        let (gain, sectors) = (properties.gain(), properties.sectors);
        coder
            .encode(self.content, &self.codec, gain, sectors)
            .map(Some)
    }
}

impl DataSet {
    /// Compresses all records that are to be written.
    pub(super) fn encode_records<'a>(
        &self,
        frozen: &'a FrozenState,
        files: &BTreeMap<u64, FileChange>,
        properties: &EffectiveProperties,
    ) -> Result<Vec<RecordJob<'a>>, DeviceStorageError> {
        let mut jobs = Vec::new();
        for ((inode, index), content) in frozen.generation.records() {
            if let (Some(content), Some(file)) = (content, files.get(inode)) {
                jobs.push(RecordJob {
                    inode: *inode,
                    index: *index,
                    content,
                    codec: file.codec.clone(),
                    encoded: None,
                });
            }
        }
        let next = AtomicUsize::new(0);
        let work = || {
            self.context.coders.with(|coder| {
                let mut done = Vec::new();
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    done.push(((job.inode, job.index), job.encode(coder, properties)?));
                }
                Ok::<_, DeviceStorageError>(done)
            })
        };
        let useful = jobs.len().div_ceil(RECORDS_PER_THREAD);
        let threads = self.context.options.compression_threads.get().min(useful);
        let parts = thread::scope(|scope| {
            // When the system gives no thread, there is one less.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..threads).filter_map(spawn).collect();
            let mut parts = vec![work()];
            for other in others {
                let part = other.join();
                parts.push(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            parts
        });
        let mut encoded = BTreeMap::new();
        for part in parts {
            encoded.extend(part?);
        }
        for job in &mut jobs {
            job.encoded = encoded.remove(&(job.inode, job.index)).flatten();
        }
        Ok(jobs)
    }
}
