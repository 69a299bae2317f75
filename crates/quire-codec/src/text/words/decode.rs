//! Reading the payload: four streams at once, or one up to the value that is wanted.

use super::entropy::decode_table;
use super::model::{END, MODEL_BYTES_MAX, Model, TOTAL_LOG2, Token};
use super::{LANE_BYTES_MAX, LANE_ROWS, LANES, VERSION};
use crate::kernel::word_lanes::{
    LaneLimit, LaneState, LaneStreams, SLACK, ValueEnds, WordTables, run_together,
};
use crate::text::lengths::Lengths;
use crate::text::packed::PackedNumbers;
use crate::text::{DATA_BYTES_MAX, PayloadImage, section};
use crate::{BytesVector, Corrupt, ImageCursor, VECTOR_VALUES, vector_count, vector_rows};
use std::ops::Range;

/// What decoding looks up, and where a lane starts and ends.
struct DecodeTables {
    lookup: WordTables,
    /// Bits 12–15 of the place after the end of a value, and so of the first and the last place of a lane.
    end_context: u16,
}

impl DecodeTables {
    fn new(model: &Model) -> Self {
        let texts = model.tokens.iter().map(Token::as_slice);
        let end_context = u16::from(model.context_after[usize::from(END)]) << TOTAL_LOG2;
        Self {
            lookup: WordTables::new(decode_table(model), texts),
            end_context,
        }
    }

    /// Starts reading a lane whose text goes to this place; a stream without a first byte or a first state is corrupt.
    fn start(&self, stream: &[u8], position: usize) -> Option<LaneState> {
        let padding = stream.first().copied().unwrap_or(0).trailing_zeros() + 1;
        if padding > 8 {
            return None;
        }
        let mut lane = LaneState::at(u32::try_from(position).ok()?);
        lane.read(stream, padding);
        lane.place = self.end_context | lane.read(stream, TOTAL_LOG2);
        Some(lane)
    }

    /// Whether the lane ended as an encoder ends it: at the last bit of the stream, in the first state.
    fn is_complete(&self, lane: &LaneState, stream: &[u8], end: LaneLimit) -> bool {
        lane.ended() == end.values
            && lane.position() == end.position
            && lane.place == self.end_context
            && lane.bits_read() == 8 * stream.len()
    }
}

/// Room for the text and the ends of the lanes of one vector.
struct WordsScratch {
    text: Vec<u8>,
    ends: [ValueEnds; LANES],
}

pub(in crate::text) struct WordsDecoder {
    tables: DecodeTables,
    row_count: usize,
    /// One bit per vector: set if it is stored as it is.
    stored_raw: Range<usize>,
    /// Where the stream of each lane is within the image.
    streams: Vec<Range<usize>>,
    /// Bytes of text of each lane.
    raw_bytes: Vec<u32>,
    scratch: WordsScratch,
}

impl std::fmt::Debug for WordsDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WordsDecoder")
            .field("rows", &self.row_count)
            .finish_non_exhaustive()
    }
}

