//! How large a chart is.

use super::area::{BOTTOM, LEFT, RIGHT, TOP};
use crate::{Chart, Figure, Positions};

const WIDTH_MIN: f64 = 960.0;
/// About what a character takes.
const CHARACTER_WIDTH: f64 = 6.6;
/// Two lines of names below the values.
const NAMES_HEIGHT: f64 = 34.0;
/// Room for the name of the horizontal axis.
const AXIS_HEIGHT: f64 = 36.0;
pub(super) const LEGEND_LEFT: f64 = 710.0;
pub(super) const LEGEND_LINE: f64 = 18.0;
/// Long names are turned by so many degrees.
pub(super) const TURN_DEGREES: f64 = 35.0;

/// Sizes that follow from the names in a chart.
pub(super) struct ChartFrame {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Whether names of positions are too long to lie beside each other.
    pub(super) has_turned_names: bool,
}

impl ChartFrame {
    pub(super) fn of(figure: &Figure) -> Self {
        let names = if draws_numbers(figure) {
            Vec::new()
        } else {
            figure.positions.names()
        };
        let name_width = longest(names.iter().map(String::as_str));
        // Names are on two heights, so each has the room of two positions.
        let has_turned_names = name_width > 1.9 * slot(names.len());
        let (sine, cosine) = TURN_DEGREES.to_radians().sin_cos();
        let (below, beside) = if has_turned_names {
            (NAMES_HEIGHT + name_width * sine, name_width * cosine)
        } else {
            (NAMES_HEIGHT, 0.0)
        };
        let legend = figure
            .series
            .iter()
            .map(|series| format!("{} ({})", series.name, series.origin.name()));
        let legend: Vec<String> = legend.collect();
        let legend_right = LEGEND_LEFT + longest(legend.iter().map(String::as_str));
        let legend_height = TOP + LEGEND_LINE * legend.len() as f64;
        Self {
            width: WIDTH_MIN.max(legend_right + 10.0).max(RIGHT + beside),
            height: legend_height.max(BOTTOM + below + AXIS_HEIGHT),
            has_turned_names,
        }
    }
}

/// Whether the horizontal axis has numbers; otherwise it has names.
fn draws_numbers(figure: &Figure) -> bool {
    let is_number = matches!(figure.positions, Positions::Numbers(_));
    is_number && figure.chart == Chart::Lines
}

/// What a position takes of the horizontal axis.
pub(super) fn slot(positions: usize) -> f64 {
    (RIGHT - LEFT) / positions.max(1) as f64
}

fn longest<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    let counts = names.map(|name| name.chars().count());
    CHARACTER_WIDTH * counts.max().unwrap_or(0) as f64
}
