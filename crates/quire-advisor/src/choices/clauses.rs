//! A choice in the words of SQL.

use std::fmt;

use quire_tables::SqlType;

use super::{ChosenLayout, DemandedCodecs, StorageChoice};

impl ChosenLayout {
    /// As `USING` names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Column => "column",
            Self::Pax => "pax",
        }
    }
}

impl DemandedCodecs {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chosen => "auto",
            Self::Plain => "plain",
            Self::Light => "light",
            Self::Dense => "dense",
        }
    }
}

impl StorageChoice {
    /// What stands between the brackets of `WITH (…)` and of `ALTER TABLE … SET (…)`; nothing of a column table, which has no options.
    pub fn with_text(&self) -> Option<String> {
        match self.layout {
            ChosenLayout::Row => Some(self.row_options()),
            ChosenLayout::Column => None,
            ChosenLayout::Pax => self
                .block_bytes()
                .map(|bytes| format!("block_bytes = {bytes}")),
        }
    }

    fn row_options(&self) -> String {
        let options = &self.options;
        let tuples = if options.compresses_tuples {
            "auto"
        } else {
            "none"
        };
        let mut text = format!(
            "compression = {tuples}, page_codec = {}, storage_format = {}",
            options.page_codec, options.storage_format
        );
        if let Some(level) = options.page_codec_level {
            text += &format!(", page_codec_level = {level}");
        }
        if options.compresses_keys {
            text += ", key_compression = auto";
        }
        let default = quire_tables::TableOptions::default();
        if options.page_bytes != default.page_bytes {
            text += &format!(", page_size = {}", options.page_bytes);
        }
        if let Some(target) = options.page_target {
            text += &format!(", page_target_bytes = {}", target.slot_bytes);
            if !target.has_adaptive_padding {
                text += ", page_padding = none";
            }
            if !target.splits_in_advance {
                text += ", page_split = on_failure";
            }
        }
        if let Some(codec) = options.device_codec {
            text += &format!(", device_codec = {codec}");
        }
        text
    }

    /// `USING layout`, and `WITH (…)` if it has options.
    pub fn storage_clause(&self) -> String {
        let using = format!("USING {}", self.layout.name());
        match self.with_text() {
            Some(options) => format!("{using} WITH ({options})"),
            None => using,
        }
    }

    /// The type of a column, with `COMPRESSION codec` if the choice demands one.
    pub fn column_clause(&self, sql_type: SqlType) -> String {
        match self.column_codec(sql_type) {
            Some(codec) => format!("{sql_type} COMPRESSION {}", codec.name()),
            None => sql_type.to_string(),
        }
    }
}

/// In a few words, for lists: the options of a row table, `column, plain`, `pax, block_bytes = 262144`.
impl fmt::Display for StorageChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layout, self.block_bytes()) {
            (ChosenLayout::Row, _) => write!(f, "row, {}", self.row_options()),
            (_, Some(bytes)) => write!(f, "pax, block_bytes = {bytes}"),
            (_, None) => write!(f, "column, {}", self.codecs.name()),
        }
    }
}
