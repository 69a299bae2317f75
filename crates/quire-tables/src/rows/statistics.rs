//! What estimates may know of a row table: its keys, the number of its rows, and the samples of `ANALYZE`.

use std::collections::{BTreeSet, HashMap};

use quire_format::column_sample::ColumnSample;

use super::column_samples;
use super::table::RowTable;
use crate::error::RowScanError;

/// Share of distinct values from which on a column is believed to get new ones with new rows.
const GROWING_SHARE: f64 = 0.1;

/// A row table's rows and columns, estimated. The number of rows is that of today; shares are those of the samples.
#[derive(Clone, Debug)]
pub struct RowStatistics {
    /// Rows.
    pub row_count: f64,
    columns: HashMap<usize, RowColumnStatistics>,
}

/// The values of one column.
#[derive(Clone, Debug)]
pub struct RowColumnStatistics {
    /// Distinct values, at least 1.
    pub distinct_count: f64,
    /// Share of rows in which it is NULL, 0 to 1.
    pub null_share: f64,
    /// What `ANALYZE` has found, if it has looked.
    pub sample: Option<ColumnSample>,
}

impl RowStatistics {
    /// What is known of the column with that ordinal.
    #[must_use]
    pub fn column(&self, ordinal: usize) -> Option<&RowColumnStatistics> {
        self.columns.get(&ordinal)
    }
}

impl RowTable {
    /// What estimates may know of its columns.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn statistics(&self) -> Result<RowStatistics, RowScanError> {
        let row_count = self.row_count_estimate()? as f64;
        let samples = match self.samples {
            Some(tree) => column_samples::of_table(&self.view, tree, self.id())?,
            None => Vec::new(),
        };
        let unique = self.unique_columns();
        let mut columns: HashMap<usize, RowColumnStatistics> = samples
            .into_iter()
            .map(|(ordinal, sample)| (ordinal, of_sample(sample, row_count)))
            .collect();
        for ordinal in unique {
            let column = columns.entry(ordinal).or_insert(RowColumnStatistics {
                distinct_count: 1.0,
                null_share: 0.0,
                sample: None,
            });
            column.distinct_count = (row_count * (1.0 - column.null_share)).max(1.0);
        }
        Ok(RowStatistics { row_count, columns })
    }

    /// Columns that have another value in each row.
    fn unique_columns(&self) -> BTreeSet<usize> {
        let definition = self.definition();
        let indexes = definition.indexes.iter().filter(|index| index.is_unique);
        let keys = definition.primary_key.iter();
        keys.chain(indexes.map(|index| &index.key))
            .filter_map(|key| match key.columns.as_slice() {
                [part] => Some(part.column),
                _ => None,
            })
            .collect()
    }
}

fn of_sample(sample: ColumnSample, row_count: f64) -> RowColumnStatistics {
    let (sampled_rows, read_rows) = (sample.row_count as f64, sample.read_row_count as f64);
    let mut distinct_count = sample.distinct_estimate as f64;
    if distinct_count > sampled_rows * GROWING_SHARE {
        distinct_count *= row_count / sampled_rows.max(1.0);
    }
    RowColumnStatistics {
        distinct_count: distinct_count.min(row_count).max(1.0),
        null_share: sample.zone.null_count as f64 / read_rows.max(1.0),
        sample: Some(sample),
    }
}

/// Distinct values expected among `drawn_rows` of `rows` rows that hold `distinct` of them.
#[must_use]
pub fn distinct_drawn(distinct: f64, rows: f64, drawn_rows: f64) -> f64 {
    if rows <= 0.0 || distinct <= 1.0 || drawn_rows >= rows {
        return distinct.min(drawn_rows.max(1.0));
    }
    let rows_per_value = rows / distinct;
    let missed = (1.0 - drawn_rows / rows).powf(rows_per_value);
    (distinct * (1.0 - missed)).clamp(1.0, drawn_rows.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::distinct_drawn as drawn;

    #[test]
    fn drawing_all_rows_finds_all_values_and_one_row_finds_one() {
        assert_eq!(drawn(100.0, 1000.0, 1000.0), 100.0);
        assert_eq!(drawn(100.0, 1000.0, 1.0), 1.0);
        let some = drawn(100.0, 1000.0, 100.0);
        assert!((60.0..70.0).contains(&some), "{some}");
        assert_eq!(drawn(1000.0, 1000.0, 10.0), 10.0);
    }
}
