//! A database as the statements that make it again.

use std::collections::HashSet;
use std::fmt::Write;

use quire_error::Error;
use quire_sql::names::quoted;
use quire_tables::{
    ColumnDefinition, GeneratedKind, SequenceDefinition, Snapshot, TableDefinition, ViewDefinition,
    default_name,
};

use super::ddl::sequences_of_default;
use crate::definition_text::{
    DefinitionPurpose, create_sequence, create_view, foreign_key_texts, index_texts,
    sequence_options, table_text,
};

/// A piece of a database as SQL. The pieces are to be written in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DumpPart {
    /// A statement with its semicolon.
    Statement(String),
    /// The rows of a table: what the first statement gives is what the second one takes. Neither has a semicolon.
    Rows {
        /// `COPY … TO STDOUT`
        copy_out: String,
        /// `COPY … FROM stdin`
        copy_in: String,
    },
}

/// See [`crate::Connection::dump`].
pub(crate) fn dump(
    snapshot: &Snapshot,
    is_portable: bool,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<DumpPart>, Error> {
    let tables = snapshot.definitions();
    let tables = tables.iter().map(|table| &**table);
    let tables: Vec<&TableDefinition> = tables.filter(|table| is_wanted(&table.name)).collect();
    let mut dump = Dump {
        snapshot,
        purpose: if is_portable {
            DefinitionPurpose::Portable
        } else {
            DefinitionPurpose::Dump
        },
        parts: Vec::new(),
        names: HashSet::new(),
    };
    let sequences = dump.sequences_of(&tables, &is_wanted);
    dump.make_sequences(&sequences);
    for table in &tables {
        dump.make_table(table);
    }
    dump.give_owners(&sequences);
    dump.rows(&tables);
    dump.make_keys(&tables);
    dump.make_views(&is_wanted);
    dump.place_sequences(&sequences)?;
    Ok(dump.parts)
}

/// The statements so far.
struct Dump<'s> {
    snapshot: &'s Snapshot,
    purpose: DefinitionPurpose,
    parts: Vec<DumpPart>,
    /// The names that there are when they have run.
    names: HashSet<String>,
}

impl<'s> Dump<'s> {
    fn push(&mut self, statement: String) {
        self.parts.push(DumpPart::Statement(statement));
    }

