//! From the text of a statement to what it does.

mod copy_statement;
mod ddl;
mod describe;
mod dispatch;
mod dml;
mod insert;
mod load;
mod names;
mod output_columns;
pub(crate) mod parse;
mod query;
mod reject;
mod rewrite;
mod scopes;
mod settings;
mod split;
mod table_clauses;
mod types;
mod write;

pub(crate) use describe::create_statement;
pub(crate) use dispatch::run;
pub(crate) use names::last_part;
pub(crate) use split::split;
pub(crate) use types::SpelledTypes;
