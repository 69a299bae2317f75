//! Columns as Quire's segments hold them, to be measured beside those of the papers.

use crate::LabError;
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::int::Element;
use quire_codec::{CodecId, Corrupt, ROWS_MAX, VECTOR_VALUES, vector_count};
use std::sync::Arc;

/// A vector that is aligned as Arrow aligns its buffers.
#[repr(align(64))]
pub(crate) struct Vector<T>(pub(crate) [T; VECTOR_VALUES]);

/// A column in as many payloads as it needs, opened.
pub(crate) struct StoredColumn<E: Element> {
    payloads: Vec<(FixedDecoder<E>, usize)>,
    pub(crate) bytes: usize,
}

impl<E: Element> StoredColumn<E> {
    pub(crate) fn encode(codec: CodecId, values: &[E]) -> Result<Self, LabError> {
        let mut column = Self {
            payloads: Vec::new(),
            bytes: 0,
        };
        for rows in values.chunks(ROWS_MAX) {
            let image: Arc<[u8]> = fixed::encode(codec, rows)?.into();
            column.bytes += image.len();
            let whole = 0..image.len();
            let decoder = FixedDecoder::open(codec, image, whole, rows.len())?;
            column.payloads.push((decoder, rows.len()));
        }
        Ok(column)
    }

    /// Decodes one vector after the other into `out`, and hands each over.
    pub(crate) fn each_vector(
        &mut self,
        out: &mut [E; VECTOR_VALUES],
        mut take: impl FnMut(&[E]),
    ) -> Result<(), Corrupt> {
        for (decoder, row_count) in &mut self.payloads {
            for vector in 0..vector_count(*row_count) {
                let rows = decoder.decode_vector(vector, out)?;
                take(&out[..rows]);
            }
        }
        Ok(())
    }

    /// Decodes all vectors into `out`, which is as long as the column and ends with a full vector.
    pub(crate) fn decode_all(&mut self, out: &mut [E]) -> Result<(), Corrupt> {
        let (vectors, _) = out.as_chunks_mut::<VECTOR_VALUES>();
        let mut vectors = vectors.iter_mut();
        for (decoder, row_count) in &mut self.payloads {
            for (vector, out) in (0..vector_count(*row_count)).zip(&mut vectors) {
                decoder.decode_vector(vector, out)?;
            }
        }
        Ok(())
    }
}
