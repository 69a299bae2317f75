//! The inverted file and the query, against a naive index.
#![allow(clippy::unwrap_used)]

use quire_lab::made_up_text;
use quire_lab::postings::{CompressedLists, InvertedFile, PostingUnit, top_documents};
use std::collections::{BTreeSet, HashMap};

const UNITS: [PostingUnit; 2] = [PostingUnit::WordPositions, PostingUnit::DocumentNumbers];

fn texts() -> Vec<String> {
    vec![
        "one".to_owned(),
        "to be, or not to be:\n\nthat is the question\nTo be TO BE\n".to_owned(),
        "Größe größe\r\n\u{130}stanbul\n漢字 漢字 kana".to_owned(),
        "again ".repeat(5_000),
        "same word on every line\n".repeat(3_000),
        made_up_text(11, 120_000),
    ]
}

/// Where each word occurs, found by splitting every line.
#[derive(Default)]
struct NaiveIndex {
    /// Document and position of each occurrence.
    occurrences: HashMap<String, Vec<(u32, u32)>>,
    /// Words before each document.
    starts: Vec<u32>,
}

impl NaiveIndex {
    fn of(text: &str) -> Self {
        let mut index = Self::default();
        let mut position = 0;
        for (document, line) in text.split('\n').enumerate() {
            index.starts.push(position);
            let mut word = String::new();
            for letter in line.chars().chain([' ']) {
                if letter.is_alphanumeric() {
                    word.push(letter);
                } else if !word.is_empty() {
                    let word = std::mem::take(&mut word).to_lowercase();
                    let entry = index.occurrences.entry(word).or_default();
                    entry.push((document as u32, position));
                    position += 1;
                }
            }
        }
        // What is behind the last line feed is a document only if there is something.
        if text.ends_with('\n') || text.is_empty() {
            index.starts.pop();
        }
        index
    }

    fn entries(&self, word: &str, unit: PostingUnit) -> Vec<u32> {
        let of_unit = |&(document, position): &(u32, u32)| match unit {
            PostingUnit::WordPositions => position,
            PostingUnit::DocumentNumbers => document,
        };
        self.occurrences[word].iter().map(of_unit).collect()
    }

    /// Documents and occurrences, the most occurrences first.
    fn ranking(&self, word: &str) -> Vec<(u32, u32)> {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for (document, _) in &self.occurrences[word] {
            *counts.entry(*document).or_default() += 1;
        }
        let mut ranking: Vec<(u32, u32)> = counts.into_iter().collect();
        ranking.sort_by_key(|&(document, count)| (std::cmp::Reverse(count), document));
        ranking
    }
}

#[test]
fn compressed_lists_decode_to_the_postings_of_a_naive_index() {
    for (text, unit) in texts()
        .iter()
        .flat_map(|text| UNITS.map(|unit| (text, unit)))
    {
        let file = InvertedFile::build(text, unit).unwrap();
        assert_eq!(file.unit(), unit);
        let lists = CompressedLists::new(&file).unwrap();
        let naive = NaiveIndex::of(text);
        assert_eq!(file.document_starts(), naive.starts);
        let words: BTreeSet<&str> = file.words().collect();
        let expected: BTreeSet<&str> = naive.occurrences.keys().map(String::as_str).collect();
        assert_eq!(words, expected);
        // Every list of a small text, and of a large one those that are long or lie apart.
        let few = words.len() < 100;
        for (at, word) in words.into_iter().enumerate() {
            let entries = naive.entries(word, unit);
            if few || entries.len() > 200 || at % 16 == 0 {
                let mut decoded = Vec::new();
                let take = |some: &[u32]| decoded.extend_from_slice(some);
                lists.each_posting(&file, word, take).unwrap();
                assert_eq!(decoded, entries, "{word}");
            }
        }
        let longest = naive.occurrences.values().map(Vec::len).max().unwrap();
        assert_eq!(naive.occurrences[file.most_frequent()].len(), longest);
        let postings: usize = naive.occurrences.values().map(Vec::len).sum();
        assert_eq!(file.gaps().len(), postings);
        // Four bytes a gap uncompressed; a segment has a header.
        assert!(lists.bytes() < 4 * postings + 64, "{}", lists.bytes());
    }
}

#[test]
fn the_query_ranks_as_sorting_all_documents_does() {
    for (text, unit) in texts()
        .iter()
        .flat_map(|text| UNITS.map(|unit| (text, unit)))
    {
        let file = InvertedFile::build(text, unit).unwrap();
        let lists = CompressedLists::new(&file).unwrap();
        let naive = NaiveIndex::of(text);
        let mut words: Vec<&String> = naive.occurrences.keys().collect();
        words.sort_by_key(|word| (std::cmp::Reverse(naive.occurrences[*word].len()), *word));
        for word in words.into_iter().take(8) {
            let ranking = naive.ranking(word);
            for count in [0, 1, 3, 10, 5_000] {
                let hits = top_documents(&lists, &file, word, count).unwrap();
                let found: Vec<(u32, u32)> = hits
                    .iter()
                    .map(|hit| (hit.document, hit.occurrences))
                    .collect();
                assert_eq!(found, ranking[..count.min(ranking.len())], "{word}");
            }
        }
    }
}

#[test]
fn documents_without_words_are_passed_by_the_join() {
    let file = InvertedFile::build("\n\na b\n...\n\nb b\n\n", PostingUnit::WordPositions).unwrap();
    assert_eq!(file.document_starts(), [0, 0, 0, 2, 2, 2, 4]);
    let lists = CompressedLists::new(&file).unwrap();
    let hits = top_documents(&lists, &file, "b", 5).unwrap();
    let found: Vec<(u32, u32)> = hits
        .iter()
        .map(|hit| (hit.document, hit.occurrences))
        .collect();
    assert_eq!(found, [(5, 2), (2, 1)]);
}

#[test]
fn an_unknown_word_is_in_no_document() {
    for unit in UNITS {
        let file = InvertedFile::build("some words", unit).unwrap();
        let lists = CompressedLists::new(&file).unwrap();
        assert_eq!(top_documents(&lists, &file, "others", 5).unwrap(), []);
        assert_eq!(file.gaps_of("others"), [] as [u32; 0]);
    }
}

#[test]
fn a_text_without_words_is_refused() {
    for text in ["", "\n\n", " .,;\n--"] {
        let error = InvertedFile::build(text, PostingUnit::WordPositions).unwrap_err();
        assert!(error.to_string().contains("no words"), "{error}");
    }
}
