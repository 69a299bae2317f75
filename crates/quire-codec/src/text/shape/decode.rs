//! Decoding a vector of shapes: the runs of every shape as blocks of text, then row by row their copies.

use super::blocks::{BLOCK_BYTES, RunBlocks, RunWriter, block_of, words_of};
use super::numbers::RunNumbers;
use super::parts::{self, ShapePart};
use super::{ALL_RUNS_MAX, NO_REST, VERSION};
use crate::int::sequence::Sequence;
use crate::text::packed::PackedNumbers;
use crate::text::range_reader::StringRangeReader;
use crate::text::{BytesDecoder, PayloadImage, section};
use crate::{BytesVector, CodecId, Corrupt, ImageCursor, VECTOR_VALUES, vector_count, vector_rows};
use std::sync::Arc;

/// Raw bytes that the description of shapes can need: all texts, alphabets and heads of parts.
const SHAPES_BYTES_MAX: usize = 256 << 10;

/// What a row of a shape is copied from, in order.
enum ShapePiece {
    /// Fixed text of at most 16 bytes: its words and its length.
    Text([u64; 2], usize),
    /// A run, with its number among all runs.
    Run {
        run: usize,
        /// Whether its blocks have two words.
        long: bool,
        /// Length of its blocks, unless each has its own.
        bytes: Option<usize>,
    },
}

/// One run of a shape.
struct RunColumn {
    writer: RunWriter,
    numbers: RunNumbers,
    /// How many digits each number has, where that is stored.
    counts: Option<RunNumbers>,
}

struct StringShape {
    pieces: Vec<ShapePiece>,
    /// Its runs among those of all shapes.
    runs: std::ops::Range<usize>,
    row_bytes_max: usize,
}

/// What is decoded for one vector.
struct ShapeScratch {
    codes: Box<[i16; VECTOR_VALUES]>,
    numbers: Box<[u64; VECTOR_VALUES]>,
    counts: Box<[u64; VECTOR_VALUES]>,
    /// One vector of blocks for each run, by words, and their lengths where they vary.
    low: Vec<u64>,
    high: Vec<u64>,
    lengths: Vec<u8>,
}

pub(in crate::text) struct ShapeDecoder {
    row_count: usize,
    offset: usize,
    shapes: Vec<StringShape>,
    runs: Vec<RunColumn>,
    /// The values without a shape.
    rest: Option<StringRangeReader>,
    /// The shape of each row, unless all have the same.
    codes: Option<Sequence<i16>>,
    /// For each vector how many rows before it have each code, and at last how many of all have.
    starts: Vec<u32>,
    scratch: ShapeScratch,
}

impl std::fmt::Debug for ShapeDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ShapeDecoder")
            .field("shapes", &self.shapes.len())
            .field("runs", &self.runs.len())
            .finish_non_exhaustive()
    }
}

/// Reads how many rows of each vector have each code, as sums of those before each vector.
fn read_starts(
    cursor: &mut ImageCursor<'_>,
    image: &[u8],
    row_count: usize,
    code_count: usize,
) -> Result<Vec<u32>, Corrupt> {
    let vectors = vector_count(row_count);
    let counts = match code_count {
        0 if row_count > 0 => return Err(cursor.corrupt("rows without a shape")),
        0 => Vec::new(),
        1 => (0..vectors)
            .map(|vector| vector_rows(row_count, vector) as u32)
            .collect(),
        _ => PackedNumbers::open(cursor, vectors * code_count)?.to_vec(image),
    };
    let mut starts = vec![0u32; (vectors + 1) * code_count];
    for vector in 0..vectors {
        let mut rows = 0u64;
        for code in 0..code_count {
            let at = vector * code_count + code;
            let count = counts.get(at).copied().unwrap_or(0);
            rows += u64::from(count);
            starts[at + code_count] = starts[at].wrapping_add(count);
        }
        // Every count is then at most the rows of its vector, and no sum passes the rows of the payload.
        if rows != vector_rows(row_count, vector) as u64 {
            return Err(cursor.corrupt("rows of the shapes do not add up to the vector's"));
        }
    }
    Ok(starts)
}

