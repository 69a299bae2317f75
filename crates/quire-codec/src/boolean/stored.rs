//! A container for every vector of a payload: written, and read a vector at a time.
//!
//! Also used for the rows that a codec of numbers keeps aside.

use super::bits::{VECTOR_WORDS, vectors};
use super::containers::Container;
use crate::{Corrupt, ImageCursor, VECTOR_VALUES, vector_count, vector_rows};
use std::ops::Range;
use std::sync::Arc;

/// Size of what [`append_rows`] writes.
pub(crate) fn rows_bytes(words: &[u64], row_count: usize) -> usize {
    let container = |(vector, bits)| Container::choose(&bits, vector_rows(row_count, vector));
    vectors(words, row_count)
        .enumerate()
        .map(|one| container(one).bytes())
        .sum()
}

/// Appends the containers of the first `row_count` bits of `words`, which are that many at least.
pub(crate) fn append_rows(words: &[u64], row_count: usize, out: &mut Vec<u8>) {
    let mut data = Vec::new();
    for (vector, bits) in vectors(words, row_count).enumerate() {
        let rows = vector_rows(row_count, vector);
        Container::choose(&bits, rows).append(&bits, rows, out, &mut data);
    }
    out.extend_from_slice(&data);
}

/// Which rows of a payload are true.
#[derive(Clone, Debug)]
pub(crate) struct RowSet {
    image: Arc<[u8]>,
    row_count: usize,
    /// Each with the offset of its data.
    containers: Vec<(Container, usize)>,
}

impl RowSet {
    /// Opens the containers of `row_count` rows in `image[payload]`; the caller has bounded `row_count`.
    pub(crate) fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let mut cursor = ImageCursor::new(&image, payload)?;
        let mut containers = Vec::with_capacity(vector_count(row_count));
        for vector in 0..vector_count(row_count) {
            let rows = vector_rows(row_count, vector);
            containers.push((Container::read(&mut cursor, rows)?, 0));
        }
        for (container, start) in &mut containers {
            *start = cursor.take(container.data_bytes(), "container")?.start;
        }
        cursor.finish("containers")?;
        Ok(Self {
            image,
            row_count,
            containers,
        })
    }

    /// Asks the container of a vector, given its data and rows.
    fn ask<R>(
        &self,
        vector: usize,
        question: impl FnOnce(&Container, &[u8], usize) -> Result<R, &'static str>,
    ) -> Result<R, Corrupt> {
        let missing = || Corrupt::new("container is missing", 0);
        let (container, start) = self.containers.get(vector).ok_or_else(missing)?;
        let bytes = *start..*start + container.data_bytes();
        let data = self.image.get(bytes).ok_or_else(missing)?;
        question(container, data, vector_rows(self.row_count, vector))
            .map_err(|what| Corrupt::new(what, *start))
    }

    /// The rows of a vector as bits, those beyond them cleared.
    pub(crate) fn words(
        &self,
        vector: usize,
        out: &mut [u64; VECTOR_WORDS],
    ) -> Result<(), Corrupt> {
        self.ask(vector, |one, data, rows| one.decode(data, rows, out))
    }

    /// How many rows of a vector are true.
    pub(crate) fn true_count(&self, vector: usize) -> Result<usize, Corrupt> {
        self.ask(vector, Container::true_count)
    }

    /// Writes the positions of the true rows of a vector to the front of `out`, ascending, and returns their number.
    pub(crate) fn true_positions(
        &self,
        vector: usize,
        out: &mut [u16; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        self.ask(vector, |one, data, rows| {
            one.true_positions(data, rows, out)
        })
    }
}
