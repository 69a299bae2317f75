//! Definitions as SQL: what makes them again, and what a person wants to see of a table.

use std::fmt::Write;

use quire_sql::names::quoted;
use quire_tables::{
    ColumnDefinition, ForeignKeyDefinition, GeneratedKind, IndexDefinition, KeyDefinition,
    ReferentialAction, SequenceDefinition, Snapshot, SqlType, TableDefinition, TableOptions,
    TableStorage, ViewDefinition,
};

/// The statements that make a table without rows, a view or a sequence like the one of that name.
pub(crate) fn create_statement(snapshot: &Snapshot, name: &str) -> Option<String> {
    if let Some(definition) = snapshot.definition(name) {
        return Some(create_table(snapshot, definition));
    }
    if let Some(view) = snapshot.view(name) {
        return Some(create_view(view));
    }
    snapshot
        .sequence(name)
        .map(|sequence| create_sequence(&sequence))
}

pub(crate) fn create_view(view: &ViewDefinition) -> String {
    let columns: Vec<_> = view.columns.iter().map(|name| quoted(name)).collect();
    let (name, columns) = (quoted(&view.name), columns.join(", "));
    format!("CREATE VIEW {name} ({columns}) AS {};", view.query)
}

pub(crate) fn create_sequence(sequence: &SequenceDefinition) -> String {
    let options = sequence_options(sequence, SqlType::BigInt);
    let mut text = format!("CREATE SEQUENCE {}", quoted(&sequence.name));
    if sequence.sql_type != SqlType::BigInt {
        let _ = write!(text, " AS {}", sequence.sql_type);
    }
    text + &options + ";"
}

/// What the text of a table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefinitionPurpose {
    /// To be read, and to make the table again.
    Show,
    /// To make the table again before it is filled: foreign keys come later.
    Dump,
    /// The same for other systems, without what only we know.
    Portable,
}

fn create_table(snapshot: &Snapshot, definition: &TableDefinition) -> String {
    let mut text = table_text(snapshot, definition, DefinitionPurpose::Show);
    for index in index_texts(definition) {
        text.push('\n');
        text.push_str(&index);
    }
    text
}

pub(crate) fn table_text(
    snapshot: &Snapshot,
    definition: &TableDefinition,
    purpose: DefinitionPurpose,
) -> String {
    let columns = definition.visible_columns();
    let mut lines: Vec<String> = columns
        .map(|(_, column)| column_text(snapshot, column, purpose))
        .collect();
    lines.extend(constraint_texts(definition));
    if purpose == DefinitionPurpose::Show {
        let keys = foreign_key_texts(snapshot, definition);
        lines.extend(keys);
    }
    let lines: Vec<_> = lines.iter().map(|line| format!("    {line}")).collect();
    let name = quoted(&definition.name);
    let mut text = format!("CREATE TABLE {name} (\n{}\n)", lines.join(",\n"));
    match (definition.storage, purpose) {
        (_, DefinitionPurpose::Portable) => {}
        (TableStorage::Column, _) if definition.options.block_bytes.is_some() => {
            let options = block_options(&definition.options);
            let _ = write!(text, " USING pax WITH ({})", options.join(", "));
        }
        (TableStorage::Column, DefinitionPurpose::Show) => {}
        (TableStorage::Column, DefinitionPurpose::Dump) => text.push_str(" USING column"),
        (TableStorage::Row, _) => {
            text.push_str(" USING row");
            let options = spelled_options(&definition.options);
            if !options.is_empty() {
                let _ = write!(text, " WITH ({})", options.join(", "));
            }
        }
    }
    text + ";"
}

/// The statements that make the indexes that belong to no constraint.
pub(crate) fn index_texts(definition: &TableDefinition) -> Vec<String> {
    let indexes = definition.indexes.iter();
    let indexes = indexes.filter(|index| !index.is_constraint);
    let text = |index: &IndexDefinition| {
        let unique = if index.is_unique { "UNIQUE " } else { "" };
        let (name, on) = (quoted(&index.key.name), quoted(&definition.name));
        let columns = key_columns(definition, &index.key);
        format!("CREATE {unique}INDEX {name} ON {on} ({columns});")
    };
    indexes.map(text).collect()
}

