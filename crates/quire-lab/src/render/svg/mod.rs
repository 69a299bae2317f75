//! A chart as a self-contained SVG document.
//!
//! Colours are attributes, and elements have classes (`ground`, `grid`, `s0` to `s7`): a page can give them others by its style.

mod area;
mod bars;
mod frame;
mod ruler;

use super::markup::escaped;
use super::short;
use crate::figure::stack_height;
use crate::{Axis, AxisScale, Chart, Figure, Positions, SeriesOrigin};
use area::{BOTTOM, LEFT, RIGHT, TOP, label};
use bars::BarFill;
use frame::{ChartFrame, LEGEND_LEFT, LEGEND_LINE};
use ruler::Ruler;
use std::fmt::Write as _;

pub(super) use area::COLOURS;

/// The figure as a chart: lines over numbers, bars over names. What the paper prints is dashed or pale; verdicts and notes
/// are in the description.
pub fn svg(figure: &Figure) -> String {
    let frame = ChartFrame::of(figure);
    let ChartFrame { width, height, .. } = frame;
    let remarks: Vec<String> = figure.remarks().collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect class=\"ground\" width=\"{width:.0}\" height=\"{height:.0}\" fill=\"white\"/>\n",
        escaped(&figure.title),
        escaped(&remarks.join(". "))
    );
    label(&mut svg, (LEFT, 24.0), "start", &figure.numbered_title());
    let y = vertical_ruler(figure);
    y_axis(&mut svg, &figure.y, &y);
    let middle = (LEFT + RIGHT) / 2.0;
    let x_name = figure.x.label();
    label(&mut svg, (middle, height - 14.0), "middle", &x_name);
    match (figure.chart, &figure.positions) {
        (Chart::Lines, Positions::Numbers(numbers)) => lines(&mut svg, figure, numbers, &y),
        (Chart::StackedBars { .. }, _) => bars::stacked_bars(&mut svg, figure, &y, &frame),
        _ => bars::bars(&mut svg, figure, &y, &frame),
    }
    legend(&mut svg, figure);
    svg += "</svg>\n";
    svg
}

/// The ruler of the values, or of what the parts of each bar add up to.
fn vertical_ruler(figure: &Figure) -> Ruler {
    let ends = (BOTTOM, TOP);
    if let Chart::StackedBars { .. } = figure.chart {
        // Parts of a bar can be compared along a linear axis only.
        let axis = Axis {
            scale: AxisScale::Linear,
            ..figure.y
        };
        let places = 0..figure.positions.count();
        let heights = figure.stacks().flat_map(|parts| {
            let heights = places.clone().map(move |place| stack_height(parts, place));
            heights.flatten()
        });
        return Ruler::new(&axis, heights, ends);
    }
    let values = figure.series.iter().flat_map(|one| &one.values).flatten();
    Ruler::new(&figure.y, values.copied(), ends)
}

fn y_axis(svg: &mut String, axis: &Axis, y: &Ruler) {
    for &tick in &y.ticks {
        let at = y.place(tick);
        let _ = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>"
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
        let class = at % COLOURS.len();
        let colour = COLOURS[class];
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" class=\"s{class}\" color=\"{colour}\" stroke=\"currentColor\" \
             stroke-width=\"2\"{}/>",
            text.join(" "),
            dashes(series.origin)
        );
        for (x, y) in points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" class=\"s{class}\" color=\"{colour}\" fill=\"currentColor\"/>"
            );
        }
    }
}

fn legend(svg: &mut String, figure: &Figure) {
    let left = LEGEND_LEFT - 30.0;
    for (at, series) in figure.series.iter().enumerate() {
        let y = TOP + LEGEND_LINE * at as f64;
        let fill = BarFill::of(figure, at);
        if let Chart::StackedBars { .. } = figure.chart {
            bars::bar(svg, [left, y - 5.0, 24.0, 10.0], &fill);
        } else {
            let class = fill.class % COLOURS.len();
            let _ = writeln!(
                svg,
                "<line x1=\"{left}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" class=\"s{class}\" color=\"{}\" stroke=\"currentColor\" \
                 stroke-width=\"3\"{}/>",
                left + 24.0,
                COLOURS[class],
                dashes(series.origin)
            );
        }
        let name = format!("{} ({})", series.name, series.origin.name());
        label(svg, (LEGEND_LEFT, y + 4.0), "start", &name);
    }
}

fn dashes(origin: SeriesOrigin) -> &'static str {
    match origin {
        SeriesOrigin::Measured => "",
        SeriesOrigin::Calculated => " stroke-dasharray=\"2 3\"",
        SeriesOrigin::Paper => " stroke-dasharray=\"7 4\"",
    }
}
