//! Prepared statements.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire::arrow::datatypes::DataType;
use quire::{Prepared, Value};

use super::commands::SessionCommand;
use super::rows::ResultColumns;
use super::words::{TransactionCommand, first_word};
use crate::failure::ServerFailure;
use crate::types::{Parameter, WireFormat};
use crate::wire::MessageBuffer;

/// The types of parameters, shared between a statement and its portals.
pub(super) type ParameterTypes = Arc<[Option<DataType>]>;

/// A statement that its name and its portals share; portals keep it when the name is given to another.
pub(super) type SharedStatement = Arc<Mutex<PreparedStatement>>;

/// The error for a name that no statement has.
pub(super) fn unknown_statement(name: &str) -> ServerFailure {
    let text = match name {
        "" => "unnamed prepared statement does not exist".to_owned(),
        name => format!("prepared statement \"{name}\" does not exist"),
    };
    ServerFailure::error("26000", text)
}

/// A prepared statement, and what clients have been told of it.
pub(super) struct PreparedStatement {
    pub(super) prepared: Prepared,
    pub(super) sql: String,
    pub(super) parameters: Vec<Parameter>,
    /// The types of the parameters, shared with portals.
    pub(super) types: ParameterTypes,
    pub(super) control: Option<TransactionCommand>,
    /// It is about the session; `prepared` is what it has within.
    pub(super) command: Option<SessionCommand>,
    pub(super) is_empty: bool,
    /// It may have changed a setting.
    pub(super) sets: bool,
    /// The columns of its rows once they are known; nothing within when it gives none.
    pub(super) columns: Option<Option<Arc<ResultColumns>>>,
    /// How they were described last.
    description: Option<(Vec<WireFormat>, Vec<u8>)>,
}

impl PreparedStatement {
    pub(super) fn new(
        prepared: Prepared,
        sql: &str,
        oids: &[u32],
        command: Option<SessionCommand>,
    ) -> Self {
        let told = prepared.parameter_types();
        let count = told.len().max(oids.len());
        let parameter = |index: usize| {
            let declared = oids.get(index).copied().unwrap_or(0);
            Parameter::new(declared, told.get(index).and_then(Option::as_ref))
        };
        let parameters: Vec<Parameter> = (0..count).map(parameter).collect();
        let word = first_word(sql);
        Self {
            types: parameters
                .iter()
                .map(|one| Some(one.data_type().clone()))
                .collect(),
            parameters,
            control: TransactionCommand::of(sql),
            command,
            is_empty: word.is_empty() && sql.trim().trim_matches(';').trim().is_empty(),
            sets: matches!(word.as_str(), "set" | "reset" | "discard"),
            sql: sql.to_owned(),
            prepared,
            columns: None,
            description: None,
        }
    }

    /// Values for its parameters, and their types.
    pub(super) fn decoded<'b>(
        &self,
        formats: &[WireFormat],
        given: impl Iterator<Item = Option<&'b [u8]>>,
    ) -> Result<(Vec<Value>, ParameterTypes), ServerFailure> {
        let mut types = Arc::clone(&self.types);
        let mut values = Vec::with_capacity(self.parameters.len());
        for (index, (parameter, bytes)) in self.parameters.iter().zip(given).enumerate() {
            let decoded = parameter.decode(WireFormat::at(formats, index), bytes);
            let (value, data_type) = decoded.map_err(|error| {
                let text = format!("{error} (parameter ${})", index + 1);
                ServerFailure::error(error.sqlstate(), text)
            })?;
            values.push(value);
            if data_type.is_some()
                && let Some(place) = Arc::make_mut(&mut types).get_mut(index)
            {
                *place = data_type;
            }
        }
        Ok((values, types))
    }

    /// Whether it is a query of tables that changes nothing.
    pub(super) fn is_plain_query(&self) -> bool {
        self.command.is_none() && !self.is_empty && self.prepared.is_query()
    }

    pub(super) fn locked(shared: &SharedStatement) -> MutexGuard<'_, Self> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds out the columns of its rows, without running it.
    pub(super) fn find_columns(&mut self) -> Result<Option<Arc<ResultColumns>>, quire::Error> {
        if let Some(known) = &self.columns {
            return Ok(known.clone());
        }
        let schema = match self.control {
            Some(_) => None,
            None => self.prepared.describe(&self.types)?,
        };
        let columns = schema.map(|schema| Arc::new(ResultColumns::new(schema)));
        self.columns = Some(columns.clone());
        Ok(columns)
    }

    /// Writes what its rows look like, from memory when it was asked for before.
    pub(super) fn describe(
        &mut self,
        columns: &ResultColumns,
        formats: &[WireFormat],
        output: &mut MessageBuffer,
    ) {
        if let Some((known, bytes)) = &self.description
            && known == formats
        {
            output.bytes.extend(bytes);
            return;
        }
        let start = output.bytes.len();
        columns.describe(formats, output);
        let bytes = output.bytes.get(start..).unwrap_or_default().to_vec();
        self.description = Some((formats.to_vec(), bytes));
    }

    /// What is known of its rows is no longer so.
    pub(super) fn forget_columns(&mut self) {
        self.columns = None;
        self.description = None;
    }
}
