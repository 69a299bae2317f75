//! Shapes: values that share fixed text and differ in runs of digits or letters.
//!
//! For keys, telephone numbers, UUIDs, addresses of machines, dates and numbers written as text. A value is
//! cut into fixed text and runs, either at its digits or at its words (`cut`). Values that are cut alike have
//! one shape, and each run of a shape is a column of integers, coded as integer columns are
//! ([`crate::int::sequence`]): ascending keys take almost nothing. Every run comes back exactly as it was,
//! with its leading zeros and its case; what has no frequent shape is stored aside by another codec of
//! strings.
//!
//! # Layout
//!
//! `v` = number of vectors, `n` = number of codes: one per shape, and a last one for values without a shape
//! if there are any.
//!
//! | bytes | field |
//! |---|---|
//! | 1 | version, 1 |
//! | section | the shapes ([`super::section`]), most frequent first |
//! | 1 | codec of the values without a shape; 255 if there are none |
//! | packed | if `n` > 1: how many rows of each vector have each code, v · n numbers ([`super::packed`]) |
//! | packed | bytes of each sequence that follows, and at last of the payload of values without a shape, if any |
//! | … | if `n` > 1: the code of each row, a sequence of 16-bit integers |
//! | … | the runs of all shapes, each one or two sequences of 64-bit integers, of the rows of that shape |
//! | … | the payload of the values without a shape |
//!
//! The section of shapes: their number (one byte), and for each its number of parts (one byte) and the parts:
//!
//! | first byte | part | further bytes |
//! |---|---|---|
//! | 0 | fixed text | its length (one byte, not 0), the text |
//! | 1 | decimal number of fixed width | number of digits, 1 to 16 |
//! | 2 | decimal number without leading zeros | most digits, 1 to 16 |
//! | 3 | decimal number of 1 digit or more; a second sequence has their number | most digits, 1 to 16 |
//! | 4 | symbols of an alphabet, at a fixed number of bits each, the first in the highest bits | number of symbols, 1 to 16; size of the alphabet, 2 to 64; the alphabet, ascending |

mod blocks;
mod cut;
mod decode;
mod encode;
mod numbers;
mod parts;

pub(super) use decode::ShapeDecoder;
pub(super) use encode::{encode, is_likely, parts};

const VERSION: u8 = 1;
/// Stands for no codec.
const NO_REST: u8 = 255;
/// Longest run; longer ones are cut.
const RUN_BYTES_MAX: usize = 16;
/// Longest value that has a shape, and longest fixed text of a shape: with as many runs as a shape may have, a
/// row never passes 2 KiB and a payload never 256 MiB.
const VALUE_BYTES_MAX: usize = 1024;
/// Runs of a value that has a shape; each becomes at most two runs of the shape.
const VALUE_RUNS_MAX: usize = 32;
/// Runs of one shape.
const RUNS_MAX: usize = 2 * VALUE_RUNS_MAX;
/// Shapes of a payload.
const SHAPES_MAX: usize = 64;
/// Runs of all shapes together.
const ALL_RUNS_MAX: usize = 512;
