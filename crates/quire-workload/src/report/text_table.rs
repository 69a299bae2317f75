//! Tables of a terminal: names on the left, numbers on the right.

/// Columns of a terminal that no line exceeds.
pub(super) const COLUMNS_MAX: usize = 100;
const NAME_COLUMNS_MAX: usize = 24;
const GAP: &str = "  ";

/// Rows of cells below a heading. The first column is a name, the others are numbers.
pub(super) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|&name| name.to_owned());
        Self {
            rows: vec![heading.collect()],
        }
    }

    /// As many cells as the heading has.
    pub(super) fn row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        let mut row = vec![shortened(name, NAME_COLUMNS_MAX)];
        row.extend(cells);
        self.rows.push(row);
    }

    /// Columns of its longest line.
    pub(super) fn width(&self) -> usize {
        let widths = self.widths();
        let gaps = GAP.len() * widths.len().saturating_sub(1);
        widths.iter().sum::<usize>() + gaps
    }

    /// A line for each row.
    pub(super) fn text(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| match at {
                0 => format!("{cell:<width$}"),
                _ => format!("{GAP}{cell:>width$}"),
            });
            text += cells.collect::<String>().trim_end();
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}

/// A unit of latencies.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct LatencyUnit {
    pub(super) name: &'static str,
    microseconds: f64,
}

const LATENCY_UNITS: [LatencyUnit; 3] = [
    LatencyUnit {
        name: "µs",
        microseconds: 1.0,
    },
    LatencyUnit {
        name: "ms",
        microseconds: 1e3,
    },
    LatencyUnit {
        name: "s",
        microseconds: 1e6,
    },
];

impl LatencyUnit {
    /// The table in the first unit in which it is not too wide.
    pub(super) fn that_fits(table: impl Fn(Self) -> TextTable) -> (&'static str, TextTable) {
        let [microseconds, milliseconds, seconds] = LATENCY_UNITS;
        for unit in [microseconds, milliseconds] {
            let table = table(unit);
            if table.width() <= COLUMNS_MAX {
                return (unit.name, table);
            }
        }
        (seconds.name, table(seconds))
    }

    /// Microseconds are whole.
    pub(super) fn shown(self, latency_us: f64) -> String {
        if self.microseconds == 1.0 {
            thousands(latency_us.round() as u64)
        } else {
            rounded(latency_us / self.microseconds)
        }
    }
}

/// A number with a comma between thousands.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number that is not negative, with one digit behind the point below 1,000.
pub(super) fn rounded(number: f64) -> String {
    if number < 999.95 {
        format!("{number:.1}")
    } else {
        thousands(number.round() as u64)
    }
}

/// Bytes in a unit in which they have few digits; the units are powers of 1024.
pub(super) fn bytes(count: u64) -> String {
    let mut size = count as f64;
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut at = 0;
    while size >= 999.95 && at + 1 < units.len() {
        size /= 1024.0;
        at += 1;
    }
    if at == 0 {
        format!("{count} B")
    } else {
        format!("{size:.1} {}", units[at])
    }
}

/// At most so many characters, the last of them an ellipsis if some are left out. Control characters are shown as what they are.
pub(super) fn shortened(text: &str, characters_max: usize) -> String {
    let shown: String = text
        .chars()
        .flat_map(|character| {
            let is_control = character.is_control();
            let escaped = is_control.then(|| character.escape_default());
            let plain = (!is_control).then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if shown.chars().count() <= characters_max {
        return shown;
    }
    let kept = shown.chars().take(characters_max.saturating_sub(1));
    kept.chain(['…']).collect()
}

/// A line of words that is broken at spaces, so that none is longer than the terminal; lines behind the first are indented.
pub(super) fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split(' ') {
        let word = shortened(word, COLUMNS_MAX - 2);
        let columns = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && columns > COLUMNS_MAX {
            lines += &line;
            lines.push('\n');
            line = format!("  {word}");
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line += &word;
        }
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        let shown = [0, 7, 999, 1_000, 12_345, 1_234_567].map(thousands);
        let expected = ["0", "7", "999", "1,000", "12,345", "1,234,567"];
        assert_eq!(shown, expected);
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn bytes_have_a_unit_in_which_they_are_short() {
        let shown = [0, 999, 1_024, 1_536, 1 << 30, u64::MAX].map(bytes);
        let expected = ["0 B", "999 B", "1.0 KiB", "1.5 KiB", "1.0 GiB", "16.0 EiB"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = wrapped(&"word ".repeat(50));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS_MAX));
        assert_eq!(text.matches("word").count(), 50);
        assert_eq!(wrapped("one two"), "one two\n");
        assert!(wrapped(&"x".repeat(300)).chars().count() <= COLUMNS_MAX + 1);
    }

    #[test]
    fn names_are_shortened_and_control_characters_shown() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("a\u{1b}[1m", 20), "a\\u{1b}[1m");
    }
}
