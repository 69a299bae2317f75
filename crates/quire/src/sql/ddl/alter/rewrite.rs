//! A column table whose rows become other rows: they are read, appended to a new table, and that takes its place.

use datafusion::sql::sqlparser::ast::Statement;
use quire_engine::{TableDefinition, default_name};

use super::super::super::parse::{Command, parse};
use super::super::super::{query, write};
use super::Alteration;
use super::rows::quoted;
use crate::error::Error;
use crate::progress::Phase;

impl Alteration<'_, '_> {
    /// Gives the table another definition, and in each column of its rows the value of an expression over the old ones.
    pub(super) async fn rewrite(
        &mut self,
        mut definition: TableDefinition,
        values: &[String],
    ) -> Result<(), Error> {
        let snapshot = self.snapshot();
        let name = default_name(&self.table, &[], "rewritten", |name| {
            snapshot.has_name(name)
        });
        let sql = format!("SELECT {} FROM {}", values.join(", "), quoted(&self.table));
        let internal = || Error::new("XX000", "internal error: not a query");
        let Command::Statement(statement, _) = parse(&sql)? else {
            return Err(internal());
        };
        let Statement::Query(query) = *statement else {
            return Err(internal());
        };
        let planned = query::plan(self.session, snapshot, query, self.token).await?;
        let schema = definition.arrow_schema();
        let targets: Vec<usize> = (0..definition.columns.len()).collect();
        let rows = write::as_table_rows(planned.plan, &schema, &targets)?;
        definition.name.clone_from(&name);
        self.change
            .define(|tables| tables.create_table(definition))?;
        let stream = planned.context.start(&rows).await?;
        let reporter = write::Reporter::new(self.session.observer(), Phase::Loading);
        let transaction = self.change.writer.transaction()?;
        write::append_stream(transaction, &name, stream, reporter, self.token).await?;
        let table = &self.table;
        self.change
            .define(|tables| tables.replace_table(table, &name))
    }
}
