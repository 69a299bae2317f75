//! Shape encoding: strings that share fixed text and differ in runs of digits or letters.
//!
//! It suits keys, telephone numbers, UUIDs, host addresses, dates, and numbers stored as text. The encoder splits a
//! value into fixed text and runs, either at its digits or at its words (`cut`). Values that split the same way
//! share a shape, and each run of a shape becomes a column of integers, encoded like any integer column
//! ([`crate::int::sequence`]): ascending keys take almost no space. Decoding restores every run exactly, with its
//! leading zeros and its case. Values without a frequent shape are stored separately, with another string codec.
//!
//! # Layout
//!
//! `v` = number of vectors, `n` = number of codes: one code per shape, and a last one for values without a shape
//! if there are any.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | section | the shapes ([`super::section`]), most frequent first |
//! | 1 | codec of the values without a shape; 255 if there are none |
//! | packed | if `n` > 1: for each vector, the number of rows with each code, v · n numbers ([`super::packed`]) |
//! | packed | length in bytes of each sequence that follows, then of the payload of values without a shape, if any |
//! | … | if `n` > 1: the code of each row, a sequence of 16-bit integers |
//! | … | the runs of all shapes, each one or two sequences of 64-bit integers, one integer per row of that shape |
//! | … | the payload of the values without a shape |
//!
//! The shape section has the number of shapes (one byte), then for each shape its number of parts (one byte) and the parts:
//!
//! | first byte | part | further bytes |
//! |---|---|---|
//! | 0 | fixed text | length (one byte, not 0), the text |
//! | 1 | decimal number of fixed width | number of digits, 1 to 16 |
//! | 2 | decimal number without leading zeros | maximum number of digits, 1 to 16 |
//! | 3 | decimal number of variable width; a second sequence has the number of digits | maximum number of digits, 1 to 16 |
//! | 4 | symbols, ⌈log2 size⌉ bits each, the first in the high bits | their number, 1 to 16; alphabet size, 2 to 64; alphabet, ascending |

mod blocks;
mod cut;
mod decode;
mod encode;
mod numbers;
mod parts;

pub(super) use decode::ShapeDecoder;
pub(super) use encode::{encode, is_likely, parts};

const VERSION: u8 = 1;
/// Stored instead of a codec when every value has a shape.
const NO_REST: u8 = 255;
/// Maximum bytes of a run; the encoder splits longer ones. 16 decimal digits fit into an `i64`, and a run into one 16-byte block of
/// the decoder.
const RUN_BYTES_MAX: usize = 16;
/// Maximum bytes of a value that has a shape, and of the fixed text of a shape. With [`RUNS_MAX`] it bounds what a damaged payload
/// can make the decoder allocate: a row has at most 1,024 + 64 · 16 bytes = 2 KiB, and the 131,072 rows of a payload 256 MiB.
const VALUE_BYTES_MAX: usize = 1024;
/// Maximum number of runs of a value that has a shape. Each becomes at most two runs of the shape, when its symbols exceed 64 bits.
const VALUE_RUNS_MAX: usize = 32;
/// Maximum number of runs of one shape.
const RUNS_MAX: usize = 2 * VALUE_RUNS_MAX;
/// Maximum number of shapes of a payload.
const SHAPES_MAX: usize = 64;
/// Maximum number of runs of all shapes together. The decoder has scratch space for one vector of each.
const ALL_RUNS_MAX: usize = 512;
