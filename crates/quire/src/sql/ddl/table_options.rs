//! `USING storage` and `WITH (option = value, …)`.

use datafusion::sql::sqlparser::ast::{CreateTableOptions, SqlOption};
use quire_codec::block::BlockCodecId;
use quire_error::Error;
use quire_tables::{
    BLOCK_BYTES_DEFAULT, PageTarget, StorageFormat, TableDefinition, TableOptions, TableStorage,
};

use quire_sql::names::folded;
use quire_sql::reject::not_supported;
use quire_sql::table_clauses::TableClauses;

use crate::session::Session;
use crate::settings::{ACCESS_METHOD, PAGE_CODEC, page_codecs};

/// What tables are that do not say it: the settings of a session.
pub(super) struct TableDefaults {
    method: String,
    page_codec: BlockCodecId,
}

impl TableDefaults {
    pub(super) fn of(session: &Session) -> Result<Self, Error> {
        let settings = session.settings();
        let codec = BlockCodecId::from_name(&settings.show(PAGE_CODEC)?);
        Ok(Self {
            method: settings.show(ACCESS_METHOD)?,
            page_codec: codec.unwrap_or(TableOptions::default().page_codec),
        })
    }
}

/// Gives a definition the storage that `USING` names. Without that clause constraints and indexes need a row table, and so does a fill
/// factor; any other table takes less space as a column table, unless the setting `default_table_access_method` says otherwise. Pages of a row
/// table get the codec of the setting `default_page_codec`.
///
/// # Errors
/// 42704 for an unknown access method.
pub(super) fn set_storage(
    definition: &mut TableDefinition,
    clauses: &TableClauses,
    options: &[SqlOption],
    defaults: &TableDefaults,
) -> Result<(), Error> {
    let name = match &clauses.using {
        Some((name, _)) => name.as_str(),
        None if needs_rows(definition, options) => "row",
        None => &defaults.method,
    };
    definition.storage = match name {
        "row" => TableStorage::Row,
        "column" | "pax" => TableStorage::Column,
        _ => match &clauses.using {
            Some((name, position)) => {
                let text = format!("access method \"{name}\" does not exist");
                return Err(Error::new("42704", text)
                    .with_hint("Say USING row, USING column or USING pax.")
                    .at(*position));
            }
            // `auto`.
            None => TableStorage::Column,
        },
    };
    definition.options.block_bytes = (name == "pax").then_some(BLOCK_BYTES_DEFAULT);
    if definition.storage == TableStorage::Row {
        definition.options.page_codec = defaults.page_codec;
    }
    Ok(())
}

/// Whether a table cannot do without rows that have a place of their own.
fn needs_rows(definition: &TableDefinition, options: &[SqlOption]) -> bool {
    let is_fillfactor = |option: &SqlOption| match option {
        SqlOption::KeyValue { key, .. } => folded(key) == FILLFACTOR,
        _ => false,
    };
    let has_index = definition.index_names().next().is_some();
    // A fill factor reserves space in pages for updates of rows: whoever sets one expects to update the table.
    has_index || definition.constraint_names().next().is_some() || options.iter().any(is_fillfactor)
}

/// PostgreSQL's option for the percentage to which pages are filled.
const FILLFACTOR: &str = "fillfactor";

/// The options of `WITH (…)`.
pub(super) fn with_options(options: &CreateTableOptions) -> Result<&[SqlOption], Error> {
    match options {
        CreateTableOptions::None => Ok(&[]),
        CreateTableOptions::With(options) => Ok(options),
        _ => Err(not_supported("this form of table options")),
    }
}

/// Applies the options of `WITH (…)` to a definition whose storage is already set.
pub(super) fn apply(definition: &mut TableDefinition, spelled: &[SqlOption]) -> Result<(), Error> {
    for option in spelled {
        let SqlOption::KeyValue { key, value } = option else {
            return Err(not_supported(format!("table option {option}")));
        };
        let key = folded(key);
        let value = value.to_string();
        let value = value.trim_matches('\'').to_lowercase();
        if definition.storage == TableStorage::Row {
            set(&mut definition.options, &key, &value)?;
        } else if definition.options.block_bytes.is_some() {
            set_of_blocks(&mut definition.options, &key, &value)?;
        } else if key != "compression" || value != "auto" {
            return Err(not_supported(format!("option {key} = {value} of a column table")).with_hint(
                "Pages of column tables need no options. To choose a codec, write COMPRESSION codec after a column's type; \
                 or say USING row or USING pax.",
            ));
        }
    }
    Ok(())
}

