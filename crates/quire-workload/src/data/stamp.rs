//! The stamp of a folder: of which workload its data is, and whether all of it is there.

use serde_json::{Value, json};
use std::fmt;

/// Raised when the same workload, scale and seed give other files.
pub(super) const DATA_FORMAT_VERSION: u64 = 1;
/// A larger file is no stamp.
pub(super) const STAMP_BYTES_MAX: u64 = 1 << 20;

/// What decides the rows of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct DataIdentity {
    pub workload: String,
    /// As the workload counts it, such as warehouses.
    pub scale: f64,
    pub seed: u64,
}

impl fmt::Display for DataIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            workload,
            scale,
            seed,
        } = self;
        write!(formatter, "{workload}, scale {scale}, seed {seed}")
    }
}

/// A file of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedTable {
    pub name: String,
    pub rows: u64,
    pub bytes: u64,
}

/// The content of a stamp.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DataStamp {
    pub(super) identity: DataIdentity,
    /// Tables whose files are complete.
    pub(super) tables: Vec<GeneratedTable>,
}

/// What a stamp was read as.
#[derive(Debug, PartialEq)]
pub(super) enum StampRead {
    Stamp(DataStamp),
    /// Of another version of the format.
    Version(u64),
}

impl DataStamp {
    pub(super) fn to_text(&self) -> String {
        let tables = self.tables.iter().map(|table| {
            json!({
                "name": table.name,
                "rows": table.rows,
                "bytes": table.bytes,
            })
        });
        let document = json!({
            "format_version": DATA_FORMAT_VERSION,
            "workload": self.identity.workload,
            "scale": self.identity.scale,
            "seed": self.identity.seed,
            "tables": tables.collect::<Vec<Value>>(),
        });
        format!("{document:#}\n")
    }

    /// # Errors
    /// What is wrong with the text.
    pub(super) fn read(text: &str) -> Result<StampRead, String> {
        let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let number = |value: &Value, key: &str| {
            value[key]
                .as_u64()
                .ok_or_else(|| format!("it has no whole number `{key}`"))
        };
        let name = |value: &Value, key: &str| {
            let text = value[key].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("it has no text `{key}`"))
        };
        let version = number(&document, "format_version")?;
        if version != DATA_FORMAT_VERSION {
            return Ok(StampRead::Version(version));
        }
        let tables = document["tables"].as_array();
        let tables = tables.ok_or("it has no list `tables`")?;
        let tables = tables.iter().map(|table| {
            Ok(GeneratedTable {
                name: name(table, "name")?,
                rows: number(table, "rows")?,
                bytes: number(table, "bytes")?,
            })
        });
        Ok(StampRead::Stamp(Self {
            identity: DataIdentity {
                workload: name(&document, "workload")?,
                scale: document["scale"].as_f64().ok_or("it has no `scale`")?,
                seed: number(&document, "seed")?,
            },
            tables: tables.collect::<Result<_, String>>()?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> DataStamp {
        DataStamp {
            identity: DataIdentity {
                workload: "tpc-c".to_owned(),
                scale: 0.1 + 0.2,
                seed: u64::MAX,
            },
            tables: vec![GeneratedTable {
                name: "item".to_owned(),
                rows: 100_000,
                bytes: 7_000_000,
            }],
        }
    }

    #[test]
    fn a_stamp_comes_back_as_it_was_written() {
        let read = DataStamp::read(&stamp().to_text());
        assert_eq!(read, Ok(StampRead::Stamp(stamp())));
    }

    #[test]
    fn another_version_is_told_before_anything_else_is_read() {
        let read = DataStamp::read("{\"format_version\": 7, \"what\": 1}");
        assert_eq!(read, Ok(StampRead::Version(7)));
    }

    #[test]
    fn a_text_that_is_cut_anywhere_is_refused() {
        let text = stamp().to_text();
        let whole = text.trim_end().len();
        for length in 0..whole {
            assert!(DataStamp::read(&text[..length]).is_err(), "{length}");
        }
    }
}
