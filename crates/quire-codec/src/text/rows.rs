//! Some rows of a vector of strings, without the others where the codec can do that (paper 2, §6.2.6).

use super::lengths::end_row;
use super::{BytesDecoder, TextScheme};
use crate::{BytesVector, Corrupt, VECTOR_VALUES, vector_rows};

/// Rows up to which strings of words, of shapes, or of patched dictionaries are read one by one: a row of words costs what is before it in its lane, one of
/// a shape the codes of all rows, and one of a patched dictionary the places of the rows aside.
const FEW_ROWS: usize = 4;

impl BytesDecoder {
    /// Appends the values of some rows of vector `vector`, each given as any number whose remainder by 1,024 is its place in the vector. Plain strings,
    /// FSST, phrases and dictionaries decode no other values, and zstd no other blocks.
    ///
    /// # Errors
    /// [`Corrupt`] when the bytes are not what an encoder wrote, or there is no such row; `out` then holds the rows it had before.
    ///
    /// ```
    /// use quire_codec::{BytesSlice, BytesVector, CodecId, text};
    ///
    /// let values = BytesSlice { offsets: &[0, 5, 5, 10], data: b"applepears" };
    /// let payload: std::sync::Arc<[u8]> = text::encode(CodecId::Fsst, &values)?.into();
    /// let length = payload.len();
    /// let mut decoder = text::BytesDecoder::open(CodecId::Fsst, payload, 0..length, 3)?;
    /// let mut out = BytesVector::new();
    /// decoder.decode_rows(0, &[2, 0], &mut out)?;
    /// assert!(out.as_slice().iter().eq([b"pears", b"apple"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_rows(
        &mut self,
        vector: usize,
        rows: &[u32],
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let (rows_before, bytes_before) = (out.offsets.len(), out.data.len());
        let decoded = self.append_rows(vector, rows, out);
        if decoded.is_err() {
            out.offsets.truncate(rows_before);
            out.data.truncate(bytes_before);
        }
        decoded
    }

    fn append_rows(
        &mut self,
        vector: usize,
        rows: &[u32],
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let offset = self.payload.range.start;
        let count = vector_rows(self.row_count, vector);
        let places = rows.iter().map(|&row| row as usize % VECTOR_VALUES);
        if places.clone().any(|place| place >= count) {
            return Err(Corrupt::new("row beyond the payload", offset));
        }
        // Of most rows, decoding all of them together takes less time.
        let is_sparse = rows.len() <= count / 2;
        let payload = &self.payload;
        match &mut self.scheme {
            TextScheme::Plain(decoder) => decoder.decode_rows(payload, vector, places, out),
            TextScheme::Fsst(decoder) if is_sparse => {
                decoder.decode_rows(payload, vector, places, out)
            }
            TextScheme::Zstd(decoder) => decoder.decode_rows(payload, vector, places, out),
            TextScheme::Phrases(decoder) if is_sparse => {
                decoder.decode_rows(payload, vector, places, out)
            }
            TextScheme::Dictionary(decoder) => decoder.decode_rows(vector, places, out),
            TextScheme::Constant => {
                let before = out.data.len();
                for _ in places {
                    out.data.extend_from_slice(payload.bytes());
                    end_row(out, before, offset)?;
                }
                Ok(())
            }
            TextScheme::Words(_) | TextScheme::Shape(_) | TextScheme::Pdict(_)
                if rows.len() <= FEW_ROWS =>
            {
                let before = out.data.len();
                for place in places {
                    self.value(vector * VECTOR_VALUES + place, &mut out.data)?;
                    end_row(out, before, offset)?;
                }
                Ok(())
            }
            TextScheme::Fsst(_)
            | TextScheme::Phrases(_)
            | TextScheme::Words(_)
            | TextScheme::Shape(_)
            | TextScheme::Pdict(_) => {
                let mut whole = std::mem::take(&mut self.whole);
                whole.clear();
                let decoded = self.decode_vector(vector, &mut whole);
                let values = whole.as_slice();
                let appended = decoded.and_then(|_| {
                    let mut values = places.map(|place| values.get(place));
                    values.try_for_each(|value| out.push(value))
                });
                self.whole = whole;
                appended
            }
        }
    }
}
