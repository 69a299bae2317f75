//! Writing the payload: the model, then each vector as four streams.

use super::entropy::{EncodeTables, StateEncoder};
use super::model::{END, ESCAPE, GENERAL, Model};
use super::tokens::{WordTable, token_at, word_bytes};
use super::train::{TrainedModel, train};
use super::{LANE_BYTES_MAX, LANE_ROWS, LANES, VERSION};
use crate::text::{contiguous, lengths, lengths_of, packed, section};
use crate::{BytesSlice, VECTOR_VALUES, vector_count};

/// Symbols of the model by the bytes that they stand for.
struct Vocabulary {
    words: WordTable,
    bytes: [u16; 256],
}

impl Vocabulary {
    fn new(model: &Model) -> Self {
        let mut vocabulary = Self {
            words: WordTable::new(13),
            bytes: [END; 256],
        };
        for (symbol, token) in model
            .tokens
            .iter()
            .enumerate()
            .skip(usize::from(ESCAPE) + 1)
        {
            match token.as_slice() {
                [byte] => vocabulary.bytes[usize::from(*byte)] = symbol as u16,
                // A word without a slot is spelled out, like one that is not in the model.
                _ => {
                    let word = u128::from_le_bytes(token.bytes);
                    vocabulary.words.get_or_insert(word, symbol as u16);
                }
            }
        }
        vocabulary
    }

    /// Appends the symbols of `value` and its end.
    fn append_symbols(&self, value: &[u8], symbols: &mut Vec<u16>) {
        let mut start = 0;
        while start < value.len() {
            let (word, length) = token_at(value, start, value.len());
            if length == 1 {
                symbols.push(self.bytes[usize::from(value[start])]);
            } else if let Some(symbol) = self.words.get(word) {
                symbols.push(symbol);
            } else {
                let bytes = &word_bytes(word).0[..length];
                symbols.extend(bytes.iter().map(|byte| self.bytes[usize::from(*byte)]));
            }
            start += length;
        }
        symbols.push(END);
    }
}

/// Where the symbols of the lanes come from.
enum LaneSymbols {
    /// From the training, in order of rows; how many were used.
    Trained { symbols: Vec<u16>, used: usize },
    /// From the text.
    Text {
        vocabulary: Box<Vocabulary>,
        symbols: Vec<u16>,
    },
}

impl LaneSymbols {
    /// The symbols of `lane`. Lanes must come in order.
    fn symbols(&mut self, lane: &BytesSlice) -> &[u16] {
        match self {
            Self::Trained { symbols, used } => {
                let start = *used;
                for _ in 0..lane.len() {
                    let rest = &symbols[*used..];
                    *used += rest.iter().take_while(|symbol| **symbol != END).count() + 1;
                }
                &symbols[start..*used]
            }
            Self::Text {
                vocabulary,
                symbols,
            } => {
                symbols.clear();
                lane.iter()
                    .for_each(|value| vocabulary.append_symbols(value, symbols));
                symbols
            }
        }
    }
}

struct VectorEncoder<'a> {
    model: &'a Model,
    tables: &'a EncodeTables,
    source: LaneSymbols,
    states: StateEncoder<'a>,
}

impl VectorEncoder<'_> {
    /// Appends the stream of one lane, and returns the number of its symbols.
    fn append_lane(&mut self, lane: &BytesSlice, out: &mut Vec<u8>) -> usize {
        if lane.is_empty() {
            return 0;
        }
        let symbols = self.source.symbols(lane);
        for (index, &symbol) in symbols.iter().enumerate().rev() {
            let before = index.checked_sub(1).map_or(END, |before| symbols[before]);
            let context = self.model.context_after[usize::from(before)];
            if self.tables.has(context, symbol) {
                self.states.encode(context, symbol);
            } else {
                // Last symbol first: the escape is read before what it announces.
                self.states.encode(GENERAL, symbol);
                self.states.encode(context, ESCAPE);
            }
        }
        self.states.finish(out);
        symbols.len()
    }
}