/// Sets an option of a PAX table. The range is checked later, when the whole definition is validated.
fn set_of_blocks(options: &mut TableOptions, key: &str, value: &str) -> Result<(), Error> {
    let is_set = match key {
        "block_bytes" => assign(&mut options.block_bytes, value.parse().ok().map(Some)),
        // Segments are compressed in any case.
        "compression" => value == "auto",
        _ => {
            let text = format!("unrecognized parameter \"{key}\"");
            return Err(Error::new("22023", text).with_hint(
                "The option of a PAX table is block_bytes. To choose a codec, write COMPRESSION codec after a column's type.",
            ));
        }
    };
    if is_set {
        Ok(())
    } else {
        Err(invalid_value(key, value))
    }
}

fn set(options: &mut TableOptions, key: &str, value: &str) -> Result<(), Error> {
    let is_set = match key {
        "compression" => match value {
            "auto" | "on" | "true" | "none" | "off" | "false" => {
                options.compresses_tuples = matches!(value, "auto" | "on" | "true");
                true
            }
            _ => false,
        },
        "key_compression" => assign(
            &mut options.compresses_keys,
            either(value, ["auto", "none"]),
        ),
        // Accepted and ignored, because clients of PostgreSQL set it by habit: the fill of our pages is not configurable.
        FILLFACTOR => value
            .parse()
            .is_ok_and(|percent: u8| (10..=100).contains(&percent)),
        "page_size" | "page_bytes" => assign(&mut options.page_bytes, value.parse().ok()),
        "page_codec" => {
            let is_known = assign(&mut options.page_codec, BlockCodecId::from_name(value));
            // A level set before belongs to another codec.
            options.page_codec_level = None;
            is_known
        }
        "page_codec_level" => assign(&mut options.page_codec_level, value.parse().ok().map(Some)),
        "storage_format" => assign(&mut options.storage_format, StorageFormat::from_name(value)),
        "page_target_bytes" => set_target_bytes(options, value),
        "device_codec" => match value {
            "none" => {
                options.device_codec = None;
                true
            }
            name => assign(
                &mut options.device_codec,
                BlockCodecId::from_name(name).map(Some),
            ),
        },
        "page_padding" => {
            let value = either(value, ["adaptive", "none"]);
            assign(&mut page_target(options, key)?.has_adaptive_padding, value)
        }
        "page_split" => {
            let value = either(value, ["advance", "on_failure"]);
            assign(&mut page_target(options, key)?.splits_in_advance, value)
        }
        _ => {
            let text = format!("unrecognized parameter \"{key}\"");
            return Err(Error::new("22023", text).with_hint(
                "Options are compression, key_compression, page_size, page_codec, page_codec_level, storage_format, page_target_bytes, page_padding, \
                 page_split and device_codec.",
            ));
        }
    };
    if is_set {
        Ok(())
    } else {
        Err(invalid_value(key, value))
    }
}

/// Sets the size of stored pages in bytes; 0 lets them have any size. False if `value` is not a number. The range is checked later,
/// when the whole definition is validated.
fn set_target_bytes(options: &mut TableOptions, value: &str) -> bool {
    match value.parse() {
        Ok(0) => options.page_target = None,
        Ok(bytes) => {
            let target = options.page_target.unwrap_or(PageTarget::new(bytes));
            options.page_target = Some(PageTarget {
                slot_bytes: bytes,
                ..target
            });
        }
        Err(_) => return false,
    }
    true
}

/// True for the first name, false for the second, `None` for any other value.
fn either(value: &str, names: [&str; 2]) -> Option<bool> {
    let index = names.into_iter().position(|name| name == value)?;
    Some(index == 0)
}

/// The settings of stored pages of a fixed size, for an option that has no meaning without them.
fn page_target<'o>(options: &'o mut TableOptions, key: &str) -> Result<&'o mut PageTarget, Error> {
    options.page_target.as_mut().ok_or_else(|| {
        let text = format!("option \"{key}\" needs stored pages of a fixed size");
        Error::new("22023", text)
            .with_hint("Write page_target_bytes = 8192, or another size, before it.")
    })
}

/// Assigns a value that was parsed; false if it was not.
fn assign<T>(target: &mut T, value: Option<T>) -> bool {
    value.is_some_and(|value| {
        *target = value;
        true
    })
}

fn invalid_value(key: &str, value: &str) -> Error {
    let text = format!("invalid value for option \"{key}\": {value}");
    Error::new("22023", text).with_hint(match key {
        "compression" | "key_compression" => "Say auto or none.".to_owned(),
        "page_codec" => format!("Codecs of pages are {}.", page_codecs()),
        "device_codec" => "Say none, lz4, zlib or zstd.".to_owned(),
        "storage_format" => {
            "Say auto, none, r2c, rlt, clt, xor, xor_rlt, xor_clt, packed or packed_text."
                .to_owned()
        }
        "page_padding" => "Say adaptive or none.".to_owned(),
        "page_split" => "Say advance or on_failure.".to_owned(),
        _ => "Say a whole number.".to_owned(),
    })
}
