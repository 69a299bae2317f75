//! Table 6.1 and figure 6.9 as figures.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::tpch::TpchSetup;
use crate::tpch::measure::{TpchMachine, TpchTimes, TpchVariant, query_name};
use crate::tpch::paper::{self, PaperTpchRow};
use crate::tpch::verdicts;

const QUERY: Axis = Axis::linear("query", "");
const SECONDS: Axis = Axis::linear("time", "s");

/// The columns of the table in groups, and the figure.
pub(crate) fn figures(setup: &TpchSetup, queries: &[TpchTimes]) -> Vec<Figure> {
    let lab = Lab::new(MeasureEffort::Quick);
    let mut figures = vec![
        ratios(queries),
        decompression(queries),
        pentium4(setup, queries),
        opteron(setup, queries),
        own(queries),
        speed_ups(queries),
        profile(queries, TpchMachine::Opteron),
        profile(queries, TpchMachine::Pentium4),
    ];
    let verdicts: Vec<String> = verdicts::all(queries)
        .into_iter()
        .map(|verdict| verdict.text)
        .collect();
    for figure in &mut figures {
        if figure.stem == "tpch-speed-ups" {
            figure.notes.extend(verdicts.iter().cloned());
        }
        figure.notes.extend(set_up(setup, &lab));
    }
    figures
}

fn set_up(setup: &TpchSetup, lab: &Lab) -> Vec<String> {
    let disk = match setup.has_files {
        true => "files of this machine",
        false => "memory",
    };
    vec![
        lab.machine().to_owned(),
        format!(
            "scale {}, one thread, the processor is ours on each machine; databases in {disk} behind a modelled device, nothing of them in the cache before a run; the middle of {} \
             runs; Pentium4: 350 MB/s, 12 accesses at a time; Opteron: 80 MB/s, 4 at a time; own: an NVMe disk of 3.4 GB/s",
            setup.scale,
            setup.rounds.max(1)
        ),
        "not measured: PAX and M⇒M, which this experiment does not run yet".to_owned(),
    ]
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
    let dsm = [TpchVariant::DsmPlain, TpchVariant::DsmToCache];
    let pax = [TpchVariant::PaxPlain, TpchVariant::PaxToCache];
    let series = vec![
        measured("DSM", queries, |query| query.ratio(dsm)),
        measured("PAX", queries, |query| query.ratio(pax)),
        printed("DSM", queries, |row| row.ratios[0]),
        printed("PAX", queries, |row| row.ratios[1]),
    ];
    let title = "Compression ratios of the bytes that queries read".to_owned();
    let y = Axis::linear("ratio", "");
    figure(("tpch-ratios", "table 6.1", title), y, queries, series)
}

fn decompression(queries: &[TpchTimes]) -> Figure {
    let series = vec![
        measured("DSM", queries, |query| {
            Some(query.in_memory.compressed.decompression_bandwidth() / 1e6)
        }),
        printed("Pentium4", queries, |row| row.decompression[0]),
        printed("Opteron", queries, |row| row.decompression[1]),
    ];
    let title = "Decompression of what queries read, in decoded bytes".to_owned();
    let y = Axis::linear("bandwidth", "MB/s");
    figure(
        ("tpch-decompression", "table 6.1", title),
        y,
        queries,
        series,
    )
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
    let scale = setup.scale / paper::SCALE;
    let mut series = cold(TpchMachine::Pentium4, queries);
    for (at, variant) in TpchVariant::ALL.into_iter().enumerate() {
        let seconds = |row: &PaperTpchRow| row.pentium4.get(at).copied().unwrap_or_default();
        let name = variant.name();
        series.push(printed(name, queries, |row| seconds(row) * scale));
    }
    series.push(printed("DB2", queries, |row| row.db2 * scale));
    let title = "Times on the Pentium4's RAID; the paper's times the scale".to_owned();
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
    let scale = setup.scale / paper::SCALE;
    let mut series = cold(TpchMachine::Opteron, queries);
    for (at, variant) in OF_OPTERON.into_iter().enumerate() {
        let seconds = |row: &PaperTpchRow| row.opteron.get(at).copied().unwrap_or_default();
        let name = variant.name();
        series.push(printed(name, queries, |row| seconds(row) * scale));
    }
    let title = "Times on the Opteron's RAID; the paper's times the scale".to_owned();
    figure(
        ("tpch-opteron", "table 6.1", title),
        SECONDS,
        queries,
        series,
    )
}

fn own(queries: &[TpchTimes]) -> Figure {
    let mut series = cold(TpchMachine::Own, queries);
    series.push(measured("in memory, unc.", queries, |query| {
        Some(query.in_memory.plain.seconds)
    }));
    series.push(measured("in memory, M⇒C", queries, |query| {
        Some(query.in_memory.compressed.seconds)
    }));
    let title = "Times on an NVMe disk, and with everything in memory".to_owned();
    figure(("tpch-own", "table 6.1", title), SECONDS, queries, series)
}

fn speed_ups(queries: &[TpchTimes]) -> Figure {
    let dsm = [TpchVariant::DsmPlain, TpchVariant::DsmToCache];
    let mut series = vec![measured("ratio", queries, |query| query.ratio(dsm))];
    for machine in TpchMachine::ALL {
        series.push(measured(machine.name(), queries, |query| {
            query.speed_up(machine, dsm)
        }));
    }
    series.push(printed("ratio", queries, |row| row.ratios[0]));
    series.push(printed("Pentium4's RAID", queries, |row| {
        row.pentium4[0] / row.pentium4[1]
    }));
    series.push(printed("Opteron's RAID", queries, |row| {
        row.opteron[0] / row.opteron[1]
    }));
    let title = "DSM: time without compression by time with it".to_owned();
    let y = Axis::linear("speed-up", "");
    figure(("tpch-speed-ups", "table 6.1", title), y, queries, series)
}

/// Where the time of a query goes.
fn profile(queries: &[TpchTimes], machine: TpchMachine) -> Figure {
    let mut series = Vec::new();
    for variant in [TpchVariant::DsmPlain, TpchVariant::DsmToCache] {
        let time = |query: &TpchTimes| query.on(machine, variant).copied();
        let name = |what: &str| format!("{what}, {}", variant.name());
        series.push(measured(name("processing"), queries, |query| {
            let time = time(query)?;
            Some((time.seconds - time.decode_seconds - time.io_wait_seconds).max(0.0))
        }));
        series.push(measured(name("decompression"), queries, |query| {
            Some(time(query)?.decode_seconds)
        }));
        series.push(measured(name("I/O wait"), queries, |query| {
            Some(time(query)?.io_wait_seconds)
        }));
    }
    let stem = match machine {
        TpchMachine::Opteron => "tpch-profile-opteron",
        TpchMachine::Pentium4 => "tpch-profile-pentium4",
        TpchMachine::Own => "tpch-profile-own",
    };
    let title = format!("Where the time goes on the {}", machine.name());
    figure((stem, "figure 6.9", title), SECONDS, queries, series)
}