/// The pieces that rows of a shape are copied from. Text before a run travels in the blocks of the run as far
/// as it fits.
fn plan(parts: Vec<ShapePart>, first_run: usize) -> (StringShape, Vec<RunWriter>) {
    let (mut pieces, mut writers, mut row_bytes_max) = (Vec::new(), Vec::new(), 0);
    let mut pending: Vec<u8> = Vec::new();
    let flush = |pending: &[u8], pieces: &mut Vec<ShapePiece>| {
        let blocks = pending.chunks(BLOCK_BYTES);
        pieces.extend(blocks.map(|text| ShapePiece::Text(words_of(block_of(text)), text.len())));
    };
    for part in parts {
        match part {
            ShapePart::Text(text) => {
                row_bytes_max += text.len();
                pending.extend(text);
            }
            ShapePart::Run(run) => {
                row_bytes_max += run.bytes_max();
                let room = BLOCK_BYTES - run.bytes_max();
                let prefix = pending.split_off(pending.len() - pending.len().min(room));
                flush(&pending, &mut pieces);
                pending.clear();
                let writer = RunWriter::new(&run, &prefix);
                pieces.push(ShapePiece::Run {
                    run: first_run + writers.len(),
                    long: writer.is_long(),
                    bytes: writer.fixed_bytes(),
                });
                writers.push(writer);
            }
        }
    }
    flush(&pending, &mut pieces);
    let runs = first_run..first_run + writers.len();
    let shape = StringShape {
        pieces,
        runs,
        row_bytes_max,
    };
    (shape, writers)
}

