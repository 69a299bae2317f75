//! What does each byte on disk mean?
#![forbid(unsafe_code)]

pub mod catalog;
pub mod column_sample;
pub mod data_set;
pub mod distinct_sketch;
pub mod document;
pub mod key;
pub mod log;
pub mod page_dictionary;
mod page_numbers;
pub mod redo;
pub mod reference;
pub mod relation;
pub mod row_group;
pub mod row_page;
pub mod row_position;
pub mod segment;
pub mod staging_mark;
pub mod table_root;
pub mod tuple;
pub mod volume;
mod wire;
pub mod zone;
