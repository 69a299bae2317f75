//! Words of SQL: what completion offers, and how names and texts are quoted.

/// Words that PostgreSQL does not take as a bare name of a table or column.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Other words that begin or shape a statement.
const UNRESERVED: &[&str] = &[
    "avg",
    "between",
    "bigint",
    "boolean",
    "by",
    "bytea",
    "char",
    "coalesce",
    "copy",
    "count",
    "cube",
    "date",
    "decimal",
    "delete",
    "delimiter",
    "double",
    "drop",
    "exists",
    "explain",
    "extract",
    "filter",
    "first",
    "following",
    "grouping",
    "header",
    "if",
    "insert",
    "integer",
    "interval",
    "last",
    "max",
    "min",
    "nulls",
    "numeric",
    "over",
    "partition",
    "preceding",
    "quire_storage",
    "range",
    "real",
    "recursive",
    "rollup",
    "row",
    "rows",
    "sets",
    "show",
    "smallint",
    "substring",
    "sum",
    "text",
    "timestamp",
    "timestamptz",
    "unbounded",
    "update",
    "values",
    "varchar",
    "view",
];

/// The words that begin with `prefix`, in any case, sorted.
pub fn starting_with(prefix: &str) -> Vec<&'static str> {
    let prefix = prefix.to_lowercase();
    let mut words: Vec<&str> = RESERVED
        .iter()
        .chain(UNRESERVED)
        .copied()
        .filter(|word| word.starts_with(&prefix))
        .collect();
    words.sort_unstable();
    words
}

/// The name as SQL takes it: bare when it is lower-case letters, digits and underscores, and no
/// reserved word.
pub fn quote_identifier(name: &str) -> String {
    let is_bare = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && RESERVED.binary_search(&name).is_err();
    if is_bare {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// The text as an SQL string.
pub fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{RESERVED, quote_identifier, quote_literal, starting_with};

    #[test]
    fn reserved_words_are_sorted_for_the_binary_search() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn only_plain_names_stay_bare() {
        assert_eq!(quote_identifier("line_item2"), "line_item2");
        assert_eq!(quote_identifier("Order"), "\"Order\"");
        assert_eq!(quote_identifier("order"), "\"order\"");
        assert_eq!(quote_identifier("2nd"), "\"2nd\"");
        assert_eq!(quote_identifier("a\"b"), "\"a\"\"b\"");
        assert_eq!(quote_identifier(""), "\"\"");
        assert_eq!(quote_literal("it's"), "'it''s'");
    }

    #[test]
    fn completion_ignores_case() {
        assert_eq!(starting_with("SELE"), ["select"]);
        assert_eq!(starting_with("or"), ["or", "order"]);
    }
}
