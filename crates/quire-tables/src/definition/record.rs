//! Definitions of tables as the catalog page stores them.

use std::sync::Arc;

use quire_codec::text::StringCodes;
use quire_codec::{CodecScalar, Corrupt, PhysicalType};
use quire_format::catalog::{
    AddedRecord, ColumnRecord, DictionaryRecord, StringCodesRecord, TableRecord,
};
use quire_format::key::KeyCode;

use super::{AddedColumn, ColumnDefinition, ColumnDictionary, TableDefinition, TableOptions};
use crate::types::SqlType;

impl TableDefinition {
    /// All that the definition says; what else the catalog knows of the table is still to be added.
    pub(crate) fn to_record(&self) -> TableRecord {
        TableRecord {
            name: self.name.clone(),
            storage: self.storage,
            columns: self
                .columns
                .iter()
                .map(ColumnDefinition::to_record)
                .collect(),
            primary_key: self.primary_key.clone(),
            indexes: self.indexes.clone(),
            checks: self.checks.clone(),
            foreign_keys: self.foreign_keys.clone(),
            options: self.options.to_record(),
            ..TableRecord::default()
        }
    }

    pub(crate) fn from_record(record: &TableRecord) -> Result<Self, Corrupt> {
        let columns = record.columns.iter().map(ColumnDefinition::from_record);
        let definition = TableDefinition {
            name: record.name.clone(),
            storage: record.storage,
            columns: columns.collect::<Result<Vec<_>, _>>()?,
            primary_key: record.primary_key.clone(),
            indexes: record.indexes.clone(),
            checks: record.checks.clone(),
            foreign_keys: record.foreign_keys.clone(),
            options: TableOptions::from_record(&record.options)?,
        };
        match definition.validate() {
            Ok(()) => Ok(definition),
            Err(error) => Err(Corrupt::new(format!("table {:?}: {error}", record.name), 0)),
        }
    }
}

impl ColumnDefinition {
    fn to_record(&self) -> ColumnRecord {
        ColumnRecord {
            name: self.name.clone(),
            column_type: self.sql_type.to_record(),
            nullable: self.nullable,
            compression: self.compression,
            default: self.default.clone(),
            sequence: self.sequence,
            is_dropped: self.is_dropped,
            added: self.added.as_ref().map(|added| AddedRecord {
                missing: added.missing.as_ref().map(value_to_bytes),
            }),
            stores_null: self.stores_null,
            dictionary: self.dictionary.as_ref().map(|dictionary| DictionaryRecord {
                code_bits: dictionary.code_bits,
                entries: dictionary.entries.iter().map(value_to_bytes).collect(),
            }),
            string_codes: self.string_codes.as_ref().map(|codes| StringCodesRecord {
                codec: codes.codec(),
                table: codes.to_bytes(),
            }),
            padded_bytes: self.padded_bytes,
            key_code: self.key_code.as_ref().map(|code| code.as_bytes().to_vec()),
        }
    }

    fn from_record(record: &ColumnRecord) -> Result<Self, Corrupt> {
        let sql_type = SqlType::from_record(record.column_type)?;
        let physical_type = sql_type.physical_type();
        let added = |added: &AddedRecord| {
            let missing = added.missing.as_ref();
            let missing = missing.map(|bytes| value_from_bytes(physical_type, bytes));
            Ok(AddedColumn {
                missing: missing.transpose()?,
            })
        };
        let dictionary = |dictionary: &DictionaryRecord| {
            let entries = dictionary.entries.iter();
            let entries = entries.map(|bytes| value_from_bytes(physical_type, bytes));
            Ok::<_, Corrupt>(ColumnDictionary {
                code_bits: dictionary.code_bits,
                entries: entries.collect::<Result<_, _>>()?,
            })
        };
        let string_codes = |record: &StringCodesRecord| {
            if !sql_type.is_text() {
                return Err(Corrupt::new(format!("{sql_type} has string codes"), 0));
            }
            StringCodes::from_bytes(record.codec, &record.table).map(Arc::new)
        };
        let key_code = |code: &Vec<u8>| match KeyCode::from_bytes(code) {
            Ok(code) if sql_type.is_text() => Ok(code),
            Ok(_) => Err(Corrupt::new(format!("{sql_type} has a code of strings"), 0)),
            Err(error) => Err(error),
        };
        Ok(ColumnDefinition {
            name: record.name.clone(),
            sql_type,
            nullable: record.nullable,
            compression: record.compression,
            default: record.default.clone(),
            sequence: record.sequence,
            is_dropped: record.is_dropped,
            added: record.added.as_ref().map(added).transpose()?,
            stores_null: record.stores_null,
            dictionary: record.dictionary.as_ref().map(dictionary).transpose()?,
            string_codes: (record.string_codes.as_ref())
                .map(string_codes)
                .transpose()?,
            padded_bytes: record.padded_bytes,
            key_code: record.key_code.as_ref().map(key_code).transpose()?,
        })
    }
}

fn value_to_bytes(value: &CodecScalar) -> Vec<u8> {
    match value {
        CodecScalar::Bool(value) => vec![u8::from(*value)],
        CodecScalar::Int16(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Int32(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Int64(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Int128(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Float32(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Float64(value) => value.to_le_bytes().to_vec(),
        CodecScalar::Bytes(value) => value.clone(),
    }
}

fn value_from_bytes(physical_type: PhysicalType, bytes: &[u8]) -> Result<CodecScalar, Corrupt> {
    let value = match physical_type {
        PhysicalType::Bool => match bytes {
            [value @ 0..=1] => Some(CodecScalar::Bool(*value == 1)),
            _ => None,
        },
        PhysicalType::Int16 => array(bytes).map(i16::from_le_bytes).map(CodecScalar::Int16),
        PhysicalType::Int32 => array(bytes).map(i32::from_le_bytes).map(CodecScalar::Int32),
        PhysicalType::Int64 => array(bytes).map(i64::from_le_bytes).map(CodecScalar::Int64),
        PhysicalType::Int128 => array(bytes)
            .map(i128::from_le_bytes)
            .map(CodecScalar::Int128),
        PhysicalType::Float32 => array(bytes)
            .map(f32::from_le_bytes)
            .map(CodecScalar::Float32),
        PhysicalType::Float64 => array(bytes)
            .map(f64::from_le_bytes)
            .map(CodecScalar::Float64),
        PhysicalType::Bytes => Some(CodecScalar::Bytes(bytes.to_vec())),
    };
    value.ok_or_else(|| Corrupt::new(format!("{} bytes are no {physical_type}", bytes.len()), 0))
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn missing_values_of_every_type_come_back() {
        for value in [
            CodecScalar::Bool(true),
            CodecScalar::Int16(-2),
            CodecScalar::Int32(i32::MIN),
            CodecScalar::Int64(1 << 40),
            CodecScalar::Int128(-(1 << 100)),
            CodecScalar::Float32(1.5),
            CodecScalar::Float64(-0.25),
            CodecScalar::Bytes("größer".into()),
        ] {
            let (physical_type, bytes) = (value.physical_type(), value_to_bytes(&value));
            assert_eq!(value_from_bytes(physical_type, &bytes).unwrap(), value);
            if physical_type != PhysicalType::Bytes {
                let long = [bytes.as_slice(), &[0]].concat();
                assert!(value_from_bytes(physical_type, &long).is_err());
                assert!(value_from_bytes(physical_type, &[]).is_err());
            }
        }
        assert!(value_from_bytes(PhysicalType::Bool, &[2]).is_err());
    }
}
