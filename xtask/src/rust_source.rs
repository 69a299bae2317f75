//! What a line of Rust is: code, comment, literal, test.
//!
//! The checks need no types and no macros expanded, only to tell the word `unsafe` in an item from the same word in
//! a sentence. So this is a lexer for comments and literals and a matcher of brackets, not a parser: it is fast, has no
//! dependencies, and reads a file that does not compile yet.

/// A Rust file, and two views of it in which every byte sits at the offset it has in the text.
pub struct RustSource {
    /// The text with comments and literals blanked.
    pub code: String,
    /// The text with everything but comments blanked.
    pub comments: String,
    /// For each line (from 0): whether it belongs to an item under `#[cfg(test)]`.
    test_lines: Vec<bool>,
    line_starts: Vec<usize>,
}

/// A function and its length.
pub struct Function {
    pub name: String,
    /// Lines from the word `fn` to the closing brace, both included.
    pub line_count: usize,
}

impl RustSource {
    pub fn new(text: &str) -> Self {
        let (code, comments) = split_views(text);
        let mut line_starts = vec![0];
        line_starts.extend(
            text.bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n')
                .map(|(at, _)| at + 1),
        );
        let mut source = Self {
            code,
            comments,
            test_lines: vec![false; line_starts.len()],
            line_starts,
        };
        source.mark_tests();
        source
    }

    /// The line (from 1) that holds the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Whether `line` (from 1) belongs to an item compiled for tests only.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.get(line - 1).copied().unwrap_or(false)
    }

    /// Lines of code (from 1) with their text, without those that exist for tests only.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line))
            .filter(|(line, _)| !self.is_test_line(*line))
    }

    /// Lines (from 1) of code outside tests that contain `word` as a whole word.
    pub fn lines_with_word<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code_lines()
            .filter(move |(_, text)| has_word(text, word))
            .map(|(line, _)| line)
    }

    /// Attributes (`#[…]` and `#![…]`) as written in the code view, with their first line.
    pub fn attributes(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices('#') {
            let after = &self.code[at + 1..];
            let open = at + 1 + usize::from(after.starts_with('!'));
            if self.code.as_bytes().get(open) == Some(&b'[')
                && let Some(close) = matching_bracket(self.code.as_bytes(), open)
            {
                found.push((self.line_of(at), &self.code[at..=close]));
            }
        }
        found
    }

    /// Every function with a body, tests included.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let preceded = at > 0 && is_word_byte(self.code.as_bytes()[at - 1]);
            let name: String = self.code[at + 3..]
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            if preceded || name.is_empty() {
                continue;
            }
            if let Some(end) =
                item_end(self.code.as_bytes(), at).filter(|end| self.code.as_bytes()[*end] == b'}')
            {
                let line_count = self.line_of(end) - self.line_of(at) + 1;
                found.push(Function { name, line_count });
            }
        }
        found
    }

    fn mark_tests(&mut self) {
        let mut regions = Vec::new();
        for (line, attribute) in self.attributes() {
            let attribute_end = self.line_starts[line - 1]
                + self.code[self.line_starts[line - 1]..]
                    .find(attribute)
                    .unwrap_or(0)
                + attribute.len();
            if is_test_attribute(attribute)
                && let Some(end) = item_end(self.code.as_bytes(), attribute_end)
            {
                regions.push((line, self.line_of(end)));
            }
        }
        for (first, last) in regions {
            self.test_lines[first - 1..last].fill(true);
        }
    }
}

fn is_test_attribute(attribute: &str) -> bool {
    attribute.starts_with("#[")
        && (attribute == "#[test]"
            || (attribute.starts_with("#[cfg(")
                && has_word(attribute, "test")
                && !attribute.contains("not(test")))
}