    /// The sequences that are wanted, that belong to the tables, or that defaults of the tables name.
    fn sequences_of(
        &self,
        tables: &[&TableDefinition],
        is_wanted: &impl Fn(&str) -> bool,
    ) -> Vec<&'s SequenceDefinition> {
        let defaults = tables.iter().flat_map(|table| table.visible_columns());
        let named: HashSet<String> = defaults
            .filter_map(|(_, column)| column.default.as_deref())
            .flat_map(sequences_of_default)
            .collect();
        let ids: HashSet<u64> = tables
            .iter()
            .filter_map(|table| self.snapshot.id_of(&table.name))
            .collect();
        let is_meant = |sequence: &&SequenceDefinition| {
            let is_owned = |owner: quire_tables::SequenceOwner| ids.contains(&owner.table);
            match self.generates_for(sequence.id) {
                // It comes with its column.
                Some(_) => sequence.owner.is_some_and(is_owned),
                None => {
                    is_wanted(&sequence.name)
                        || sequence.owner.is_some_and(is_owned)
                        || named.contains(&sequence.name)
                }
            }
        };
        let sequences = self.snapshot.sequences().map(|sequence| &**sequence);
        sequences.filter(is_meant).collect()
    }

    /// How the column is generated that takes its values from the sequence with that id, if one is.
    fn generates_for(&self, id: u64) -> Option<GeneratedKind> {
        let definitions = self.snapshot.definitions();
        let mut columns = definitions.iter().flat_map(|table| table.visible_columns());
        columns.find_map(|(_, column)| {
            let sequence = column.sequence.filter(|sequence| sequence.id == id)?;
            Some(sequence.kind)
        })
    }

    fn make_sequences(&mut self, sequences: &[&SequenceDefinition]) {
        for sequence in sequences {
            if self.generates_for(sequence.id).is_none() {
                self.names.insert(sequence.name.clone());
                self.push(create_sequence(sequence));
            }
        }
    }

    /// The table, and its sequences with the names and options that they have.
    fn make_table(&mut self, table: &TableDefinition) {
        self.push(table_text(self.snapshot, table, self.purpose));
        self.names.insert(table.name.clone());
        // The statement above gives all its sequences their names before the first of them gets another.
        let mut given: Vec<String> = Vec::new();
        let mut kept: Vec<String> = Vec::new();
        for (_, column) in table.visible_columns() {
            let Some((used, sequence)) = column.sequence.and_then(|used| {
                let sequence = self.snapshot.sequence_by_id(used.id)?;
                Some((used, sequence))
            }) else {
                continue;
            };
            let is_taken =
                |name: &str| self.names.contains(name) || given.iter().any(|known| known == name);
            let name = default_name(&table.name, &[&column.name], "seq", is_taken);
            if sequence.name != name {
                let (from, to) = (quoted(&name), quoted(&sequence.name));
                self.push(format!("ALTER SEQUENCE {from} RENAME TO {to};"));
            }
            if used.kind == GeneratedKind::Serial {
                self.set_options(&sequence, column);
            }
            given.push(name);
            kept.push(sequence.name.clone());
        }
        self.names.extend(kept);
        self.names.extend(table.index_names().map(str::to_owned));
    }

    /// `SERIAL` has no place for options.
    fn set_options(&mut self, sequence: &SequenceDefinition, column: &ColumnDefinition) {
        let mut options = String::new();
        if sequence.sql_type != column.sql_type {
            let _ = write!(options, " AS {}", sequence.sql_type);
        }
        options += &sequence_options(sequence, column.sql_type);
        if !options.is_empty() {
            let name = quoted(&sequence.name);
            self.push(format!("ALTER SEQUENCE {name}{options};"));
        }
    }

    /// `OWNED BY` of sequences that columns own and are not generated from.
    fn give_owners(&mut self, sequences: &[&SequenceDefinition]) {
        for sequence in sequences {
            let Some(owner) = sequence.owner else {
                continue;
            };
            if self.generates_for(sequence.id).is_some() {
                continue;
            }
            let definitions = self.snapshot.definitions();
            let mut tables = definitions.iter();
            let table = tables.find(|table| self.snapshot.id_of(&table.name) == Some(owner.table));
            if let Some(table) = table
                && self.names.contains(&table.name)
                && let Some(column) = table.columns.get(owner.column)
            {
                let (table, column) = (quoted(&table.name), quoted(&column.name));
                let name = quoted(&sequence.name);
                self.push(format!("ALTER SEQUENCE {name} OWNED BY {table}.{column};"));
            }
        }
    }

    fn rows(&mut self, tables: &[&TableDefinition]) {
        for table in tables {
            let columns = table.visible_columns();
            let columns: Vec<_> = columns.map(|(_, column)| quoted(&column.name)).collect();
            let (name, columns) = (quoted(&table.name), columns.join(", "));
            self.parts.push(DumpPart::Rows {
                copy_out: format!("COPY {name} ({columns}) TO STDOUT"),
                copy_in: format!("COPY {name} ({columns}) FROM stdin"),
            });
        }
    }

    /// All indexes before the first foreign key, which may refer to one.
    fn make_keys(&mut self, tables: &[&TableDefinition]) {
        for table in tables {
            index_texts(table)
                .into_iter()
                .for_each(|text| self.push(text));
        }
        for table in tables {
            for key in foreign_key_texts(self.snapshot, table) {
                self.push(format!("ALTER TABLE {} ADD {key};", quoted(&table.name)));
            }
        }
    }

    /// A view after those that it reads.
    fn make_views(&mut self, is_wanted: &impl Fn(&str) -> bool) {
        let views = self.snapshot.views().map(|view| &**view);
        let mut waiting: Vec<&ViewDefinition> =
            views.filter(|view| is_wanted(&view.name)).collect();
        while !waiting.is_empty() {
            let ids: HashSet<u64> = waiting.iter().map(|view| view.id).collect();
            let is_ready = |view: &ViewDefinition| {
                let mut others = view.depends_on.iter();
                !others.any(|id| *id != view.id && ids.contains(id))
            };
            let (ready, rest): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|view| is_ready(view));
            // There are no circles; if there were one, this would end all the same.
            let (ready, rest) = if ready.is_empty() {
                (rest, ready)
            } else {
                (ready, rest)
            };
            ready.iter().for_each(|view| self.push(create_view(view)));
            waiting = rest;
        }
    }

    /// Where sequences are, unless they have given nothing.
    fn place_sequences(&mut self, sequences: &[&SequenceDefinition]) -> Result<(), Error> {
        for sequence in sequences {
            match self.snapshot.peek_value(sequence)? {
                Some(next) if next == sequence.start => {}
                Some(next) => {
                    let name = quoted(&sequence.name);
                    self.push(format!("ALTER SEQUENCE {name} RESTART WITH {next};"));
                }
                None => {
                    let last = if sequence.increment > 0 {
                        sequence.max
                    } else {
                        sequence.min
                    };
                    let name = quoted(&sequence.name).replace('\'', "''");
                    self.push(format!("SELECT setval('{name}', {last});"));
                }
            }
        }
        Ok(())
    }
}
