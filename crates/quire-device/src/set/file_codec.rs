//! Which codec the records of a file are written with, and which dictionary.

use std::collections::BTreeMap;

use quire_codec::block::{BlockCodecId, MinimumGain, ZstdDictionary};
use quire_format::data_set::{
    DataSetCodec, DataSetItem, FileDictionaries, FileSpace, MeasuredCodec,
};

use super::frozen::FrozenState;
use super::state::DataSet;
use crate::error::DeviceStorageError;
use crate::options::EffectiveProperties;
use crate::records::{
    RecordCodec, RecordSample, SampledCodec, learnt_dictionary, measured_codec, pays, should_learn,
    should_measure, with_dictionary,
};

/// A file of which records change.
pub(super) struct FileChange {
    /// As it was; the writer of the batch brings it up to date.
    pub(super) space: FileSpace,
    /// How its records are compressed.
    pub(super) codec: RecordCodec,
    /// If the dictionary of `codec` is in no batch yet: what the file's dictionaries are once it is.
    pub(super) new_dictionary: Option<FileDictionaries>,
}

impl FileChange {
    /// A file whose codec has no new dictionary.
    fn new(space: FileSpace, codec: RecordCodec) -> Self {
        Self {
            space,
            codec,
            new_dictionary: None,
        }
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
            let space = match value {
                Some(value) => frozen.decoded(&value, FileSpace::decode)?,
                None => FileSpace::default(),
            };
            let change = match properties.compression {
                DataSetCodec::Fixed { codec, level } => {
                    FileChange::new(space, RecordCodec::new(codec, level))
                }
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
        let measured = space.measured;
        if contents.is_empty() || !should_measure(&space) {
            let codec = measured.map(|measured| RecordCodec::new(measured.codec, measured.level));
            let codec = codec.unwrap_or(RecordCodec::new(BlockCodecId::None, 1));
            // Removals need no codec.
            let dictionary = match contents.is_empty() {
                true => None,
                false => self.known_dictionary(frozen, measured),
            };
            return Ok(FileChange::new(space, codec.with_dictionary(dictionary)));
        }
        let sample = RecordSample::of(&contents);
        let gain = properties.gain();
        let coders = &self.context.coders;
        let plain = coders.with(|coder| measured_codec(coder, &sample.measured, gain))?;
        let chosen = if plain.codec.codec == BlockCodecId::Zstd {
            let known = self.known_dictionary(frozen, measured);
            self.with_best_dictionary(plain, known, &space, &sample, gain)?
        } else {
            (plain.codec, false)
        };
        let (codec, is_dictionary_new) = chosen;
        space.measured = Some(MeasuredCodec {
            codec: codec.codec,
            level: codec.level,
            sampled_at: space.written,
            dictionary: codec.dictionary_page(),
        });
        let trained = FileDictionaries {
            count: space.dictionaries.count + 1,
            trained_at: space.written + contents.len() as u64,
        };
        Ok(FileChange {
            new_dictionary: is_dictionary_new.then_some(trained),
            ..FileChange::new(space, codec)
        })
    }

    /// The best of a codec without a dictionary and the same codec with the known one or a new one, and whether it is the new one.
    fn with_best_dictionary(
        &self,
        plain: SampledCodec,
        known: Option<ZstdDictionary>,
        space: &FileSpace,
        sample: &RecordSample<'_>,
        gain: MinimumGain,
    ) -> Result<(RecordCodec, bool), DeviceStorageError> {
        let learns = should_learn(space, sample, self.context.options.dictionary_from_bytes);
        let learnt = learns.then(|| learnt_dictionary(sample)).flatten();
        let learnt = self.named(learnt);
        let without = plain.codec.clone();
        let (mut best, mut is_new) = (plain, false);
        for (dictionary, is_learnt) in [(known, false), (learnt, true)] {
            let Some(dictionary) = dictionary else {
                continue;
            };
            let added_bytes = if is_learnt {
                dictionary.bytes().len()
            } else {
                0
            };
            let with = with_dictionary(&without, dictionary);
            let coders = &self.context.coders;
            let with =
                coders.with(|coder| SampledCodec::measure(coder, with, &sample.measured, gain))?;
            if pays(&best, &with, added_bytes, sample) {
                (best, is_new) = (with, is_learnt);
            }
        }
        Ok((best.codec, is_new))
    }

    /// The dictionary that the records of a file are compressed with. One that cannot be read is no reason to fail: new records do without it,
    /// and the old ones can be overwritten and removed.
    fn known_dictionary(
        &self,
        frozen: &FrozenState,
        measured: Option<MeasuredCodec>,
    ) -> Option<ZstdDictionary> {
        let page = measured?.dictionary?;
        self.context.dictionary(&frozen.reader, page).ok()
    }

    /// A new dictionary with the name of the page that it will be on. The number is above those of all snapshots, as none is taken while a
    /// batch is made.
    fn named(&self, dictionary: Option<ZstdDictionary>) -> Option<ZstdDictionary> {
        let dictionary = dictionary?;
        let page = self.context.volume.allocate_page()?;
        Some(dictionary.with_id(page.get()))
    }
}
