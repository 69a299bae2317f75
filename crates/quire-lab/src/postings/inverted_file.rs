//! For each word of a text, the documents it occurs in.

use crate::LabError;
use crate::super_scalar::VALUES_MAX;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// The list of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PostingList {
    /// Its gaps among those of all lists.
    pub(super) gaps: Range<usize>,
    /// The sum of all gaps before it, wrapping.
    pub(super) sum_before: u32,
}

/// The lists of all words of a text whose lines are the documents, uncompressed.
///
/// A list has one entry for each occurrence: the number of the document, from 0, as the gap to the entry before
/// it. A second occurrence in a document has the gap 0, and the first entry is the gap from document 0. Words
/// are runs of letters and digits, in lower case. Lists lie one behind the other, the longest first, so that gaps
/// of about the same size are neighbours; among equals, in the order of the words.
#[derive(Clone, Debug)]
pub struct InvertedFile {
    lists: BTreeMap<String, PostingList>,
    gaps: Vec<u32>,
    document_offsets: Vec<usize>,
}

impl InvertedFile {
    /// Builds the lists. Fails if the text has no words, or more than a segment of the paper can hold.
    pub fn build(text: &str) -> Result<Self, LabError> {
        let mut occurrences: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut document_offsets = Vec::new();
        let (mut offset, mut count) = (0, 0);
        for (document, line) in text.split_inclusive('\n').enumerate() {
            document_offsets.push(offset);
            offset += line.len();
            for word in words(line) {
                count += 1;
                if count > VALUES_MAX {
                    let limit = VALUES_MAX;
                    return Err(LabError::TooManyPostings { count, limit });
                }
                let document = document as u32;
                match occurrences.get_mut(&word) {
                    Some(list) => list.push(document),
                    None => drop(occurrences.insert(word, vec![document])),
                }
                // Gaps of carryover-12 have 28 bits.
                if document >= 1 << 28 {
                    let limit = 1 << 28;
                    return Err(LabError::TooManyDocuments { limit });
                }
            }
        }
        if occurrences.is_empty() {
            return Err(LabError::NoWords);
        }
        Ok(Self::of_lists(occurrences, document_offsets))
    }

    fn of_lists(occurrences: BTreeMap<String, Vec<u32>>, document_offsets: Vec<usize>) -> Self {
        let mut gaps = Vec::new();
        let mut sum = 0u32;
        let mut lists = BTreeMap::new();
        let mut longest_first: Vec<(String, Vec<u32>)> = occurrences.into_iter().collect();
        longest_first.sort_by_key(|(_, documents)| Reverse(documents.len()));
        for (word, documents) in longest_first {
            let (start, sum_before) = (gaps.len(), sum);
            let mut before = 0;
            for document in documents {
                gaps.push(document - before);
                sum = sum.wrapping_add(document - before);
                before = document;
            }
            let gaps = start..gaps.len();
            lists.insert(word, PostingList { gaps, sum_before });
        }
        Self {
            lists,
            gaps,
            document_offsets,
        }
    }

    /// The gaps of all lists, those of the longest list first.
    pub fn gaps(&self) -> &[u32] {
        &self.gaps
    }

    /// The words, ascending.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.lists.keys().map(String::as_str)
    }

    /// Number of documents.
    pub fn document_count(&self) -> usize {
        self.document_offsets.len()
    }

    /// Where each document begins in the text, in bytes.
    pub fn document_offsets(&self) -> &[usize] {
        &self.document_offsets
    }

    /// The word that occurs most often; the first of several.
    pub fn most_frequent(&self) -> &str {
        let longest = self
            .lists
            .iter()
            .rev()
            .max_by_key(|(_, list)| list.gaps.len());
        longest.map_or("", |(word, _)| word)
    }

    pub(super) fn list(&self, word: &str) -> Option<&PostingList> {
        self.lists.get(word)
    }

    /// The gaps of a word's list; none if no document has it.
    pub fn gaps_of(&self, word: &str) -> &[u32] {
        self.list(word)
            .map_or(&[], |list| &self.gaps[list.gaps.clone()])
    }
}

/// Runs of letters and digits, in lower case.
fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
