//! Codecs for the lists of an inverted file, against which PFOR-DELTA is measured (Zukowski §6.4).
//!
//! A list of ascending document numbers is coded by the gaps between neighbours. These codecs take the gaps;
//! gaps of at least 1 are best handed over less one. They are for the laboratory: no segment or page is
//! stored with them, so they have no numbers.
//!
//! ```
//! use quire_lab::postings::codecs::{Carryover12, PostingsCodec};
//!
//! let gaps = [0, 3, 1, 0, 7, 120, 2, 0, 0, 1];
//! let mut payload = Vec::new();
//! Carryover12.encode(&gaps, &mut payload)?;
//! assert_eq!(payload.len(), 12);
//!
//! let mut again = [0; 10];
//! Carryover12.decode(&payload, &mut again)?;
//! assert_eq!(again, gaps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod carryover;
mod huffman;

pub use carryover::Carryover12;
pub use huffman::SemiStaticHuffman;

use quire_codec::Corrupt;
use std::fmt::Debug;

/// The most gaps of one list.
pub const GAPS_MAX: usize = 1 << 28;

/// Codes a list of gaps and undoes it.
pub trait PostingsCodec: Debug {
    /// As the laboratory prints it.
    fn name(&self) -> &'static str;

    /// Appends the list to `payload`.
    fn encode(&self, gaps: &[u32], payload: &mut Vec<u8>) -> Result<(), GapsError>;

    /// Fills `gaps`, as many as were encoded. Bytes that are not exactly such a list are [`Corrupt`] at an
    /// offset within `payload`. What it allocates is bounded by the number of gaps.
    fn decode(&self, payload: &[u8], gaps: &mut [u32]) -> Result<(), Corrupt>;
}

/// Why a list cannot be coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GapsError {
    #[error("gap {gap} at index {index} is above {largest}; renumber the documents")]
    TooLarge {
        gap: u32,
        index: usize,
        largest: u32,
    },
    #[error("{count} gaps are more than the {GAPS_MAX} of one list; cut the list")]
    TooMany { count: usize },
}
