//! Compressing what is written, on several threads and without a lock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use quire_codec::block::BlockCodecId;
use quire_format::data_set::{DataSetCodec, DataSetItem, FileSpace};

use super::frozen::FrozenState;
use super::state::DataSet;
use crate::error::DeviceStorageError;
use crate::options::EffectiveProperties;
use crate::records::{EncodedRecord, RecordCoder, SAMPLED_RECORDS, measured_codec, should_measure};

/// A thread more is of use for so many records.
const RECORDS_PER_THREAD: usize = 4;

/// A file of which records change.
pub(super) struct FileChange {
    /// As it was; the writer of the batch brings it up to date.
    pub(super) space: FileSpace,
    /// How its records are compressed.
    codec: (BlockCodecId, i32),
}

/// A record that is to be written.
pub(super) struct RecordJob<'a> {
    pub(super) inode: u64,
    pub(super) index: u64,
    content: &'a Arc<Vec<u8>>,
    codec: (BlockCodecId, i32),
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
            .encode(self.content, self.codec, gain, sectors)
            .map(Some)
    }
}

impl DataSet {
    /// The files of which records change, with the codec for each.
    pub(super) fn file_changes(
        &self,
        frozen: &FrozenState,
        properties: &EffectiveProperties,
    ) -> Result<BTreeMap<u64, FileChange>, DeviceStorageError> {
        let generation = &frozen.generation;
        let changed = generation.records().keys().map(|(inode, _)| *inode);
        let inodes = changed.chain(generation.cuts().keys().copied());
        let mut files = BTreeMap::new();
        for inode in inodes {
            if files.contains_key(&inode) {
                continue;
            }
            let key = DataSetItem::Space(inode).key();
            let value = frozen.reader.get(frozen.head.root, &key)?;
            let mut space = match value {
                Some(value) => frozen.decoded(&value, FileSpace::decode)?,
                None => FileSpace::default(),
            };
            let codec = match properties.compression {
                DataSetCodec::Fixed { codec, level } => (codec, level),
                DataSetCodec::Auto => self.measured(frozen, inode, &mut space, properties)?,
            };
            files.insert(inode, FileChange { space, codec });
        }
        Ok(files)
    }

    /// The codec of a file, measured if it is time for that.
    fn measured(
        &self,
        frozen: &FrozenState,
        inode: u64,
        space: &mut FileSpace,
        properties: &EffectiveProperties,
    ) -> Result<(BlockCodecId, i32), DeviceStorageError> {
        let records = frozen.generation.records_of(inode);
        let contents = records.filter_map(|(_, content)| content);
        let contents: Vec<&[u8]> = contents
            .map(|content| content.as_slice())
            .filter(|content| !content.is_empty())
            .collect();
        // The beginning of a file is often unlike the rest.
        let step = contents.len().div_ceil(SAMPLED_RECORDS).max(1);
        let sample: Vec<&[u8]> = contents.into_iter().step_by(step).collect();
        if !sample.is_empty() && should_measure(space) {
            let gain = properties.gain();
            let coders = &self.context.coders;
            let (codec, level) = coders.with(|coder| measured_codec(coder, &sample, gain))?;
            space.measured = Some((codec, level, space.written));
        }
        let measured = space.measured.map(|(codec, level, _)| (codec, level));
        Ok(measured.unwrap_or((BlockCodecId::None, 1)))
    }

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
                    codec: file.codec,
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
