//! Which codec the records of a file are written with, and which dictionary.

use std::collections::BTreeMap;

use quire_codec::block::{BlockCodecId, ZstdDictionary};
use quire_format::data_set::{DataSetCodec, DataSetItem, FileSpace, MeasuredCodec};

use super::frozen::FrozenState;
use super::state::DataSet;
use crate::error::DeviceStorageError;
use crate::options::EffectiveProperties;
use crate::records::{
    RecordCodec, RecordSample, learnt_dictionary, measured_codec, pays, should_learn,
    should_measure, with_dictionary,
};

/// A file of which records change.
pub(super) struct FileChange {
    /// As it was; the writer of the batch brings it up to date.
    pub(super) space: FileSpace,
    /// How its records are compressed.
    pub(super) codec: RecordCodec,
    /// The dictionary of `codec` is in no batch yet.
    pub(super) is_dictionary_new: bool,
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
            let space = match value {
                Some(value) => frozen.decoded(&value, FileSpace::decode)?,
                None => FileSpace::default(),
            };
            let change = match properties.compression {
                DataSetCodec::Fixed { codec, level } => FileChange {
                    space,
                    codec: RecordCodec::new(codec, level),
                    is_dictionary_new: false,
                },
                DataSetCodec::Auto => self.measured(frozen, inode, space, properties)?,
            };
            files.insert(inode, change);
        }
        Ok(files)
    }

    /// The codec of a file, measured if it is time for that.
    fn measured(
        &self,
        frozen: &FrozenState,
        inode: u64,
        mut space: FileSpace,
        properties: &EffectiveProperties,
    ) -> Result<FileChange, DeviceStorageError> {
        let contents = frozen.generation.records_of(inode);
        let contents =
            contents.filter_map(|(_, content)| content.map(|content| content.as_slice()));
        let contents: Vec<&[u8]> = contents.filter(|content| !content.is_empty()).collect();
        let dictionary = space.measured.and_then(|measured| measured.dictionary);
        let dictionary = dictionary.map(|page| self.context.dictionary(&frozen.reader, page));
        let dictionary = dictionary.transpose()?;
        if contents.is_empty() || !should_measure(&space) {
            let measured = space.measured;
            let plain = measured.map(|measured| RecordCodec::new(measured.codec, measured.level));
            let plain = plain.unwrap_or(RecordCodec::new(BlockCodecId::None, 1));
            return Ok(FileChange {
                space,
                codec: plain.with_dictionary(dictionary),
                is_dictionary_new: false,
            });
        }
        let sample = RecordSample::of(&contents);
        let gain = properties.gain();
        let coders = &self.context.coders;
        let plain = coders.with(|coder| measured_codec(coder, &sample.measured, gain))?;
        let learnt = if plain.codec == BlockCodecId::Zstd
            && should_learn(&space, &sample, self.context.options.dictionary_from_bytes)
        {
            self.named(learnt_dictionary(&sample))
        } else {
            None
        };
        let mut codec = plain.clone();
        let mut is_dictionary_new = false;
        if plain.codec == BlockCodecId::Zstd {
            for (other, is_new) in [(dictionary, false), (learnt, true)] {
                let Some(other) = other else { continue };
                let added_bytes = if is_new { other.bytes().len() } else { 0 };
                let with = with_dictionary(&plain, other);
                let choice = (&codec, &with);
                if coders.with(|coder| pays(coder, choice, added_bytes, &sample, gain))? {
                    (codec, is_dictionary_new) = (with, is_new);
                }
            }
        }
        if is_dictionary_new {
            space.dictionaries.count += 1;
            space.dictionaries.trained_at = space.written + contents.len() as u64;
        }
        space.measured = Some(MeasuredCodec {
            codec: codec.codec,
            level: codec.level,
            sampled_at: space.written,
            dictionary: codec.dictionary_page(),
        });
        Ok(FileChange {
            space,
            codec,
            is_dictionary_new,
        })
    }

    /// A new dictionary with the name of the page that it will be on. The number is above those of all snapshots, as none is taken while a
    /// batch is made.
    fn named(&self, dictionary: Option<ZstdDictionary>) -> Option<ZstdDictionary> {
        let dictionary = dictionary?;
        let page = self.context.volume.allocate_page()?;
        Some(dictionary.with_id(page.get()))
    }
}
