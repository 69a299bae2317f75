//! Where the values of a chart lie, in which colours, and text.

use crate::render::markup::escaped;
use std::fmt::Write as _;

/// Edges of the area with the values.
pub(super) const LEFT: f64 = 80.0;
pub(super) const RIGHT: f64 = 660.0;
pub(super) const TOP: f64 = 60.0;
pub(super) const BOTTOM: f64 = 410.0;
/// Of series, one after the other.
pub(in crate::render) const COLOURS: [&str; 8] = [
    "#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#00798c", "#8d5524", "#555555",
];

pub(super) fn label(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(text)
    );
}
