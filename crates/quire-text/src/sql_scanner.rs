//! The elements of SQL text: words, quoted texts, comments, parameters and symbols, by PostgreSQL's lexical rules.
//!
//! `''` and `""` stand for one quote, a backslash escapes only in `E'…'`, `$tag$ … $tag$` quotes what it encloses, and `/* */` nests. All
//! who ask where a statement ends, or how it begins, ask this scanner: a server that finds `BEGIN` where the parser finds a comment would
//! lose track of its transactions.
//!
//! The scanner takes a text piece by piece, cut at line ends, and reads each byte once.
//!
//! ```
//! use quire_text::sql_scanner::{ElementKind, SqlScanner};
//!
//! let sql = "/* a /* b */ c */ SELECT 'x;' -- y";
//! let elements: Vec<_> = SqlScanner::elements(sql).map(|element| (element.kind, &sql[element.place])).collect();
//! assert_eq!(elements[1], (ElementKind::Word, "SELECT"));
//! assert_eq!(elements[2], (ElementKind::Text, "'x;'"));
//! ```

use std::ops::Range;

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementKind {
    /// `-- …` without its line end, or `/* … */`.
    Comment,
    /// A name, a keyword or a number.
    Word,
    /// `'…'`, `E'…'` or `$tag$…$tag$`.
    Text,
    /// `"…"`.
    QuotedName,
    /// `$1`.
    Parameter,
    /// Any other character.
    Symbol,
}

/// An element and the bytes that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlElement {
    pub kind: ElementKind,
    pub place: Range<usize>,
}

/// An element whose end mark is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unterminated {
    pub kind: ElementKind,
    /// What it is, for a message.
    pub name: &'static str,
    /// Offset of its first byte.
    pub start: usize,
}

/// What begins with one mark and ends with another.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Enclosed {
    Text { has_escapes: bool },
    QuotedName,
    LineComment,
    BlockComment { depth: usize },
    DollarText { tag: String },
}

/// An element whose end has not been read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenElement {
    enclosed: Enclosed,
    start: usize,
}

/// Reads a text from its start, element by element.
#[derive(Debug, Clone, Default)]
pub struct SqlScanner {
    at: usize,
    open: Option<OpenElement>,
}

impl SqlScanner {
    /// The elements of a whole text. The last one may lack its end.
    pub fn elements(text: &str) -> impl Iterator<Item = SqlElement> {
        let mut scanner = Self::default();
        std::iter::from_fn(move || scanner.next(text).or_else(|| scanner.finish()))
    }

    /// The elements of a whole text that are not comments, and their texts.
    pub fn tokens(text: &str) -> impl Iterator<Item = (SqlElement, &str)> {
        let tokens = Self::elements(text).filter(|element| element.kind != ElementKind::Comment);
        tokens.map(|element| {
            let part = &text[element.place.clone()];
            (element, part)
        })
    }

    /// The words of a whole text, outside quotes and comments.
    pub fn words(text: &str) -> impl Iterator<Item = &str> {
        let words = Self::tokens(text).filter(|(element, _)| element.kind == ElementKind::Word);
        words.map(|(_, word)| word)
    }

    /// The next element whose end is in `text`: what was given before, possibly with more at its end.
    pub fn next(&mut self, text: &str) -> Option<SqlElement> {
        if self.open.is_none() {
            let rest = text.get(self.at..)?;
            self.at += rest.len() - rest.trim_start_matches(is_blank).len();
            match self.begin(text)? {
                Begun::Whole(element) => return Some(element),
                Begun::Open(open) => self.open = Some(open),
            }
        }
        let open = self.open.as_mut()?;
        let has_ended = open.enclosed.read(text, &mut self.at);
        has_ended.then(|| self.finish())?
    }

    /// The element whose end is missing. The scanner goes on behind it.
    pub fn finish(&mut self) -> Option<SqlElement> {
        let open = self.open.take()?;
        Some(SqlElement {
            kind: open.enclosed.kind(),
            place: open.start..self.at,
        })
    }

    /// The element that lacks its end mark. A comment of one line ends with the text.
    pub fn unterminated(&self) -> Option<Unterminated> {
        let open = self.open.as_ref()?;
        let name = match open.enclosed {
            Enclosed::LineComment => return None,
            Enclosed::Text { .. } => "quoted text",
            Enclosed::QuotedName => "quoted name",
            Enclosed::BlockComment { .. } => "/* comment",
            Enclosed::DollarText { .. } => "dollar-quoted text",
        };
        Some(Unterminated {
            kind: open.enclosed.kind(),
            name,
            start: open.start,
        })
    }

