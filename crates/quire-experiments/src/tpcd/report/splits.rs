//! How busy the processor is, and with what; what compression saves of each field.

use quire_lab::{Axis, Chart, Figure, Positions, Series, SeriesOrigin, Verdict, VerdictCase};

use super::drawing::{QUERY, TABLE, both, figure, names, of_tpcd};
use super::verdicts::{Claim, NamedRatio};
use crate::tpcd::benchmark::splits::{LOAD_PARTS, QUERY_PARTS};
use crate::tpcd::benchmark::{MeasuredTable, Results};
use crate::tpcd::both::{Both, NAMES, pick};
use crate::tpcd::fields::{FieldBytes, FieldTechnique};
use crate::tpcd::machine::Seconds;
use crate::tpcd::paper;

/// Loads of the paper keep the processor busier than this.
const LOAD_UTILIZATION: f64 = 90.0;

const UTILIZATION: Axis = Axis::linear("processor", "%");
const PROCESSOR: Axis = Axis::linear("processor time", "s");

fn percent(seconds: &Seconds) -> f64 {
    100.0 * seconds.processor / seconds.time.max(1e-9)
}

fn sum(all: impl Iterator<Item = Seconds>) -> Seconds {
    let mut sum = Seconds::default();
    all.for_each(|seconds| sum.add(seconds));
    sum
}

/// Each and all together.
fn percents(name: &str, all: &[Seconds]) -> Series {
    let values = all.iter().map(percent);
    let total = percent(&sum(all.iter().copied()));
    Series::new(
        name,
        SeriesOrigin::Measured,
        values.chain([total]).collect(),
    )
}

/// %-CPU of table 5.
pub(super) fn utilization(results: &Results) -> Figure {
    let queries = of_tpcd(results);
    let seconds = |at: usize| -> Vec<Seconds> {
        let seconds = queries.iter().map(|query| pick(&query.seconds, at));
        seconds.collect()
    };
    let papers = both(|name, at| {
        let rows: Vec<[f64; 2]> = queries
            .iter()
            .filter_map(|query| {
                let found = paper::QUERIES.iter().find(|row| row.name == query.name);
                found.map(|row| pick(&[row.compressed, row.uncompressed], at))
            })
            .collect();
        let total = rows.iter().fold([0.0, 0.0], |[time, busy], row| {
            [time + row[0], busy + row[1]]
        });
        let values = rows.iter().chain([&total]);
        Series::paper(
            name,
            values.map(|row| Some(paper::utilization(*row))).collect(),
        )
    });
    figure(
        ("tpcd-utilization", "table 5"),
        "Share of the time in which the processor works".to_owned(),
        (QUERY, UTILIZATION),
        names(queries.iter().map(|query| query.name)),
        both(|name, at| percents(name, &seconds(at)))
            .into_iter()
            .chain(papers)
            .collect(),
    )
}

/// The paper says of it: typically more than 90 %.
pub(super) fn load_utilization(tables: &[MeasuredTable]) -> Figure {
    let seconds =
        |at: usize| -> Vec<Seconds> { tables.iter().map(|table| pick(&table.load, at)).collect() };
    let mut figure = figure(
        ("tpcd-load-utilization", "section 5.3"),
        "Share of the time of loads in which the processor works".to_owned(),
        (TABLE, UTILIZATION),
        names(tables.iter().map(|table| table.name)),
        both(|name, at| percents(name, &seconds(at))).into(),
    );
    let totals = [0, 1].map(|at| percent(&sum(seconds(at).into_iter())));
    figure.verdicts.push(load_is_bound_by_the_processor(totals));
    figure
}

/// Compressed and not, all tables together.
fn load_is_bound_by_the_processor(percents: Both<f64>) -> Verdict {
    let cases = NAMES
        .into_iter()
        .zip(percents)
        .map(|(name, value)| VerdictCase {
            name: name.to_owned(),
            holds: value > LOAD_UTILIZATION,
            value,
        });
    let statement = "loads keep the processor busy for more than 90 % of their time";
    Verdict::of_all(statement, &cases.collect::<Vec<_>>())
}

