//! Sequences, alone or as IDENTITY of a column.

use datafusion::sql::sqlparser::ast::{Expr, ObjectName, ObjectNamePart, SequenceOptions};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::names::{folded, last_part};
use quire_sql::sequence_statement::{SequenceChange, SequenceStatement};
use quire_sql::types;
use quire_tables::{SequenceDefinition, SequenceOwner, Snapshot, SqlType};

use super::super::insert::table_name;
use super::change::CatalogChange;
use crate::outcome::Outcome;
use crate::session::Session;

/// What is said of a sequence; what is not said follows from the direction.
pub(super) struct SequenceDraft {
    sql_type: SqlType,
    increment: i64,
    min: Option<i64>,
    max: Option<i64>,
    start: Option<i64>,
    cache: u64,
    cycles: bool,
}

impl SequenceDraft {
    pub(super) fn new(sql_type: SqlType) -> Self {
        Self {
            sql_type,
            increment: 1,
            min: None,
            max: None,
            start: None,
            cache: 1,
            cycles: false,
        }
    }

    /// A draft that goes on from a sequence.
    fn of(sequence: &SequenceDefinition) -> Self {
        Self {
            sql_type: sequence.sql_type,
            increment: sequence.increment,
            min: Some(sequence.min),
            max: Some(sequence.max),
            start: Some(sequence.start),
            cache: sequence.cache,
            cycles: sequence.cycles,
        }
    }

    /// What stands in `GENERATED … AS IDENTITY (…)`.
    pub(super) fn apply_options(&mut self, options: &[SequenceOptions]) -> Result<(), Error> {
        for option in options {
            let change = match option {
                SequenceOptions::IncrementBy(value, _) => SequenceChange::Increment(number(value)?),
                SequenceOptions::MinValue(value) => {
                    SequenceChange::Min(value.as_ref().map(number).transpose()?)
                }
                SequenceOptions::MaxValue(value) => {
                    SequenceChange::Max(value.as_ref().map(number).transpose()?)
                }
                SequenceOptions::StartWith(value, _) => SequenceChange::Start(number(value)?),
                SequenceOptions::Cache(value) => SequenceChange::Cache(number(value)?),
                // The parser says whether there is a NO.
                SequenceOptions::Cycle(has_no) => SequenceChange::Cycle(!has_no),
            };
            self.apply(&change)?;
        }
        Ok(())
    }

    fn apply(&mut self, change: &SequenceChange) -> Result<(), Error> {
        match *change {
            SequenceChange::Type(ref spelled) => self.set_type(types::from_spelling(spelled)?)?,
            SequenceChange::Increment(value) => self.increment = value,
            SequenceChange::Min(value) => self.min = value,
            SequenceChange::Max(value) => self.max = value,
            SequenceChange::Start(value) => self.start = Some(value),
            SequenceChange::Cache(value) => self.cache = value,
            SequenceChange::Cycle(value) => self.cycles = value,
            SequenceChange::Restart(_) | SequenceChange::Owner(_) => {}
        }
        Ok(())
    }

    /// Bounds that were those of the type become those of the new type.
    fn set_type(&mut self, sql_type: Option<SqlType>) -> Result<(), Error> {
        let bounds = sql_type.and_then(SequenceDefinition::type_bounds);
        let (Some(sql_type), Some(_)) = (sql_type, bounds) else {
            let text = "sequence type must be smallint, integer, or bigint";
            return Err(Error::new("22023", text));
        };
        let (least, greatest) = SequenceDefinition::type_bounds(self.sql_type).unwrap_or((0, 0));
        self.min = self.min.filter(|min| *min != least);
        self.max = self.max.filter(|max| *max != greatest);
        self.sql_type = sql_type;
        Ok(())
    }

    pub(super) fn build(&self, name: String) -> Result<SequenceDefinition, Error> {
        let (least, greatest) = SequenceDefinition::type_bounds(self.sql_type).unwrap_or((0, 0));
        let is_ascending = self.increment > 0;
        let min = self.min.unwrap_or(if is_ascending { 1 } else { least });
        let max = self.max.unwrap_or(if is_ascending { greatest } else { -1 });
        let sequence = SequenceDefinition {
            id: 0,
            name,
            sql_type: self.sql_type,
            start: self.start.unwrap_or(if is_ascending { min } else { max }),
            increment: self.increment,
            min,
            max,
            cache: self.cache,
            cycles: self.cycles,
            owner: None,
        };
        sequence.validate()?;
        Ok(sequence)
    }
}

fn number<T: std::str::FromStr>(expr: &Expr) -> Result<T, Error> {
    let text = expr.to_string().replace(' ', "");
    let parsed = text.parse();
    parsed.map_err(|_| Error::new("22023", format!("invalid value {text} of a sequence")))
}

/// Runs `CREATE SEQUENCE` or `ALTER SEQUENCE`.
pub(in crate::sql) async fn run(
    session: &Session,
    statement: &SequenceStatement,
    token: &CancelToken,
) -> Result<Outcome, Error> {
    let mut change = CatalogChange::begin(session, token).await?;
    if statement.is_new {
        create(&mut change, statement)?
    } else {
        alter(&mut change, statement)?
    }
    change.finish(if statement.is_new {
        "CREATE SEQUENCE"
    } else {
        "ALTER SEQUENCE"
    })
}