    /// How far the text has been read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Reads a word or a symbol, or the mark that begins another element.
    fn begin(&mut self, text: &str) -> Option<Begun> {
        let start = self.at;
        let rest = &text[start..];
        let first = rest.chars().next()?;
        let (enclosed, mark_bytes) = if rest.starts_with("--") {
            (Enclosed::LineComment, 2)
        } else if rest.starts_with("/*") {
            (Enclosed::BlockComment { depth: 1 }, 2)
        } else if first == '\'' {
            (Enclosed::Text { has_escapes: false }, 1)
        } else if first == '"' {
            (Enclosed::QuotedName, 1)
        } else if let Some(tag) = dollar_tag(rest) {
            let tag = tag.to_owned();
            let bytes = tag.len();
            (Enclosed::DollarText { tag }, bytes)
        } else {
            let (kind, bytes) = whole_element(rest, first);
            let is_escape_letter =
                kind == ElementKind::Word && rest[..bytes].eq_ignore_ascii_case("e");
            if !(is_escape_letter && rest[bytes..].starts_with('\'')) {
                self.at += bytes;
                let place = start..self.at;
                return Some(Begun::Whole(SqlElement { kind, place }));
            }
            (Enclosed::Text { has_escapes: true }, bytes + 1)
        };
        self.at += mark_bytes;
        Some(Begun::Open(OpenElement { enclosed, start }))
    }
}

/// The word that says what a statement does, behind comments and opening parentheses; empty if there is none.
///
/// ```
/// assert_eq!(quire_text::sql_scanner::first_word("-- all\n (SELECT 1)"), "SELECT");
/// ```
pub fn first_word(sql: &str) -> &str {
    let mut tokens = SqlScanner::tokens(sql).skip_while(|(_, part)| *part == "(");
    match tokens.next() {
        Some((element, word)) if element.kind == ElementKind::Word => word,
        _ => "",
    }
}

enum Begun {
    Whole(SqlElement),
    Open(OpenElement),
}

impl Enclosed {
    fn kind(&self) -> ElementKind {
        match self {
            Self::Text { .. } | Self::DollarText { .. } => ElementKind::Text,
            Self::QuotedName => ElementKind::QuotedName,
            Self::LineComment | Self::BlockComment { .. } => ElementKind::Comment,
        }
    }

    /// Moves `at` behind the end mark, or to the end of the text; says whether the end was there.
    fn read(&mut self, text: &str, at: &mut usize) -> bool {
        let rest = &text[*at..];
        let end = match self {
            Self::Text { has_escapes } => quoted_end(rest, b'\'', *has_escapes),
            Self::QuotedName => quoted_end(rest, b'"', false),
            Self::LineComment => rest.find('\n'),
            Self::BlockComment { depth } => comment_end(rest, depth),
            Self::DollarText { tag } => rest.find(tag.as_str()).map(|end| end + tag.len()),
        };
        *at += end.unwrap_or(rest.len());
        end.is_some()
    }
}

/// The word, parameter or symbol at the start of the text, and its bytes.
fn whole_element(text: &str, first: char) -> (ElementKind, usize) {
    let bytes_of = |text: &str, is_part: fn(char) -> bool| {
        let end = text.find(|character| !is_part(character));
        end.unwrap_or(text.len())
    };
    if is_word_part(first) && first != '$' {
        return (ElementKind::Word, bytes_of(text, is_word_part));
    }
    match text.strip_prefix('$') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = bytes_of(rest, |c| c.is_ascii_digit());
            (ElementKind::Parameter, 1 + digits)
        }
        _ => (ElementKind::Symbol, first.len_utf8()),
    }
}

/// The end of a quoted text whose first quote has been read. A doubled quote is one of the text.
fn quoted_end(text: &str, quote: u8, has_escapes: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let byte = *bytes.get(at)?;
        at += match byte {
            b'\\' if has_escapes => 2,
            _ if byte == quote && bytes.get(at + 1) == Some(&quote) => 2,
            _ if byte == quote => return Some(at + 1),
            _ => 1,
        };
    }
}

