//! A table as `CREATE TABLE` spells it becomes a definition.

use datafusion::sql::sqlparser::ast::{
    ColumnDef, ColumnOption, DataType as Spelled, Expr, GeneratedAs, Ident, SequenceOptions,
    TableConstraint,
};
use quire_codec::CodecId;
use quire_error::{Error, Position};
use quire_sql::names::{folded, last_part};
use quire_sql::reject::not_supported;
use quire_sql::types;
use quire_tables::{
    ColumnDefinition, ColumnSequence, GeneratedKind, SequenceDefinition, Snapshot, SqlType,
    TableDefinition, default_name,
};

use super::sequences::SequenceDraft;

/// A definition in the making.
pub(super) struct DefinitionDraft<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) definition: TableDefinition,
    /// Sequences to be created first, each for one column.
    pub(super) sequences: Vec<(usize, GeneratedKind, SequenceDefinition)>,
    /// Conditions that are still to be planned.
    pub(super) conditions: Vec<Expr>,
    /// Defaults that are still to be planned, each of one column.
    pub(super) defaults: Vec<(usize, Expr)>,
    /// Constraints that stood at columns, to be added when all columns are known.
    column_constraints: Vec<(usize, Option<Ident>, ColumnOption)>,
}

impl<'s> DefinitionDraft<'s> {
    /// A draft that goes on from a definition: an empty one, or that of a table to be altered.
    pub(super) fn new(snapshot: &'s Snapshot, definition: TableDefinition) -> Self {
        Self {
            snapshot,
            definition,
            sequences: Vec::new(),
            conditions: Vec::new(),
            defaults: Vec::new(),
            column_constraints: Vec::new(),
        }
    }

