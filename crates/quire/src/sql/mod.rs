//! From the text of a statement to what it does.

mod ddl;
mod definition_text;
mod describe;
mod dispatch;
mod dml;
mod dump;
mod explain;
mod insert;
pub(crate) mod load;
mod maintenance;
mod merged_columns;
mod merged_in_subqueries;
pub(crate) mod query;
mod settings;
mod shared_queries;
mod signature;
mod tuple_engine;
mod views;
mod write;

pub(crate) use definition_text::{create_statement, foreign_key_text, key_columns, table_details};
pub(crate) use dispatch::run;
pub(crate) use dml::stored_value;
pub use dump::DumpPart;
pub(crate) use dump::dump;
pub(crate) use signature::{make_arrays, parameter_types, result_schema};
pub(crate) use tuple_engine::TupleCounts;
pub(crate) use views::relations_of;
