//! Which constant a default is: literals as SQLite and PostgreSQL keep them in their catalogs.

/// What a default expression is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DefaultConstant {
    /// The value as text.
    Value(String),
    Null,
    /// Something to evaluate.
    Expression,
}

impl DefaultConstant {
    /// Reads `5`, `-5`, `1.5e3`, `'text'`, `true`, `NULL`, `x'00ff'`, any of them in parentheses or with casts (`'a'::text`).
    pub(crate) fn of(expression: &str) -> Self {
        let text = without_parentheses(expression.trim());
        if let Some((literal, rest)) = quoted(text) {
            return if is_casts(rest) {
                Self::Value(literal)
            } else {
                Self::Expression
            };
        }
        if let Some((literal, cast)) = text.rsplit_once("::") {
            return if is_type_name(cast) {
                Self::of(literal)
            } else {
                Self::Expression
            };
        }
        let literal = text;
        if literal.eq_ignore_ascii_case("null") {
            return Self::Null;
        }
        let is_boolean = ["true", "false"]
            .iter()
            .any(|word| literal.eq_ignore_ascii_case(word));
        if is_boolean {
            return Self::Value(literal.to_ascii_lowercase());
        }
        if is_number(literal) {
            return Self::Value(literal.trim_start_matches('+').to_owned());
        }
        hexadecimal(literal).map_or(Self::Expression, Self::Value)
    }
}

/// Without parentheses around the whole.
fn without_parentheses(mut text: &str) -> &str {
    while let Some(inner) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
    {
        // In `(a) + (b)` the first one ends before the last.
        let mut depth = 0i32;
        let ends_early = inner.chars().any(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth < 0
        });
        if ends_early {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The literal that `text` begins with, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut literal = String::new();
    loop {
        let (part, after) = rest.split_once('\'')?;
        literal.push_str(part);
        match after.strip_prefix('\'') {
            Some(after) => {
                literal.push('\'');
                rest = after;
            }
            None => return Some((literal, after.trim())),
        }
    }
}

/// Nothing, or `::type` once or more.
fn is_casts(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix("::")
            .is_some_and(|casts| casts.split("::").all(is_type_name))
}

fn is_type_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || " _\".,()[]".contains(c))
}

fn is_number(text: &str) -> bool {
    let has_digit = text.bytes().any(|b| b.is_ascii_digit());
    let is_part = |b: u8| b.is_ascii_digit() || b"+-.eE".contains(&b);
    has_digit && text.bytes().all(is_part) && text.parse::<f64>().is_ok()
}

/// SQLite's byte string `x'00ff'`, as Quire writes one.
fn hexadecimal(text: &str) -> Option<String> {
    let digits = text
        .strip_prefix(['x', 'X'])?
        .strip_prefix('\'')?
        .strip_suffix('\'')?;
    let is_whole = digits.len() % 2 == 0 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_whole.then(|| format!("\\x{}", digits.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::DefaultConstant;

    #[test]
    fn literals_are_constants() {
        let cases = [
            ("5", "5"),
            ("(-5)", "-5"),
            ("+1.5e3", "1.5e3"),
            ("'it''s'", "it's"),
            ("'new'::character varying", "new"),
            ("'-5'::integer", "-5"),
            ("('a'::text)::character varying(3)", "a"),
            ("TRUE", "true"),
            ("x'00FF'", "\\x00ff"),
            ("'a(b'", "a(b"),
            ("1.50::numeric(10,2)", "1.50"),
            ("('-1'::integer)::numeric", "-1"),
            ("'{}'::text[]", "{}"),
        ];
        for (expression, value) in cases {
            assert_eq!(
                DefaultConstant::of(expression),
                DefaultConstant::Value(value.to_owned()),
                "{expression}"
            );
        }
        assert_eq!(DefaultConstant::of("NULL::text"), DefaultConstant::Null);
        assert_eq!(DefaultConstant::of("null"), DefaultConstant::Null);
    }

    #[test]
    fn what_has_to_be_evaluated_is_none() {
        for expression in [
            "CURRENT_TIMESTAMP",
            "1 + 2",
            "(1) + (2)",
            "'a' || 'b'",
            "nextval('s'::regclass)",
            "now()",
            "",
            "x'0'",
            "'open",
            "'a'::text || 'b'::text",
        ] {
            assert_eq!(
                DefaultConstant::of(expression),
                DefaultConstant::Expression,
                "{expression}"
            );
        }
    }
}
