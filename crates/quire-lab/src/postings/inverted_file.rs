//! For each word of a collection, where it occurs.

use crate::LabError;
use crate::super_scalar::VALUES_MAX;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the entries of a list count. A list has one entry for each occurrence, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostingUnit {
    /// The number of the word in the collection, as in §6.4: a query has to join it with the starts of the documents.
    WordPositions,
    /// The number of the document. A second occurrence in a document has the gap 0, and there is nothing to join.
    DocumentNumbers,
}

/// The list of one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PostingList {
    /// Its gaps among those of all lists.
    pub(super) gaps: Range<usize>,
    /// The sum of all gaps before it, wrapping.
    pub(super) sum_before: u32,
}

/// The lists of all words of a collection, uncompressed.
///
/// An entry is the gap to the entry before it; the first is the gap from 0. Lists lie one behind the other, the longest
/// first, so that gaps of about the same size are neighbours; among equals, in the order of the words.
#[derive(Clone, Debug)]
pub struct InvertedFile {
    unit: PostingUnit,
    lists: BTreeMap<String, PostingList>,
    gaps: Vec<u32>,
    document_starts: Vec<u32>,
}

impl InvertedFile {
    /// Builds the lists of a text whose lines are the documents. Words are runs of letters and digits, in lower case.
    /// Fails if the text has no words, or more than a segment of the paper can hold.
    pub fn build(text: &str, unit: PostingUnit) -> Result<Self, LabError> {
        let mut builder = InvertedFileBuilder::new(unit);
        for line in text.split_inclusive('\n') {
            builder.begin_document()?;
            for word in words(line) {
                builder.add(word)?;
            }
        }
        builder.finish(|word| word)
    }

    /// What the entries of its lists count.
    pub fn unit(&self) -> PostingUnit {
        self.unit
    }

    /// The gaps of all lists, those of the longest list first.
    pub fn gaps(&self) -> &[u32] {
        &self.gaps
    }

    /// The words, ascending.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.lists.keys().map(String::as_str)
    }

    /// The position of the first word of each document, ascending. A document without words starts where the next one
    /// does.
    pub fn document_starts(&self) -> &[u32] {
        &self.document_starts
    }

    /// The word that occurs most often; the first of several.
    pub fn most_frequent(&self) -> &str {
        self.word_of_rank(0).unwrap_or_default()
    }

    /// The word that `rank` others precede by their number of occurrences.
    pub(super) fn word_of_rank(&self, rank: usize) -> Option<&str> {
        let mut by_place: Vec<(usize, &str)> = self
            .lists
            .iter()
            .map(|(word, list)| (list.gaps.start, word.as_str()))
            .collect();
        by_place.sort_unstable();
        by_place.get(rank).map(|(_, word)| *word)
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

/// Takes a collection word by word.
pub(super) struct InvertedFileBuilder<W> {
    unit: PostingUnit,
    occurrences: BTreeMap<W, Vec<u32>>,
    document_starts: Vec<u32>,
    word_count: usize,
}

impl<W: Ord> InvertedFileBuilder<W> {
    pub(super) fn new(unit: PostingUnit) -> Self {
        Self {
            unit,
            occurrences: BTreeMap::new(),
            document_starts: Vec::new(),
            word_count: 0,
        }
    }

    /// The words that follow are the next document's. There are no more documents than a gap of carryover-12 can bridge.
    pub(super) fn begin_document(&mut self) -> Result<(), LabError> {
        let limit = 1 << 28;
        if self.document_starts.len() >= limit {
            return Err(LabError::TooManyDocuments { limit });
        }
        self.document_starts.push(self.word_count as u32);
        Ok(())
    }

    pub(super) fn add(&mut self, word: W) -> Result<(), LabError> {
        if self.word_count >= VALUES_MAX {
            let (count, limit) = (self.word_count + 1, VALUES_MAX);
            return Err(LabError::TooManyPostings { count, limit });
        }
        let entry = match self.unit {
            PostingUnit::WordPositions => self.word_count as u32,
            PostingUnit::DocumentNumbers => self.document_starts.len().saturating_sub(1) as u32,
        };
        self.occurrences.entry(word).or_default().push(entry);
        self.word_count += 1;
        Ok(())
    }

    /// The file, each word written as `name` writes it.
    pub(super) fn finish(self, name: impl Fn(W) -> String) -> Result<InvertedFile, LabError> {
        if self.occurrences.is_empty() {
            return Err(LabError::NoWords);
        }
        let mut gaps = Vec::with_capacity(self.word_count);
        let mut sum = 0u32;
        let mut lists = BTreeMap::new();
        let mut longest_first: Vec<(W, Vec<u32>)> = self.occurrences.into_iter().collect();
        longest_first.sort_by_key(|(_, entries)| Reverse(entries.len()));
        for (word, entries) in longest_first {
            let (start, sum_before) = (gaps.len(), sum);
            let mut before = 0;
            for entry in entries {
                gaps.push(entry - before);
                sum = sum.wrapping_add(entry - before);
                before = entry;
            }
            let gaps = start..gaps.len();
            lists.insert(name(word), PostingList { gaps, sum_before });
        }
        Ok(InvertedFile {
            unit: self.unit,
            lists,
            gaps,
            document_starts: self.document_starts,
        })
    }
}

/// Runs of letters and digits, in lower case.
fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
