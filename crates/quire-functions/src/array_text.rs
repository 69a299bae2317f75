//! Arrays as PostgreSQL spells them: `{1,NULL,"a b"}`, `{{1,2},{3,4}}`.

/// Most elements of an array that is spelled.
const ELEMENTS_MAX: usize = 1 << 20;
/// Most dimensions, as in PostgreSQL.
const DIMENSIONS_MAX: usize = 6;

/// An element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrayElement {
    Null,
    Text(String),
    /// Of another dimension.
    Array(Vec<ArrayElement>),
}

impl ArrayElement {
    /// Dimensions of what is within it.
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Null | Self::Text(_) => 0,
            Self::Array(inner) => 1 + inner.first().map_or(0, Self::dimensions),
        }
    }

    /// How many elements each dimension has.
    fn lengths(&self) -> Vec<usize> {
        match self {
            Self::Null | Self::Text(_) => Vec::new(),
            Self::Array(inner) => {
                let within = inner.first().map(Self::lengths).unwrap_or_default();
                std::iter::once(inner.len()).chain(within).collect()
            }
        }
    }
}

/// The elements of an array; `None` when it is none, or its parts are not all of one size.
pub fn parse_array(text: &str) -> Option<Vec<ArrayElement>> {
    let mut parser = Parser {
        rest: text.trim_matches(is_blank),
        elements: 0,
    };
    let elements = parser.array(1)?;
    parser.rest.is_empty().then_some(elements)
}

/// The elements of an array of one dimension; `None` when it is none.
pub fn elements_of(text: &str) -> Option<Vec<Option<String>>> {
    let elements = parse_array(text)?.into_iter().map(|element| match element {
        ArrayElement::Null => Some(None),
        ArrayElement::Text(text) => Some(Some(text)),
        ArrayElement::Array(_) => None,
    });
    elements.collect()
}

/// C's `isspace`.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

struct Parser<'a> {
    rest: &'a str,
    /// How many there have been.
    elements: usize,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(is_blank);
    }

    fn takes(&mut self, letter: char) -> bool {
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// An array, from its brace on, and the blanks behind it.
    fn array(&mut self, dimension: usize) -> Option<Vec<ArrayElement>> {
        if dimension > DIMENSIONS_MAX || !self.takes('{') {
            return None;
        }
        let mut elements: Vec<ArrayElement> = Vec::new();
        self.skip_blanks();
        while !self.takes('}') {
            if !elements.is_empty() && !self.takes(',') {
                return None;
            }
            let element = self.element(dimension)?;
            if let Some(first) = elements.first()
                && first.lengths() != element.lengths()
            {
                return None;
            }
            elements.push(element);
            self.elements += 1;
            if self.elements > ELEMENTS_MAX {
                return None;
            }
        }
        self.skip_blanks();
        Some(elements)
    }

    /// An element, and the blanks around it.
    fn element(&mut self, dimension: usize) -> Option<ArrayElement> {
        self.skip_blanks();
        match self.rest.chars().next()? {
            '{' => {
                let inner = self.array(dimension + 1)?;
                // Only the whole array can be empty.
                (!inner.is_empty()).then_some(ArrayElement::Array(inner))
            }
            '"' => self.quoted(),
            _ => self.plain(),
        }
    }

    fn quoted(&mut self) -> Option<ArrayElement> {
        let mut letters = self.rest.char_indices().skip(1);
        let mut text = String::new();
        loop {
            match letters.next()? {
                (_, '\\') => text.push(letters.next()?.1),
                (at, '"') => {
                    self.rest = self.rest.get(at + 1..)?;
                    self.skip_blanks();
                    let is_end = self.rest.starts_with([',', '}']);
                    return is_end.then_some(ArrayElement::Text(text));
                }
                (_, letter) => text.push(letter),
            }
        }
    }

    fn plain(&mut self) -> Option<ArrayElement> {
        let mut letters = self.rest.char_indices();
        let mut text = String::new();
        // Blanks at the end are left out, but those behind a backslash.
        let mut kept_bytes = 0;
        let mut is_escaped = false;
        let end = loop {
            match letters.next()? {
                (at, ',' | '}') => break at,
                (_, '"' | '{') => return None,
                (_, '\\') => {
                    text.push(letters.next()?.1);
                    kept_bytes = text.len();
                    is_escaped = true;
                }
                (_, letter) => {
                    text.push(letter);
                    if !is_blank(letter) {
                        kept_bytes = text.len();
                    }
                }
            }
        };
        self.rest = self.rest.get(end..)?;
        text.truncate(kept_bytes);
        match text.as_str() {
            "" => None,
            null if !is_escaped && null.eq_ignore_ascii_case("null") => Some(ArrayElement::Null),
            _ => Some(ArrayElement::Text(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_postgresql_writes_them() {
        let some = |texts: &[&str]| Some(texts.iter().map(|one| Some((*one).to_owned())).collect());
        assert_eq!(elements_of("{1,2,3}"), some(&["1", "2", "3"]));
        assert_eq!(elements_of(" { 1 , \"a b\" } "), some(&["1", "a b"]));
        assert_eq!(
            elements_of(r#"{"a\"b","c\\d","","null"}"#),
            some(&["a\"b", "c\\d", "", "null"])
        );
        assert_eq!(
            elements_of(r"{a b ,\null,c\ }"),
            some(&["a b", "null", "c "])
        );
        assert_eq!(elements_of("{}"), some(&[]));
        assert_eq!(elements_of("{NULL,x}"), Some(vec![None, Some("x".into())]));
        for wrong in [
            "",
            "1,2",
            "{1",
            "{1,}",
            "{,1}",
            "{\"a}",
            "{a\"b\"}",
            "{\"a\"b}",
            "{1}}",
            "{{1},{2,3}}",
            "{{1},2}",
            "{{}}",
            "{{1}{2}}",
        ] {
            assert_eq!(parse_array(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn arrays_have_dimensions() {
        let text = |text: &str| ArrayElement::Text(text.to_owned());
        let rows = vec![
            ArrayElement::Array(vec![text("1"), ArrayElement::Null]),
            ArrayElement::Array(vec![text("3"), text("4")]),
        ];
        assert_eq!(parse_array("{{1,NULL},{3, 4}}"), Some(rows));
        assert_eq!(elements_of("{{1},{2}}"), None);
    }
}
