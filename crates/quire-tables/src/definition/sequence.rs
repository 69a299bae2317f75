//! What a sequence is declared to be.

use quire_codec::Corrupt;
use quire_format::catalog::{SequenceOwner, SequenceRecord};

use super::name_rules::check_name;
use crate::error::DefinitionError;
use crate::types::SqlType;

/// A sequence of integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceDefinition {
    /// Id; the transaction that creates the sequence gives it.
    pub id: u64,
    /// Name as SQL resolved it.
    pub name: String,
    /// SMALLINT, INTEGER or BIGINT.
    pub sql_type: SqlType,
    /// The first value.
    pub start: i64,
    /// Distance of two values, not 0.
    pub increment: i64,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
    /// Number of values that a session may take at once, at least 1.
    pub cache: u64,
    /// Whether it begins again after its last value.
    pub cycles: bool,
    /// The column with which it is dropped.
    pub owner: Option<SequenceOwner>,
}

impl SequenceDefinition {
    /// 1, 2, 3 … to the greatest value of the type; `None` for a type that is no integer.
    pub fn ascending(name: impl Into<String>, sql_type: SqlType) -> Option<Self> {
        let (_, max) = Self::type_bounds(sql_type)?;
        Some(SequenceDefinition {
            id: 0,
            name: name.into(),
            sql_type,
            start: 1,
            increment: 1,
            min: 1,
            max,
            cache: 1,
            cycles: false,
            owner: None,
        })
    }

    /// Least and greatest value of an integer type.
    pub fn type_bounds(sql_type: SqlType) -> Option<(i64, i64)> {
        match sql_type {
            SqlType::SmallInt => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
            SqlType::Integer => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
            SqlType::BigInt => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }

    /// Checks name, type and bounds.
    pub fn validate(&self) -> Result<(), DefinitionError> {
        check_name("sequence", &self.name)?;
        let what = match Self::type_bounds(self.sql_type) {
            None => "its type must be SMALLINT, INTEGER or BIGINT".to_owned(),
            Some((least, _)) if self.min < least => {
                format!(
                    "MINVALUE {} is out of range for {}",
                    self.min, self.sql_type
                )
            }
            Some((_, greatest)) if self.max > greatest => {
                format!(
                    "MAXVALUE {} is out of range for {}",
                    self.max, self.sql_type
                )
            }
            _ if self.increment == 0 => "INCREMENT must not be zero".to_owned(),
            _ if self.min >= self.max => {
                format!(
                    "MINVALUE {} must be less than MAXVALUE {}",
                    self.min, self.max
                )
            }
            _ if self.start < self.min => {
                format!(
                    "START value {} cannot be less than MINVALUE {}",
                    self.start, self.min
                )
            }
            _ if self.start > self.max => {
                format!(
                    "START value {} cannot be greater than MAXVALUE {}",
                    self.start, self.max
                )
            }
            _ if self.cache == 0 => "CACHE 0 must be greater than zero".to_owned(),
            _ => return Ok(()),
        };
        Err(DefinitionError::Sequence {
            sequence: self.name.clone(),
            what,
        })
    }

    pub(crate) fn to_record(&self) -> SequenceRecord {
        SequenceRecord {
            id: self.id,
            name: self.name.clone(),
            value_type: self.sql_type.to_record(),
            start: self.start,
            increment: self.increment,
            min: self.min,
            max: self.max,
            cache: self.cache,
            cycles: self.cycles,
            owner: self.owner,
        }
    }

    pub(crate) fn from_record(record: &SequenceRecord) -> Result<Self, Corrupt> {
        let sequence = SequenceDefinition {
            id: record.id,
            name: record.name.clone(),
            sql_type: SqlType::from_record(record.value_type)?,
            start: record.start,
            increment: record.increment,
            min: record.min,
            max: record.max,
            cache: record.cache,
            cycles: record.cycles,
            owner: record.owner,
        };
        match sequence.validate() {
            Ok(()) => Ok(sequence),
            Err(error) => Err(Corrupt::new(error.to_string(), 0)),
        }
    }
}
