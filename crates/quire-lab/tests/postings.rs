//! The inverted file and the query, against a naive index.
#![allow(clippy::unwrap_used)]

use quire_lab::made_up_text;
use quire_lab::postings::{CompressedLists, Hit, InvertedFile, top_documents};
use std::collections::{BTreeSet, HashMap};

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

/// The documents of each word, one for each occurrence, found by splitting every line.
fn naive_index(text: &str) -> HashMap<String, Vec<u32>> {
    let mut index: HashMap<String, Vec<u32>> = HashMap::new();
    for (document, line) in text.split('\n').enumerate() {
        let mut word = String::new();
        for letter in line.chars().chain([' ']) {
            if letter.is_alphanumeric() {
                word.push(letter);
            } else if !word.is_empty() {
                let word = std::mem::take(&mut word).to_lowercase();
                index.entry(word).or_default().push(document as u32);
            }
        }
    }
    index
}

#[test]
fn compressed_lists_decode_to_the_postings_of_a_naive_index() {
    for text in texts() {
        let file = InvertedFile::build(&text).unwrap();
        let lists = CompressedLists::new(&file).unwrap();
        let naive = naive_index(&text);
        let words: BTreeSet<&str> = file.words().collect();
        let expected: BTreeSet<&str> = naive.keys().map(String::as_str).collect();
        assert_eq!(words, expected);
        // Every list of a small text, and of a large one those that are long or lie apart.
        let few = naive.len() < 100;
        for (at, (word, documents)) in naive.iter().enumerate() {
            if few || documents.len() > 200 || at % 16 == 0 {
                let mut decoded = Vec::new();
                let take = |some: &[u32]| decoded.extend_from_slice(some);
                lists.each_document(&file, word, take).unwrap();
                assert_eq!(&decoded, documents, "{word}");
            }
        }
        let longest = naive.values().map(Vec::len).max().unwrap();
        assert_eq!(naive[file.most_frequent()].len(), longest);
        let postings: usize = naive.values().map(Vec::len).sum();
        assert_eq!(file.gaps().len(), postings);
        // Four bytes a gap uncompressed; a segment has a header.
        assert!(lists.bytes() < 4 * postings + 64, "{}", lists.bytes());
    }
}

#[test]
fn the_query_ranks_as_sorting_all_documents_does() {
    for text in texts() {
        let file = InvertedFile::build(&text).unwrap();
        let lists = CompressedLists::new(&file).unwrap();
        let naive = naive_index(&text);
        let mut words: Vec<&String> = naive.keys().collect();
        words.sort_by_key(|word| (std::cmp::Reverse(naive[*word].len()), *word));
        for word in words.into_iter().take(8) {
            let mut counts: HashMap<u32, u32> = HashMap::new();
            for document in &naive[word] {
                *counts.entry(*document).or_default() += 1;
            }
            let mut ranking: Vec<(u32, u32)> = counts.into_iter().collect();
            ranking.sort_by_key(|&(document, count)| (std::cmp::Reverse(count), document));
            for count in [0, 1, 3, 10, 5_000] {
                let hits = top_documents(&lists, &file, word, count).unwrap();
                let found: Vec<(u32, u32)> = hits
                    .iter()
                    .map(|hit| (hit.document, hit.occurrences))
                    .collect();
                assert_eq!(found, ranking[..count.min(ranking.len())], "{word}");
                assert!(hits.iter().all(|hit| starts_document(&text, hit)));
            }
        }
    }
}

/// Whether so many line ends are before the offset, the last of them right before it.
fn starts_document(text: &str, hit: &Hit) -> bool {
    let before = &text[..hit.offset];
    before.matches('\n').count() == hit.document as usize
        && (before.is_empty() || before.ends_with('\n'))
}

#[test]
fn an_unknown_word_is_in_no_document() {
    let file = InvertedFile::build("some words").unwrap();
    let lists = CompressedLists::new(&file).unwrap();
    assert_eq!(top_documents(&lists, &file, "others", 5).unwrap(), []);
    assert_eq!(file.gaps_of("others"), [] as [u32; 0]);
}

#[test]
fn a_text_without_words_is_refused() {
    for text in ["", "\n\n", " .,;\n--"] {
        let error = InvertedFile::build(text).unwrap_err();
        assert!(error.to_string().contains("no words"), "{error}");
    }
}
