//! Where the processor's time goes, as far as it is counted.

use crate::tpcd::both::Both;
use crate::tpcd::fields::TableFieldSample;
use crate::tpcd::machine::Seconds;

/// Seconds of the processor for a query, by what `EXPLAIN ANALYZE` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct QuerySplit {
    /// Finding pages and copying their rows.
    pub(crate) pages: f64,
    /// Decoding fields of tables: their number times what one takes.
    pub(crate) decoding: f64,
    /// The rest of what the iterators do.
    pub(crate) operators: f64,
}

impl QuerySplit {
    /// From the text of `EXPLAIN ANALYZE`. `field_ns`: what decoding a field of a table takes. Fields of rows that iterators keep are not
    /// counted: they are not compressed, or not as those of tables. `slowness`: seconds of the machine for one of ours.
    pub(crate) fn of(analysis: &str, field_ns: f64, slowness: f64) -> Option<Self> {
        let words =
            analysis.split(|letter: char| letter.is_whitespace() || "\",;()".contains(letter));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let number = |at: Option<usize>| -> Option<f64> { words.get(at?)?.parse().ok() };
        let (mut fields, mut page_ns, mut own_ms) = (0.0, 0.0, 0.0);
        let (mut is_own, mut found) = (false, false);
        for (at, rest) in (0..words.len()).map(|at| (at, words.get(at..).unwrap_or_default())) {
            match rest {
                ["fields", "decoded", ..] => {
                    fields += number(at.checked_sub(1))?;
                    (is_own, found) = (true, true);
                }
                ["of", "them", "in", "kept", "rows", ..] => fields -= number(at.checked_sub(1))?,
                ["ns", "in", "pages", ..] => page_ns += number(at.checked_sub(1))?,
                ["ms", ..] if is_own => {
                    own_ms += number(at.checked_sub(1))?;
                    is_own = false;
                }
                _ => {}
            }
        }
        let [all, pages, decoding] =
            [own_ms * 1e6, page_ns, fields * field_ns].map(|ns| ns * 1e-9 * slowness);
        found.then(|| Self {
            pages,
            decoding,
            operators: (all - pages - decoding).max(0.0),
        })
    }

    pub(crate) fn seconds(&self) -> [f64; 3] {
        [self.pages, self.decoding, self.operators]
    }
}

/// What the processor does in a [`QuerySplit`].
pub(crate) const QUERY_PARTS: [&str; 3] = ["pages", "decoding", "operators"];

/// Seconds for loading rows: those of the processor by what it does, and those in which it waits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LoadSplit {
    /// Calls of the system that write and read files.
    pub(crate) files: f64,
    /// Reading the file of rows, as a query does that has nothing else to do.
    pub(crate) parsing: f64,
    /// Making tuples.
    pub(crate) tuples: f64,
    /// What is left of the processor's: pages, the log, checks.
    pub(crate) rest: f64,
    /// Waiting for the disk.
    pub(crate) waiting: f64,
}

/// What the processor does in a [`LoadSplit`].
pub(crate) const LOAD_PARTS: [&str; 4] =
    ["files", "parsing", "making tuples", "pages and the rest"];

impl LoadSplit {
    /// `tuples`: rows and nanoseconds of our processor for each.
    pub(crate) fn of(
        load: &Seconds,
        parsing: f64,
        tuples: impl IntoIterator<Item = (u64, f64)>,
        slowness: f64,
    ) -> Self {
        let tuples = tuples.into_iter();
        let tuples_ns: f64 = tuples.map(|(rows, ns)| rows as f64 * ns).sum();
        let tuples = tuples_ns * 1e-9 * slowness;
        Self {
            files: load.files,
            parsing,
            tuples,
            rest: (load.processor - load.files - parsing - tuples).max(0.0),
            waiting: load.time - load.processor,
        }
    }

    /// Of the processor.
    pub(crate) fn seconds(&self) -> [f64; 4] {
        [self.files, self.parsing, self.tuples, self.rest]
    }
}

/// How the loads of tables split, compressed and not, for those that were sampled.
pub(crate) fn of_load(
    load: &Both<Seconds>,
    parsing: f64,
    sample: &TableFieldSample,
    slowness: f64,
) -> Both<LoadSplit> {
    let [packed, plain] = load;
    let [packed_ns, plain_ns] = sample.tuple_ns;
    let split = |load, ns| LoadSplit::of(load, parsing, [(sample.row_count, ns)], slowness);
    [split(packed, packed_ns), split(plain, plain_ns)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANALYSIS: &str = "plan
\"sort (about 3 rows, 7.5 ms; 4 rows, 30 fields decoded, 20 of them in kept rows, 2.000 ms)\"
\"  scan of part to t0, all (about 9 rows, 5.0 ms; 9 rows, 90 fields decoded, 1000000 ns in
      pages, 5.000 ms)\"
";

    #[test]
    fn an_analysis_is_split_without_fields_of_kept_rows() {
        // 100 fields of tables of 10 us each, 7 ms in all, on a machine that is 10 times slower.
        let split = QuerySplit::of(ANALYSIS, 10_000.0, 10.0).expect("counts");
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(split.pages, 0.01), "{split:?}");
        assert!(near(split.decoding, 0.01), "{split:?}");
        assert!(near(split.operators, 0.05), "{split:?}");
        assert_eq!(QuerySplit::of("left to batches", 1.0, 1.0), None);
    }

    #[test]
    fn a_load_is_what_its_parts_are() {
        let load = Seconds {
            time: 12.0,
            processor: 10.0,
            files: 2.0,
            ..Seconds::default()
        };
        let split = LoadSplit::of(&load, 3.0, [(1_000_000, 100.0)], 10.0);
        assert_eq!(split.seconds(), [2.0, 3.0, 1.0, 4.0]);
        assert_eq!(split.waiting, 2.0);
        // Parts that were measured apart may take more than the whole.
        assert_eq!(LoadSplit::of(&load, 30.0, [], 10.0).rest, 0.0);
    }
}
