//! Table 6.1 and figure 6.9 as figures.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::column_tables::{ColumnLayout, PAX_BLOCK_BYTES, TimeOnDevice};
use crate::tpch::machine::TpchMachine;
use crate::tpch::measure::{ProcessorCalibration, TpchResults};
use crate::tpch::paper::{self, PaperTpchRow};
use crate::tpch::times::{TpchTimes, TpchVariant, query_name};
use crate::tpch::{TpchSetup, verdicts};

const QUERY: Axis = Axis::linear("query", "");
const SECONDS: Axis = Axis::linear("time", "s");

/// How slow the paper's processors are.
fn processors(calibration: &ProcessorCalibration) -> String {
    if calibration.is_too_short() {
        return "processors: query 1 takes too little time at this scale to compare processors by, so all are taken for ours"
            .to_owned();
    }
    let slowness = calibration.pentium4_slowness();
    format!(
        "processors: query 1 over compressed DSM tables in memory takes our processor {:.3} s, the Pentium4 {:.3} s (50.9 s times the scale), so a second of ours is {slowness:.2} s of the Pentium4; \
         query 1, DSM M⇒C, takes as long as in the paper because of that. A second of ours is {:.2} s of the Opteron, by the paper's speeds of decompression in query 1; by the clocks, 2 \
         and 3 GHz, query 1 would take the Opteron longer than the paper measured",
        calibration.own_seconds,
        calibration.pentium4_seconds,
        TpchMachine::Opteron.slowness(slowness)
    )
}

/// The columns of the table in groups, and the figure.
pub(crate) fn figures(setup: &TpchSetup, results: &TpchResults) -> Vec<Figure> {
    let lab = Lab::new(MeasureEffort::Quick);
    let queries = &results.queries;
    let mut figures = vec![ratios(queries), decompression(setup, queries)];
    figures.extend(setup.machines.iter().map(|&machine| match machine {
        TpchMachine::Pentium4 => pentium4(setup, queries),
        TpchMachine::Opteron => opteron(setup, queries),
        TpchMachine::Own => own(queries),
    }));
    figures.push(in_memory(queries));
    figures.push(speed_ups(setup, queries, ColumnLayout::Dsm));
    figures.push(speed_ups(setup, queries, ColumnLayout::Pax));
    figures.extend(profiles(setup, queries));
    for figure in &mut figures {
        if figure.stem == "tpch-speed-ups" {
            figure.verdicts = verdicts::all(queries);
        }
        figure.notes.extend(set_up(setup, results, &lab));
    }
    figures
}

fn set_up(setup: &TpchSetup, results: &TpchResults, lab: &Lab) -> Vec<String> {
    let mut notes = setup.tables.notes(lab).to_vec();
    notes.push(format!(
        "plans are made before and their time does not count; DSM: each column by itself; PAX: blocks of about {} KiB; Pentium4: 350 MB/s, 12 accesses at a time; Opteron: 80 MB/s, \
         4 at a time; own: our processor, an NVMe disk of 3.4 GB/s",
        PAX_BLOCK_BYTES / 1024
    ));
    notes.push(
        "compressed: each column by whichever of Quire's codecs suits it, comments too (the paper: PFOR, PFOR-DELTA and PDICT, comments not); rows are in the order of \
         the generator, without the paper's clustering and index structures"
            .to_owned(),
    );
    if let Some(calibration) = results.calibration {
        notes.push(processors(&calibration));
        notes.push(
            "slower processors are measured in quick motion: devices are as many times faster than the paper's as our processor is, and all times are multiplied by that; copies \
             and checksums of pages that are read ahead run on other processors of ours"
                .to_owned(),
        );
    }
    notes
}