/// The end of a comment of `depth` open marks, which is kept for the next piece of text.
fn comment_end(text: &str, depth: &mut usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(mark) = bytes.get(at..at + 2) {
        match mark {
            b"/*" => *depth += 1,
            b"*/" => *depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if *depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The `$…$` at the start of the text: a name or nothing between two dollar signs.
fn dollar_tag(text: &str) -> Option<&str> {
    let after = text.strip_prefix('$')?;
    let bytes = after.find(|c| !is_word_part(c) || c == '$')?;
    let is_tag =
        after[bytes..].starts_with('$') && !after.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then(|| &text[..bytes + 2])
}

/// Characters other than ASCII's are letters, as PostgreSQL has it.
fn is_word_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

fn is_blank(character: char) -> bool {
    character.is_ascii_whitespace() || character == '\x0b'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(text: &str) -> Vec<(ElementKind, &str)> {
        let elements = SqlScanner::elements(text);
        elements
            .map(|element| (element.kind, &text[element.place]))
            .collect()
    }

    #[test]
    fn words_symbols_and_parameters() {
        use ElementKind::{Parameter, Symbol, Word};
        assert_eq!(
            elements("a$4+$12 \u{b}é1<_x"),
            [
                (Word, "a$4"),
                (Symbol, "+"),
                (Parameter, "$12"),
                (Word, "é1"),
                (Symbol, "<"),
                (Word, "_x")
            ]
        );
        assert_eq!(
            elements("$ $x"),
            [(Symbol, "$"), (Symbol, "$"), (Word, "x")]
        );
        assert_eq!(elements(" \n"), []);
    }

    #[test]
    fn quotes() {
        use ElementKind::{QuotedName, Symbol, Text, Word};
        assert_eq!(elements("'it''s;'x"), [(Text, "'it''s;'"), (Word, "x")]);
        assert_eq!(elements(r"e'\';'"), [(Text, r"e'\';'")]);
        assert_eq!(elements(r"name'\'"), [(Word, "name"), (Text, r"'\'")]);
        assert_eq!(elements("\"a\"\";\""), [(QuotedName, "\"a\"\";\"")]);
        assert_eq!(elements("$é$;$$;$é$"), [(Text, "$é$;$$;$é$")]);
        assert_eq!(elements("$$$$;"), [(Text, "$$$$"), (Symbol, ";")]);
    }

    #[test]
    fn comments_nest() {
        use ElementKind::{Comment, Word};
        assert_eq!(
            elements("/* a /* b */ c */ d -- e\nf--"),
            [
                (Comment, "/* a /* b */ c */"),
                (Word, "d"),
                (Comment, "-- e"),
                (Word, "f"),
                (Comment, "--")
            ]
        );
    }

    #[test]
    fn what_lacks_its_end_is_named() {
        for (text, name) in [
            ("a 'b", Some("quoted text")),
            (r"a E'b\'", Some("quoted text")),
            ("a \"b", Some("quoted name")),
            ("a /* /* */", Some("/* comment")),
            ("a $x$ $y$", Some("dollar-quoted text")),
            ("a -- b", None),
            ("a b", None),
        ] {
            let mut scanner = SqlScanner::default();
            while scanner.next(text).is_some() {}
            let found = scanner.unterminated();
            let found = found.map(|element| (element.name, element.start));
            assert_eq!(found, name.map(|name| (name, 2)), "{text}");
            assert_eq!(scanner.position(), text.len());
        }
    }

    /// Random texts: the elements cover all but blanks, in order, and a text that comes line by line has the same ones.
    #[test]
    fn any_text_is_read_to_its_end_and_by_lines_as_at_once() {
        let pieces = [
            "'", "\"", "$", "$a$", "--", "/*", "*/", "\\", "E'", ";", "\n", "x", "é", "(", "1", " ",
        ];
        let mut state = 11_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                text.push_str(pieces[(state >> 40) as usize % pieces.len()]);
            }
            let whole: Vec<_> = SqlScanner::elements(&text).collect();
            let mut behind = 0;
            for element in &whole {
                assert!(
                    text[behind..element.place.start].chars().all(is_blank),
                    "{text:?}"
                );
                behind = element.place.end;
            }
            assert!(text[behind..].chars().all(is_blank), "{text:?}");
            let (mut scanner, mut given, mut by_lines) =
                (SqlScanner::default(), String::new(), Vec::new());
            for line in text.split_inclusive('\n') {
                given.push_str(line);
                by_lines.extend(std::iter::from_fn(|| scanner.next(&given)));
            }
            by_lines.extend(scanner.finish());
            assert_eq!(by_lines, whole, "{text:?}");
        }
    }
}
