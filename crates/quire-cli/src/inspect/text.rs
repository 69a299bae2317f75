//! The parts as a table for the terminal.

use unicode_width::UnicodeWidthStr;

use super::part::FilePart;
use crate::render::escape_controls;
use crate::shell::bytes_text;

/// Characters of the longest bar.
const BAR_WIDTH: usize = 20;

/// A line for each part, indented, with its share of the file.
pub fn table(whole: &FilePart) -> String {
    let mut lines = Vec::new();
    add(whole, 0, &mut lines);
    let width = lines.iter().map(|(label, _)| label.width()).max();
    let width = width.unwrap_or(0);
    let header = format!(
        "{:width$}  {:>9}  {:>6}  {:>9}  {:>6}\n",
        "", "in file", "share", "raw", "ratio"
    );
    let line = |(label, part): &(String, &FilePart)| {
        let share = part.bytes as f64 / whole.bytes.max(1) as f64;
        let raw = part.raw_bytes.map(bytes_text).unwrap_or_default();
        let ratio = part.ratio().map(|ratio| format!("{ratio:.3}"));
        let line = format!(
            "{label}{:blank$}  {:>9}  {:>5.1}%  {raw:>9}  {:>6}  {}",
            "",
            bytes_text(part.bytes),
            share * 100.0,
            ratio.unwrap_or_default(),
            "█".repeat((share * BAR_WIDTH as f64).round() as usize),
            blank = width - label.width(),
        );
        line.trim_end().to_owned() + "\n"
    };
    lines
        .iter()
        .map(line)
        .fold(header, |text, line| text + &line)
}

fn add<'p>(part: &'p FilePart, depth: usize, lines: &mut Vec<(String, &'p FilePart)>) {
    let name = escape_controls(&part.name);
    let label = match part.kind.as_str() {
        "" => format!("{:1$}{name}", "", 2 * depth),
        kind => format!("{:1$}{name} ({kind})", "", 2 * depth),
    };
    lines.push((label, part));
    let parts = part.parts.iter();
    parts.for_each(|below| add(below, depth + 1, lines));
}

/// What each codec holds, the largest first.
pub fn codecs(whole: &FilePart) -> Vec<FilePart> {
    let mut codecs: Vec<FilePart> = Vec::new();
    for (_, leaf) in whole.leaves() {
        let Some(raw_bytes) = leaf.raw_bytes else {
            continue;
        };
        let name = match leaf.kind.as_str() {
            "codec" => leaf.name.as_str(),
            page_codec => page_codec,
        };
        match codecs.iter_mut().find(|codec| codec.name == name) {
            Some(codec) => {
                codec.bytes += leaf.bytes;
                codec.raw_bytes = codec.raw_bytes.map(|raw| raw + raw_bytes);
            }
            None => codecs.push(FilePart {
                name: name.to_owned(),
                kind: String::new(),
                ..leaf.clone()
            }),
        }
    }
    codecs.sort_by_key(|codec| std::cmp::Reverse(codec.bytes));
    codecs
}
