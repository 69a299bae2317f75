//! What each function makes of its arguments. All are as in PostgreSQL.

use std::collections::HashMap;

use datafusion::common::Result;
use memchr::memmem;

use super::argument::TextArguments;
use super::output::TextOutput;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TextOperation {
    Repeat,
    PadLeft,
    PadRight,
    Replace,
    Translate,
    /// NULLs are left out.
    Concatenate,
    ConcatenateWithSeparator,
    /// Nothing, if one is NULL.
    ConcatenateStrictly,
}

impl TextOperation {
    /// Adds the result of a row.
    pub(super) fn apply(
        self,
        args: &TextArguments,
        row: usize,
        output: &mut TextOutput<'_>,
    ) -> Result<()> {
        let text = |index| args.text(index, row);
        match self {
            Self::Repeat => match (text(0), args.number(1, row)) {
                (Some(part), Some(count)) => repeat(part, count, output),
                _ => null(output),
            },
            Self::PadLeft | Self::PadRight => {
                let fill = match args.count() {
                    2 => Some(" "),
                    _ => text(2),
                };
                match (text(0), args.number(1, row), fill) {
                    (Some(padded), Some(length), Some(fill)) => {
                        pad(padded, length, fill, self == Self::PadLeft, output)
                    }
                    _ => null(output),
                }
            }
            Self::Replace => match (text(0), text(1), text(2)) {
                (Some(within), Some(from), Some(to)) => replace(within, from, to, output),
                _ => null(output),
            },
            Self::Translate => match (text(0), text(1), text(2)) {
                (Some(within), Some(from), Some(to)) => translate(within, from, to, output),
                _ => null(output),
            },
            Self::Concatenate => join((0..args.count()).filter_map(text), "", output),
            Self::ConcatenateWithSeparator => match text(0) {
                Some(separator) => join((1..args.count()).filter_map(text), separator, output),
                None => null(output),
            },
            Self::ConcatenateStrictly => {
                if (0..args.count()).all(|index| text(index).is_some()) {
                    join((0..args.count()).filter_map(text), "", output)
                } else {
                    null(output)
                }
            }
        }
    }
}

fn null(output: &mut TextOutput<'_>) -> Result<()> {
    output.push_null();
    Ok(())
}

fn repeat(part: &str, count: i64, output: &mut TextOutput<'_>) -> Result<()> {
    let count = usize::try_from(count).unwrap_or(0);
    output.begin(part.len().checked_mul(count))?;
    if !part.is_empty() {
        output.push_repeated(part, count)?;
    }
    output.end_text();
    Ok(())
}

/// `padded` with `fill` before or behind it, or cut, to so many characters.
fn pad(
    padded: &str,
    length: i64,
    fill: &str,
    is_left: bool,
    output: &mut TextOutput<'_>,
) -> Result<()> {
    let length = usize::try_from(length).unwrap_or(0);
    let (kept, count) = first_characters(padded, length);
    let fill_count = fill.chars().count();
    let missing = match fill_count {
        0 => 0,
        _ => length - count,
    };
    let whole = missing.checked_div(fill_count).unwrap_or(0);
    let (rest, _) = first_characters(fill, missing.checked_rem(fill_count).unwrap_or(0));
    let filled = fill.len().checked_mul(whole);
    output.begin(filled.and_then(|filled| filled.checked_add(rest.len() + kept.len())))?;
    if !is_left {
        output.push(kept)?;
    }
    output.push_repeated(fill, whole)?;
    output.push(rest)?;
    if is_left {
        output.push(kept)?;
    }
    output.end_text();
    Ok(())
}

/// The first characters of a text, at most so many, and how many they are.
fn first_characters(text: &str, most: usize) -> (&str, usize) {
    // As many characters as bytes, if all of them are ASCII.
    if text.len() <= most && text.is_ascii() {
        return (text, text.len());
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), most),
        None => (text, text.chars().count()),
    }
}

fn replace(within: &str, from: &str, to: &str, output: &mut TextOutput<'_>) -> Result<()> {
    if from.is_empty() {
        return join([within].into_iter(), "", output);
    }
    let finder = memmem::Finder::new(from);
    let (mut count, mut last) = (0_usize, 0);
    for place in finder.find_iter(within.as_bytes()) {
        count += 1;
        output.look_after(place - last)?;
        last = place;
    }
    let kept = within.len() - count * from.len();
    let added = to.len().checked_mul(count);
    output.begin(added.and_then(|added| added.checked_add(kept)))?;
    let mut start = 0;
    for place in finder.find_iter(within.as_bytes()) {
        output.push(within.get(start..place).unwrap_or_default())?;
        output.push(to)?;
        start = place + from.len();
    }
    output.push(within.get(start..).unwrap_or_default())?;
    output.end_text();
    Ok(())
}

/// What the characters of a text become.
struct Translation {
    /// By their codes, since most texts have few others.
    ascii: [Option<char>; 128],
    others: HashMap<char, Option<char>>,
}

impl Translation {
    /// Each character of `from` becomes the one at its place in `to`, or nothing.
    fn new(from: &str, to: &str) -> Self {
        let mut becomes: HashMap<char, Option<char>> = HashMap::new();
        let mut targets = to.chars();
        for letter in from.chars() {
            let target = targets.next();
            // The first of several counts.
            becomes.entry(letter).or_insert(target);
        }
        let mut ascii = [None; 128];
        for (letter, target) in (0_u8..).map(char::from).zip(&mut ascii) {
            *target = becomes.remove(&letter).unwrap_or(Some(letter));
        }
        let others = becomes;
        Self { ascii, others }
    }

    fn of(&self, letter: char) -> Option<char> {
        match self.ascii.get(letter as usize) {
            Some(target) => *target,
            None => self.others.get(&letter).copied().unwrap_or(Some(letter)),
        }
    }
}

fn translate(within: &str, from: &str, to: &str, output: &mut TextOutput<'_>) -> Result<()> {
    let translation = Translation::new(from, to);
    let mut bytes = 0_usize;
    for letter in within.chars() {
        bytes += translation.of(letter).map_or(0, char::len_utf8);
        output.look_after(1)?;
    }
    output.begin(Some(bytes))?;
    let mut encoded = [0; 4];
    for letter in within.chars() {
        if let Some(target) = translation.of(letter) {
            output.push(target.encode_utf8(&mut encoded))?;
        }
    }
    output.end_text();
    Ok(())
}

fn join<'a>(
    parts: impl Iterator<Item = &'a str> + Clone,
    separator: &str,
    output: &mut TextOutput<'_>,
) -> Result<()> {
    let mut bytes = Some(0_usize);
    for (index, part) in parts.clone().enumerate() {
        let more = part.len() + if index > 0 { separator.len() } else { 0 };
        bytes = bytes.and_then(|bytes| bytes.checked_add(more));
    }
    output.begin(bytes)?;
    for (index, part) in parts.enumerate() {
        if index > 0 {
            output.push(separator)?;
        }
        output.push(part)?;
    }
    output.end_text();
    Ok(())
}