fn create(change: &mut CatalogChange<'_>, statement: &SequenceStatement) -> Result<(), Error> {
    let name = table_name(&statement.name)?;
    if statement.is_conditional && change.snapshot().has_name(&name) {
        return Ok(());
    }
    change.lock_definitions()?;
    let snapshot = change.snapshot();
    if statement.is_conditional && snapshot.has_name(&name) {
        return Ok(());
    }
    let mut draft = SequenceDraft::new(SqlType::BigInt);
    for one in &statement.changes {
        draft.apply(one)?;
    }
    let mut sequence = draft.build(name)?;
    sequence.owner = owner(&snapshot, statement)?.unwrap_or(None);
    let name = sequence.name.clone();
    change.define(|tables| tables.create_sequence(sequence))?;
    restart(change, statement, &name)
}

fn alter(change: &mut CatalogChange<'_>, statement: &SequenceStatement) -> Result<(), Error> {
    let name = table_name(&statement.name)?;
    change.lock_definitions()?;
    let snapshot = change.snapshot();
    let Some(old) = snapshot.sequence(&name) else {
        if statement.is_conditional {
            return Ok(());
        }
        return Err(unknown_sequence(&name));
    };
    let mut draft = SequenceDraft::of(&old);
    for one in &statement.changes {
        draft.apply(one)?;
    }
    let new_name = match &statement.new_name {
        Some(name) => last_part(name).unwrap_or_default(),
        None => name.clone(),
    };
    let mut sequence = draft.build(new_name)?;
    sequence.owner = owner(&snapshot, statement)?.unwrap_or(old.owner);
    let restarts = |change: &SequenceChange| matches!(change, SequenceChange::Restart(_));
    if !statement.changes.iter().any(restarts) {
        check_restart(snapshot.last_value(&old)?, &sequence)?;
    }
    let new_name = sequence.name.clone();
    change.define(|tables| tables.alter_sequence(&name, sequence))?;
    restart(change, statement, &new_name)
}

/// Makes what the last `RESTART` says the next value, if there is one. As with `setval`, that is not undone by `ROLLBACK`.
fn restart(
    change: &mut CatalogChange<'_>,
    statement: &SequenceStatement,
    name: &str,
) -> Result<(), Error> {
    let mut restarts = statement.changes.iter().filter_map(|change| match change {
        SequenceChange::Restart(value) => Some(*value),
        _ => None,
    });
    let snapshot = change.snapshot();
    let (Some(wanted), Some(sequence)) = (restarts.next_back(), snapshot.sequence(name)) else {
        return Ok(());
    };
    let value = wanted.unwrap_or(sequence.start);
    check_restart(value, &sequence)?;
    Ok(snapshot.set_value(&sequence, value, false)?)
}

/// Refuses bounds that leave out the value from which the sequence goes on.
fn check_restart(value: i64, sequence: &SequenceDefinition) -> Result<(), Error> {
    let (min, max) = (sequence.min, sequence.max);
    if value < min || value > max {
        let (than, bound) = if value < min {
            ("less than MINVALUE", min)
        } else {
            ("greater than MAXVALUE", max)
        };
        let text = format!("RESTART value ({value}) cannot be {than} ({bound})");
        return Err(Error::new("22023", text));
    }
    Ok(())
}

pub(super) fn unknown_sequence(name: &str) -> Error {
    Error::new("42P01", format!("sequence \"{name}\" does not exist"))
}

/// What the last `OWNED BY` says, if there is one.
fn owner(
    snapshot: &Snapshot,
    statement: &SequenceStatement,
) -> Result<Option<Option<SequenceOwner>>, Error> {
    let mut owners = statement.changes.iter().filter_map(|change| match change {
        SequenceChange::Owner(owner) => Some(owner),
        _ => None,
    });
    match owners.next_back() {
        None => Ok(None),
        Some(None) => Ok(Some(None)),
        Some(Some(column)) => Ok(Some(Some(owner_of(snapshot, column)?))),
    }
}

/// `table.column`
fn owner_of(snapshot: &Snapshot, spelled: &ObjectName) -> Result<SequenceOwner, Error> {
    let invalid = || {
        Error::new("42601", "invalid OWNED BY option")
            .with_hint("Specify OWNED BY table.column or OWNED BY NONE.")
    };
    let (Some(ObjectNamePart::Identifier(column)), table @ [_, ..]) = (
        spelled.0.last(),
        &spelled.0[..spelled.0.len().saturating_sub(1)],
    ) else {
        return Err(invalid());
    };
    let table = table_name(&ObjectName(table.to_vec()))?;
    let Some((definition, id)) = snapshot.definition(&table).zip(snapshot.id_of(&table)) else {
        return Err(Error::unknown_table(&table));
    };
    let name = folded(column);
    let Some(place) = definition.column_index(&name) else {
        let text = format!("column \"{name}\" of relation \"{table}\" does not exist");
        return Err(Error::new("42703", text));
    };
    Ok(SequenceOwner {
        table: id,
        column: place,
    })
}
