//! Columns as Quire's segments hold them, to be measured beside those of the papers.

use crate::LabError;
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::int::Element;
use quire_codec::{CodecId, Corrupt, ROWS_MAX, VECTOR_VALUES, vector_count};
use std::sync::Arc;

/// A vector that is aligned as Arrow aligns its buffers.
#[repr(align(64))]
pub(crate) struct Vector<T>(pub(crate) [T; VECTOR_VALUES]);

/// Vectors of a full payload.
const PAYLOAD_VECTORS: usize = vector_count(ROWS_MAX);

/// A column in as many payloads as it needs. Several threads can open it; they share the bytes.
pub(crate) struct StoredPayloads {
    codec: CodecId,
    /// Each with its rows.
    payloads: Vec<(Arc<[u8]>, usize)>,
    pub(crate) bytes: usize,
}

impl StoredPayloads {
    pub(crate) fn encode<E: Element>(codec: CodecId, values: &[E]) -> Result<Self, LabError> {
        let mut payloads: Vec<(Arc<[u8]>, usize)> = Vec::new();
        for rows in values.chunks(ROWS_MAX) {
            payloads.push((fixed::encode(codec, rows)?.into(), rows.len()));
        }
        Ok(Self {
            codec,
            bytes: payloads.iter().map(|(image, _)| image.len()).sum(),
            payloads,
        })
    }

    /// Decoders of values of the type that was encoded.
    pub(crate) fn open<E: Element>(&self) -> Result<StoredColumn<E>, Corrupt> {
        let payloads = self.payloads.iter().map(|(image, rows)| {
            let whole = 0..image.len();
            let decoder = FixedDecoder::open(self.codec, Arc::clone(image), whole, *rows)?;
            Ok((decoder, *rows))
        });
        Ok(StoredColumn {
            payloads: payloads.collect::<Result<_, Corrupt>>()?,
            bytes: self.bytes,
        })
    }
}

/// The same, opened by one thread.
pub(crate) struct StoredColumn<E: Element> {
    payloads: Vec<(FixedDecoder<E>, usize)>,
    pub(crate) bytes: usize,
}

impl<E: Element> StoredColumn<E> {
    pub(crate) fn encode(codec: CodecId, values: &[E]) -> Result<Self, LabError> {
        Ok(StoredPayloads::encode(codec, values)?.open()?)
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

    /// Decodes the vector of that number into `out`, and returns its rows: 0 behind the end.
    pub(crate) fn decode_vector(
        &mut self,
        number: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match self.payloads.get_mut(number / PAYLOAD_VECTORS) {
            Some((decoder, _)) => decoder.decode_vector(number % PAYLOAD_VECTORS, out),
            None => Ok(0),
        }
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
