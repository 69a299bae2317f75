//! How are results written, read again, and compared?
//!
//! [`text`] writes a result for a terminal, [`comparison`] several of them, a line for each; [`to_json`] and [`from_json`] keep a result for later;
//! [`page`] draws several results side by side as one page of HTML.

mod compared;
mod figures;
mod json;
mod json_reader;
mod page;
mod text;
mod text_table;

pub use compared::{CompareError, comparison};
pub use json::{RESULT_FORMAT_VERSION, to_json};
pub use json_reader::{ResultReadError, from_json};
pub use page::page;
pub use text::text;
