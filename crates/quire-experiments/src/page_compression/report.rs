//! Tables IV to VIII and figures 6 to 9, each with the paper's values beside ours.

use quire_lab::page_model::paper::{LZ4HC, UNCOMPRESSED_ACCESS_US, UNCOMPRESSED_HIT_RATE, ZLIB};
use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin};

use super::paper::{ASYNC_PERCENT, SAVED_PERCENT, SIZES_GB};
use super::read_test::{ReadCase, ReadRun, ReadTest};
use super::storage::RecordStorage;
use super::write_test::{CompressionMode, WriteCase, WriteRun, WriteTest};
use super::{PageCompressionSetup, verdicts};

const MIB: f64 = 1_048_576.0;

/// A figure without series, verdicts and notes.
fn figure(
    (number, stem): (&'static str, &'static str),
    title: &str,
    y: Axis,
    positions: Positions,
) -> Figure {
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::PageCompression,
        number,
        chart: Chart::Bars,
        x: Axis::linear("pages", ""),
        y,
        positions,
        series: Vec::new(),
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

fn measured(name: impl Into<String>, values: Vec<Option<f64>>) -> Series {
    Series {
        name: name.into(),
        origin: SeriesOrigin::Measured,
        values,
    }
}

fn all_storages() -> Positions {
    Positions::labels(RecordStorage::ALL.map(RecordStorage::name))
}

/// A value of each storage with InnoDB's pool, of one connection.
fn of_first_run(
    reads: &ReadTest,
    value: impl Fn(&ReadCase, &ReadRun) -> Option<f64>,
) -> Vec<Option<f64>> {
    let of = |storage| {
        let case = reads.case(storage)?;
        value(case, case.runs.first()?)
    };
    RecordStorage::ALL.map(of).to_vec()
}

/// Tables IV to VII, figures 6 and 7.
pub(crate) fn read_figures(setup: &PageCompressionSetup, reads: &ReadTest) -> Vec<Figure> {
    let device = setup.device.map_or("memory", |device| device.name);
    let note = format!(
        "{} rows in trees with pages of 16 KiB and images of 8 KiB, a pool of {:.1} MiB that is InnoDB's: a frame holds its image, and a tenth is for \
         frames where pages are compressed; a fifth of the rows is read by key, with Zipf's exponent {:.3}, so that uncompressed pages are found as \
         often as the paper's; disk: {device}",
        setup.rows,
        setup.read_pool_bytes as f64 / MIB,
        reads.exponent
    );
    let mut figures = vec![
        table_4(reads),
        table_5(reads),
        table_6(reads),
        table_7(reads),
    ];
    figures.push(Figure {
        verdicts: verdicts::of_reads(reads),
        ..by_connections(setup, reads, ("figure 6", "paper-4-figure-6"), |run| {
            run.reads_per_second
        })
    });
    figures.push(Figure {
        y: Axis::linear("read from the disk", "MiB/s"),
        title: "Disk reads while rows are read by key".to_owned(),
        ..by_connections(setup, reads, ("figure 7", "paper-4-figure-7"), |run| {
            run.traffic.read_bytes as f64 / MIB / run.seconds
        })
    });
    for figure in &mut figures {
        figure.notes.push(note.clone());
    }
    figures
}

fn table_4(reads: &ReadTest) -> Figure {
    let bytes = of_first_run(reads, |case, _| Some(case.live_bytes as f64));
    let all = bytes.first().copied().flatten();
    let percent = |value: &Option<f64>| Some(100.0 * (*value)? / all?);
    let [paper_all, ..] = SIZES_GB;
    let mut figure = figure(
        ("table IV", "paper-4-table-4"),
        "Size of the pages when all rows are inserted",
        Axis::linear("of the uncompressed size", "%"),
        all_storages(),
    );
    figure.series = vec![
        measured("here", bytes.iter().map(percent).collect()),
        Series::paper(
            "the paper",
            SIZES_GB.map(|size| Some(100.0 * size / paper_all)).to_vec(),
        ),
    ];
    figure
}

fn table_5(reads: &ReadTest) -> Figure {
    let times = of_first_run(reads, |case, run| {
        let us = run.stats.decode_ns_mean as f64 / 1e3;
        case.storage.is_compressed().then_some(us)
    });
    let mut figure = figure(
        ("table V", "paper-4-table-5"),
        "Mean time to decompress a page within the database",
        Axis::linear("decompression of a page", "µs"),
        all_storages(),
    );
    figure.series = vec![
        measured("here", times),
        Series::paper(
            "the paper",
            vec![
                None,
                Some(LZ4HC.page_decompression_us),
                Some(ZLIB.page_decompression_us),
            ],
        ),
    ];
    figure
}

fn table_6(reads: &ReadTest) -> Figure {
    let hot = of_first_run(reads, |_, run| Some(100.0 * run.stats.leaf_hot_hit_rate()));
    let warm = of_first_run(reads, |case, run| {
        let percent = 100.0 * run.stats.leaf_warm_hit_rate();
        case.storage.is_compressed().then_some(percent)
    });
    let hot_of_paper = [
        UNCOMPRESSED_HIT_RATE,
        LZ4HC.uncompressed_hit_rate,
        ZLIB.uncompressed_hit_rate,
    ];
    let warm_of_paper = [
        None,
        Some(LZ4HC.compressed_hit_rate),
        Some(ZLIB.compressed_hit_rate),
    ];
    let percent = |rate: f64| 100.0 * rate;
    let mut figure = figure(
        ("table VI", "paper-4-table-6"),
        "Hit rates of the pool, of leaves alone",
        Axis::linear("found", "%"),
        all_storages(),
    );
    figure.series = vec![
        measured("uncompressed pages", hot),
        Series::paper(
            "uncompressed pages, the paper",
            hot_of_paper.map(|rate| Some(percent(rate))).to_vec(),
        ),
        measured("compressed pages", warm),
        Series::paper(
            "compressed pages, the paper",
            warm_of_paper.map(|rate| rate.map(percent)).to_vec(),
        ),
    ];
    figure
}

fn table_7(reads: &ReadTest) -> Figure {
    let us = |ns: u64| Some(ns as f64 / 1e3);
    let expected = of_first_run(reads, |_, run| us(run.stats.leaf_access_ns_expected()));
    let times = of_first_run(reads, |_, run| us(run.stats.leaf_access_ns_measured()));
    let mut figure = figure(
        ("table VII", "paper-4-table-7-measured"),
        "Time of access to a leaf",
        Axis::linear("access to a page", "µs"),
        all_storages(),
    );
    figure.series = vec![
        Series {
            origin: SeriesOrigin::Calculated,
            ..measured("equation 2 with what was measured", expected)
        },
        measured("measured", times),
        Series::paper(
            "the paper (equations 1 and 2)",
            [UNCOMPRESSED_ACCESS_US, LZ4HC.access_us, ZLIB.access_us]
                .map(Some)
                .to_vec(),
        ),
    ];
    figure
}

/// Figure 6, and what of it differs in figure 7.
fn by_connections(
    setup: &PageCompressionSetup,
    reads: &ReadTest,
    name: (&'static str, &'static str),
    value: impl Fn(&ReadRun) -> f64,
) -> Figure {
    let positions = setup.connections.iter().map(|count| *count as f64);
    let mut figure = figure(
        name,
        "Rows read by key",
        Axis::linear("queries", "1/s"),
        Positions::Numbers(positions.collect()),
    );
    figure.chart = Chart::Lines;
    figure.x = Axis::linear("connections", "");
    let values = |case: &ReadCase| case.runs.iter().map(|run| Some(value(run))).collect();
    let cases = RecordStorage::ALL.iter();
    let series = cases.clone().filter_map(|storage| {
        let case = reads.case(*storage)?;
        Some(measured(storage.name(), values(case)))
    });
    figure.series = series.collect();
    let tuned = cases.filter_map(|storage| {
        let case = reads.tuned_case(*storage)?;
        let name = format!("{}, our pool", storage.name());
        Some(measured(name, values(case)))
    });
    figure.series.extend(tuned);
    figure
        .notes
        .push("the paper's values are in a drawing only".to_owned());
    figure
}

/// Figures 8 and 9, table VIII, and what advance split saves.
pub(crate) fn write_figures(setup: &PageCompressionSetup, writes: &WriteTest) -> Vec<Figure> {
    let device = setup.device.map_or("memory", |device| device.name);
    let note = format!(
        "{} rows in random order by all threads together, each into six tables; a pool of {:.1} MiB; no log is written; disk: {device}",
        setup.inserted_rows,
        setup.write_pool_bytes as f64 / MIB
    );
    let mut figures = vec![
        Figure {
            verdicts: verdicts::of_writes(writes),
            ..by_threads(setup, writes, ("figure 8", "paper-4-figure-8"), |run| {
                run.rows_per_second
            })
        },
        Figure {
            title: "Disk writes while rows are inserted".to_owned(),
            y: Axis::linear("written to the disk", "MiB/s"),
            ..by_threads(setup, writes, ("figure 9", "paper-4-figure-9"), |run| {
                run.traffic.written_bytes as f64 / MIB / run.seconds
            })
        },
        table_8(writes),
        advance_splits(writes),
    ];
    for figure in &mut figures {
        figure.notes.push(note.clone());
    }
    figures
}

fn by_threads(
    setup: &PageCompressionSetup,
    writes: &WriteTest,
    name: (&'static str, &'static str),
    value: impl Fn(&WriteRun) -> f64,
) -> Figure {
    let positions = setup.connections.iter().map(|count| *count as f64);
    let mut figure = figure(
        name,
        "Rows inserted",
        Axis::linear("insertions", "1/s"),
        Positions::Numbers(positions.collect()),
    );
    figure.chart = Chart::Lines;
    figure.x = Axis::linear("threads", "");
    let drawn = |case: &&WriteCase| case.mode != CompressionMode::AsyncWithoutAdvanceSplit;
    let cases = writes.cases.iter().filter(drawn);
    let series = cases.map(|case| {
        let name = if case.storage.is_compressed() {
            format!("{}, {}", case.storage.name(), case.mode.name())
        } else {
            case.storage.name().to_owned()
        };
        measured(name, case.runs.iter().map(|run| Some(value(run))).collect())
    });
    figure.series = series.collect();
    figure
}

fn compressed_storages() -> Positions {
    Positions::labels(RecordStorage::COMPRESSED.map(RecordStorage::name))
}

/// A value of both codecs, of one thread.
fn of_first_insertions(
    writes: &WriteTest,
    mode: CompressionMode,
    value: impl Fn(&WriteRun) -> Option<f64>,
) -> Vec<Option<f64>> {
    let of = |storage| value(writes.case(storage, mode)?.runs.first()?);
    RecordStorage::COMPRESSED.map(of).to_vec()
}

fn table_8(writes: &WriteTest) -> Figure {
    let mut figure = figure(
        ("table VIII", "paper-4-table-8"),
        "Compressions by threads in the background, of those while rows are inserted",
        Axis::linear("in the background", "%"),
        compressed_storages(),
    );
    figure.series = vec![
        measured(
            "here",
            of_first_insertions(writes, CompressionMode::Async, WriteRun::async_percent),
        ),
        Series::paper("the paper", ASYNC_PERCENT.map(Some).to_vec()),
    ];
    figure
}

/// What advance split saves (§VI-C), and how many compressions fail with and without it.
fn advance_splits(writes: &WriteTest) -> Figure {
    use CompressionMode::{Async, AsyncWithoutAdvanceSplit};
    let compressions =
        |run: &WriteRun| Some(run.stats.target_compressions as f64).filter(|count| *count > 0.0);
    let with = of_first_insertions(writes, Async, compressions);
    let without = of_first_insertions(writes, AsyncWithoutAdvanceSplit, compressions);
    let saved = with.into_iter().zip(without);
    let saved = saved.map(|(with, without)| Some(100.0 * (1.0 - with? / without?)));
    let failed = |mode| of_first_insertions(writes, mode, WriteRun::failed_percent);
    let mut figure = figure(
        ("§VI-C", "paper-4-advance-split"),
        "Compressions that advance split saves, and that fail",
        Axis::linear("of the compressions", "%"),
        compressed_storages(),
    );
    figure.series = vec![
        measured("saved", saved.collect()),
        Series::paper("saved, the paper", SAVED_PERCENT.map(Some).to_vec()),
        measured("failed", failed(Async)),
        measured("failed, no advance split", failed(AsyncWithoutAdvanceSplit)),
    ];
    figure
}