    /// Whether a name for an index, a constraint or a sequence is in use.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        let own = &self.definition;
        self.snapshot.has_name(name)
            || own.name == name
            || own.index_names().any(|known| known == name)
            || own.constraint_names().any(|known| known == name)
            || self
                .sequences
                .iter()
                .any(|(_, _, known)| known.name == name)
    }

    /// A name for what has none.
    pub(super) fn name_for(&self, columns: &[usize], suffix: &str) -> String {
        let columns: Vec<&str> = columns
            .iter()
            .filter_map(|&index| self.definition.columns.get(index))
            .map(|column| column.name.as_str())
            .collect();
        let table = &self.definition.name;
        default_name(table, &columns, suffix, |name| self.is_taken(name))
    }

    /// Adds a column. Its constraints wait for [`DefinitionDraft::add_constraints`].
    pub(super) fn add_column(&mut self, spelled: &ColumnDef) -> Result<(), Error> {
        let name = folded(&spelled.name);
        if self.definition.column_index(&name).is_some() {
            return Err(duplicate_column(&name));
        }
        let (sql_type, is_serial) = type_of(&name, &spelled.data_type)?;
        let place = self.definition.columns.len();
        let column = ColumnDefinition::new(name, sql_type);
        self.definition.columns.push(column);
        if is_serial {
            self.generate(place, GeneratedKind::Serial, &[])?;
        }
        let mut nullability = None;
        for option in &spelled.options {
            match &option.option {
                ColumnOption::Null => set_nullability(&mut nullability, true, self.column(place))?,
                ColumnOption::NotNull => {
                    set_nullability(&mut nullability, false, self.column(place))?;
                }
                ColumnOption::Default(expr) => self.set_default(place, expr)?,
                ColumnOption::Generated { .. } => self.add_generated(place, &option.option)?,
                ColumnOption::PrimaryKey(_)
                | ColumnOption::Unique(_)
                | ColumnOption::Check(_)
                | ColumnOption::ForeignKey(_) => {
                    let constraint = (place, option.name.clone(), option.option.clone());
                    self.column_constraints.push(constraint);
                }
                other => {
                    let column = &self.definition.columns[place].name;
                    return Err(not_supported(format!("{other} (column \"{column}\")")));
                }
            }
        }
        match (nullability, self.definition.columns[place].sequence) {
            (Some(true), Some(_)) => Err(conflicting_nullability(self.column(place))),
            (Some(nullable), None) => {
                self.definition.columns[place].nullable = nullable;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn column(&self, place: usize) -> &str {
        &self.definition.columns[place].name
    }

    fn set_default(&mut self, place: usize, expr: &Expr) -> Result<(), Error> {
        let column = &mut self.definition.columns[place];
        if column.default.is_some() || column.sequence.is_some() {
            return Err(several_defaults(&column.name, &self.definition.name));
        }
        column.default = Some(expr.to_string());
        self.defaults.push((place, expr.clone()));
        Ok(())
    }

    fn add_generated(&mut self, place: usize, option: &ColumnOption) -> Result<(), Error> {
        let ColumnOption::Generated {
            generated_as,
            sequence_options,
            generation_expr,
            ..
        } = option
        else {
            return Ok(());
        };
        let kind = match generated_as {
            GeneratedAs::Always => GeneratedKind::Always,
            GeneratedAs::ByDefault => GeneratedKind::ByDefault,
            GeneratedAs::ExpStored => return Err(computed_column()),
        };
        if generation_expr.is_some() {
            return Err(computed_column());
        }
        let options = sequence_options.as_deref().unwrap_or_default();
        self.generate(place, kind, options)
    }

    /// Values of a column come from a sequence of its own.
    pub(super) fn generate(
        &mut self,
        place: usize,
        kind: GeneratedKind,
        options: &[SequenceOptions],
    ) -> Result<(), Error> {
        let name = self.name_for(&[place], "seq");
        let column = &self.definition.columns[place];
        if column.default.is_some() || column.sequence.is_some() {
            return Err(several_defaults(&column.name, &self.definition.name));
        }
        if !column.sql_type.is_integer() {
            let text = "identity column type must be smallint, integer, or bigint";
            return Err(Error::new("22023", text));
        }
        let mut sequence = SequenceDraft::new(column.sql_type);
        sequence.apply_options(options)?;
        let column = &mut self.definition.columns[place];
        column.nullable = false;
        // The id is known when the sequence has been created.
        column.sequence = Some(ColumnSequence { id: 0, kind });
        self.sequences.push((place, kind, sequence.build(name)?));
        Ok(())
    }

    /// Adds the constraints that stood at columns, then those of the table.
    pub(super) fn add_constraints(&mut self, spelled: &[TableConstraint]) -> Result<(), Error> {
        for (place, name, option) in std::mem::take(&mut self.column_constraints) {
            self.add_column_constraint(place, name, option)?;
        }
        for constraint in spelled {
            self.add_constraint(constraint)?;
        }
        Ok(())
    }

    /// Sets the codecs that `COMPRESSION` demands.
    pub(super) fn set_codecs(
        &mut self,
        compression: &[(usize, String, Option<Position>)],
    ) -> Result<(), Error> {
        for (index, codec, position) in compression {
            let known = CodecId::from_name(codec);
            let (Some(column), Some(codec)) = (self.definition.columns.get_mut(*index), known)
            else {
                let names: Vec<_> = CodecId::ALL.iter().map(|codec| codec.name()).collect();
                let text = format!("codec \"{codec}\" does not exist");
                return Err(Error::new("42704", text)
                    .with_hint(format!("Codecs are {}.", names.join(", ")))
                    .at(*position));
            };
            column.compression = Some(codec);
        }
        Ok(())
    }
}

/// The type of a column, and whether it is spelled as one of the serials.
pub(super) fn type_of(column: &str, spelled: &Spelled) -> Result<(SqlType, bool), Error> {
    if let Spelled::Custom(name, arguments) = spelled
        && arguments.is_empty()
    {
        let serial = match last_part(name).as_deref() {
            Some("smallserial" | "serial2") => Some(SqlType::SmallInt),
            Some("serial" | "serial4") => Some(SqlType::Integer),
            Some("bigserial" | "serial8") => Some(SqlType::BigInt),
            _ => None,
        };
        if let Some(sql_type) = serial {
            return Ok((sql_type, true));
        }
    }
    match types::from_spelling(spelled)? {
        Some(sql_type) => Ok((sql_type, false)),
        None => Err(not_supported(format!("type {spelled} (column \"{column}\")")).with_hint(
            "Types are BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, DECIMAL(p,s), \
             DATE, TIMESTAMP, TIMESTAMPTZ, TEXT, VARCHAR(n), CHAR(n) and BYTEA; SERIAL and BIGSERIAL.",
        )),
    }
}

fn set_nullability(known: &mut Option<bool>, nullable: bool, column: &str) -> Result<(), Error> {
    match known.replace(nullable) {
        Some(before) if before != nullable => Err(conflicting_nullability(column)),
        _ => Ok(()),
    }
}

fn conflicting_nullability(column: &str) -> Error {
    let text = format!("conflicting NULL/NOT NULL declarations for column \"{column}\"");
    Error::new("42601", text)
}

fn several_defaults(column: &str, table: &str) -> Error {
    let text =
        format!("multiple default values specified for column \"{column}\" of table \"{table}\"");
    Error::new("42601", text)
}

pub(super) fn duplicate_column(name: &str) -> Error {
    Error::new(
        "42701",
        format!("column \"{name}\" specified more than once"),
    )
}

fn computed_column() -> Error {
    not_supported("a column computed from others").with_hint("Use a view.")
}
