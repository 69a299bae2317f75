//! Which layouts and codecs can a user set for a table, and how is each said in SQL?

mod clauses;

use quire_codec::CodecId;
use quire_codec::block::BlockCodecId;
use quire_format::row_page::PageTransform;
use quire_tables::{BLOCK_BYTES_DEFAULT, SqlType, StorageFormat, TableOptions, TableStorage};

/// Codecs of a column table, as `COMPRESSION codec` behind the type of each column demands them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DemandedCodecs {
    /// Nothing is demanded: each segment gets the codec that suits it.
    Chosen,
    /// `plain`: values as they are.
    Plain,
    /// What decodes fast and whose values can be read alone: `pfor`, `alp`, `fsst`.
    Light,
    /// What packs differences of neighbours and blocks of texts: `pfor_delta`, `alp`, `zstd`.
    Dense,
}

impl DemandedCodecs {
    /// The codec that is demanded for a column of that type; `None` leaves it to the table.
    pub fn codec(self, sql_type: SqlType) -> Option<CodecId> {
        let physical_type = sql_type.physical_type();
        let first_that_fits = |codecs: [CodecId; 3]| {
            let mut codecs = codecs.into_iter();
            codecs.find(|codec| codec.supports(physical_type))
        };
        match self {
            Self::Chosen => None,
            Self::Plain => Some(CodecId::Plain),
            Self::Light => first_that_fits([CodecId::Pfor, CodecId::Alp, CodecId::Fsst]),
            Self::Dense => first_that_fits([CodecId::PforDelta, CodecId::Alp, CodecId::Zstd]),
        }
    }
}

/// One way to keep a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageChoice {
    layout: ChosenLayout,
    /// Options of the table. Those that its layout does not use are the defaults.
    options: TableOptions,
    codecs: DemandedCodecs,
}

/// The layouts that `USING` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChosenLayout {
    /// Rows in pages, by key.
    Row,
    /// Columns in segments.
    Column,
    /// The segments of some rows in one block.
    Pax,
}

impl StorageChoice {
    /// A row table with these options.
    pub fn rows(options: TableOptions) -> Self {
        Self {
            layout: ChosenLayout::Row,
            options: TableOptions {
                block_bytes: None,
                ..options
            },
            codecs: DemandedCodecs::Chosen,
        }
    }

    /// A row table in which nothing is compressed: what others are compared with.
    pub fn uncompressed_rows() -> Self {
        Self::rows(TableOptions {
            page_codec: BlockCodecId::None,
            storage_format: StorageFormat::Fixed(PageTransform::ROWS),
            compresses_tuples: false,
            ..TableOptions::default()
        })
    }

    /// A column table.
    pub fn columns(codecs: DemandedCodecs) -> Self {
        Self {
            layout: ChosenLayout::Column,
            options: TableOptions::default(),
            codecs,
        }
    }

    /// A PAX table with blocks of about so many bytes.
    pub fn blocks(block_bytes: usize) -> Self {
        Self {
            layout: ChosenLayout::Pax,
            options: TableOptions {
                block_bytes: Some(block_bytes),
                ..TableOptions::default()
            },
            codecs: DemandedCodecs::Chosen,
        }
    }

    /// Its layout.
    pub fn layout(&self) -> ChosenLayout {
        self.layout
    }

    /// Its options.
    pub fn options(&self) -> &TableOptions {
        &self.options
    }

    /// The codec that it demands for columns of that type.
    pub fn column_codec(&self, sql_type: SqlType) -> Option<CodecId> {
        match self.layout {
            ChosenLayout::Column => self.codecs.codec(sql_type),
            ChosenLayout::Row | ChosenLayout::Pax => None,
        }
    }

    /// Codecs that it demands of columns.
    pub fn codecs(&self) -> DemandedCodecs {
        self.codecs
    }

    /// Whether it keeps rows.
    pub fn is_rows(&self) -> bool {
        self.layout == ChosenLayout::Row
    }

    /// Whether pages are compressed after they have been filled.
    pub(crate) fn compresses_pages(&self) -> bool {
        self.is_rows() && self.options.page_codec != BlockCodecId::None
    }

    pub(crate) fn storage(&self) -> TableStorage {
        if self.is_rows() {
            TableStorage::Row
        } else {
            TableStorage::Column
        }
    }

    /// Length of its blocks in bytes, of a PAX table.
    pub(crate) fn block_bytes(&self) -> Option<usize> {
        (self.layout == ChosenLayout::Pax)
            .then(|| self.options.block_bytes.unwrap_or(BLOCK_BYTES_DEFAULT))
    }
}
