//! A chart as a self-contained SVG document.

use super::short;
use crate::{Axis, AxisScale, Chart, Figure, Positions, Series, SeriesOrigin};
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 480.0;
/// Edges of the area with the values.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 660.0;
const TOP: f64 = 60.0;
const BOTTOM: f64 = 410.0;
const COLOURS: [&str; 8] = [
    "#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#555555",
];

/// The figure as a chart: lines over numbers, bars over names. What the paper prints is dashed or pale; the notes
/// are in the description.
pub fn svg(figure: &Figure) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n",
        escaped(&figure.title),
        escaped(&figure.notes.join(". "))
    );
    label(
        &mut svg,
        (LEFT, 24.0),
        "start",
        &format!("{} ({})", figure.title, figure.number),
    );
    let values = figure.series.iter().flat_map(|one| &one.values).flatten();
    let y = Ruler::new(&figure.y, values.copied(), (BOTTOM, TOP));
    y_axis(&mut svg, &figure.y, &y);
    let middle = (LEFT + RIGHT) / 2.0;
    label(
        &mut svg,
        (middle, HEIGHT - 14.0),
        "middle",
        &figure.x.label(),
    );
    match (&figure.chart, &figure.positions) {
        (Chart::Lines, Positions::Numbers(numbers)) => lines(&mut svg, figure, numbers, &y),
        _ => bars(&mut svg, figure, &y),
    }
    legend(&mut svg, &figure.series);
    svg += "</svg>\n";
    svg
}

/// Maps values to places on the page.
struct Ruler {
    scale: AxisScale,
    /// Values at the two ends; exponents of ten if logarithmic.
    from: f64,
    to: f64,
    ends: (f64, f64),
    ticks: Vec<f64>,
}

impl Ruler {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, ends: (f64, f64)) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        let (from, to, ticks): (f64, f64, Vec<f64>) = match axis.scale {
            AxisScale::Logarithmic if least > 0.0 && most.is_finite() => {
                let from = least.log10().floor();
                let to = most.log10().ceil().max(from + 1.0);
                let decades = from as i32..=to as i32;
                (from, to, decades.map(|decade| 10f64.powi(decade)).collect())
            }
            _ => {
                let most = if most > 0.0 { most } else { 1.0 };
                let step = round_step(most / 5.0);
                let count = (most / step).ceil();
                let ticks = (0..=count as u32)
                    .map(|tick| f64::from(tick) * step)
                    .collect();
                (0.0, count * step, ticks)
            }
        };
        let scale = if ticks_are_powers(&ticks) {
            axis.scale
        } else {
            AxisScale::Linear
        };
        Self {
            scale,
            from,
            to,
            ends,
            ticks,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let value = match self.scale {
            AxisScale::Linear => value,
            AxisScale::Logarithmic => value.max(f64::MIN_POSITIVE).log10(),
        };
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.ends.0 + share * (self.ends.1 - self.ends.0)
    }
}

/// Those of a linear ruler begin with 0.
fn ticks_are_powers(ticks: &[f64]) -> bool {
    ticks.first().is_some_and(|first| *first > 0.0)
}

/// The next of 1, 2, 5, 10 and so on that is not below `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
    steps
        .into_iter()
        .find(|one| *one >= step * 0.999)
        .unwrap_or(step)
}

fn y_axis(svg: &mut String, axis: &Axis, y: &Ruler) {
    for &tick in &y.ticks {
        let at = y.place(tick);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>"
        );
        label(svg, (LEFT - 6.0, at + 4.0), "end", &short(tick));
    }
    label(svg, (LEFT, TOP - 14.0), "start", &axis.label());
}

fn lines(svg: &mut String, figure: &Figure, numbers: &[f64], y: &Ruler) {
    let x = Ruler::new(&figure.x, numbers.iter().copied(), (LEFT, RIGHT));
    for &tick in &x.ticks {
        label(svg, (x.place(tick), BOTTOM + 18.0), "middle", &short(tick));
    }
    for (at, series) in figure.series.iter().enumerate() {
        let values = numbers.iter().zip(&series.values);
        let points: Vec<(f64, f64)> = values
            .filter_map(|(number, value)| Some((x.place(*number), y.place((*value)?))))
            .collect();
        let text: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        let colour = colour(at);
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{}/>",
            text.join(" "),
            dashes(series.origin)
        );
        for (x, y) in points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>"
            );
        }
    }
}

fn bars(svg: &mut String, figure: &Figure, y: &Ruler) {
    let names = figure.positions.names();
    let slot = (RIGHT - LEFT) / names.len().max(1) as f64;
    let width = slot * 0.8 / figure.series.len().max(1) as f64;
    for (place, name) in names.iter().enumerate() {
        let start = LEFT + slot * place as f64;
        // Two heights, so that long names do not touch.
        let lower = if place % 2 == 0 { 18.0 } else { 34.0 };
        label(svg, (start + slot / 2.0, BOTTOM + lower), "middle", name);
        for (at, series) in figure.series.iter().enumerate() {
            let Some(value) = series.values.get(place).copied().flatten() else {
                continue;
            };
            let top = y.place(value);
            let opacity = if series.origin == SeriesOrigin::Paper {
                0.45
            } else {
                1.0
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\" \
                 fill-opacity=\"{opacity}\"/>",
                start + slot * 0.1 + width * at as f64,
                BOTTOM - top,
                colour(at)
            );
        }
    }
}

fn legend(svg: &mut String, series: &[Series]) {
    for (at, series) in series.iter().enumerate() {
        let y = TOP + 18.0 * at as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"680\" y1=\"{y}\" x2=\"704\" y2=\"{y}\" stroke=\"{}\" stroke-width=\"3\"{}/>",
            colour(at),
            dashes(series.origin)
        );
        let name = format!("{} ({})", series.name, series.origin.name());
        label(svg, (710.0, y + 4.0), "start", &name);
    }
}

fn colour(series: usize) -> &'static str {
    COLOURS[series % COLOURS.len()]
}

fn dashes(origin: SeriesOrigin) -> &'static str {
    match origin {
        SeriesOrigin::Measured => "",
        SeriesOrigin::Calculated => " stroke-dasharray=\"2 3\"",
        SeriesOrigin::Paper => " stroke-dasharray=\"7 4\"",
    }
}

fn label(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(text)
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
