//! Words: text as words, each entropy-coded in the context of the word before it.
//!
//! For text from a limited vocabulary (remarks, product names, addresses, messages of a program). The
//! words of the payload, cut as `tokens` says, are its symbols; words that are too rare are spelled out in
//! bytes, which are symbols too. What follows a word is coded with the frequencies of its context, one of
//! 15 (`contexts`), with tabled asymmetric numeral systems (`entropy`). A symbol that its context hardly
//! ever sees is coded as an escape and then in a 16th, general context. A special symbol ends each value,
//! so lengths are not stored.
//!
//! A vector is cut into four lanes of 256 rows, each a stream of its own: four streams are decoded at once,
//! which hides the latency of the look-ups, and one value is found after 128 others on average.
//!
//! # Layout
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | section | the model (`model`, [`super::section`]) |
//! | ⌈v / 8⌉ | one bit per vector, lowest first: set if the vector is stored as it is |
//! | packed | stream bytes of each lane, 4 · v numbers ([`super::packed`]) |
//! | packed | raw bytes of each lane, 4 · v numbers |
//! | rest | the streams of all lanes |
//!
//! A vector is stored as it is when it does not shrink or a lane would pass 1 MiB: its first lane then
//! holds the lengths ([`super::lengths`]) and the bytes of its strings, the other lanes nothing.

mod contexts;
mod decode;
mod encode;
mod entropy;
mod model;
mod tokens;
mod train;

pub(super) use decode::WordsDecoder;
pub(super) use encode::{encode, parts};

use crate::VECTOR_VALUES;
use crate::kernel::word_lanes::{LANE_ROWS, LANES, SYMBOLS, TEXT_BYTES};

const VERSION: u8 = 1;
// The last lanes of a partial vector have fewer rows or none.
const _: () = assert!(LANES * LANE_ROWS == VECTOR_VALUES);
// The kernel cuts the text of a symbol and the number of one to what it has space for, and takes symbol 0 as the end of a value.
const _: () = assert!(tokens::TOKEN_BYTES_MAX <= TEXT_BYTES);
const _: () = assert!(model::SYMBOLS_MAX <= SYMBOLS && model::END == 0);
/// Raw bytes of a lane, so that few bytes of stream never ask for more memory than this.
const LANE_BYTES_MAX: usize = 1 << 20;
