//! Dictionaries with which the leaves of trees are compressed, and which tree has which.

use std::collections::BTreeMap;

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_pages, write_pages};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const LIST_VERSION: u8 = 1;
const VERSION: u8 = 1;

pub(crate) const LIST_STRUCTURE: DiskStructure = DiskStructure {
    name: "List of dictionaries (payload of page kind 9)",
    about: "\
Page 4, if any tree has a dictionary. A dictionary stays as long as its tree, for an image of any age may name it.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "trees", "how many follow, by ascending number"),
        StructureField::next("varint", "tree", "its number"),
        StructureField::next("varint", "dictionaries", "how many it has"),
        StructureField::next(
            "varint each",
            "pages",
            "of the dictionaries, the oldest first",
        ),
    ],
};

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Dictionary (payload of page kind 10)",
    about: "Content for the window of zstd, without entropy tables. Its name is the number of its page.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("…", "content", "8 bytes to 1 MiB, to the end"),
    ],
};

/// The dictionaries of each tree, by the number of the tree; the oldest first. A tree that is in the list has one at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DictionaryList {
    /// Pages of the dictionaries.
    pub trees: BTreeMap<u64, Vec<PageId>>,
}

impl DictionaryList {
    /// The payload of the list.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(LIST_VERSION);
        writer.varint(self.trees.len() as u64);
        for (tree, pages) in &self.trees {
            writer.varint(*tree);
            write_pages(&mut writer, pages);
        }
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no list.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, LIST_VERSION, "list of dictionaries")?;
        let mut trees = BTreeMap::new();
        for _ in 0..reader.count(3)? {
            let tree = reader.varint()?;
            let is_ascending = trees.last_key_value().is_none_or(|(last, _)| *last < tree);
            let pages = read_pages(&mut reader)?;
            if pages.is_empty() || !is_ascending {
                return Err(reader.corrupt("trees of a list of dictionaries"));
            }
            trees.insert(tree, pages);
        }
        reader.finish()?;
        Ok(Self { trees })
    }
}

/// The payload of the page of a dictionary.
#[must_use]
pub fn encode_dictionary(content: &[u8]) -> Vec<u8> {
    [&[VERSION], content].concat()
}

/// The content of the dictionary in a payload.
///
/// # Errors
/// [`Corrupt`] for another version.
pub fn decode_dictionary(payload: &[u8]) -> Result<&[u8], Corrupt> {
    match payload.split_first() {
        Some((&VERSION, content)) => Ok(content),
        _ => Err(Corrupt::new("version of a dictionary", 0)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_list_comes_back_and_nothing_else_is_one() {
        let page = |number| PageId::new(number).unwrap();
        let trees = BTreeMap::from([(5, vec![page(16), page(300)]), (9, vec![page(17)])]);
        let list = DictionaryList { trees };
        // 300 is 0b10_0101100.
        let bytes = [1, 2, 5, 2, 16, 0b1010_1100, 0b10, 9, 1, 17];
        assert_eq!(list.encode(), bytes);
        assert_eq!(DictionaryList::decode(&bytes), Ok(list));
        assert_eq!(
            DictionaryList::decode(&[1, 0]),
            Ok(DictionaryList::default())
        );
        for cut in 0..bytes.len() {
            assert!(DictionaryList::decode(&bytes[..cut]).is_err(), "{cut}");
        }
        for wrong in [
            &[2, 0][..],
            &[1, 0, 0],
            &[1, 1, 5, 0],
            &[1, 1, 5, 1, 0],
            &[1, 2, 5, 1, 16, 5, 1, 17],
            &[1, 255, 255, 255, 255, 15, 5, 1, 16],
        ] {
            assert!(DictionaryList::decode(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_dictionary_says_its_version() {
        let payload = encode_dictionary(b"content");
        assert_eq!(decode_dictionary(&payload), Ok(&b"content"[..]));
        assert!(decode_dictionary(b"\x02content").is_err());
        assert!(decode_dictionary(b"").is_err());
    }
}
