//! The planner's messages in SQL's words: its types have SQL's names, and its literals look as in SQL.

/// What stands before the message itself.
const PREFIXES: [&str; 6] = [
    "Error during planning: ",
    "Execution error: ",
    "Internal error: ",
    "Invalid argument error: ",
    "Cast error: ",
    "Compute error: ",
];

/// Types, and what they are called in SQL; those with parameters lose them.
const TYPES: [(&str, &str); 22] = [
    ("Boolean", "BOOLEAN"),
    ("Int8", "SMALLINT"),
    ("Int16", "SMALLINT"),
    ("Int32", "INTEGER"),
    ("Int64", "BIGINT"),
    ("UInt8", "SMALLINT"),
    ("UInt16", "INTEGER"),
    ("UInt32", "BIGINT"),
    ("UInt64", "DECIMAL"),
    ("Float32", "REAL"),
    ("Float64", "DOUBLE PRECISION"),
    ("Utf8", "TEXT"),
    ("LargeUtf8", "TEXT"),
    ("Utf8View", "TEXT"),
    ("Binary", "BYTEA"),
    ("BinaryView", "BYTEA"),
    ("Date32", "DATE"),
    ("Decimal128", "DECIMAL"),
    ("Timestamp", "TIMESTAMP"),
    ("Time64", "TIME"),
    ("Interval", "INTERVAL"),
    ("IntervalMonthDayNano", "INTERVAL"),
];

/// The message without its prefixes, in SQL's words.
pub fn in_sql(message: &str) -> String {
    let mut rest = message;
    while let Some(behind) = PREFIXES.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
        rest = behind;
    }
    let mut text = String::with_capacity(rest.len());
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    while !rest.is_empty() {
        let word_bytes = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(word_bytes);
        if word.is_empty() {
            let other_bytes = rest.find(is_letter).unwrap_or(rest.len());
            let (other, behind) = rest.split_at(other_bytes);
            text.push_str(other);
            rest = behind;
            continue;
        }
        rest = behind;
        let Some((_, name)) = TYPES.iter().find(|(arrow, _)| *arrow == word) else {
            text.push_str(word);
            continue;
        };
        let parameters = in_parentheses(rest);
        if let Some((_, behind)) = parameters {
            rest = behind;
        }
        match parameters {
            Some((inner, _)) if is_literal(word, inner) => text.push_str(&literal(inner)),
            Some((inner, _)) => text.push_str(&with_parameters(word, name, inner)),
            None => text.push_str(name),
        }
    }
    text
}

/// What stands in parentheses at the beginning of `text`, and what behind them.
fn in_parentheses(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('(')?;
    let mut depth = 1_usize;
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((inner.get(..at)?, inner.get(at + 1..)?));
        }
    }
    None
}

/// `Int64(1)` is a value, `Interval(MonthDayNano)` and `Decimal128(10, 2)` are types.
fn is_literal(word: &str, inner: &str) -> bool {
    match word {
        "Decimal128" => inner.starts_with("Some(") || inner.starts_with("None"),
        "Timestamp" | "Time64" | "Interval" => false,
        _ => true,
    }
}

fn literal(inner: &str) -> String {
    match inner
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(text) => format!("'{text}'"),
        None => inner.to_owned(),
    }
}

fn with_parameters(word: &str, name: &str, inner: &str) -> String {
    match word {
        "Decimal128" => format!("{name}({})", inner.replace(' ', "")),
        "Timestamp" if inner.contains('"') || inner.contains("Some") => {
            format!("{name} WITH TIME ZONE")
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_sql;

    #[test]
    fn types_and_literals_are_those_of_sql() {
        let pairs = [
            ("Error during planning: Date32 + Utf8View", "DATE + TEXT"),
            ("t.id > Int64(1) AND Utf8(\"a\")", "t.id > 1 AND 'a'"),
            (
                "Interval(MonthDayNano) and Decimal128(10, 2)",
                "INTERVAL and DECIMAL(10,2)",
            ),
            (
                "Timestamp(µs, \"+00\") or Timestamp(ns)",
                "TIMESTAMP WITH TIME ZONE or TIMESTAMP",
            ),
            ("upper(Int64, Boolean", "upper(BIGINT, BOOLEAN"),
            ("my_Int64 stays", "my_Int64 stays"),
            ("Int64(1", "BIGINT(1"),
        ];
        for (arrow, sql) in pairs {
            assert_eq!(in_sql(arrow), sql);
        }
    }
}
