//! Collections of the sizes and densities of the paper's, drawn from a seed.
//!
//! TREC's are not free. Of each this has a part: so many documents of the mean length that the collection has, and
//! words with Zipf's frequencies, of which a document repeats those it already has more often than chance would.

use super::inverted_file::InvertedFileBuilder;
use super::{InvertedFile, PostingUnit};
use crate::random::LabRandom;
use crate::{Lab, LabError};

/// Words that a collection draws from.
const VOCABULARY: usize = 100_000;
/// In so many of 100 cases a word is one that its document has already.
const REPEATED_PERCENT: u64 = 25;
/// A document has at least so many words.
const DOCUMENT_WORDS_MIN: usize = 5;

/// A collection of the paper's, as large as NIST and INEX describe it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyntheticCollection {
    /// As the series of the collection is called.
    pub(super) name: &'static str,
    document_count: usize,
    mean_words: f64,
    seed: u64,
}

/// TREC: documents and mean words of disks 4 and 5 as NIST describes them. INEX: 12,107 articles of 494 MB; the words are
/// estimated from their bytes, 7 a word.
pub(super) const COLLECTIONS: [SyntheticCollection; 5] = [
    collection("like INEX", 12_107, 5_800.0, 71),
    collection("like TREC fbis", 130_471, 543.6, 72),
    collection("like TREC fr94", 55_630, 644.7, 73),
    collection("like TREC ft", 210_158, 412.7, 74),
    collection("like TREC latimes", 131_896, 526.5, 75),
];

const fn collection(
    name: &'static str,
    document_count: usize,
    mean_words: f64,
    seed: u64,
) -> SyntheticCollection {
    SyntheticCollection {
        name,
        document_count,
        mean_words,
        seed,
    }
}

/// Documents of a collection for one that is drawn.
pub(super) fn documents_per_drawn(lab: &Lab) -> usize {
    lab.size(16, 1024)
}

impl SyntheticCollection {
    /// Its inverted file: one document for every so many of the whole.
    pub(super) fn inverted_file(
        &self,
        documents_per_drawn: usize,
        unit: PostingUnit,
    ) -> Result<InvertedFile, LabError> {
        let mut random = LabRandom(self.seed);
        let mut builder = InvertedFileBuilder::new(unit);
        let mut document = Vec::new();
        for _ in 0..self.document_count.div_ceil(documents_per_drawn.max(1)) {
            builder.begin_document()?;
            self.draw_document(&mut random, &mut document);
            for &rank in &document {
                builder.add(rank)?;
            }
        }
        builder.finish(|rank: u32| format!("word {}", rank + 1))
    }

    /// The ranks of its words. Lengths fall off exponentially: the median of the paper's documents is some 0.6 of their
    /// mean, too.
    fn draw_document(&self, random: &mut LabRandom, ranks: &mut Vec<u32>) {
        ranks.clear();
        let mean_rest = self.mean_words - DOCUMENT_WORDS_MIN as f64;
        let rest = -(1.0 - random.fraction()).ln() * mean_rest;
        for _ in 0..DOCUMENT_WORDS_MIN + rest as usize {
            let repeated = random.below(100) < REPEATED_PERCENT && !ranks.is_empty();
            let rank = if repeated {
                ranks[random.below(ranks.len() as u64) as usize]
            } else {
                // The r-th most frequent occurs about 1/r as often as the first.
                let rank = (VOCABULARY as f64).powf(random.fraction()) as usize;
                rank.clamp(1, VOCABULARY) as u32 - 1
            };
            ranks.push(rank);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_has_its_documents_their_length_and_zipfs_frequencies() {
        for collection in COLLECTIONS {
            let file = collection
                .inverted_file(64, PostingUnit::WordPositions)
                .unwrap();
            let documents = file.document_starts().len();
            assert_eq!(documents, collection.document_count.div_ceil(64));
            let words = file.gaps().len();
            let mean = words as f64 / documents as f64;
            // The mean of n exponential lengths lies within 4/√n of theirs but for one case in 16,000.
            let tolerance = 4.0 / (documents as f64).sqrt();
            assert!(
                (mean / collection.mean_words - 1.0).abs() < tolerance,
                "{}: {mean}",
                collection.name
            );
            // ln 2 / ln 100,000 of the words are the first.
            let first = file.gaps_of("word 1").len() as f64 / words as f64;
            assert!((0.05..0.07).contains(&first), "{first}");
            assert_eq!(file.most_frequent(), "word 1");
        }
    }
}
