//! The dictionaries of files in a batch.
//!
//! A dictionary is written by the batch that has the first records which are compressed with it. It stays as long as the file has any records:
//! which of them need it is not known. When the last one goes, all dictionaries of the file go in the same batch. So a
//! tree that has a record has its dictionary, too, and so has each snapshot of it.

use std::collections::BTreeSet;

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;
use quire_format::data_set::DataSetItem;
use quire_format::page_dictionary::encode_dictionary;
use quire_store::{PageId, PageKind};

use super::encode::RecordJob;
use super::write_out::BatchOfSet;
use crate::error::DeviceStorageError;

impl BatchOfSet<'_> {
    /// Writes the new dictionaries that records of `jobs` are compressed with.
    pub(super) fn put_dictionaries(
        &mut self,
        jobs: &[RecordJob<'_>],
    ) -> Result<(), DeviceStorageError> {
        let encoded = jobs.iter().filter_map(|job| job.encoded.as_ref());
        let used: BTreeSet<PageId> = encoded.filter_map(|encoded| encoded.dictionary).collect();
        for (inode, file) in &mut self.files {
            let dictionary = file.codec.dictionary.as_ref();
            let (Some(added), Some(page), Some(dictionary)) = (
                file.new_dictionary,
                file.codec.dictionary_page(),
                dictionary,
            ) else {
                continue;
            };
            if !used.contains(&page) {
                if let Some(measured) = &mut file.space.measured {
                    measured.dictionary = None;
                }
                continue;
            }
            file.space.dictionaries = added;
            let payload = encode_dictionary(dictionary.bytes());
            let stored_bytes = payload.len() as u64;
            self.batch.put(page, PageKind::Dictionary, &payload)?;
            self.changes.insert(
                DataSetItem::Dictionary(*inode, page).key(),
                Some(Vec::new()),
            );
            self.head.has_dictionaries = true;
            self.head.totals.codecs[BlockCodecId::Zstd as usize].stored_bytes += stored_bytes;
            self.written_bytes += stored_bytes;
            file.space.stored_bytes += stored_bytes;
        }
        Ok(())
    }

    /// Removes all dictionaries that the tree has of a file.
    pub(super) fn remove_dictionaries(&mut self, inode: u64) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        let prefix = DataSetItem::dictionaries_of(inode);
        let root = frozen.head.root;
        for entry in frozen
            .reader
            .some_items(root, &prefix, &prefix, usize::MAX)?
        {
            self.remove_dictionary(&entry.key)?;
            self.changes.insert(entry.key, None);
        }
        Ok(())
    }

    /// The tree has a dictionary less, if `key` is that of one.
    pub(super) fn remove_dictionary(&mut self, key: &[u8]) -> Result<(), DeviceStorageError> {
        let frozen = self.frozen;
        let dictionary = frozen.decoded(key, |key| match DataSetItem::decode(key)? {
            DataSetItem::Dictionary(inode, page) => Ok(Some((inode, page))),
            _ => Ok(None),
        })?;
        let Some((inode, page)) = dictionary else {
            return Ok(());
        };
        let stored_bytes = u64::from(frozen.reader.pin.payload_bytes(page).unwrap_or(0));
        let total = &mut self.head.totals.codecs[BlockCodecId::Zstd as usize].stored_bytes;
        *total = total.checked_sub(stored_bytes).ok_or_else(|| {
            let what = format!("file {inode} takes less than one of its dictionaries");
            frozen.corrupt(&Corrupt::new(what, 0))
        })?;
        self.dead.push(page);
        Ok(())
    }
}
