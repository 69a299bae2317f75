//! Tables of codes for the strings of row tables (paper 1 §3.2.2: long strings), trained on some of the rows.
//!
//! A column gets one of FSST by itself where its strings are long and their codes much shorter, and where the block codec of the pages
//! does not do better without: codes hide from it what they have in common.

use std::sync::Arc;

use arrow_array::RecordBatch;
use quire_codec::CodecId;
use quire_codec::block::{self, BlockOptions, MinimumGain};
use quire_codec::text::StringCodes;
use quire_format::tuple::TupleValue;

use crate::definition::TableOptions;
use crate::row_table::{ColumnArray, fit};
use crate::types::SqlType;

/// Bytes that strings must have on average.
const MEAN_BYTES_MIN: usize = 20;

/// Of the bytes of the strings, how much must be saved, as hundredths.
const SAVED_HUNDREDTHS_MIN: usize = 15;

/// Strings that are coded to see how much a table saves. Training takes its own sample of them.
const CODED_STRINGS_MAX: usize = 4096;

/// Most bytes that a byte of codes stands for.
const SYMBOL_BYTES_MAX: usize = 8;

/// An entry takes at most one part in so many of a page.
const ENTRY_PART: usize = 4;

/// Pages that are compressed to see what the block codec does.
const PAGES_SAMPLED: usize = 16;

/// A table for a column, and what it is good for.
pub(super) struct ChosenStringTable {
    pub(super) codes: Arc<StringCodes>,
    /// What the catalog keeps.
    pub(super) table_bytes: usize,
    /// Bits that the average row is shorter.
    pub(super) gain_bits: f64,
    /// Whether the column should have it without being asked.
    pub(super) pays: bool,
}

/// A table of `codec` trained on the strings of a column; `None` for columns that have no text, and where no row of the sample has any.
pub(super) fn trained(
    codec: CodecId,
    sql_type: SqlType,
    sample: &[RecordBatch],
    position: usize,
    options: &TableOptions,
) -> Option<ChosenStringTable> {
    if !sql_type.is_text() {
        return None;
    }
    // What has more codes is cut out of its tuple as it is.
    let code_bytes_max = options.page_bytes / ENTRY_PART;
    let strings = strings(sql_type, sample, position, code_bytes_max)?;
    if strings.iter().all(|string| string.is_empty()) {
        return None;
    }
    let codes = StringCodes::train(codec, &strings)?;
    let coded = CodedSample::new(&codes, &strings, code_bytes_max);
    let row_count: usize = sample.iter().map(RecordBatch::num_rows).sum();
    // All rows have the bit that says whether their string is in codes.
    let saved_bits = 8.0 * coded.saved_share() * total_bytes(&strings) as f64;
    Some(ChosenStringTable {
        table_bytes: codes.to_bytes().len(),
        gain_bits: saved_bits / row_count.max(1) as f64 - 1.0,
        pays: total_bytes(&strings) >= MEAN_BYTES_MIN * strings.len()
            && coded.saves_enough()
            && coded.helps_pages(options),
        codes: Arc::new(codes),
    })
}

fn total_bytes(strings: &[&[u8]]) -> usize {
    strings.iter().map(|string| string.len()).sum()
}

/// The strings as rows have them, without NULL and those that no codes make short enough; `None` when the sample has no such column.
fn strings(
    sql_type: SqlType,
    sample: &[RecordBatch],
    position: usize,
    code_bytes_max: usize,
) -> Option<Vec<&[u8]>> {
    let mut strings = Vec::new();
    for batch in sample {
        let array = ColumnArray::new(sql_type, batch.columns().get(position)?.as_ref())?;
        for row in 0..batch.num_rows() {
            // What does not fit will be refused.
            if let Ok(TupleValue::Bytes(bytes)) = fit(sql_type, array.value(row))
                && bytes.len() <= SYMBOL_BYTES_MAX * code_bytes_max
            {
                strings.push(bytes);
            }
        }
    }
    Some(strings)
}

/// Some of the strings, one behind the other: as they are, and as tuples would have them.
struct CodedSample {
    plain: Vec<u8>,
    stored: Vec<u8>,
}

impl CodedSample {
    fn new(table: &StringCodes, strings: &[&[u8]], code_bytes_max: usize) -> Self {
        let (mut plain, mut stored) = (Vec::new(), Vec::new());
        let step = strings.len().div_ceil(CODED_STRINGS_MAX).max(1);
        for string in strings.iter().step_by(step) {
            plain.extend_from_slice(string);
            let start = stored.len();
            if !table.encode_if_shorter(string, &mut stored)
                || stored.len() - start > code_bytes_max
            {
                stored.truncate(start);
                stored.extend_from_slice(string);
            }
        }
        Self { plain, stored }
    }

    /// What codes save of the bytes, 0 to 1.
    fn saved_share(&self) -> f64 {
        let saved_bytes = self.plain.len() - self.stored.len();
        saved_bytes as f64 / self.plain.len().max(1) as f64
    }

    fn saves_enough(&self) -> bool {
        100 * (self.plain.len() - self.stored.len()) >= SAVED_HUNDREDTHS_MIN * self.plain.len()
    }

    /// Whether compressed pages of codes are no larger than those of the strings.
    fn helps_pages(&self, options: &TableOptions) -> bool {
        let block_options = BlockOptions {
            level: options.page_codec_level,
            dictionary: None,
        };
        let Ok(mut codec) = block::open(options.page_codec, &block_options) else {
            return false;
        };
        let mut image_bytes = |strings: &[u8]| {
            let pages: Vec<&[u8]> = strings.chunks(options.page_bytes).collect();
            let gain = MinimumGain::default();
            block::estimated_bytes(codec.as_mut(), &pages, gain, PAGES_SAMPLED)
        };
        image_bytes(&self.stored) <= image_bytes(&self.plain)
    }
}
