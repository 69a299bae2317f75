//! Single values of a segment, where that takes less time than a vector (paper 2, §6.2.6: fine-grained access).

use super::reader::{SegmentReader, SegmentSource};
use quire_codec::{BytesVector, Corrupt};

/// A method that reads one value of one type.
macro_rules! value {
    ($(#[$meta:meta])* $name:ident, $type:ty) => {
        $(#[$meta])*
        ///
        /// That of a NULL row is arbitrary.
        ///
        /// # Errors
        /// Corrupt bytes, a row beyond the segment, or a segment of another type, or one that follows other columns or is decoded.
        pub fn $name(&mut self, row: usize) -> Result<$type, Corrupt> {
            match &mut self.source {
                SegmentSource::Plain(plain) => plain.$name(row),
                _ => Err(has_no_single_values()),
            }
        }
    };
}

fn has_no_single_values() -> Corrupt {
    Corrupt::new("single values of a segment that follows others", 2)
}

impl SegmentReader {
    /// Rows of a vector up to which reading them one by one takes less time than decoding the vector; 0 if it never does, as in a segment that
    /// follows other columns. Of strings see [`SegmentReader::decode_byte_rows`].
    pub fn few_rows(&self) -> usize {
        match &self.source {
            SegmentSource::Plain(plain) => plain.few_rows(),
            _ => 0,
        }
    }

    /// As [`SegmentReader::few_rows`], of the codes of a dictionary.
    pub fn few_codes(&self) -> usize {
        match &self.source {
            SegmentSource::Plain(plain) => plain.few_codes(),
            _ => 0,
        }
    }

    value! {
        /// The boolean of a row.
        value_bool, bool
    }
    value! {
        /// The 16-bit integer of a row.
        value_i16, i16
    }
    value! {
        /// The 32-bit integer of a row.
        value_i32, i32
    }
    value! {
        /// The 64-bit integer of a row.
        value_i64, i64
    }
    value! {
        /// The 128-bit integer of a row.
        value_i128, i128
    }
    value! {
        /// The 32-bit float of a row.
        value_f32, f32
    }
    value! {
        /// The 64-bit float of a row.
        value_f64, f64
    }
    value! {
        /// The code of a row of a segment with a dictionary, below [`SegmentReader::dictionary_len`].
        code, u32
    }

    /// Appends the strings of some rows of a vector, each given as any number whose remainder by 1,024 is its place in the vector. Those of NULL rows are
    /// arbitrary.
    ///
    /// # Errors
    /// Corrupt bytes, a row beyond the segment, or a segment of another type.
    pub fn decode_byte_rows(
        &mut self,
        vector: usize,
        rows: &[u32],
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        if let SegmentSource::Plain(plain) = &mut self.source {
            return plain.decode_byte_rows(vector, rows, out);
        }
        let mut whole = BytesVector::new();
        let count = self.decode_bytes(vector, &mut whole)?;
        let values = whole.as_slice();
        for place in rows.iter().map(|&row| row as usize % 1024) {
            if place >= count {
                return Err(Corrupt::new("row is beyond the segment", 4));
            }
            out.push(values.get(place))?;
        }
        Ok(())
    }
}