/// The streams of a payload, and what is said about them before them.
struct Streams {
    bytes: Vec<u8>,
    stored_raw: Vec<u8>,
    /// For each lane.
    stream_bytes: Vec<u32>,
    raw_bytes: Vec<u32>,
    symbol_count: usize,
}

impl Streams {
    fn new(vectors: usize) -> Self {
        let stored_raw = vec![0; vectors.div_ceil(8)];
        let (stream_bytes, raw_bytes) = (Vec::new(), Vec::new());
        Self {
            bytes: Vec::new(),
            stored_raw,
            stream_bytes,
            raw_bytes,
            symbol_count: 0,
        }
    }

    fn append_vector(
        &mut self,
        index: usize,
        vector: &BytesSlice,
        encoder: &mut VectorEncoder<'_>,
    ) {
        let lanes: [BytesSlice; LANES] =
            std::array::from_fn(|lane| vector.slice(lane * LANE_ROWS..(lane + 1) * LANE_ROWS));
        self.raw_bytes
            .extend(lanes.iter().map(|lane| lane.data_bytes() as u32));
        let start = self.bytes.len();
        let fits = lanes.iter().all(|lane| lane.data_bytes() <= LANE_BYTES_MAX);
        let mut sizes = [0; LANES];
        for (lane, size) in lanes.iter().zip(&mut sizes) {
            let before = self.bytes.len();
            self.symbol_count += if fits {
                encoder.append_lane(lane, &mut self.bytes)
            } else {
                encoder.source.symbols(lane).len()
            };
            *size = (self.bytes.len() - before) as u32;
        }
        if !fits || self.bytes.len() - start > vector.data_bytes() + vector.len() {
            self.bytes.truncate(start);
            lengths::write(&lengths_of(vector), &mut self.bytes);
            self.bytes.extend_from_slice(contiguous(vector));
            sizes = [0; LANES];
            sizes[0] = (self.bytes.len() - start) as u32;
            self.stored_raw[index / 8] |= 1 << (index % 8);
        }
        self.stream_bytes.extend_from_slice(&sizes);
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.stored_raw);
        packed::write(&self.stream_bytes, out);
        packed::write(&self.raw_bytes, out);
        out.extend_from_slice(&self.bytes);
    }
}

/// The version and the model, and the streams of all vectors.
fn encode_parts(values: &BytesSlice) -> (Vec<u8>, Streams) {
    let TrainedModel { model, symbols } = train(values);
    let tables = EncodeTables::new(&model);
    let source = match symbols {
        Some(symbols) => LaneSymbols::Trained { symbols, used: 0 },
        None => LaneSymbols::Text {
            vocabulary: Box::new(Vocabulary::new(&model)),
            symbols: Vec::new(),
        },
    };
    let states = StateEncoder::new(&tables);
    let mut encoder = VectorEncoder {
        model: &model,
        tables: &tables,
        source,
        states,
    };
    let vectors = vector_count(values.len());
    let mut streams = Streams::new(vectors);
    for index in 0..vectors {
        let vector = values.slice(index * VECTOR_VALUES..(index + 1) * VECTOR_VALUES);
        streams.append_vector(index, &vector, &mut encoder);
    }
    let mut head = vec![VERSION];
    section::write(&model.to_bytes(), &mut head);
    (head, streams)
}

pub(in crate::text) fn encode(values: &BytesSlice) -> Vec<u8> {
    let (mut payload, streams) = encode_parts(values);
    streams.write(&mut payload);
    payload
}

/// What a payload is made of.
pub(in crate::text) struct WordPayloadSizes {
    /// Bytes of the model.
    pub model_bytes: usize,
    /// Bytes of everything that grows with the values.
    pub stream_bytes: usize,
    /// Symbols of all values, which is what decoding takes time for.
    pub symbol_count: usize,
}

/// Sizes of the parts of the payload of `values`.
pub(in crate::text) fn parts(values: &BytesSlice) -> WordPayloadSizes {
    let (head, streams) = encode_parts(values);
    let mut rest = Vec::new();
    streams.write(&mut rest);
    let symbol_count = streams.symbol_count;
    WordPayloadSizes {
        model_bytes: head.len(),
        stream_bytes: rest.len(),
        symbol_count,
    }
}
