//! The text codecs keep their laws, write the documented bytes, and survive wrong ones.
#![allow(clippy::unwrap_used)]

#[path = "../laws/backends.rs"]
mod backends;
mod chooser;
mod columns;
mod corrupt;
mod documents;
mod fsst_table;
mod golden;
mod huffman_table;
mod laws;
mod naive;
mod selection;
mod shared_dictionary;
mod string_codes;
