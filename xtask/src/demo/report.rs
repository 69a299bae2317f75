//! Plain tables and numbers for people.

/// A column's heading, and on which side its values stand.
pub enum Column {
    Text(&'static str),
    Number(&'static str),
}

/// Prints rows under their headings.
pub fn print_table(columns: &[Column], rows: &[Vec<String>]) {
    print!("\n{}", table_text(columns, rows));
}

fn table_text(columns: &[Column], rows: &[Vec<String>]) -> String {
    let headings = columns.iter().map(|column| match column {
        Column::Text(heading) | Column::Number(heading) => (*heading).to_owned(),
    });
    let headings: Vec<String> = headings.collect();
    let width_of = |at: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(at))
            .chain(headings.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in std::iter::once(&headings).chain(rows) {
        let cells = row
            .iter()
            .zip(columns)
            .enumerate()
            .map(|(at, (cell, column))| match column {
                Column::Text(_) => format!("{cell:<width$}", width = width_of(at)),
                Column::Number(_) => format!("{cell:>width$}", width = width_of(at)),
            });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Bytes in the unit that leaves two to four digits before the point.
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// How often `smaller` goes into `larger`.
pub fn ratio_text(larger: u64, smaller: u64) -> String {
    if smaller == 0 {
        "-".to_owned()
    } else {
        format!("{:.2}", larger as f64 / smaller as f64)
    }
}

/// A time in the unit that suits it.
pub fn seconds_text(seconds: f64) -> String {
    if seconds < 0.01 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_texts_left() {
        let columns = [Column::Text("table"), Column::Number("rows")];
        let rows = [
            vec!["a".to_owned(), "1".to_owned()],
            vec!["longer".to_owned(), "1000".to_owned()],
        ];
        assert_eq!(
            table_text(&columns, &rows),
            "table   rows\na          1\nlonger  1000\n"
        );
    }

    #[test]
    fn quantities_read_well() {
        assert_eq!(bytes_text(765_864_690), "765.9 MB");
        assert_eq!(bytes_text(24_796), "24.8 kB");
        assert_eq!(ratio_text(3, 2), "1.50");
        assert_eq!(ratio_text(3, 0), "-");
        assert_eq!(
            (seconds_text(0.0421), seconds_text(7.5)),
            ("42 ms".to_owned(), "7.50 s".to_owned())
        );
    }
}
