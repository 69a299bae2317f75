//! Which line that came is which line of the CSV made of it.

/// So many places where the two begin to differ in another way are remembered. Beyond that lines are not known.
const SHIFTS_MAX: usize = 1 << 20;

/// Values may have line ends, as `\n` in one format and as they are in the other.
#[derive(Debug, Default)]
pub(super) struct LineMap {
    /// The line that came last, from 1.
    pub(super) line: u64,
    /// Where it begins, if it has several: a line end behind a backslash belongs to a value.
    first: u64,
    /// Lines of CSV so far.
    csv_lines: u64,
    /// Lines of CSV from which on the difference is that of the line that came. Both from 1.
    shifts: Vec<(u64, u64)>,
}

impl LineMap {
    /// A line came.
    pub(super) fn came(&mut self, line: &[u8]) {
        self.first = self.line + 1;
        self.line += 1 + line_ends(line);
    }

    /// This was made of it, with its line end.
    pub(super) fn wrote(&mut self, csv: &[u8]) {
        let csv_line = self.csv_lines + 1;
        self.csv_lines += line_ends(csv);
        let expected = self.of(csv_line);
        if expected != Some(self.first) && self.shifts.len() < SHIFTS_MAX {
            self.shifts.push((csv_line, self.first));
        }
    }

    /// The line that came as this line of CSV.
    pub(super) fn of(&self, csv_line: u64) -> Option<u64> {
        let behind = self.shifts.partition_point(|(from, _)| *from <= csv_line);
        if self.shifts.len() == SHIFTS_MAX && behind == SHIFTS_MAX {
            return None;
        }
        let before = behind.checked_sub(1).and_then(|at| self.shifts.get(at));
        let (from, line) = before.copied().unwrap_or((1, 1));
        Some(line + (csv_line - from))
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::LineMap;

    #[test]
    fn lines_are_found_again_where_values_have_line_ends() {
        let mut map = LineMap::default();
        // The header, which is no row.
        map.came(b"a");
        let rows: [(&[u8], &[u8]); 5] = [
            (b"one", b"\"one\"\n"),
            (b"t\\nw\\no", b"\"t\nw\no\"\n"),
            (b"three", b"\"three\"\n"),
            (b"fo\\\nur", b"\"fo\nur\"\n"),
            (b"five", b"\"five\"\n"),
        ];
        for (line, csv) in rows {
            map.came(line);
            map.wrote(csv);
        }
        // Records begin on lines 1, 2, 5, 6 and 8 of the CSV, and on these of what came.
        let found = [1, 2, 5, 6, 8].map(|csv_line| map.of(csv_line));
        assert_eq!(found, [2, 3, 4, 5, 7].map(Some));
        assert_eq!(map.line, 7);
    }
}
