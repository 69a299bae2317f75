//! Integers in few bits: what the payloads of all fixed-width types are made of.
//!
//! Sources: Zukowski, "Balancing vectorized query execution with bandwidth-optimized storage", §6.2, for the
//! patched schemes; the FastLanes order of 1,024-value vectors for the packing. The crate's README says where
//! we deviate and why.

pub mod bitpack;
pub(crate) mod bitstream;
mod blocks;
pub(crate) mod element;
pub(crate) mod exceptions;
pub(crate) mod frame;
pub(crate) mod line;
pub(crate) mod pfor;
pub(crate) mod references;
pub(crate) mod scaled;
pub mod sequence;
mod signed;
mod unsigned;
pub(crate) mod wide;

pub use element::Element;