/// A figure of what the processor does for each of those that have been split.
fn split_figure<const N: usize>(
    (stem, section, title): (&'static str, &'static str, &str),
    of: Axis,
    part_names: [&str; N],
    splits: &[(&'static str, Both<[f64; N]>)],
) -> Figure {
    let seconds: Vec<_> = splits.iter().map(|(_, seconds)| *seconds).collect();
    Figure {
        chart: Chart::StackedBars { parts: N },
        ..figure(
            (stem, section),
            title.to_owned(),
            (of, PROCESSOR),
            names(splits.iter().map(|(name, _)| *name)),
            parts(part_names, &seconds),
        )
    }
}

fn parts<const N: usize>(names: [&str; N], splits: &[Both<[f64; N]>]) -> Vec<Series> {
    let mut series = Vec::new();
    for (at, storage) in NAMES.into_iter().enumerate() {
        for (part, name) in names.into_iter().enumerate() {
            let values = splits.iter().map(|split| pick(split, at));
            let values: Vec<f64> = values
                .map(|seconds| seconds.get(part).copied().unwrap_or_default())
                .collect();
            let total = values.iter().sum();
            let values = values.into_iter().chain([total]).collect();
            series.push(Series::new(
                format!("{storage}: {name}"),
                SeriesOrigin::Measured,
                values,
            ));
        }
    }
    series
}

/// With what the processor is busy in queries.
pub(super) fn queries(results: &Results) -> Figure {
    let queries = results.queries.iter();
    let splits = queries.filter_map(|query| {
        let split = query.split?;
        Some((query.name, split.map(|split| split.seconds())))
    });
    let mut figure = split_figure(
        (
            "tpcd-split",
            "section 5.4",
            "What the processor does in queries",
        ),
        QUERY,
        QUERY_PARTS,
        &splits.collect::<Vec<_>>(),
    );
    figure.notes.push(
        "from one run of EXPLAIN ANALYZE, which takes times itself and compiles no programs to machine code: shares, not times, are to be compared with those \
         of other figures. Pages: finding them and copying their rows. Decoding: fields of tables, counted, times what a number takes by itself; fields of rows that \
         sorts and joins keep are operators. Subqueries for single values are not in it"
            .to_owned(),
    );
    figure
}

/// With what the processor is busy in loads.
pub(super) fn loads(results: &Results) -> Figure {
    let tables = results.tables.iter();
    let splits = tables.filter_map(|table| {
        let split = table.split?;
        Some((table.name, split.map(|split| split.seconds())))
    });
    let mut figure = split_figure(
        (
            "tpcd-load-processor",
            "section 5.3",
            "What the processor does in loads",
        ),
        TABLE,
        LOAD_PARTS,
        &splits.collect::<Vec<_>>(),
    );
    figure.notes.push(
        "files: calls of the system, by the wall clock; parsing: a query of the file of rows; making tuples: 20,000 rows of the table, one by one; the rest is what is left"
            .to_owned(),
    );
    let ratio = |at: usize| {
        let samples = results.samples.iter();
        samples
            .map(|sample| pick(&sample.tuple_ns, at) * sample.row_count as f64)
            .sum::<f64>()
    };
    figure.notes.push(format!(
        "making compressed tuples takes {:.2} times as long as making others",
        ratio(0) / ratio(1).max(1e-9)
    ));
    figure
}

/// What went to the second disk.
pub(super) fn temporaries(results: &Results) -> Figure {
    let queries = of_tpcd(results);
    let kib = both(|name, at| {
        let values = queries
            .iter()
            .map(|query| pick(&query.seconds, at).spilled_kib);
        let values: Vec<f64> = values.collect();
        let total = values.iter().sum();
        let values = values.into_iter().chain([total]).collect();
        Series::new(name, SeriesOrigin::Measured, values)
    });
    figure(
        ("tpcd-temporaries", "section 4.2"),
        "What queries write into temporary files".to_owned(),
        (QUERY, Axis::linear("written", "KiB")),
        names(queries.iter().map(|query| query.name)),
        kib.into(),
    )
}

/// Bytes of a field, compressed by uncompressed ones, of all rows of some columns.
fn share(name: &str, fields: &[&FieldBytes]) -> NamedRatio {
    let sum = |at: usize| {
        let bytes = fields
            .iter()
            .map(|field| pick(&field.bytes, at) * field.row_count as f64);
        bytes.sum::<f64>()
    };
    NamedRatio::of(name, [sum(0), sum(1)])
}

/// What compression makes of each field.
pub(super) fn fields(results: &Results) -> Figure {
    let fields: Vec<&FieldBytes> = results
        .samples
        .iter()
        .flat_map(|sample| &sample.fields)
        .collect();
    let bytes = both(|name, at| {
        let values = fields.iter().map(|field| pick(&field.bytes, at));
        Series::new(name, SeriesOrigin::Measured, values.collect())
    });
    let shares = fields.iter().map(|field| share(field.name, &[field]).ratio);
    let shares = Series::new(
        "compressed / uncompressed",
        SeriesOrigin::Measured,
        shares.collect(),
    );
    let mut figure = figure(
        ("tpcd-fields", "section 5.2"),
        "Bytes of compressed fields".to_owned(),
        (
            Axis::linear("column", ""),
            Axis::linear("field; share", "bytes; times"),
        ),
        Positions::labels(fields.iter().map(|field| field.name)),
        bytes.into_iter().chain([shares]).collect(),
    );
    let verdict = Claim::FIELDS.verdict(Some(share("all fields", &fields)));
    figure.verdicts.push(verdict);
    let techniques = [
        (FieldTechnique::Number, "integers and decimals"),
        (FieldTechnique::Flag, "flags"),
        (FieldTechnique::Blanks, "CHAR(n)"),
        (FieldTechnique::Length, "lengths of VARCHAR"),
    ];
    let shown = techniques.map(|(technique, name)| {
        let of: Vec<&FieldBytes> = fields
            .iter()
            .copied()
            .filter(|field| field.technique == technique)
            .collect();
        format!("{name} {:.2}", share(name, &of).ratio)
    });
    figure.notes.push(format!(
        "compressed by uncompressed bytes of all rows: {}",
        shown.join(", ")
    ));
    figure.notes.push(
        "uncompressed: 4 bytes of an INTEGER or a length, 8 of a BIGINT (o_orderkey, l_orderkey) or a decimal, n of a CHAR(n); the text of a VARCHAR is not compressed and not counted"
            .to_owned(),
    );
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use quire_lab::VerdictOutcome::{Fails, Holds};

    #[test]
    fn shares_are_of_all_rows() {
        let field = |bytes, row_count| FieldBytes {
            name: "f",
            technique: FieldTechnique::Number,
            bytes,
            row_count,
        };
        let (many, few) = (field([2.0, 4.0], 300), field([8.0, 8.0], 50));
        let share = share("both", &[&many, &few]).ratio;
        assert!((share - 1_000.0 / 1_600.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn loads_that_wait_for_the_disk_are_not_bound_by_the_processor() {
        assert_eq!(load_is_bound_by_the_processor([93.0, 91.0]).outcome, Holds);
        let verdict = load_is_bound_by_the_processor([93.0, 60.0]);
        assert_eq!(verdict.outcome, Fails);
        assert_eq!(verdict.finding, "1 of 2; not for uncompressed (60.00)");
    }
}