impl WordsDecoder {
    pub(in crate::text) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let offset = cursor.position();
        if cursor.u8("version of the words codec")? != VERSION {
            return Err(Corrupt::new("words codec of an unknown version", offset));
        }
        let raw_model = section::read(&mut cursor, MODEL_BYTES_MAX, "model")?;
        let model = Model::from_bytes(&raw_model).map_err(|error| Corrupt { offset, ..error })?;
        let vectors = vector_count(row_count);
        let stored_raw = cursor.take(vectors.div_ceil(8), "kinds of vectors")?;
        let lanes = vectors * LANES;
        let stream_bytes = PackedNumbers::open(&mut cursor, lanes)?.to_vec(&payload.image);
        let raw_bytes = PackedNumbers::open(&mut cursor, lanes)?.to_vec(&payload.image);
        let mut streams = Vec::with_capacity(lanes);
        for bytes in stream_bytes {
            streams.push(cursor.take(bytes as usize, "stream")?);
        }
        cursor.finish("streams")?;
        let total: u64 = raw_bytes.iter().map(|bytes| u64::from(*bytes)).sum();
        if total > DATA_BYTES_MAX as u64 {
            return Err(Corrupt::new("strings pass 1 GiB", offset));
        }
        let ends = [[0; _]; LANES];
        let scratch = WordsScratch {
            text: Vec::new(),
            ends,
        };
        Ok(Self {
            tables: DecodeTables::new(&model),
            row_count,
            stored_raw,
            streams,
            raw_bytes,
            scratch,
        })
    }

    fn is_stored_raw(&self, image: &[u8], vector: usize) -> bool {
        let bits = image
            .get(self.stored_raw.clone())
            .and_then(|bytes| bytes.get(vector / 8));
        bits.is_some_and(|bits| bits >> (vector % 8) & 1 == 1)
    }

    /// Rows and bytes of text of a lane; a lane with more bytes than any encoder writes is corrupt.
    fn lane_size(&self, vector: usize, lane: usize) -> Result<(usize, usize), Corrupt> {
        let rows = vector_rows(self.row_count, vector)
            .saturating_sub(lane * LANE_ROWS)
            .min(LANE_ROWS);
        let raw_bytes = self
            .raw_bytes
            .get(vector * LANES + lane)
            .copied()
            .unwrap_or(0) as usize;
        if raw_bytes > LANE_BYTES_MAX || (rows == 0 && raw_bytes > 0) {
            return Err(self.corrupt(vector, lane, "has too many bytes"));
        }
        Ok((rows, raw_bytes))
    }

    fn corrupt(&self, vector: usize, lane: usize, what: &str) -> Corrupt {
        let offset = self
            .streams
            .get(vector * LANES + lane)
            .map_or(0, |range| range.start);
        Corrupt::new(format!("lane {lane} of vector {vector} {what}"), offset)
    }

    fn stream<'a>(&self, image: &'a [u8], vector: usize, lane: usize) -> &'a [u8] {
        let range = self
            .streams
            .get(vector * LANES + lane)
            .cloned()
            .unwrap_or(0..0);
        image.get(range).unwrap_or_default()
    }

    /// The vector that is stored as it is.
    fn raw_vector<'a>(&self, image: &'a [u8], vector: usize) -> Result<RawVector<'a>, Corrupt> {
        let range = self.streams.get(vector * LANES).cloned().unwrap_or(0..0);
        let mut cursor = ImageCursor::new(image, range)?;
        let lengths = Lengths::open(&mut cursor, image, vector_rows(self.row_count, vector))?;
        let data = cursor.bytes(lengths.data_bytes(), "strings")?;
        cursor.finish("strings")?;
        Ok(RawVector { lengths, data })
    }

    pub(in crate::text) fn decode_vector(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        if rows == 0 {
            return Ok(0);
        }
        if self.is_stored_raw(&payload.image, vector) {
            let raw = self.raw_vector(&payload.image, vector)?;
            raw.lengths
                .ends(&payload.image, 0, out.data.len() as u32, &mut out.offsets)?;
            out.data.extend_from_slice(raw.data);
            return Ok(rows);
        }
        let mut sizes = [(0, 0); LANES];
        for (lane, size) in sizes.iter_mut().enumerate() {
            *size = self.lane_size(vector, lane)?;
        }
        self.decode_lanes(&payload.image, vector, sizes)?;
        let stride = sizes.iter().map(|size| size.1).max().unwrap_or(0) + SLACK;
        if out.data.len() + LANES * stride > u32::MAX as usize {
            return Err(self.corrupt(vector, 0, "passes 4 GiB of decoded strings"));
        }
        for (lane, (values, raw_bytes)) in sizes.into_iter().enumerate() {
            let start = lane * stride;
            let base = out.data.len() as u32;
            let ends = self.scratch.ends[lane][..values].iter();
            out.offsets
                .extend(ends.map(|end| end - start as u32 + base));
            let text = self.scratch.text.get(start..start + raw_bytes);
            out.data.extend_from_slice(text.unwrap_or_default());
        }
        Ok(rows)
    }

    /// Decodes the lanes of a vector into the scratch, where lanes lie a stride apart.
    fn decode_lanes(
        &mut self,
        image: &[u8],
        vector: usize,
        sizes: [(usize, usize); LANES],
    ) -> Result<(), Corrupt> {
        let stride = sizes.iter().map(|size| size.1).max().unwrap_or(0) + SLACK;
        if self.scratch.text.len() < LANES * stride {
            self.scratch.text.resize(LANES * stride, 0);
        }
        let streams: [&[u8]; LANES] = std::array::from_fn(|lane| self.stream(image, vector, lane));
        let limit = |lane: usize| LaneLimit {
            values: sizes[lane].0,
            position: lane * stride + sizes[lane].1,
        };
        let of = LaneStreams {
            streams,
            limits: std::array::from_fn(limit),
        };
        let tables = &self.tables;
        let mut lanes = [const { None }; LANES];
        for (index, lane) in lanes.iter_mut().enumerate() {
            if sizes[index].0 > 0 {
                *lane = tables.start(streams[index], index * stride);
            }
        }
        let WordsScratch { text, ends } = &mut self.scratch;
        if let [Some(a), Some(b), Some(c), Some(d)] = lanes {
            let mut together = [a, b, c, d];
            run_together(&tables.lookup, &of, &mut together, text, ends);
            lanes = together.map(Some);
        }
        for (index, (stream, limit)) in streams.into_iter().zip(of.limits).enumerate() {
            let complete = match &mut lanes[index] {
                Some(lane) => {
                    lane.run(&tables.lookup, stream, limit, text, &mut ends[index]);
                    tables.is_complete(lane, stream, limit)
                }
                None => limit.values == 0 && stream.is_empty(),
            };
            if !complete {
                return Err(self.corrupt(vector, index, "does not decode to its values"));
            }
        }
        Ok(())
    }

    pub(in crate::text) fn value(
        &mut self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let (vector, within) = (row / VECTOR_VALUES, row % VECTOR_VALUES);
        if self.is_stored_raw(&payload.image, vector) {
            let raw = self.raw_vector(&payload.image, vector)?;
            let range = raw.lengths.value_range(&payload.image, within)?;
            out.extend_from_slice(raw.data.get(range).unwrap_or_default());
            return Ok(());
        }
        let (lane, wanted) = (within / LANE_ROWS, within % LANE_ROWS);
        let (_, raw_bytes) = self.lane_size(vector, lane)?;
        if self.scratch.text.len() < raw_bytes + SLACK {
            self.scratch.text.resize(raw_bytes + SLACK, 0);
        }
        let stream = self.stream(&payload.image, vector, lane);
        let bad = || self.corrupt(vector, lane, "does not decode to its values");
        let mut reader = self.tables.start(stream, 0).ok_or_else(bad)?;
        let WordsScratch { text, ends } = &mut self.scratch;
        let end = LaneLimit {
            values: wanted + 1,
            position: raw_bytes,
        };
        reader.run(&self.tables.lookup, stream, end, text, &mut ends[lane]);
        let start = if wanted == 0 {
            0
        } else {
            ends[lane][wanted - 1] as usize
        };
        let value = text.get(start..ends[lane][wanted] as usize);
        if reader.ended() != wanted + 1 || reader.position() > raw_bytes {
            return Err(self.corrupt(vector, lane, "does not decode to its values"));
        }
        out.extend_from_slice(value.unwrap_or_default());
        Ok(())
    }
}

struct RawVector<'a> {
    lengths: Lengths,
    data: &'a [u8],
}
