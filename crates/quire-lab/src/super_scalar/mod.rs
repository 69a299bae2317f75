//! PFOR, PFOR-DELTA and PDICT in the paper's own segment layout: what do the paper's algorithms do here?
//!
//! This is the baseline that measurements compare with, after M. Zukowski, *Balancing Vectorized Query
//! Execution with Bandwidth-Optimized Storage*, chapter 6. Columns on disk are held by [`quire_codec::fixed`], whose
//! layout is another. Everything here is safe Rust, compiled for the baseline of the target.
//!
//! [`encode`] makes a segment of at most 2²⁵ values; [`Segment`] decodes vectors of 1,024 or groups of 128 of
//! them, or one value alone; [`choose`] finds scheme, base, dictionary and width from a sample, as §6.2.10
//! does; [`result_bandwidth`] is equation 6.1.
//!
//! ```
//! use quire_lab::super_scalar::{Compression, Marking, Reference, Segment, SegmentSettings, encode};
//!
//! // Figure 6.3: the digits of π in 3 bits. 8 and 9 do not fit and become exceptions.
//! let digits = [3u8, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2];
//! let settings = SegmentSettings {
//!     reference: Reference::Pfor { base: 0 },
//!     width: 3,
//!     marking: Marking::Linked,
//!     compression: Compression::DoubleCursor,
//! };
//! let image = encode(&digits, &settings)?;
//! let mut segment = Segment::<u8>::open(&image, None)?;
//! assert_eq!(segment.exception_count(), 4);
//! assert_eq!(segment.value(11)?, 8);
//! let mut out = [0; 1024];
//! assert_eq!(segment.decode_vector(0, &mut out)?, 17);
//! assert_eq!(out[..17], digits);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analyze;
mod bit_pack;
mod compress;
mod decompress;
mod dictionary;
mod fine_grained;
mod formulas;
mod integers;
mod layout;
mod parts;
mod perfect_hash;
mod sample;
mod segment;
mod word;

pub(crate) use bit_pack::unpack;

pub use analyze::{Chosen, SchemeChoice, WidthStretch, choose, pfor_analyze_bits};
pub use compress::{encode, encoded_bytes};
pub use dictionary::{DictionaryEncoder, SuperScalarDictionary};
pub use formulas::{effective_exception_rate, expected_exception_rate, result_bandwidth};
pub use sample::SuperScalarSample;
pub use segment::Segment;
pub use word::Integer;

/// Values between two entry points (§6.2.6).
pub const GROUP_VALUES: usize = 128;

/// Values a segment can hold: an entry point counts exceptions in 25 bits.
pub const VALUES_MAX: usize = 1 << 25;

/// How values become small integers (§6.2.2). The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SuperScalarScheme {
    /// Patched frame of reference: distances from a base.
    Pfor = 1,
    /// PFOR on the differences between neighbours.
    PforDelta = 2,
    /// Patched dictionary: places in an array of values.
    Pdict = 3,
}

impl SuperScalarScheme {
    fn from_u8(number: u8) -> Option<Self> {
        [Self::Pfor, Self::PforDelta, Self::Pdict]
            .into_iter()
            .find(|one| *one as u8 == number)
    }
}

/// How the code section tells exceptions from coded values, and so how it is decoded (§6.2.4). The numbers are
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Marking {
    /// PATCHED: the codes of exceptions form linked lists. All codes are decoded, then the exceptions are
    /// patched. Gaps that a code cannot bridge make compulsory exceptions.
    Linked = 1,
    /// NAIVE: the largest code escapes to the exceptions. Decoding tests every code.
    Escaped = 2,
}

impl Marking {
    fn from_u8(number: u8) -> Option<Self> {
        [Self::Linked, Self::Escaped]
            .into_iter()
            .find(|one| *one as u8 == number)
    }
}

/// How exceptions are found while compressing (§6.2.5). All three write the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// NAIVE: if-then-else.
    Naive,
    /// PRED: a position is always written to the list of exceptions, which grows by a Boolean.
    Predicated,
    /// DC: predicated with two cursors, one from the start of a vector and one from its middle.
    DoubleCursor,
}

/// A scheme and what its codes refer to.
#[derive(Clone, Copy, Debug)]
pub enum Reference<'a, T: Integer> {
    /// Distances from `base`. Values below it are exceptions.
    Pfor { base: T },
    /// Distances of differences from `base`, in wrapping arithmetic: the difference −1 of unsigned values is
    /// their largest value.
    PforDelta { base: T },
    /// Places in a dictionary. With `reuse` the segment does not hold it, and is opened with it.
    Pdict {
        encoder: &'a DictionaryEncoder<T>,
        reuse: bool,
    },
}

impl<T: Integer> Reference<'_, T> {
    /// The scheme.
    pub fn scheme(&self) -> SuperScalarScheme {
        match self {
            Self::Pfor { .. } => SuperScalarScheme::Pfor,
            Self::PforDelta { .. } => SuperScalarScheme::PforDelta,
            Self::Pdict { .. } => SuperScalarScheme::Pdict,
        }
    }
}

/// How a segment is written.
#[derive(Clone, Copy, Debug)]
pub struct SegmentSettings<'a, T: Integer> {
    pub reference: Reference<'a, T>,
    /// Bits of a code, from 0 to those of the type.
    pub width: usize,
    pub marking: Marking,
    pub compression: Compression,
}

/// Why a segment or its dictionary could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    #[error(
        "{value_count} values are more than the {limit} of a segment; write them as several segments"
    )]
    TooManyValues { value_count: usize, limit: usize },
    #[error("codes of {width} bits are wider than the values; use a width of at most {limit} bits")]
    TooWide { width: usize, limit: usize },
    #[error("a dictionary has 1 to {limit} values, not {count}; leave rare values out of it")]
    DictionaryLength { count: usize, limit: usize },
}