fn figure(
    (stem, number, title): (&'static str, &'static str, String),
    y: Axis,
    queries: &[TpchTimes],
    series: Vec<Series>,
) -> Figure {
    Figure {
        stem,
        title,
        paper: Paper::SuperScalarCompression,
        number,
        chart: Chart::Bars,
        x: QUERY,
        y,
        positions: Positions::labels(queries.iter().map(|query| query_name(query.number))),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// A value of each query that was measured.
fn measured(
    name: impl Into<String>,
    queries: &[TpchTimes],
    of: impl Fn(&TpchTimes) -> Option<f64>,
) -> Series {
    Series {
        name: name.into(),
        origin: SeriesOrigin::Measured,
        values: queries.iter().map(of).collect(),
    }
}

/// The paper's value of each query.
fn printed(
    name: impl Into<String>,
    queries: &[TpchTimes],
    of: impl Fn(&PaperTpchRow) -> f64,
) -> Series {
    let rows = queries.iter().map(|query| paper::row_of(query.number));
    Series::paper(name, rows.map(|row| row.map(&of)).collect())
}

fn ratios(queries: &[TpchTimes]) -> Figure {
    let series = vec![
        measured("DSM", queries, |query| query.ratio(ColumnLayout::Dsm)),
        measured("PAX", queries, |query| query.ratio(ColumnLayout::Pax)),
        printed("DSM", queries, |row| row.ratios[0]),
        printed("PAX", queries, |row| row.ratios[1]),
    ];
    let title =
        "Compression ratios: of the columns that queries name, and of whole blocks".to_owned();
    let y = Axis::linear("ratio", "");
    figure(("tpch-ratios", "table 6.1", title), y, queries, series)
}

fn decompression(setup: &TpchSetup, queries: &[TpchTimes]) -> Figure {
    let mut series = Vec::new();
    for layout in [ColumnLayout::Dsm, ColumnLayout::Pax] {
        let name = format!("our processor, {}", layout.name());
        series.push(measured(name, queries, |query| {
            let in_memory = query.in_memory(layout)?;
            Some(in_memory.compressed.decompression_bandwidth() / 1e6)
        }));
    }
    for machine in modelled(setup) {
        let name = format!("{} by its slowness, DSM", machine.name());
        series.push(measured(name, queries, |query| {
            let bandwidth = query.decompression_bandwidth(machine, ColumnLayout::Dsm);
            Some(bandwidth? / 1e6)
        }));
    }
    series.push(printed("Pentium4", queries, |row| row.decompression[0]));
    series.push(printed("Opteron", queries, |row| row.decompression[1]));
    let title = "Decompression of what queries read, in decoded bytes".to_owned();
    let y = Axis::linear("bandwidth", "MB/s");
    figure(
        ("tpch-decompression", "table 6.1", title),
        y,
        queries,
        series,
    )
}

/// The machines that were asked for and are not this one.
fn modelled(setup: &TpchSetup) -> impl Iterator<Item = TpchMachine> {
    let machines = setup.machines.iter().copied();
    machines.filter(|machine| *machine != TpchMachine::Own)
}

fn cold(machine: TpchMachine, queries: &[TpchTimes]) -> Vec<Series> {
    let variants = TpchVariant::ALL.into_iter();
    let series = variants.map(|variant| {
        measured(variant.name(), queries, move |query| {
            Some(query.on(machine, variant)?.seconds)
        })
    });
    series.collect()
}

fn pentium4(setup: &TpchSetup, queries: &[TpchTimes]) -> Figure {
    let scale = setup.tables.scale / paper::SCALE;
    let mut series = cold(TpchMachine::Pentium4, queries);
    for (at, variant) in TpchVariant::ALL.into_iter().enumerate() {
        let seconds = |row: &PaperTpchRow| row.pentium4.get(at).copied().unwrap_or_default();
        let name = variant.name();
        series.push(printed(name, queries, |row| seconds(row) * scale));
    }
    series.push(printed("DB2", queries, |row| row.db2 * scale));
    let title = "Times on the Pentium4; the paper's times the scale".to_owned();
    figure(
        ("tpch-pentium4", "table 6.1", title),
        SECONDS,
        queries,
        series,
    )
}

/// The paper has all but M⇒M.
const OF_OPTERON: [TpchVariant; 4] = [
    TpchVariant::DsmPlain,
    TpchVariant::DsmToCache,
    TpchVariant::PaxPlain,
    TpchVariant::PaxToCache,
];

fn opteron(setup: &TpchSetup, queries: &[TpchTimes]) -> Figure {
    let scale = setup.tables.scale / paper::SCALE;
    let mut series = cold(TpchMachine::Opteron, queries);
    for (at, variant) in OF_OPTERON.into_iter().enumerate() {
        let seconds = |row: &PaperTpchRow| row.opteron.get(at).copied().unwrap_or_default();
        let name = variant.name();
        series.push(printed(name, queries, |row| seconds(row) * scale));
    }
    let title = "Times on the Opteron; the paper's times the scale".to_owned();
    figure(
        ("tpch-opteron", "table 6.1", title),
        SECONDS,
        queries,
        series,
    )
}

fn own(queries: &[TpchTimes]) -> Figure {
    let series = cold(TpchMachine::Own, queries);
    let title = "Times on our processor and an NVMe disk".to_owned();
    figure(("tpch-own", "table 6.1", title), SECONDS, queries, series)
}

fn in_memory(queries: &[TpchTimes]) -> Figure {
    let mut series = Vec::new();
    for layout in [ColumnLayout::Dsm, ColumnLayout::Pax] {
        for variant in TpchVariant::plain_and_compressed(layout) {
            series.push(measured(variant.name(), queries, |query| {
                let times = query.in_memory(layout)?;
                Some(times.get(variant.codecs()).seconds)
            }));
        }
    }
    let title = "Times on our processor with everything in memory".to_owned();
    figure(
        ("tpch-memory", "table 6.1", title),
        SECONDS,
        queries,
        series,
    )
}

/// The ratio, and the speed-up on each machine that was asked for.
fn measured_speed_ups(
    setup: &TpchSetup,
    queries: &[TpchTimes],
    layout: ColumnLayout,
) -> Vec<Series> {
    let variants = TpchVariant::plain_and_compressed(layout);
    let mut series = vec![measured("ratio", queries, |query| query.ratio(layout))];
    for &machine in &setup.machines {
        series.push(measured(machine.name(), queries, |query| {
            query.speed_up(machine, variants)
        }));
    }
    series
}

/// The ratios and speed-ups of a layout beside those of the paper.
fn speed_ups(setup: &TpchSetup, queries: &[TpchTimes], layout: ColumnLayout) -> Figure {
    // The paper's columns: the ratio, and on each machine plain times and compressed ones.
    let (stem, name, ratio, pentium4, opteron) = match layout {
        ColumnLayout::Dsm => ("tpch-speed-ups", "DSM", 0, [0, 1], [0, 1]),
        ColumnLayout::Pax => ("tpch-pax-speed-ups", "PAX", 1, [3, 4], [2, 3]),
    };
    let mut series = measured_speed_ups(setup, queries, layout);
    series.push(printed("ratio", queries, |row| row.ratios[ratio]));
    series.push(printed("Pentium4", queries, |row| {
        let [plain, compressed] = pentium4.map(|column: usize| row.pentium4[column]);
        plain / compressed
    }));
    series.push(printed("Opteron", queries, |row| {
        let [plain, compressed] = opteron.map(|column: usize| row.opteron[column]);
        plain / compressed
    }));
    let title = format!("{name}: time without compression by time with it");
    let y = Axis::linear("speed-up", "");
    figure((stem, "table 6.1", title), y, queries, series)
}

/// Figure 6.9, from left to right: of the machines and layouts that were asked for.
fn profiles(setup: &TpchSetup, queries: &[TpchTimes]) -> Vec<Figure> {
    let parts = [
        (
            TpchMachine::Opteron,
            ColumnLayout::Dsm,
            "tpch-profile-opteron",
        ),
        (
            TpchMachine::Pentium4,
            ColumnLayout::Dsm,
            "tpch-profile-pentium4",
        ),
        (
            TpchMachine::Pentium4,
            ColumnLayout::Pax,
            "tpch-profile-pentium4-pax",
        ),
        (TpchMachine::Own, ColumnLayout::Dsm, "tpch-profile-own"),
    ];
    let asked = parts.into_iter().filter(|(machine, layout, _)| {
        setup.machines.contains(machine) && setup.layouts.contains(layout)
    });
    let figures = asked.map(|(machine, layout, stem)| profile(queries, (machine, layout), stem));
    figures.collect()
}

/// Where the time of a query goes, without compression and with it: three series each.
fn profile(
    queries: &[TpchTimes],
    (machine, layout): (TpchMachine, ColumnLayout),
    stem: &'static str,
) -> Figure {
    let mut series = Vec::new();
    for variant in TpchVariant::plain_and_compressed(layout) {
        let mut add = |part: &str, seconds: fn(&TimeOnDevice) -> f64| {
            let name = format!("{}: {part}", variant.name());
            series.push(measured(name, queries, |query| {
                query.on(machine, variant).map(seconds)
            }));
        };
        add("processing", TimeOnDevice::processing_seconds);
        add("decompression", |time: &TimeOnDevice| time.decode_seconds);
        add("I/O wait", |time: &TimeOnDevice| time.io_wait_seconds);
    }
    let title = format!(
        "Where the time goes on the {}, {}",
        machine.name(),
        layout.name()
    );
    Figure {
        chart: Chart::StackedBars { parts: 3 },
        ..figure((stem, "figure 6.9", title), SECONDS, queries, series)
    }
}
