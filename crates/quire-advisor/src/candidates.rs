//! Which choices are measured, the cheapest first.

use quire_codec::block::BlockCodecId;
use quire_format::row_page::PageTransform;
use quire_tables::{StorageFormat, TableOptions};

use crate::choices::{DemandedCodecs, StorageChoice};
use crate::sampled_table::{SampleOrigin, SampledTable};

/// Lengths of blocks of PAX tables that are tried, in bytes.
const BLOCK_BYTES_TRIED: [usize; 3] = [1 << 20, 256 << 10, 64 << 10];

/// How many choices are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChoiceScope {
    /// Every page codec with chosen and without a storage format, fixed storage formats with two codecs, all column tables.
    #[default]
    Usual,
    /// Every combination of tuple compression, page codec and storage format that can be set.
    All,
}

/// How long writing with a page codec takes, as a multiple of writing without, about. Only the order of the candidates depends on it.
fn codec_cost(codec: BlockCodecId) -> u32 {
    match codec {
        BlockCodecId::None => 10,
        BlockCodecId::Zle => 11,
        BlockCodecId::Lz4 => 12,
        BlockCodecId::Lzjb => 13,
        BlockCodecId::Zstd => 20,
        BlockCodecId::Zlib => 40,
        BlockCodecId::Lz4Hc => 50,
    }
}

/// The same of storage formats: to choose one, several are tried.
fn format_cost(format: StorageFormat) -> u32 {
    match format {
        StorageFormat::Fixed(PageTransform::ROWS) => 2,
        StorageFormat::Fixed(_) => 3,
        StorageFormat::Auto => 4,
    }
}

/// About how long a choice takes to be measured, compared with others.
fn expected_cost(choice: &StorageChoice) -> u32 {
    if choice.is_rows() {
        let options = choice.options();
        return codec_cost(options.page_codec) * format_cost(options.storage_format);
    }
    match choice.codecs() {
        DemandedCodecs::Plain => 20,
        DemandedCodecs::Light => 25,
        DemandedCodecs::Dense => 45,
        DemandedCodecs::Chosen => 60,
    }
}

/// The choices that a user can set for this table. The first is the one that all are compared with: what the table is now, or a row table in
/// which nothing is compressed. The others follow by how long they take to be measured.
pub fn candidates(table: &SampledTable, scope: ChoiceScope) -> Vec<StorageChoice> {
    let mut found = row_choices(scope);
    let needs_rows = matches!(
        table.origin,
        SampleOrigin::Table {
            needs_rows: true,
            ..
        }
    );
    if !needs_rows {
        let codecs = [
            DemandedCodecs::Chosen,
            DemandedCodecs::Plain,
            DemandedCodecs::Light,
            DemandedCodecs::Dense,
        ];
        found.extend(codecs.map(StorageChoice::columns));
        found.extend(BLOCK_BYTES_TRIED.map(StorageChoice::blocks));
    }
    let baseline = match &table.origin {
        SampleOrigin::Table { current, .. } => *current,
        SampleOrigin::File { .. } => StorageChoice::uncompressed_rows(),
    };
    found.retain(|choice| *choice != baseline);
    found.sort_by_key(expected_cost);
    found.insert(0, baseline);
    found
}

fn row_choices(scope: ChoiceScope) -> Vec<StorageChoice> {
    let fixed = PageTransform::ALL.map(StorageFormat::Fixed);
    let mut found = Vec::new();
    for compresses_tuples in [true, false] {
        for page_codec in BlockCodecId::ALL {
            for storage_format in [StorageFormat::Auto].into_iter().chain(fixed) {
                let options = TableOptions {
                    compresses_tuples,
                    page_codec,
                    storage_format,
                    ..TableOptions::default()
                };
                if scope == ChoiceScope::All || is_usual(&options) {
                    found.push(StorageChoice::rows(options));
                }
            }
        }
    }
    found
}

/// A format that is fixed is worth a look with a fast codec and with a thorough one; with uncompressed tuples, with which columns have most to give.
fn is_usual(options: &TableOptions) -> bool {
    match options.storage_format {
        StorageFormat::Auto | StorageFormat::Fixed(PageTransform::ROWS) => true,
        StorageFormat::Fixed(_) => {
            !options.compresses_tuples
                && matches!(options.page_codec, BlockCodecId::Lz4 | BlockCodecId::Zstd)
        }
    }
}