fn column_text(
    snapshot: &Snapshot,
    column: &ColumnDefinition,
    purpose: DefinitionPurpose,
) -> String {
    let kind = column.sequence.map(|sequence| sequence.kind);
    let mut text = quoted(&column.name);
    match (kind, column.sql_type) {
        (Some(GeneratedKind::Serial), SqlType::SmallInt) => text.push_str(" SMALLSERIAL"),
        (Some(GeneratedKind::Serial), SqlType::BigInt) => text.push_str(" BIGSERIAL"),
        (Some(GeneratedKind::Serial), _) => text.push_str(" SERIAL"),
        (_, sql_type) => {
            let _ = write!(text, " {sql_type}");
        }
    }
    if let Some(codec) = column.compression
        && purpose != DefinitionPurpose::Portable
    {
        let _ = write!(text, " COMPRESSION {}", codec.name());
    }
    if !column.nullable && kind.is_none() {
        text.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        let _ = write!(text, " DEFAULT {default}");
    }
    text + &identity_text(snapshot, column)
}

fn identity_text(snapshot: &Snapshot, column: &ColumnDefinition) -> String {
    let Some(sequence) = column.sequence else {
        return String::new();
    };
    let kind = match sequence.kind {
        GeneratedKind::Serial => return String::new(),
        GeneratedKind::ByDefault => "BY DEFAULT",
        GeneratedKind::Always => "ALWAYS",
    };
    let mut sequences = snapshot.sequences();
    let definition = sequences.find(|definition| definition.id == sequence.id);
    let options = definition.map(|sequence| sequence_options(sequence, column.sql_type));
    match options.filter(|options| !options.is_empty()) {
        Some(options) => format!(" GENERATED {kind} AS IDENTITY ({})", options.trim_start()),
        None => format!(" GENERATED {kind} AS IDENTITY"),
    }
}

/// What differs from an ascending sequence, each with a blank before it, in the order in which every parser reads them.
pub(crate) fn sequence_options(sequence: &SequenceDefinition, default_type: SqlType) -> String {
    let sql_type = if sequence.sql_type.is_integer() {
        sequence.sql_type
    } else {
        default_type
    };
    let (least, greatest) = SequenceDefinition::type_bounds(sql_type).unwrap_or((1, i64::MAX));
    let is_ascending = sequence.increment > 0;
    let (min, max) = if is_ascending {
        (1, greatest)
    } else {
        (least, -1)
    };
    let start = if is_ascending {
        sequence.min
    } else {
        sequence.max
    };
    let mut text = String::new();
    let parts = [
        ("INCREMENT BY", sequence.increment, 1),
        ("MINVALUE", sequence.min, min),
        ("MAXVALUE", sequence.max, max),
        ("START WITH", sequence.start, start),
    ];
    for (word, value, default) in parts {
        if value != default {
            let _ = write!(text, " {word} {value}");
        }
    }
    if sequence.cache != 1 {
        let _ = write!(text, " CACHE {}", sequence.cache);
    }
    if sequence.cycles {
        text.push_str(" CYCLE");
    }
    text
}

/// Constraints as `CREATE TABLE` takes them, but for foreign keys.
fn constraint_texts(definition: &TableDefinition) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(key) = &definition.primary_key {
        let columns = key_columns(definition, key);
        texts.push(constraint(&key.name, format!("PRIMARY KEY ({columns})")));
    }
    let unique = definition
        .indexes
        .iter()
        .filter(|index| index.is_constraint);
    texts.extend(unique.map(|index| {
        let columns = key_columns(definition, &index.key);
        constraint(&index.key.name, format!("UNIQUE ({columns})"))
    }));
    let checks = definition.checks.iter();
    texts.extend(checks.map(|check| {
        let condition = format!("CHECK ({})", check.condition);
        constraint(&check.name, condition)
    }));
    texts
}

/// The same for foreign keys.
pub(crate) fn foreign_key_texts(snapshot: &Snapshot, definition: &TableDefinition) -> Vec<String> {
    let keys = definition.foreign_keys.iter();
    let keys = keys.map(|key| {
        let text = foreign_key_text(snapshot, definition, key);
        constraint(&key.name, text)
    });
    keys.collect()
}

fn constraint(name: &str, text: String) -> String {
    format!("CONSTRAINT {} {text}", quoted(name))
}

pub(crate) fn foreign_key_text(
    snapshot: &Snapshot,
    definition: &TableDefinition,
    key: &ForeignKeyDefinition,
) -> String {
    let columns = column_names(definition, &key.columns);
    let referenced = snapshot.definition(&key.referenced_table);
    let others = referenced.map(|other| column_names(other, &key.referenced_columns));
    let mut text = format!(
        "FOREIGN KEY ({columns}) REFERENCES {} ({})",
        quoted(&key.referenced_table),
        others.unwrap_or_default()
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != ReferentialAction::NoAction {
            let _ = write!(text, " ON {event} {}", action.name());
        }
    }
    text
}

