//! Shared dictionaries of a column table in memory: a [`crate::ColumnTable`] reads each once for all of its scans. Another one of the same table reads it again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quire_codec::Corrupt;
use quire_format::segment::SharedDictionary;
use quire_format::table_root::SharedDictionaryPointer;
use quire_format::volume::MAX_PAYLOAD_BYTES;
use quire_store::PageId;

use crate::definition::TableDefinition;
use crate::error::EngineError;

/// A dictionary, once it is read. It is locked while somebody reads it.
type DictionarySlot = Arc<Mutex<Option<SharedDictionary>>>;

/// Those that have been read, by column and fingerprint.
#[derive(Default)]
pub(crate) struct OpenDictionaries(Mutex<HashMap<(usize, u64), DictionarySlot>>);

impl OpenDictionaries {
    /// A dictionary, which `read` reads when it is first asked for. Others that want it wait meanwhile.
    pub(crate) fn get(
        &self,
        column: usize,
        fingerprint: u64,
        read: impl FnOnce() -> Result<SharedDictionary, EngineError>,
    ) -> Result<SharedDictionary, EngineError> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(all.entry((column, fingerprint)).or_default());
        drop(all);
        let mut opened = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dictionary) = &*opened {
            return Ok(dictionary.clone());
        }
        Ok(opened.insert(read()?).clone())
    }
}

/// What errors call a column.
pub(crate) fn column_name(definition: &TableDefinition, column: usize) -> String {
    let name = definition.columns.get(column);
    let name = name.map_or("", |column| column.name.as_str());
    format!("column {name:?} of table {:?}", definition.name)
}

/// Reads a dictionary of a column; `column` says in errors which.
///
/// # Errors
/// A page cannot be read; or the bytes are not those of the dictionary.
pub(crate) fn read_dictionary(
    pointer: &SharedDictionaryPointer,
    column: impl FnOnce() -> String,
    read: impl FnOnce(&[PageId]) -> Result<Arc<[u8]>, EngineError>,
) -> Result<SharedDictionary, EngineError> {
    Ok(read_with_bytes(pointer, column, read)?.0)
}

/// The same, and the bytes that the dictionary is stored in.
pub(crate) fn read_with_bytes(
    pointer: &SharedDictionaryPointer,
    column: impl FnOnce() -> String,
    read: impl FnOnce(&[PageId]) -> Result<Arc<[u8]>, EngineError>,
) -> Result<(SharedDictionary, Arc<[u8]>), EngineError> {
    let opened = match length_error(pointer, None) {
        Some(error) => Err(error),
        None => {
            let bytes = read(&pointer.pages)?;
            match length_error(pointer, Some(bytes.len() as u64)) {
                Some(error) => Err(error),
                None => SharedDictionary::open(&bytes).map(|dictionary| (dictionary, bytes)),
            }
        }
    };
    let checked = opened.and_then(|(dictionary, bytes)| {
        let (found, expected) = (dictionary.fingerprint(), pointer.fingerprint);
        if found == expected {
            return Ok((dictionary, bytes));
        }
        let what = format!("fingerprint {found:016x}, the table's root says {expected:016x}");
        Err(Corrupt::new(what, 1))
    });
    checked.map_err(|source| {
        let page = pointer.pages.first().map_or(0, |page| page.get());
        EngineError::Corrupt {
            what: format!("shared dictionary of {}, page {page}", column()),
            source,
        }
    })
}

/// What is wrong with the length, with the number of pages, or with the length of what they have. Pages are full but for the last: more of them would be joined in
/// memory before their length is compared.
fn length_error(pointer: &SharedDictionaryPointer, found: Option<u64>) -> Option<Corrupt> {
    let (expected, page_count) = (pointer.stored_bytes, pointer.pages.len());
    let most = SharedDictionary::STORED_BYTES_MAX as u64;
    if expected > most {
        return Some(Corrupt::new(
            format!("{expected} bytes, at most {most} are allowed"),
            0,
        ));
    }
    if page_count as u64 != expected.div_ceil(MAX_PAYLOAD_BYTES as u64) {
        return Some(Corrupt::new(
            format!("{expected} bytes in {page_count} pages"),
            0,
        ));
    }
    let found = found.filter(|found| *found != expected)?;
    Some(Corrupt::new(
        format!("{found} bytes, expected {expected}"),
        0,
    ))
}
