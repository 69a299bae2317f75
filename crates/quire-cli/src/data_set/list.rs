//! Data sets and properties as tables of text.

use quire_device::{DataSetError, DataSetVolume, PropertySource};

use crate::shell::bytes_text;

/// Data sets and their snapshots: what they store, and what that stands for.
pub fn list(sets: &DataSetVolume) -> Result<String, DataSetError> {
    let head = ["NAME", "USED", "REFER", "LOGICAL", "RATIO", "ORIGIN"];
    let mut rows = vec![head.map(str::to_owned)];
    for set in sets.list()? {
        let statistics = &set.statistics;
        rows.push([
            set.name.clone(),
            bytes_text(statistics.used_bytes),
            bytes_text(set.referenced_bytes()),
            bytes_text(statistics.logical_bytes()),
            ratio_text(statistics.compression_ratio()),
            set.origin.clone().unwrap_or_else(|| "-".to_owned()),
        ]);
        for snapshot in &set.snapshots {
            rows.push([
                format!("{}@{}", set.name, snapshot.name),
                bytes_text(snapshot.used_bytes),
                bytes_text(snapshot.referenced_bytes()),
                bytes_text(snapshot.logical_bytes()),
                ratio_text(snapshot.compression_ratio()),
                "-".to_owned(),
            ]);
        }
    }
    Ok(table(&rows))
}

/// The properties of a data set, and where they come from.
pub fn properties(sets: &DataSetVolume, name: &str) -> Result<String, DataSetError> {
    let mut rows = vec![["PROPERTY", "VALUE", "SOURCE"].map(str::to_owned)];
    for property in sets.property_values(name)? {
        let source = match property.source {
            PropertySource::Local => "local".to_owned(),
            PropertySource::Inherited { from } => format!("inherited from {from}"),
            PropertySource::Default => "default".to_owned(),
        };
        rows.push([property.name.to_string(), property.value, source]);
    }
    Ok(table(&rows))
}

fn ratio_text(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// Columns as wide as what is longest in them.
fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths);
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}
