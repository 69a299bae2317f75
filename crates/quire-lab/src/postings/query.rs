//! The retrieval query of §6.4: in which documents does a word occur most often?

use super::{CompressedLists, InvertedFile};
use quire_codec::Corrupt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A document of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    pub occurrences: u32,
    /// Its line, from 0.
    pub document: u32,
    /// Where it begins in the text, in bytes.
    pub offset: usize,
}

/// Ordered aggregation over a list, merged with the offsets of the documents, and a heap of the best.
#[derive(Debug)]
pub struct TopDocuments<'a> {
    offsets: &'a [usize],
    count: usize,
    /// The worst is on top: few occurrences, or among equals the later document.
    heap: BinaryHeap<Reverse<(u32, Reverse<u32>)>>,
    /// The document that is being counted.
    current: Option<(u32, u32)>,
}

impl<'a> TopDocuments<'a> {
    /// Keeps the `count` documents with the most occurrences; among equals, earlier ones.
    pub fn new(count: usize, offsets: &'a [usize]) -> Self {
        Self {
            offsets,
            count,
            heap: BinaryHeap::new(),
            current: None,
        }
    }

    /// Takes the next entries of a list, ascending, one for each occurrence.
    pub fn take(&mut self, documents: &[u32]) {
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

    /// The answer, the best first. Documents that the text does not have are left out.
    pub fn finish(mut self) -> Vec<Hit> {
        self.close();
        let ascending = self.heap.into_sorted_vec();
        let hit = |Reverse((occurrences, Reverse(document))): Reverse<(u32, Reverse<u32>)>| {
            let offset = *self.offsets.get(document as usize)?;
            Some(Hit {
                occurrences,
                document,
                offset,
            })
        };
        ascending.into_iter().filter_map(hit).collect()
    }
}

/// The `count` documents in which `word` occurs most often, read from the compressed list.
///
/// ```
/// use quire_lab::postings::{CompressedLists, InvertedFile, top_documents};
/// let file = InvertedFile::build("to be\nor not to be to\nto")?;
/// let lists = CompressedLists::new(&file)?;
/// let hits = top_documents(&lists, &file, "to", 2)?;
/// assert_eq!((hits[0].document, hits[0].occurrences, hits[0].offset), (1, 2, 6));
/// assert_eq!((hits[1].document, hits[1].occurrences), (0, 1));
/// # Ok::<(), quire_lab::LabError>(())
/// ```
pub fn top_documents(
    lists: &CompressedLists,
    file: &InvertedFile,
    word: &str,
    count: usize,
) -> Result<Vec<Hit>, Corrupt> {
    let mut top = TopDocuments::new(count, file.document_offsets());
    lists.each_document(file, word, |documents| top.take(documents))?;
    Ok(top.finish())
}
