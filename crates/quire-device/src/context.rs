//! What the data sets of a volume share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodecId, ZstdDictionary};
use quire_format::data_set::{DataSetTable, RecordPointer};
use quire_format::page_dictionary::decode_dictionary;
use quire_store::{PageId, Pin, Volume};

use crate::error::DeviceStorageError;
use crate::options::DeviceOptions;
use crate::records::{CoderPool, DictionaryCache, RecordCache};
use crate::tree::PageReader;

/// Volume, table, caches.
pub(crate) struct DeviceContext {
    pub(crate) volume: Volume,
    pub(crate) options: DeviceOptions,
    pub(crate) cache: RecordCache,
    pub(crate) coders: CoderPool,
    pub(crate) dictionaries: DictionaryCache,
    table: Mutex<DataSetTable>,
}

impl DeviceContext {
    pub(crate) fn new(volume: Volume, options: DeviceOptions, table: DataSetTable) -> Self {
        Self {
            cache: RecordCache::new(options.record_cache_bytes),
            coders: CoderPool::default(),
            dictionaries: DictionaryCache::default(),
            table: Mutex::new(table),
            volume,
            options,
        }
    }

    /// The table as it was committed.
    pub(crate) fn table(&self) -> MutexGuard<'_, DataSetTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reader of the newest commit.
    pub(crate) fn reader(&self) -> PageReader {
        self.reader_of(self.volume.pin())
    }

    pub(crate) fn reader_of(&self, pin: Pin) -> PageReader {
        let file = self.volume.file();
        PageReader { pin, file }
    }

    /// The bytes of a record.
    pub(crate) fn record(
        &self,
        reader: &PageReader,
        pointer: &RecordPointer,
    ) -> Result<Arc<[u8]>, DeviceStorageError> {
        if pointer.codec != BlockCodecId::None
            && let Some(content) = self.cache.get(pointer.page)
            && content.len() == pointer.raw_bytes as usize
        {
            return Ok(content);
        }
        let content = self.stored_record(reader, pointer)?;
        // What is stored as it is is in the cache of the volume already.
        if pointer.codec != BlockCodecId::None {
            self.cache.insert(pointer.page, &content);
        }
        Ok(content)
    }

    /// The same, from what is stored.
    pub(crate) fn stored_record(
        &self,
        reader: &PageReader,
        pointer: &RecordPointer,
    ) -> Result<Arc<[u8]>, DeviceStorageError> {
        let payload = reader.payload(pointer.page)?;
        if pointer.codec == BlockCodecId::None && payload.len() == pointer.stored_bytes as usize {
            return Ok(payload);
        }
        let dictionary = pointer.dictionary;
        let dictionary = dictionary.map(|page| self.dictionary(reader, page));
        let dictionary = dictionary.transpose()?;
        let decoded = self
            .coders
            .with(|coder| coder.decode(pointer, dictionary, &payload))?;
        decoded.map_err(|corrupt| reader.corrupt(pointer.page, &corrupt))
    }

    /// The dictionary of a page, named after it.
    pub(crate) fn dictionary(
        &self,
        reader: &PageReader,
        page: PageId,
    ) -> Result<ZstdDictionary, DeviceStorageError> {
        if let Some(found) = self.dictionaries.get(page) {
            return Ok(found);
        }
        let dictionary = reader.decoded(page, |payload| {
            let content = decode_dictionary(payload)?;
            ZstdDictionary::from_bytes(content).map_err(|error| Corrupt::new(error.to_string(), 0))
        })?;
        let dictionary = dictionary.with_id(page.get());
        self.dictionaries.insert(&dictionary);
        Ok(dictionary)
    }
}