/// Whether `text` contains `word` with no letter, digit or underscore on either side.
pub fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices(word).any(|(at, _)| {
        let before = at
            .checked_sub(1)
            .is_some_and(|before| is_word_byte(bytes[before]));
        let after = bytes
            .get(at + word.len())
            .is_some_and(|after| is_word_byte(*after));
        !before && !after
    })
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The end of the item that starts at `from`: its `;`, or the brace that closes its body.
fn item_end(code: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < code.len() {
        match code[at] {
            b'(' | b'[' => at = matching_bracket(code, at)?,
            b'{' => return matching_bracket(code, at),
            b';' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the bracket opened at `open` is closed. Brackets of any kind nest.
fn matching_bracket(code: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits a text into its code view and its comment view.
fn split_views(text: &str) -> (String, String) {
    let blank: Vec<u8> = text
        .bytes()
        .map(|byte| if byte == b'\n' { b'\n' } else { b' ' })
        .collect();
    let (mut code, mut comments) = (text.as_bytes().to_vec(), blank.clone());
    let mut at = 0;
    while at < text.len() {
        let (end, is_comment) = token_at(text.as_bytes(), at);
        if end > at {
            code[at..end].copy_from_slice(&blank[at..end]);
            if is_comment {
                comments[at..end].copy_from_slice(&text.as_bytes()[at..end]);
            }
        }
        at = end.max(at + 1);
    }
    (
        String::from_utf8_lossy(&code).into_owned(),
        String::from_utf8_lossy(&comments).into_owned(),
    )
}

/// The comment or literal that starts at `at`, as (its end, whether it is a comment); an empty range for anything else.
fn token_at(text: &[u8], at: usize) -> (usize, bool) {
    let starts_word = at == 0 || !is_word_byte(text[at - 1]);
    match text[at] {
        b'/' if text[at..].starts_with(b"//") => {
            (find_from(text, at, b"\n").unwrap_or(text.len()), true)
        }
        b'/' if text[at..].starts_with(b"/*") => (block_comment_end(text, at), true),
        b'"' => (string_end(text, at), false),
        b'r' | b'b' | b'c' if starts_word => (prefixed_string_end(text, at), false),
        b'\'' => (character_end(text, at), false),
        _ => (at, false),
    }
}

fn find_from(text: &[u8], at: usize, needle: &[u8]) -> Option<usize> {
    text[at..]
        .windows(needle.len())
        .position(|window| window == needle)
        .map(|found| at + found)
}

fn block_comment_end(text: &[u8], at: usize) -> usize {
    let (mut depth, mut at) = (0usize, at);
    while at < text.len() {
        if text[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

fn string_end(text: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `c"…"`, `b'…'`; returns `at` for a plain identifier.
fn prefixed_string_end(text: &[u8], at: usize) -> usize {
    let letters = text[at..]
        .iter()
        .take(2)
        .take_while(|byte| matches!(byte, b'r' | b'b' | b'c'))
        .count();
    let raw = text[at..at + letters].contains(&b'r');
    let hashes = text[at + letters..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let open = at + letters + hashes;
    match text.get(open) {
        Some(b'"') if raw => {
            let mut close = vec![b'"'];
            close.resize(1 + hashes, b'#');
            find_from(text, open + 1, &close).map_or(text.len(), |end| end + close.len())
        }
        Some(b'"') if hashes == 0 => string_end(text, open),
        Some(b'\'') if hashes == 0 && text[at] == b'b' && letters == 1 => character_end(text, open),
        _ => at,
    }
}

/// The end of a character literal, or `at` when the quote begins a lifetime.
fn character_end(text: &[u8], at: usize) -> usize {
    if text.get(at + 1) == Some(&b'\\') {
        return find_from(text, at + 3, b"'").map_or(text.len(), |end| end + 1);
    }
    let width = match text.get(at + 1) {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 1,
    };
    if text.get(at + 1 + width) == Some(&b'\'') {
        at + 2 + width
    } else {
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_leave_the_code_view() {
        let source = RustSource::new(
            "let a = \"unsafe\"; // unsafe\nlet b = r#\"un\"safe\"#; /* unsafe /* x */ y */ z\n",
        );
        assert!(!source.code.contains("unsafe"));
        assert!(source.code.contains('z') && !source.code.contains('y'));
        assert_eq!(source.comments.matches("unsafe").count(), 2);
    }

    #[test]
    fn lifetimes_are_not_characters() {
        let source = RustSource::new(
            "fn f<'a>(x: &'a str) -> char { let q = '\"'; let e = '\\''; let z = 'é'; 'b' }",
        );
        assert!(source.code.contains("<'a>(x: &'a str)"), "{}", source.code);
        assert!(
            !source.code.contains('"')
                && !source.code.contains('é')
                && !source.code.contains("'b'")
        );
        assert_eq!(source.functions().len(), 1);
    }

    #[test]
    fn lines_under_cfg_test_are_tests() {
        let text = "fn a() {}\n#[cfg(test)]\n#[allow(dead_code)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let source = RustSource::new(text);
        let tests: Vec<bool> = (1..=7).map(|line| source.is_test_line(line)).collect();
        assert_eq!(tests, [false, true, true, true, true, true, false]);
    }

    #[test]
    fn not_test_is_not_a_test() {
        let source = RustSource::new("#[cfg(not(test))]\nfn a() {}\n");
        assert!(!source.is_test_line(2));
    }

    #[test]
    fn a_function_is_measured_from_its_name_to_its_last_brace() {
        let source = RustSource::new(
            "trait T { fn none(&self); }\nfn long(\n    a: [u8; 4],\n) {\n    { }\n}\n",
        );
        let functions = source.functions();
        assert_eq!(functions.len(), 1);
        assert_eq!(
            (functions[0].name.as_str(), functions[0].line_count),
            ("long", 5)
        );
    }
}
