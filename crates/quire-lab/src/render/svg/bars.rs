//! Bars beside each other, and bars of parts.

use super::area::{BOTTOM, COLOURS, LEFT, label};
use super::frame::{ChartFrame, TURN_DEGREES, slot};
use super::ruler::Ruler;
use crate::render::markup::escaped;
use crate::{Chart, Figure, SeriesOrigin};
use std::fmt::Write as _;

/// Part of a position that its bars take.
const BARS_SHARE: f64 = 0.8;
/// The palest bar of a position with stacked bars.
const OPACITY_MIN: f64 = 0.5;

/// How a series is filled.
pub(super) struct BarFill {
    pub(super) class: usize,
    opacity: f64,
}

impl BarFill {
    /// Series have a colour each, and those of the paper are pale. Parts of a bar have a colour each, and a bar is paler than the one
    /// before it.
    pub(super) fn of(figure: &Figure, series: usize) -> Self {
        let Chart::StackedBars { parts } = figure.chart else {
            let origin = figure.series.get(series).map(|series| series.origin);
            let is_paper = origin == Some(SeriesOrigin::Paper);
            return Self {
                class: series,
                opacity: if is_paper { 0.45 } else { 1.0 },
            };
        };
        let parts = parts.max(1);
        let last = (figure.stacks().count().max(2) - 1) as f64;
        let paleness = (series / parts) as f64 / last;
        Self {
            class: series % parts,
            opacity: 1.0 - (1.0 - OPACITY_MIN) * paleness,
        }
    }
}

/// A rectangle of a series.
pub(super) fn bar(svg: &mut String, [x, y, width, height]: [f64; 4], fill: &BarFill) {
    let class = fill.class % COLOURS.len();
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" class=\"s{class}\" color=\"{}\" \
         fill=\"currentColor\" fill-opacity=\"{}\"/>",
        COLOURS[class], fill.opacity
    );
}

pub(super) fn bars(svg: &mut String, figure: &Figure, y: &Ruler, frame: &ChartFrame) {
    names(svg, figure, frame);
    let slot = slot(figure.positions.count());
    let width = slot * BARS_SHARE / figure.series.len().max(1) as f64;
    for place in 0..figure.positions.count() {
        let start = LEFT + slot * (place as f64 + (1.0 - BARS_SHARE) / 2.0);
        for (at, series) in figure.series.iter().enumerate() {
            let Some(value) = series.values.get(place).copied().flatten() else {
                continue;
            };
            let top = y.place(value);
            let area = [start + width * at as f64, top, width, BOTTOM - top];
            bar(svg, area, &BarFill::of(figure, at));
        }
    }
}

/// Parts are not negative.
pub(super) fn stacked_bars(svg: &mut String, figure: &Figure, y: &Ruler, frame: &ChartFrame) {
    names(svg, figure, frame);
    let slot = slot(figure.positions.count());
    let width = slot * BARS_SHARE / figure.stacks().count().max(1) as f64;
    for place in 0..figure.positions.count() {
        let start = LEFT + slot * (place as f64 + (1.0 - BARS_SHARE) / 2.0);
        let mut series = 0;
        for (number, parts) in figure.stacks().enumerate() {
            let left = start + width * number as f64;
            let mut below = 0.0;
            for part in parts {
                let value = part.values.get(place).copied().flatten();
                if let Some(value) = value.filter(|value| *value > 0.0) {
                    let (top, bottom) = (y.place(below + value), y.place(below));
                    // A gap between bars.
                    let area = [left, top, width * 0.95, bottom - top];
                    bar(svg, area, &BarFill::of(figure, series));
                    below += value;
                }
                series += 1;
            }
        }
    }
}

/// Below the bars, on two heights or turned, so that long ones do not touch.
fn names(svg: &mut String, figure: &Figure, frame: &ChartFrame) {
    let names = figure.positions.names();
    let slot = slot(names.len());
    for (place, name) in names.iter().enumerate() {
        let middle = LEFT + slot * (place as f64 + 0.5);
        if frame.has_turned_names {
            let y = BOTTOM + 14.0;
            let _ = writeln!(
                svg,
                "<text x=\"{middle:.1}\" y=\"{y:.1}\" transform=\"rotate({TURN_DEGREES} {middle:.1} {y:.1})\">{}</text>",
                escaped(name)
            );
            continue;
        }
        let lower = if place % 2 == 0 { 18.0 } else { 34.0 };
        label(svg, (middle, BOTTOM + lower), "middle", name);
    }
}
