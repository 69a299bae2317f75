//! The second and third rows of figures 6.4 and 6.5: instructions per cycle and mispredicted branches.

use crate::counters::{self, CounterReading};
use crate::{Axis, Figure, Lab, Series, SeriesOrigin};

/// One measured point.
pub(super) struct CountedPoint {
    /// Bytes of uncompressed values a nanosecond.
    pub(super) gb_s: f64,
    counters: Result<CounterReading, String>,
    value_count: usize,
}

impl CountedPoint {
    /// Of `work` on `value_count` values of 8 bytes. It has been done before, so that it is known not to fail.
    pub(super) fn measure(lab: &Lab, value_count: usize, mut work: impl FnMut()) -> Self {
        let ns = lab.nanoseconds_of(&mut work);
        Self {
            gb_s: (8 * value_count) as f64 / ns,
            counters: counters::count(lab.size(20, 1) as u32, work),
            value_count,
        }
    }
}

/// A figure of GB/s from points by series, the same in cycles, and what the counters say.
pub(super) fn figures(
    lab: &Lab,
    mut bandwidth: Figure,
    stems: CountedStems,
    lines: Vec<(&'static str, Vec<CountedPoint>)>,
) -> Vec<Figure> {
    for (name, points) in &lines {
        let values = points.iter().map(|point| point.gb_s).collect();
        let series = Series::new(*name, SeriesOrigin::Measured, values);
        bandwidth.series.push(series);
    }
    let refusal = lines
        .iter()
        .flat_map(|(_, points)| points)
        .find_map(|point| point.counters.as_ref().err());
    if let Some(reason) = refusal {
        bandwidth.notes.push(format!(
            "instructions per cycle and mispredicted branches are missing: {reason}; cycles are nanoseconds times the clock"
        ));
    }
    let mut figures = vec![bandwidth.clone(), in_cycles(lab, &bandwidth, stems.cycles)];
    if refusal.is_none() {
        figures.push(counter_figure(
            &bandwidth,
            stems.instructions_per_cycle,
            Axis::linear("instructions per cycle", ""),
            &lines,
            |reading, _| reading.instructions_per_cycle(),
        ));
        figures.push(counter_figure(
            &bandwidth,
            stems.branch_misses,
            Axis::linear("mispredicted branches", "/value"),
            &lines,
            |reading, value_count| reading.branch_misses / value_count as f64,
        ));
    }
    figures
}

/// Files of the figures beside that of bandwidths.
#[derive(Clone, Copy)]
pub(super) struct CountedStems {
    pub(super) cycles: &'static str,
    pub(super) instructions_per_cycle: &'static str,
    pub(super) branch_misses: &'static str,
}

/// A figure of GB/s of 8-byte values, in cycles per value.
fn in_cycles(lab: &Lab, figure: &Figure, stem: &'static str) -> Figure {
    figure.converted(stem, Axis::linear("time", "cycles/value"), |gb_s| {
        lab.cycles(8.0 / gb_s)
    })
}

fn counter_figure(
    bandwidth: &Figure,
    stem: &'static str,
    y: Axis,
    lines: &[(&'static str, Vec<CountedPoint>)],
    value: fn(&CounterReading, usize) -> f64,
) -> Figure {
    let mut figure = bandwidth.clone();
    (figure.stem, figure.y) = (stem, y);
    let series = lines.iter().map(|(name, points)| Series {
        name: (*name).to_owned(),
        origin: SeriesOrigin::Measured,
        values: points
            .iter()
            .map(|point| Some(value(point.counters.as_ref().ok()?, point.value_count)))
            .collect(),
    });
    figure.series = series.collect();
    figure
}

/// At which rate a series takes most time, and how much more than at the rate where it takes least.
pub(super) fn slowest(name: &str, points: &[CountedPoint], percents: &[u64]) -> String {
    let by_time = points.iter().zip(percents);
    let slowest = by_time
        .clone()
        .min_by(|(one, _), (other, _)| one.gb_s.total_cmp(&other.gb_s));
    let fastest = by_time.max_by(|(one, _), (other, _)| one.gb_s.total_cmp(&other.gb_s));
    match (slowest, fastest) {
        (Some((slow, percent)), Some((fast, _))) => format!(
            "{name} is slowest at {percent} % exceptions, {:.1} times its fastest",
            fast.gb_s / slow.gb_s
        ),
        _ => String::new(),
    }
}
