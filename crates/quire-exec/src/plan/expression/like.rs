//! `LIKE` with a pattern that is known: `%` is any text, `_` one character, and `\` takes what follows it as it is.

use std::fmt;

use memchr::memmem::Finder;

/// A pattern, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikePattern {
    parts: Vec<LikePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LikePart {
    Text(Box<Literal>),
    AnyCharacter,
    AnyText,
}

/// Text of a pattern, with what finds it within another.
#[derive(Debug, Clone)]
struct Literal(Finder<'static>);

impl Literal {
    fn bytes(&self) -> &[u8] {
        self.0.needle()
    }

    /// Where it is first at or behind `from`.
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let found = self.0.find(text.get(from..)?)?;
        Some(from + found)
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Literal {}

impl LikePattern {
    /// Takes a pattern apart.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let part = match character {
                '%' => LikePart::AnyText,
                '_' => LikePart::AnyCharacter,
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
            Some(LikePart::Text(text)) => Some(text.bytes()),
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
                Some(LikePart::AnyText) => {
                    part += 1;
                    let Some(start) = self.first_start(part, text, at) else {
                        return false;
                    };
                    retry = Some((part, start));
                    at = start;
                    continue;
                }
                Some(LikePart::Text(wanted)) => {
                    let rest = text.get(at..).unwrap_or_default();
                    let wanted = wanted.bytes();
                    rest.starts_with(wanted).then_some(at + wanted.len())
                }
                Some(LikePart::AnyCharacter) => {
                    (at < text.len()).then(|| after_character(text, at))
                }
                None if at == text.len() => return true,
                None => None,
            };
            match (next, &mut retry) {
                (Some(end), _) => (part, at) = (part + 1, end),
                (None, Some((start, from))) if *from < text.len() => {
                    let again = after_character(text, *from);
                    let Some(found) = self.first_start(*start, text, again) else {
                        return false;
                    };
                    *from = found;
                    (part, at) = (*start, found);
                }
                _ => return false,
            }
        }
    }

    /// Where what stands behind a `%` can begin first.
    fn first_start(&self, part: usize, text: &[u8], from: usize) -> Option<usize> {
        match self.parts.get(part) {
            Some(LikePart::Text(wanted)) => wanted.find(text, from),
            // Of the end there is one place.
            None => Some(text.len()),
            Some(_) => Some(from),
        }
    }
}

impl fmt::Display for LikePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                LikePart::AnyText => f.write_str("%")?,
                LikePart::AnyCharacter => f.write_str("_")?,
                LikePart::Text(literal) => {
                    let text = String::from_utf8_lossy(literal.bytes());
                    let text = text.replace('\\', "\\\\").replace('%', "\\%");
                    f.write_str(&text.replace('_', "\\_"))?;
                }
            }
        }
        Ok(())
    }
}

fn flush(text: &mut String, parts: &mut Vec<LikePart>) {
    if !text.is_empty() {
        let finder = Finder::new(text.as_bytes()).into_owned();
        parts.push(LikePart::Text(Box::new(Literal(finder))));
        text.clear();
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

    /// By definition, in exponential time.
    fn is_like(text: &[char], pattern: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|at| is_like(&text[at..], rest)),
            ['_', rest @ ..] => !text.is_empty() && is_like(&text[1..], rest),
            [wanted, rest @ ..] => text.first() == Some(wanted) && is_like(&text[1..], rest),
        }
    }

    #[test]
    fn short_texts_match_as_defined() {
        let words = |letters: &[char], most: u32| {
            let mut words: Vec<Vec<char>> = vec![Vec::new()];
            let mut from = 0;
            for _ in 0..most {
                let until = words.len();
                for at in from..until {
                    for letter in letters {
                        let mut longer = words[at].clone();
                        longer.push(*letter);
                        words.push(longer);
                    }
                }
                from = until;
            }
            words
        };
        let texts = words(&['a', 'é'], 6);
        for pattern in words(&['a', 'é', '%', '_'], 5) {
            let like = LikePattern::new(&pattern.iter().collect::<String>());
            for text in &texts {
                let bytes: String = text.iter().collect();
                let expected = is_like(text, &pattern);
                assert_eq!(
                    like.matches(bytes.as_bytes()),
                    expected,
                    "{text:?} LIKE {pattern:?}"
                );
            }
        }
    }
}
