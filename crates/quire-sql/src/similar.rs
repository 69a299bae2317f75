//! `SIMILAR TO` with a pattern that is known, as a regular expression: `%` is any text and `_` any character, `|`, `*`, `+`, `?`,
//! braces, parentheses and brackets are what they are there, and the whole text has to match.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value, ValueWithSpan};

/// `a SIMILAR TO 'x%'` → `a ~ '^(?s:x.*)$'`
pub(super) fn to_regular_expression(expr: &mut Expr) {
    let Expr::SimilarTo {
        negated,
        expr: tested,
        pattern,
        escape_char,
    } = expr
    else {
        return;
    };
    let Expr::Value(ValueWithSpan {
        value: Value::SingleQuotedString(pattern),
        ..
    }) = pattern.as_ref()
    else {
        return;
    };
    let escape = match escape_char.as_ref().map(|escape| &escape.value) {
        None => Some('\\'),
        Some(Value::SingleQuotedString(escape)) => escape.chars().next(),
        Some(_) => return,
    };
    let text = Value::SingleQuotedString(regular_expression(pattern, escape));
    let null = Expr::Value(Value::Null.into());
    *expr = Expr::BinaryOp {
        left: Box::new(std::mem::replace(tested.as_mut(), null)),
        op: if *negated {
            BinaryOperator::PGRegexNotMatch
        } else {
            BinaryOperator::PGRegexMatch
        },
        right: Box::new(Expr::Value(text.into())),
    };
}

fn regular_expression(pattern: &str, escape: Option<char>) -> String {
    let mut text = "^(?s:".to_owned();
    let mut is_in_brackets = false;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if Some(letter) == escape {
            // At the end it stands for itself.
            push_literal(letters.next().unwrap_or(letter), &mut text);
            continue;
        }
        match letter {
            '%' if !is_in_brackets => text.push_str(".*"),
            '_' if !is_in_brackets => text.push('.'),
            '.' | '$' | '\\' => push_literal(letter, &mut text),
            '^' if !is_in_brackets => push_literal(letter, &mut text),
            _ => {
                is_in_brackets = match letter {
                    '[' => true,
                    ']' => false,
                    _ => is_in_brackets,
                };
                text.push(letter);
            }
        }
    }
    text.push_str(")$");
    text
}

fn push_literal(letter: char, text: &mut String) {
    if letter.is_ascii_punctuation() {
        text.push('\\');
    }
    text.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_regular_expressions() {
        for (pattern, expected) in [
            ("a%", "^(?s:a.*)$"),
            ("%(b|d)_", "^(?s:.*(b|d).)$"),
            ("a.b^$", "^(?s:a\\.b\\^\\$)$"),
            ("[%_^]+", "^(?s:[%_^]+)$"),
            ("10\\%", "^(?s:10\\%)$"),
        ] {
            assert_eq!(
                regular_expression(pattern, Some('\\')),
                expected,
                "{pattern}"
            );
        }
        assert_eq!(regular_expression("a#%", Some('#')), "^(?s:a\\%)$");
    }
}