fn column_names(definition: &TableDefinition, places: &[usize]) -> String {
    let columns = places
        .iter()
        .filter_map(|&place| definition.columns.get(place));
    let names: Vec<_> = columns.map(|column| quoted(&column.name)).collect();
    names.join(", ")
}

pub(crate) fn key_columns(definition: &TableDefinition, key: &KeyDefinition) -> String {
    let parts = key.columns.iter().filter_map(|part| {
        let name = quoted(&definition.columns.get(part.column)?.name);
        Some(if part.is_descending {
            name + " DESC"
        } else {
            name
        })
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// What a table has besides columns, one thing a line, below headings.
pub(crate) fn table_details(snapshot: &Snapshot, definition: &TableDefinition) -> Vec<String> {
    let mut lines = Vec::new();
    let mut section = |heading: &str, texts: Vec<String>| {
        if !texts.is_empty() {
            lines.push(format!("{heading}:"));
            lines.extend(texts.into_iter().map(|text| format!("    {text}")));
        }
    };
    section("Indexes", index_lines(definition));
    let checks = definition.checks.iter();
    let checks = checks.map(|check| format!("{} CHECK ({})", quoted(&check.name), check.condition));
    section("Check constraints", checks.collect());
    let keys = definition.foreign_keys.iter();
    let keys = keys.map(|key| {
        let text = foreign_key_text(snapshot, definition, key);
        format!("{} {text}", quoted(&key.name))
    });
    section("Foreign keys", keys.collect());
    let definitions = snapshot.definitions();
    let referring = definitions.iter().flat_map(|other| {
        let keys = other.foreign_keys.iter();
        let keys = keys.filter(|key| key.referenced_table == definition.name);
        keys.map(move |key| {
            let text = foreign_key_text(snapshot, other, key);
            format!(
                "TABLE {} CONSTRAINT {} {text}",
                quoted(&other.name),
                quoted(&key.name)
            )
        })
    });
    section("Referenced by", referring.collect());
    section(
        "Options",
        match definition.storage {
            TableStorage::Row => spelled_options(&definition.options),
            TableStorage::Column => block_options(&definition.options),
        },
    );
    lines
}

fn index_lines(definition: &TableDefinition) -> Vec<String> {
    let primary = definition.primary_key.iter().map(|key| {
        let columns = key_columns(definition, key);
        format!("{} PRIMARY KEY ({columns})", quoted(&key.name))
    });
    let kind = |index: &IndexDefinition| match (index.is_constraint, index.is_unique) {
        (true, _) => "UNIQUE CONSTRAINT ",
        (false, true) => "UNIQUE ",
        (false, false) => "",
    };
    let others = definition.indexes.iter().map(|index| {
        let columns = key_columns(definition, &index.key);
        format!("{} {}({columns})", quoted(&index.key.name), kind(index))
    });
    primary.chain(others).collect()
}

/// The options of a PAX table, as in `WITH (…)`; none of other tables.
fn block_options(options: &TableOptions) -> Vec<String> {
    let block_bytes = options.block_bytes.iter();
    let text = |bytes: &usize| format!("block_bytes = {bytes}");
    block_bytes.map(text).collect()
}

/// The options of a row table that differ from what they would be without `WITH`, as in `WITH (…)`.
fn spelled_options(options: &TableOptions) -> Vec<String> {
    let default = TableOptions::default();
    let mut texts = Vec::new();
    if options.compresses_tuples != default.compresses_tuples {
        let value = if options.compresses_tuples {
            "auto"
        } else {
            "none"
        };
        texts.push(format!("compression = {value}"));
    }
    if options.compresses_keys {
        texts.push("key_compression = auto".to_owned());
    }
    if options.page_bytes != default.page_bytes {
        texts.push(format!("page_size = {}", options.page_bytes));
    }
    if options.page_codec != default.page_codec {
        texts.push(format!("page_codec = {}", options.page_codec));
    }
    if let Some(level) = options.page_codec_level {
        texts.push(format!("page_codec_level = {level}"));
    }
    if options.storage_format != default.storage_format {
        texts.push(format!("storage_format = {}", options.storage_format));
    }
    if let Some(target) = options.page_target {
        texts.push(format!("page_target_bytes = {}", target.slot_bytes));
        if !target.has_adaptive_padding {
            texts.push("page_padding = none".to_owned());
        }
        if !target.splits_in_advance {
            texts.push("page_split = on_failure".to_owned());
        }
    }
    if let Some(device) = options.device_codec {
        texts.push(format!("device_codec = {device}"));
    }
    texts
}
