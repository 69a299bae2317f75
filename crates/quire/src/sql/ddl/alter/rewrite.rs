//! A table whose rows become other rows: they are read, written to a new table, and that takes its place.

use quire_error::Error;
use quire_error::progress::Phase;
use quire_sql::parse::parse_query;
use quire_tables::{GeneratedKind, Snapshot, TableDefinition, TableStorage, default_name};

use super::super::super::planned_query::PlannedQuery;
use super::super::super::{dml, query, write};
use super::Alteration;
use super::rows::quoted;

impl Alteration<'_, '_> {
    /// Gives the table another definition. A column at one of the places gets the value of an expression over the old rows, others
    /// their default. Places of row tables stay, so that whoever names them need not know.
    pub(super) async fn rewrite(
        &mut self,
        definition: TableDefinition,
        values: &[(usize, String)],
    ) -> Result<(), Error> {
        let temporary = temporary(&self.snapshot(), &definition);
        let name = temporary.name.clone();
        let expressions: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        let sql = format!(
            "SELECT {} FROM {}",
            expressions.join(", "),
            quoted(&self.table)
        );
        self.change.refuse_older_rows(&self.table)?;
        let targets: Vec<usize> = values.iter().map(|(place, _)| *place).collect();
        let planned = self.planned(&sql).await?;
        self.change
            .define(|tables| tables.create_table(temporary.clone()))?;
        let work = self.token.work();
        work.begin(Phase::Rewriting, Some(&self.table));
        match temporary.storage {
            TableStorage::Column => self.append(&temporary, planned, &targets).await?,
            TableStorage::Row => {
                let PlannedQuery { context, plan, .. } = planned;
                let writer = &mut self.change.writer;
                dml::insert_plan(writer, &name, &context, plan, &targets, self.token).await?;
            }
        }
        // Until now others may have read the table.
        let table = &self.table;
        self.change.lock_table(table)?;
        self.change
            .define(|tables| tables.replace_table(table, &name))?;
        let stored = self.definition()?;
        let mut definition = definition;
        for (column, stored) in definition.columns.iter_mut().zip(&stored.columns) {
            column.added.clone_from(&stored.added);
            column.stores_null = stored.stores_null;
            column.dictionary.clone_from(&stored.dictionary);
            column.string_codes.clone_from(&stored.string_codes);
            column.padded_bytes = stored.padded_bytes;
            column.key_code.clone_from(&stored.key_code);
        }
        for (index, stored) in definition.indexes.iter_mut().zip(&stored.indexes) {
            index.id = stored.id;
        }
        self.redefine(definition)
    }

    /// A query of ours, planned.
    pub(super) async fn planned(&self, sql: &str) -> Result<PlannedQuery, Error> {
        query::plan(self.session, self.snapshot(), parse_query(sql)?, self.token).await
    }

    async fn append(
        &mut self,
        table: &TableDefinition,
        planned: PlannedQuery,
        targets: &[usize],
    ) -> Result<(), Error> {
        let context = &planned.context;
        let places = 0..table.columns.len();
        let defaults = places.map(|place| dml::default_expression(context, table, place));
        let defaults = defaults.collect::<Result<Vec<_>, Error>>()?;
        let schema = table.arrow_schema();
        let rows = write::with_defaults(planned.plan, &schema, targets, &defaults)?;
        let stream = planned.context.start(&rows).await?;
        let transaction = self.change.writer.transaction()?;
        write::append_stream(transaction, &table.name, stream, self.token).await?;
        Ok(())
    }
}

/// The table that takes the rows: it checks what the definition checks, under names that are free, but no foreign keys.
fn temporary(snapshot: &Snapshot, definition: &TableDefinition) -> TableDefinition {
    let is_taken = |name: &str| snapshot.has_name(name);
    let mut temporary = definition.clone();
    temporary.name = default_name(&definition.name, &[], "rewritten", is_taken);
    let indexes = temporary.indexes.iter_mut().map(|index| &mut index.key);
    for key in temporary.primary_key.iter_mut().chain(indexes) {
        key.name = default_name(&temporary.name, &[&key.name], "key", is_taken);
    }
    temporary.foreign_keys.clear();
    for column in &mut temporary.columns {
        column.added = None;
        // Chosen anew, by the rows to come.
        column.dictionary = None;
        column.string_codes = None;
        column.key_code = None;
        // Its values come from the old rows.
        if let Some(sequence) = &mut column.sequence {
            sequence.kind = GeneratedKind::ByDefault;
        }
    }
    temporary
}
