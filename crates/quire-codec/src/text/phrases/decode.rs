//! Codes back into text.

use super::dictionary::PhraseTable;
use super::{PHRASE_BYTES_MAX, WIDTHS};
use crate::text::lengths::{Lengths, end_row};
use crate::text::{PayloadImage, packed};
use crate::{BytesVector, Corrupt, VECTOR_VALUES, vector_count};
use std::ops::Range;

pub(in crate::text) struct PhrasesDecoder {
    width: u8,
    table: PhraseTable,
    /// Lengths in codes.
    lengths: Lengths,
    /// Where the codes of each vector are within the image.
    codes: Vec<Range<usize>>,
    /// The codes of the vector decoded last.
    scratch: Vec<u32>,
}

impl std::fmt::Debug for PhrasesDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PhrasesDecoder")
            .field("width", &self.width)
            .finish_non_exhaustive()
    }
}

impl PhrasesDecoder {
    pub(in crate::text) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let width = cursor.u8("width of codes")?;
        if !WIDTHS.contains(&width) {
            return Err(cursor.corrupt("codes are not of 8 to 16 bits"));
        }
        let table = PhraseTable::read(&mut cursor, width)?;
        let lengths = Lengths::open(&mut cursor, &payload.image, row_count)?;
        let codes = (0..vector_count(row_count))
            .map(|vector| {
                let bytes = packed::packed_bytes(lengths.vector_range(vector).len(), width);
                cursor.take(bytes, "codes of phrases")
            })
            .collect::<Result<_, _>>()?;
        cursor.finish("codes of phrases")?;
        Ok(Self {
            width,
            table,
            lengths,
            codes,
            scratch: Vec::new(),
        })
    }

    fn unknown_code(&self, vector: usize) -> Corrupt {
        let offset = self.codes.get(vector).map_or(0, |range| range.start);
        Corrupt::new("code stands for no phrase", offset)
    }

    fn packed<'a>(&self, payload: &'a PayloadImage, vector: usize) -> Result<&'a [u8], Corrupt> {
        let range = self.codes.get(vector).cloned().unwrap_or(0..0);
        let offset = range.start;
        let bytes = payload.image.get(range);
        bytes.ok_or_else(|| Corrupt::new("codes leave the payload", offset))
    }

    pub(in crate::text) fn decode_vector(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let packed = self.packed(payload, vector)?;
        let mut ends = Vec::with_capacity(VECTOR_VALUES);
        let rows = self.lengths.ends(&payload.image, vector, 0, &mut ends)?;
        self.scratch
            .resize(self.lengths.vector_range(vector).len(), 0);
        packed::unpack(packed, self.width, 0, &mut self.scratch);
        let text_bytes = self.table.text_bytes(&self.scratch);
        let text_bytes = text_bytes.ok_or_else(|| self.unknown_code(vector))?;
        let mut end = out.data.len();
        let final_end = end + text_bytes;
        if final_end as u64 > u64::from(u32::MAX) {
            return Err(Corrupt::new("decoded strings pass 4 GiB", 0));
        }
        out.data.resize(final_end + PHRASE_BYTES_MAX, 0);
        out.offsets.reserve(rows);
        let mut start = 0;
        for code_end in ends {
            let codes = &self.scratch[start..code_end as usize];
            end = self.table.copy(codes, end, &mut out.data);
            out.offsets.push(end as u32);
            start = code_end as usize;
        }
        out.data.truncate(final_end);
        Ok(rows)
    }

    pub(in crate::text) fn value(
        &mut self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let vector = row / VECTOR_VALUES;
        let range = self.lengths.value_range(&payload.image, row)?;
        self.append_value(payload, vector, range, out)
    }

    pub(in crate::text) fn decode_rows(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        places: impl Iterator<Item = usize>,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let before = out.data.len();
        for range in self.lengths.ranges(&payload.image, vector, places)? {
            self.append_value(payload, vector, range, &mut out.data)?;
            end_row(out, before, payload.range.start)?;
        }
        Ok(())
    }

    /// Appends a value of a vector; `range` is where its codes are among all.
    fn append_value(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let packed = self.packed(payload, vector)?;
        let before = self.lengths.vector_range(vector).start;
        self.scratch.clear();
        for index in range.start - before..range.end - before {
            self.scratch
                .push(packed::unpack_one(packed, self.width, index));
        }
        let text_bytes = self.table.text_bytes(&self.scratch);
        let text_bytes = text_bytes.ok_or_else(|| self.unknown_code(vector))?;
        let start = out.len();
        out.resize(start + text_bytes + PHRASE_BYTES_MAX, 0);
        self.table.copy(&self.scratch, start, out);
        out.truncate(start + text_bytes);
        Ok(())
    }
}
