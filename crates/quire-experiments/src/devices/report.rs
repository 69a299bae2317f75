//! Measured and calculated, as figures.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::column_tables::ColumnCodecs;
use crate::devices::DevicesSetup;
use crate::devices::measure::DeviceQuery;
use crate::devices::verdicts::{self, QueryOnDevice};

const MEGABYTE: f64 = 1e6;

/// A figure of bandwidths for each query, and one of all times.
pub(crate) fn figures(setup: &DevicesSetup, queries: &[DeviceQuery]) -> Vec<Figure> {
    let lab = Lab::new(MeasureEffort::Quick);
    let set_up = set_up(setup, &lab);
    let mut figures: Vec<Figure> = queries.iter().map(bandwidths).collect();
    figures.push(times(queries));
    for figure in &mut figures {
        figure.notes.extend(set_up.iter().cloned());
    }
    figures
}

fn set_up(setup: &DevicesSetup, lab: &Lab) -> Vec<String> {
    let mut notes = setup.tables.notes(lab).to_vec();
    notes.push(
        "devices given by a bandwidth: 80 us for a random read, 64 at a time; calculated: equation 6.1 with r, Q and C of the notes and the bandwidth that the \
         device can deliver for the requests it got"
            .to_owned(),
    );
    notes
}

/// One query: the bandwidth of results by that of the device.
fn bandwidths(query: &DeviceQuery) -> Figure {
    let terms = query.terms();
    let points: Vec<_> = query
        .on_devices
        .iter()
        .filter_map(|(device, times)| Some((device.bandwidth? as f64, times)))
        .collect();
    let mut series = Vec::new();
    for codecs in ColumnCodecs::BOTH {
        let measured = points
            .iter()
            .map(|(_, times)| terms.plain_bytes / times.get(codecs).seconds.max(1e-9) / MEGABYTE);
        series.push(Series::new(
            codecs.name(),
            SeriesOrigin::Measured,
            measured.collect(),
        ));
    }
    for codecs in ColumnCodecs::BOTH {
        let calculated = points.iter().map(|(_, times)| {
            terms.result(codecs, times.get(codecs).device_bandwidth()) / MEGABYTE
        });
        series.push(Series::new(
            codecs.name(),
            SeriesOrigin::Calculated,
            calculated.collect(),
        ));
    }
    Figure {
        stem: stem(query.name),
        title: format!(
            "Query {}: the bandwidth of results by that of the device",
            query.name
        ),
        paper: Paper::SuperScalarCompression,
        number: "equation 6.1",
        chart: Chart::Lines,
        x: Axis::logarithmic("bandwidth of the device", "MB/s"),
        y: Axis::logarithmic("bandwidth of results", "MB/s"),
        positions: Positions::Numbers(points.iter().map(|(bandwidth, _)| *bandwidth).collect()),
        series,
        verdicts: Vec::new(),
        notes: vec![terms_note(query), crossover_note(query)],
    }
}

fn stem(query: &str) -> &'static str {
    match query {
        "Q1" => "devices-q1",
        "Q6" => "devices-q6",
        _ => "devices-q18",
    }
}

fn terms_note(query: &DeviceQuery) -> String {
    let terms = query.terms();
    let memory = query.in_memory;
    format!(
        "{}: {:.1} MB uncompressed, r = {:.2}; in memory {:.3} s uncompressed, {:.3} s compressed, of these decoding {:.3} and {:.3} s; from a cold start without a device {:.3} and {:.3} s; Q = {:.0} and {:.0} MB/s, C = {:.0} MB/s \
         of the uncompressed bytes; decoded values: {:.0} MB/s",
        query.name,
        terms.plain_bytes / MEGABYTE,
        terms.ratio,
        memory.plain.seconds,
        memory.compressed.seconds,
        memory.plain.decode_seconds,
        memory.compressed.decode_seconds,
        query.undelayed_seconds.plain,
        query.undelayed_seconds.compressed,
        terms.query.plain / MEGABYTE,
        terms.query.compressed / MEGABYTE,
        terms.decompression.compressed / MEGABYTE,
        memory.compressed.decompression_bandwidth() / MEGABYTE,
    )
}

/// Where the processor begins to decide.
fn crossover_note(query: &DeviceQuery) -> String {
    let terms = query.terms();
    let crossover = |bytes: f64, seconds: f64| bytes / seconds.max(1e-9) / MEGABYTE;
    format!(
        "{}: the processor decides from {:.0} MB/s with compression, from {:.0} MB/s without",
        query.name,
        crossover(
            terms.plain_bytes / terms.ratio.max(1e-9),
            query.in_memory.compressed.seconds
        ),
        crossover(terms.plain_bytes, query.in_memory.plain.seconds),
    )
}

/// All queries on all devices: measured, what the slower of processor and device needs, and calculated; with the verdicts.
fn times(queries: &[DeviceQuery]) -> Figure {
    let all = QueryOnDevice::all(queries);
    let mut series = Vec::new();
    let mut add = |what: &str, origin, of: &dyn Fn(&QueryOnDevice, ColumnCodecs) -> f64| {
        for codecs in ColumnCodecs::BOTH {
            let values = all.iter().map(|one| of(one, codecs)).collect();
            series.push(Series::new(
                format!("{}{what}", codecs.name()),
                origin,
                values,
            ));
        }
    };
    add("", SeriesOrigin::Measured, &|one, codecs| {
        one.on_device.get(codecs).seconds
    });
    add(", slower part", SeriesOrigin::Measured, &|one, codecs| {
        one.slower_part_seconds(codecs)
    });
    add("", SeriesOrigin::Calculated, &|one, codecs| {
        one.calculated_seconds(codecs)
    });
    let verdicts = vec![
        verdicts::overlap(&all),
        verdicts::gain(&all),
        verdicts::equation(&all),
    ];
    let notes = queries
        .iter()
        .flat_map(|query| [terms_note(query), crossover_note(query)]);
    Figure {
        stem: "devices-times",
        title: "Times of queries on devices".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "equation 6.1",
        chart: Chart::Bars,
        x: Axis::linear("query and device", ""),
        y: Axis::linear("time", "s"),
        positions: Positions::labels(all.iter().map(|one| one.name.as_str())),
        series,
        verdicts,
        notes: notes.collect(),
    }
}