impl ShapeDecoder {
    pub(in crate::text) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let image = &payload.image;
        let mut cursor = payload.cursor()?;
        let offset = cursor.position();
        if cursor.u8("version of shapes")? != VERSION {
            return Err(cursor.corrupt("unknown version of shapes"));
        }
        let raw = section::read(&mut cursor, SHAPES_BYTES_MAX, "shapes")?;
        let described = parts::read(&raw).map_err(|error| Corrupt { offset, ..error })?;
        let rest_codec = read_rest_codec(&mut cursor)?;
        let code_count = described.len() + usize::from(rest_codec.is_some());
        let starts = read_starts(&mut cursor, image, row_count, code_count)?;
        let totals: Vec<usize> = starts[starts.len() - code_count..]
            .iter()
            .map(|rows| *rows as usize)
            .collect();
        let planned = plan_all(described);
        let mut sequences = SequenceRanges::open(
            &mut cursor,
            image,
            &planned,
            usize::from(code_count > 1) + usize::from(rest_codec.is_some()),
        )?;
        let codes = match code_count {
            0 | 1 => None,
            _ => Some(Sequence::open(image.clone(), sequences.next()?, row_count)?),
        };
        let (mut shapes, mut runs) = (Vec::new(), Vec::new());
        for ((shape, writers), &rows) in planned.into_iter().zip(&totals) {
            for writer in writers {
                let numbers = RunNumbers::open(image, sequences.next()?, rows)?;
                let counts = if writer.is_counted() {
                    Some(RunNumbers::open(image, sequences.next()?, rows)?)
                } else {
                    None
                };
                runs.push(RunColumn {
                    writer,
                    numbers,
                    counts,
                });
            }
            shapes.push(shape);
        }
        let rest = match rest_codec {
            Some(codec) => {
                let rows = totals.last().copied().unwrap_or(0);
                let decoder = BytesDecoder::open(codec, image.clone(), sequences.next()?, rows)?;
                Some(StringRangeReader::new(decoder))
            }
            None => None,
        };
        cursor.finish("runs")?;
        let scratch = ShapeScratch::new(runs.len());
        Ok(Self {
            row_count,
            offset,
            shapes,
            runs,
            rest,
            codes,
            starts,
            scratch,
        })
    }

    fn code_count(&self) -> usize {
        self.shapes.len() + usize::from(self.rest.is_some())
    }

    /// How many rows before vector `vector` have code `code`, and how many in it.
    fn rows_of(&self, vector: usize, code: usize) -> (usize, usize) {
        let at = vector * self.code_count() + code;
        let start = self.starts.get(at).copied().unwrap_or(0);
        let end = self.starts.get(at + self.code_count()).copied();
        (start as usize, (end.unwrap_or(start) - start) as usize)
    }

    /// Decodes the code of each row of the vector, and checks that they are as many as announced.
    fn decode_codes(&mut self, vector: usize) -> Result<(), Corrupt> {
        let Some(codes) = &self.codes else {
            self.scratch.codes.fill(0);
            return Ok(());
        };
        let rows = codes.decode_vector(vector, &mut self.scratch.codes)?;
        let mut left: Vec<usize> = (0..self.code_count())
            .map(|code| self.rows_of(vector, code).1)
            .collect();
        for code in &self.scratch.codes[..rows] {
            match left.get_mut(*code as u16 as usize) {
                Some(left) if *left > 0 => *left -= 1,
                _ => {
                    return Err(Corrupt::new(
                        format!("row with code {code} of {} shapes", self.shapes.len()),
                        self.offset,
                    ));
                }
            }
        }
        Ok(())
    }

    /// Makes the blocks of a run for `count` rows of its shape from `start` on.
    fn decode_run(&mut self, run: usize, start: usize, count: usize) -> Result<(), Corrupt> {
        let scratch = &mut self.scratch;
        let column = &mut self.runs[run];
        let numbers = &mut scratch.numbers[..count];
        let counts = &mut scratch.counts[..count];
        column.numbers.read(start, numbers)?;
        if let Some(stored) = &mut column.counts {
            stored.read(start, counts)?;
        }
        let place = run * VECTOR_VALUES..run * VECTOR_VALUES + count;
        let blocks = RunBlocks {
            low: &mut scratch.low[place.clone()],
            high: &mut scratch.high[place.clone()],
            lengths: &mut scratch.lengths[place],
        };
        if column.writer.write(numbers, counts, blocks) {
            Ok(())
        } else {
            Err(self.bad_run())
        }
    }

    fn bad_run(&self) -> Corrupt {
        Corrupt::new("number is none that its run can have", self.offset)
    }

    pub(in crate::text) fn decode_vector(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        if rows == 0 {
            return Ok(0);
        }
        self.decode_codes(vector)?;
        let mut bytes_max = BLOCK_BYTES;
        for code in 0..self.shapes.len() {
            let (start, count) = self.rows_of(vector, code);
            for run in self.shapes[code].runs.clone() {
                self.decode_run(run, start, count)?;
            }
            bytes_max += count * self.shapes[code].row_bytes_max;
        }
        let (rest_start, rest_count) = self.rows_of(vector, self.shapes.len());
        if let (Some(rest), 1..) = (&mut self.rest, rest_count) {
            rest.load(rest_start, rest_count)?;
            bytes_max += rest.wanted().data.len();
        }
        let base = out.data.len();
        if base as u64 + bytes_max as u64 > u64::from(u32::MAX) {
            return Err(Corrupt::new("decoded strings pass 4 GiB", self.offset));
        }
        out.data.resize(base + bytes_max, 0);
        out.offsets.reserve(rows);
        let end = match self.codes {
            None if self.rest.is_none() => self.copy_equal(rows, base, out),
            _ => self.copy_mixed(rows, base, out),
        };
        out.data.truncate(end);
        Ok(rows)
    }

    /// Copies rows that all have the first shape, and returns where they end.
    fn copy_equal(&self, rows: usize, base: usize, out: &mut BytesVector) -> usize {
        let mut end = base;
        for index in 0..rows {
            end = self.copy_row(0, index, end, &mut out.data);
            out.offsets.push(end as u32);
        }
        end
    }

    /// Copies rows of any shape or none, and returns where they end.
    fn copy_mixed(&self, rows: usize, base: usize, out: &mut BytesVector) -> usize {
        let mut next = vec![0usize; self.shapes.len() + 1];
        let mut end = base;
        for code in &self.scratch.codes[..rows] {
            let code = *code as usize;
            let index = next[code];
            next[code] += 1;
            match &self.rest {
                Some(rest) if code == self.shapes.len() => {
                    let value = rest.wanted().as_slice().get(index);
                    out.data[end..end + value.len()].copy_from_slice(value);
                    end += value.len();
                }
                _ => end = self.copy_row(code, index, end, &mut out.data),
            }
            out.offsets.push(end as u32);
        }
        end
    }

    /// Copies row `index` of shape `code` to `data[end..]` in whole blocks, of which the next one overwrites
    /// what was too much. Returns where the row ends.
    #[inline]
    fn copy_row(&self, code: usize, index: usize, end: usize, data: &mut [u8]) -> usize {
        let mut end = end;
        for piece in &self.shapes[code].pieces {
            let target = &mut data[end..end + BLOCK_BYTES];
            match *piece {
                ShapePiece::Text([low, high], length) => {
                    target[..8].copy_from_slice(&low.to_le_bytes());
                    target[8..].copy_from_slice(&high.to_le_bytes());
                    end += length;
                }
                ShapePiece::Run { run, long, bytes } => {
                    let at = run * VECTOR_VALUES + index;
                    target[..8].copy_from_slice(&self.scratch.low[at].to_le_bytes());
                    if long {
                        target[8..].copy_from_slice(&self.scratch.high[at].to_le_bytes());
                    }
                    end += bytes.unwrap_or_else(|| self.scratch.lengths[at].into());
                }
            }
        }
        end
    }

    pub(in crate::text) fn value(&mut self, row: usize, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        let (code, index) = self.place(row)?;
        if let (Some(rest), true) = (&mut self.rest, code == self.shapes.len()) {
            return rest.value(index, out);
        }
        for piece in &self.shapes[code].pieces {
            let (words, length) = match *piece {
                ShapePiece::Text(words, length) => (words, length),
                ShapePiece::Run { run, .. } => self.block(run, index)?,
            };
            let block = words.map(u64::to_le_bytes);
            out.extend_from_slice(&block.as_flattened()[..length]);
        }
        Ok(())
    }

    /// The code of a row, and how many rows before it have the same.
    fn place(&mut self, row: usize) -> Result<(usize, usize), Corrupt> {
        if self.codes.is_none() {
            return Ok((0, row));
        }
        let (vector, within) = (row / VECTOR_VALUES, row % VECTOR_VALUES);
        self.decode_codes(vector)?;
        let code = self.scratch.codes[within];
        let before = self.scratch.codes[..within].iter();
        let same = before.filter(|one| **one == code).count();
        let code = code as usize;
        Ok((code, self.rows_of(vector, code).0 + same))
    }

    /// One block of a run and its length, without its neighbours.
    fn block(&self, run: usize, index: usize) -> Result<([u64; 2], usize), Corrupt> {
        let column = &self.runs[run];
        let number = column.numbers.get(index)?;
        let count = match &column.counts {
            Some(counts) => counts.get(index)?,
            None => 0,
        };
        let (mut low, mut high, mut lengths) = ([0], [0], [0]);
        let blocks = RunBlocks {
            low: &mut low,
            high: &mut high,
            lengths: &mut lengths,
        };
        if !column.writer.write(&[number], &[count], blocks) {
            return Err(self.bad_run());
        }
        let length = column.writer.fixed_bytes();
        Ok(([low[0], high[0]], length.unwrap_or(lengths[0].into())))
    }
}

