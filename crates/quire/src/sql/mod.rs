//! From the text of a statement to what it does.

mod copy_statement;
mod ddl;
mod definition_text;
mod describe;
mod dispatch;
mod dml;
mod insert;
pub(crate) mod load;
mod maintenance;
pub(crate) mod names;
mod output_columns;
pub(crate) mod parse;
pub(crate) mod query;
mod reject;
pub(crate) mod rewrite;
mod scopes;
mod sequence_statement;
mod settings;
mod signature;
mod split;
mod table_clauses;
mod tuple_engine;
mod types;
mod views;
pub(crate) mod walk;
mod write;

pub(crate) use definition_text::{create_statement, foreign_key_text, key_columns, table_details};
pub(crate) use dispatch::run;
pub(crate) use dml::stored_value;
pub(crate) use names::last_part;
pub(crate) use output_columns::exists_to_count;
pub(crate) use signature::{parameter_types, result_schema};
pub(crate) use split::{parameters, split};
pub(crate) use tuple_engine::TupleCounts;
pub(crate) use types::SpelledTypes;
pub(crate) use views::relations_of;
