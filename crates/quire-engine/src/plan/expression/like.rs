//! `LIKE` with a pattern that is known: `%` is any text, `_` one character, and `\` takes what follows it as it is.

use std::fmt;

/// A pattern, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikePattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<[u8]>),
    AnyCharacter,
    AnyText,
}

impl LikePattern {
    /// Takes a pattern apart.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let part = match character {
                '%' => Part::AnyText,
                '_' => Part::AnyCharacter,
                // At the end of a pattern it stands for itself.
                '\\' => {
                    text.push(characters.next().unwrap_or('\\'));
                    continue;
                }
                other => {
                    text.push(other);
                    continue;
                }
            };
            flush(&mut text, &mut parts);
            parts.push(part);
        }
        flush(&mut text, &mut parts);
        Self { parts }
    }

    /// What every text that is like the pattern begins with.
    pub(crate) fn prefix(&self) -> Option<&[u8]> {
        match self.parts.first() {
            Some(Part::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether a whole text is like the pattern.
    #[must_use]
    pub fn matches(&self, text: &[u8]) -> bool {
        // Where the last `%` stands in the pattern, and from where its text may be longer.
        let mut retry: Option<(usize, usize)> = None;
        let (mut part, mut at) = (0, 0);
        loop {
            let next = match self.parts.get(part) {
                Some(Part::AnyText) => {
                    retry = Some((part + 1, at));
                    part += 1;
                    continue;
                }
                Some(Part::Text(wanted)) => {
                    let rest = text.get(at..).unwrap_or_default();
                    rest.starts_with(wanted).then_some(at + wanted.len())
                }
                Some(Part::AnyCharacter) => (at < text.len()).then(|| after_character(text, at)),
                None if at == text.len() => return true,
                None => None,
            };
            match (next, &mut retry) {
                (Some(end), _) => (part, at) = (part + 1, end),
                (None, Some((start, from))) if *from < text.len() => {
                    *from = after_character(text, *from);
                    (part, at) = (*start, *from);
                }
                _ => return false,
            }
        }
    }
}

impl fmt::Display for LikePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::AnyText => f.write_str("%")?,
                Part::AnyCharacter => f.write_str("_")?,
                Part::Text(bytes) => {
                    let text = String::from_utf8_lossy(bytes);
                    let text = text.replace('\\', "\\\\").replace('%', "\\%");
                    f.write_str(&text.replace('_', "\\_"))?;
                }
            }
        }
        Ok(())
    }
}

fn flush(text: &mut String, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Text(std::mem::take(text).into_bytes().into()));
    }
}

/// Where the character that begins at `at` ends.
fn after_character(text: &[u8], at: usize) -> usize {
    let continued = text
        .iter()
        .skip(at + 1)
        .take_while(|byte| **byte & 0xC0 == 0x80);
    at + 1 + continued.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (text, pattern, expected) in [
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "a_c", true),
            ("aéc", "a_c", true),
            ("ac", "a_c", false),
            ("aXbXc", "a%b%c", true),
            ("aXbX", "a%b%c", false),
            ("", "%", true),
            ("", "_", false),
            ("a%c", "a\\%c", true),
            ("abc", "a\\%c", false),
            ("a\\", "a\\", true),
            ("aab", "%ab", true),
            ("abab", "%_b", true),
            ("a\nb", "a%b", true),
        ] {
            let is_like = LikePattern::new(pattern).matches(text.as_bytes());
            assert_eq!(is_like, expected, "{text:?} LIKE {pattern:?}");
        }
    }
}
