//! Text and CSV as clients send them, but for the mark of the end. Pieces end anywhere.

/// `\.` in a line of its own at the end: psql before 18 sends it with the rows, and servers before 18 left it out.
#[derive(Default)]
pub(super) struct CsvEnd {
    /// The last bytes, as long as they may be that line and the one that ends before it.
    held: Vec<u8>,
    /// Something was sent before them.
    is_begun: bool,
}

impl CsvEnd {
    /// The longest end: of the line before, the mark, and the line end.
    const BYTES_MAX: usize = 5;

    pub(super) fn translate(&mut self, bytes: &[u8], csv: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        let ready = self.held.len().saturating_sub(Self::BYTES_MAX);
        self.is_begun |= ready > 0;
        csv.extend(self.held.drain(..ready));
    }

    pub(super) fn finish(&mut self, csv: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let line = held.strip_suffix(b"\n").unwrap_or(&held);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let before = line.strip_suffix(b"\\.");
        let is_alone = |before: &&[u8]| match before {
            [] => !self.is_begun,
            [.., last] => *last == b'\n',
        };
        csv.extend_from_slice(before.filter(is_alone).unwrap_or(&held));
    }
}

/// `\.` in a line of its own, behind which nothing is a row.
#[derive(Default)]
pub(super) struct TextEnd {
    /// The beginning of a line, as long as it may become the mark.
    held: Vec<u8>,
    is_within_line: bool,
    is_over: bool,
}

impl TextEnd {
    const MARKS: [&[u8]; 2] = [b"\\.\n", b"\\.\r\n"];

    pub(super) fn translate(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_over {
                return;
            }
            self.line_piece(piece, text);
        }
    }

    /// Takes a line, or a part of one.
    fn line_piece(&mut self, piece: &[u8], text: &mut Vec<u8>) {
        if !self.is_within_line {
            self.held.extend_from_slice(piece);
            let line = self.held.as_slice();
            self.is_over = Self::MARKS.contains(&line);
            if self.is_over || Self::MARKS.iter().any(|mark| mark.starts_with(line)) {
                return;
            }
            text.append(&mut self.held);
        } else {
            text.extend_from_slice(piece);
        }
        self.is_within_line = !piece.ends_with(b"\n");
    }

    pub(super) fn finish(&mut self, text: &mut Vec<u8>) {
        let is_mark = matches!(self.held.as_slice(), b"\\." | b"\\.\r");
        if !self.is_over && !is_mark {
            text.append(&mut self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn csv_may_end_with_the_mark_of_old_clients() {
        let translated = |pieces: &[&[u8]]| {
            let (mut end, mut csv) = (CsvEnd::default(), Vec::new());
            pieces
                .iter()
                .for_each(|piece| end.translate(piece, &mut csv));
            end.finish(&mut csv);
            String::from_utf8(csv).unwrap()
        };
        for whole in ["1,one\n\\.\n", "1,one\n\\.\r\n", "1,one\n\\."] {
            for at in 0..=whole.len() {
                let (left, right) = whole.as_bytes().split_at(at);
                assert_eq!(translated(&[left, right]), "1,one\n", "{whole:?} {at}");
            }
        }
        assert_eq!(translated(&[b"\\.\n"]), "");
        for kept in ["1,x\\.\n", "1,one\n", "abcdef\\.", "", "\\.x\n"] {
            assert_eq!(translated(&[kept.as_bytes()]), kept);
        }
    }

    /// The same whatever the pieces are.
    fn of_text(bytes: &[u8]) -> String {
        let (mut whole, mut end) = (Vec::new(), TextEnd::default());
        end.translate(bytes, &mut whole);
        end.finish(&mut whole);
        for size in 1..bytes.len().min(9) {
            let (mut pieces, mut end) = (Vec::new(), TextEnd::default());
            for piece in bytes.chunks(size) {
                end.translate(piece, &mut pieces);
            }
            end.finish(&mut pieces);
            assert_eq!(pieces, whole, "pieces of {size}");
        }
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn text_ends_with_the_mark_in_a_line_of_its_own() {
        assert_eq!(of_text(b"1\t\\N\n\\.\nignored\n"), "1\t\\N\n");
        assert_eq!(of_text(b"1\n\\.\r\nignored\n"), "1\n");
        for end in [b"\\.".as_slice(), b"\\.\r", b"\\.\n", b""] {
            assert_eq!(of_text(&[b"1\n", end].concat()), "1\n");
        }
        for whole in ["a\\.\n", "\\.x\n", "\\", "\\\\.\n", "a\\", "", "\n\n"] {
            assert_eq!(of_text(whole.as_bytes()), whole);
        }
    }
}