impl ShapeScratch {
    fn new(runs: usize) -> Self {
        assert!(runs <= ALL_RUNS_MAX, "more runs than were read");
        Self {
            codes: Box::new([0; VECTOR_VALUES]),
            numbers: Box::new([0; VECTOR_VALUES]),
            counts: Box::new([0; VECTOR_VALUES]),
            low: vec![0; runs * VECTOR_VALUES],
            high: vec![0; runs * VECTOR_VALUES],
            lengths: vec![0; runs * VECTOR_VALUES],
        }
    }
}

fn read_rest_codec(cursor: &mut ImageCursor<'_>) -> Result<Option<CodecId>, Corrupt> {
    let number = cursor.u8("codec of values without a shape")?;
    if number == NO_REST {
        return Ok(None);
    }
    match CodecId::from_u8(number) {
        // A shape within a shape could nest without end, and so could one among strings kept aside.
        Some(codec) if !matches!(codec, CodecId::Shape | CodecId::Pdict) => Ok(Some(codec)),
        _ => Err(cursor.corrupt("codec that holds no values without a shape")),
    }
}

fn plan_all(described: Vec<Vec<ShapePart>>) -> Vec<(StringShape, Vec<RunWriter>)> {
    let mut planned: Vec<(StringShape, Vec<RunWriter>)> = Vec::with_capacity(described.len());
    for parts in described {
        let first_run = planned.last().map_or(0, |(shape, _)| shape.runs.end);
        planned.push(plan(parts, first_run));
    }
    planned
}

/// Where each sequence is within the image, in order, and at last the values without a shape.
struct SequenceRanges(std::vec::IntoIter<std::ops::Range<usize>>);

impl SequenceRanges {
    fn open(
        cursor: &mut ImageCursor<'_>,
        image: &Arc<[u8]>,
        planned: &[(StringShape, Vec<RunWriter>)],
        others: usize,
    ) -> Result<Self, Corrupt> {
        let writers = planned.iter().flat_map(|(_, writers)| writers);
        let of_runs: usize = writers.map(|one| 1 + usize::from(one.is_counted())).sum();
        let count = of_runs + others;
        let sizes = PackedNumbers::open(cursor, count)?.to_vec(image);
        let ranges: Vec<_> = sizes
            .into_iter()
            .map(|size| cursor.take(size as usize, "sequence of a run"))
            .collect::<Result<_, _>>()?;
        Ok(Self(ranges.into_iter()))
    }

    fn next(&mut self) -> Result<std::ops::Range<usize>, Corrupt> {
        self.0
            .next()
            .ok_or_else(|| Corrupt::new("run without a sequence", 0))
    }
}
