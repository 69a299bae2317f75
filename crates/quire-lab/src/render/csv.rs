//! Comma-separated values (RFC 4180), one value a line.

use crate::Figure;

/// The figure with one line for each value; `value` is not rounded. A value that the paper does not print has no
/// line.
pub fn csv(figure: &Figure) -> String {
    let mut text = "figure,x_name,x_unit,x,series,origin,y_name,y_unit,value\r\n".to_owned();
    let names = figure.positions.names();
    for series in &figure.series {
        for (name, value) in names.iter().zip(&series.values) {
            let Some(value) = value else { continue };
            let value = value.to_string();
            let fields = [
                figure.number,
                figure.x.name,
                figure.x.unit,
                name,
                &series.name,
                series.origin.name(),
                figure.y.name,
                figure.y.unit,
                &value,
            ];
            text += &fields.map(field).join(",");
            text += "\r\n";
        }
    }
    text
}

/// In quotes where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
