#![doc = include_str!("README.md")]

mod alphabetic;
mod code;
mod decode;
mod encode;
mod intervals;
mod table;
mod train;

pub use code::OrderedCode;
pub use encode::PrefixKeyRange;

/// Most symbols of several bytes that a table can have.
pub const SYMBOLS_MAX: usize = 16_384;
