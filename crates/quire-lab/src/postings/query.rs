//! The retrieval query of §6.4: in which documents does a word occur most often?
//!
//! Its plan is the paper's: 1,024 entries of the list are decoded; a merge join with the starts of the documents makes
//! document numbers of word positions; an ordered aggregation counts them; a heap keeps the best. Over a list of
//! document numbers the join is left out.

use super::{CompressedLists, InvertedFile, PostingUnit};
use quire_codec::{Corrupt, VECTOR_VALUES};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A document of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    pub occurrences: u32,
    /// Its line, from 0.
    pub document: u32,
}

/// Merge join of ascending positions with the ascending starts of documents.
#[derive(Debug)]
pub(super) struct DocumentJoin<'a> {
    starts: &'a [u32],
    /// The document that the last position was in.
    document: usize,
    /// Where the next document starts; above all positions behind the last one.
    next_start: u64,
}

impl<'a> DocumentJoin<'a> {
    pub(super) fn new(starts: &'a [u32]) -> Self {
        Self {
            starts,
            document: 0,
            next_start: start_after(starts, 0),
        }
    }

    /// The document of each position: the last that starts at it or before. Positions go on from the last call's.
    pub(super) fn documents(&mut self, positions: &[u32], documents: &mut [u32]) {
        for (position, document) in positions.iter().zip(documents) {
            while u64::from(*position) >= self.next_start {
                self.document += 1;
                self.next_start = start_after(self.starts, self.document);
            }
            *document = self.document as u32;
        }
    }
}

/// Where the document after `document` starts. The last one never ends.
fn start_after(starts: &[u32], document: usize) -> u64 {
    starts
        .get(document + 1)
        .map_or(u64::MAX, |&start| u64::from(start))
}

/// Ordered aggregation over document numbers, and a heap of the best.
#[derive(Debug)]
pub(super) struct TopDocuments {
    count: usize,
    /// The worst is on top: few occurrences, or among equals the later document.
    heap: BinaryHeap<Reverse<(u32, Reverse<u32>)>>,
    /// The document that is being counted.
    current: Option<(u32, u32)>,
}

impl TopDocuments {
    /// Keeps the `count` documents with the most occurrences; among equals, earlier ones.
    pub(super) fn new(count: usize) -> Self {
        Self {
            count,
            heap: BinaryHeap::new(),
            current: None,
        }
    }

    /// Takes the next document numbers, ascending, one for each occurrence.
    pub(super) fn take(&mut self, documents: &[u32]) {
        for run in documents.chunk_by(|one, other| one == other) {
            let Some(&document) = run.first() else {
                continue;
            };
            let occurrences = run.len() as u32;
            match &mut self.current {
                Some((counted, sum)) if *counted == document => *sum += occurrences,
                _ => {
                    self.close();
                    self.current = Some((document, occurrences));
                }
            }
        }
    }

    /// The document is complete.
    fn close(&mut self) {
        let Some((document, occurrences)) = self.current.take() else {
            return;
        };
        let entry = Reverse((occurrences, Reverse(document)));
        if self.heap.len() < self.count {
            self.heap.push(entry);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && entry < *worst
        {
            *worst = entry;
        }
    }

    /// The answer, the best first.
    pub(super) fn finish(mut self) -> Vec<Hit> {
        self.close();
        let ascending = self.heap.into_sorted_vec();
        let hit = |Reverse((occurrences, Reverse(document)))| Hit {
            occurrences,
            document,
        };
        ascending.into_iter().map(hit).collect()
    }
}

/// The whole plan behind the decoder: join where the list needs one, aggregation, heap.
#[derive(Debug)]
pub(super) struct RetrievalQuery<'a> {
    /// None over document numbers.
    join: Option<DocumentJoin<'a>>,
    documents: Box<[u32; VECTOR_VALUES]>,
    top: TopDocuments,
}

impl<'a> RetrievalQuery<'a> {
    /// The `count` best documents of one list of `file`.
    pub(super) fn new(file: &'a InvertedFile, count: usize) -> Self {
        let join = match file.unit() {
            PostingUnit::WordPositions => Some(DocumentJoin::new(file.document_starts())),
            PostingUnit::DocumentNumbers => None,
        };
        Self {
            join,
            documents: Box::new([0; VECTOR_VALUES]),
            top: TopDocuments::new(count),
        }
    }

    /// Takes the next entries of the list.
    pub(super) fn take(&mut self, entries: &[u32]) {
        let Some(join) = &mut self.join else {
            return self.top.take(entries);
        };
        for positions in entries.chunks(VECTOR_VALUES) {
            let documents = &mut self.documents[..positions.len()];
            join.documents(positions, documents);
            self.top.take(documents);
        }
    }

    pub(super) fn finish(self) -> Vec<Hit> {
        self.top.finish()
    }
}

/// The `count` documents in which `word` occurs most often, read from the compressed list; the best first, and among
/// equals earlier ones. Fails if the lists are not those of `file`.
///
/// ```
/// use quire_lab::postings::{CompressedLists, InvertedFile, PostingUnit, top_documents};
/// let file = InvertedFile::build("to be\nor not to be to\nto", PostingUnit::WordPositions)?;
/// assert_eq!(file.document_starts(), [0, 2, 7]);
/// let lists = CompressedLists::new(&file)?;
/// let hits = top_documents(&lists, &file, "to", 2)?;
/// assert_eq!((hits[0].document, hits[0].occurrences), (1, 2));
/// assert_eq!((hits[1].document, hits[1].occurrences), (0, 1));
/// # Ok::<(), quire_lab::LabError>(())
/// ```
pub fn top_documents(
    lists: &CompressedLists,
    file: &InvertedFile,
    word: &str,
    count: usize,
) -> Result<Vec<Hit>, Corrupt> {
    let mut query = RetrievalQuery::new(file, count);
    lists.each_posting(file, word, |entries| query.take(entries))?;
    Ok(query.finish())
}
