//! DataFusion's and Arrow's errors, with PostgreSQL's SQLSTATE codes.

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Diagnostic, SchemaError};

use super::planner_words::in_sql;
use super::{Error, Position};

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::Context(_, inner) => Error::from(*inner),
            DataFusionError::Diagnostic(diagnostic, inner) => {
                let position = place_of(&diagnostic);
                Error::from(*inner).at(position)
            }
            DataFusionError::Shared(shared) => from_shared(&shared),
            DataFusionError::Collection(mut errors) if !errors.is_empty() => {
                Error::from(errors.swap_remove(0))
            }
            DataFusionError::External(inner) => from_boxed(inner),
            DataFusionError::ArrowError(inner, _) => Error::from(*inner),
            DataFusionError::SchemaError(inner, _) => from_schema(&inner),
            DataFusionError::SQL(inner, _) => Error::from(*inner),
            DataFusionError::Plan(text) => from_plan(&text),
            DataFusionError::NotImplemented(text) => not_implemented(&text),
            DataFusionError::Execution(text) => from_message(&text),
            DataFusionError::ResourcesExhausted(text) => {
                Error::new("53200", "out of memory for this statement")
                    .with_detail(first_line(&text))
                    .with_hint("Give the database more memory when opening it (memory_bytes), or let the statement read less.")
            }
            DataFusionError::IoError(inner) => Error::new("58030", inner.to_string()),
            DataFusionError::Configuration(text) => Error::new("22023", text),
            DataFusionError::Internal(text) => internal(&text),
            other => internal(&other.to_string()),
        }
    }
}

/// For a function of ours that DataFusion calls: the way back is above.
impl From<Error> for DataFusionError {
    fn from(error: Error) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::DivideByZero => Error::new("22012", "division by zero"),
            ArrowError::ArithmeticOverflow(text) => {
                Error::new("22003", "value out of range").with_detail(text)
            }
            ArrowError::ExternalError(inner) => from_boxed(inner),
            ArrowError::NotYetImplemented(text) => Error::new("0A000", text),
            ArrowError::IoError(text, _) => Error::new("58030", text),
            ArrowError::CastError(text)
            | ArrowError::ComputeError(text)
            | ArrowError::ParseError(text)
            | ArrowError::InvalidArgumentError(text) => from_message(&text),
            other => Error::new("22000", other.to_string()),
        }
    }
}

fn from_boxed(inner: Box<dyn std::error::Error + Send + Sync>) -> Error {
    match inner.downcast::<Error>() {
        Ok(error) => *error,
        Err(inner) => match inner.downcast::<DataFusionError>() {
            Ok(error) => Error::from(*error),
            Err(inner) => Error::new("58000", inner.to_string()),
        },
    }
}

/// An error that several partitions hold; it can only be looked at.
fn from_shared(error: &DataFusionError) -> Error {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => {
            from_shared(inner)
        }
        DataFusionError::Shared(inner) => from_shared(inner),
        DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
            Some(error) => error.clone(),
            None => match inner.downcast_ref::<DataFusionError>() {
                Some(error) => from_shared(error),
                None => Error::new("58000", inner.to_string()),
            },
        },
        DataFusionError::ArrowError(inner, _) => match inner.as_ref() {
            ArrowError::DivideByZero => Error::from(ArrowError::DivideByZero),
            ArrowError::ArithmeticOverflow(text) => {
                Error::from(ArrowError::ArithmeticOverflow(text.clone()))
            }
            ArrowError::ExternalError(inner) => match inner.downcast_ref::<Error>() {
                Some(error) => error.clone(),
                None => from_message(&inner.to_string()),
            },
            other => from_message(&other.to_string()),
        },
        DataFusionError::ResourcesExhausted(text) => {
            Error::from(DataFusionError::ResourcesExhausted(text.clone()))
        }
        other => from_message(&other.to_string()),
    }
}

fn place_of(diagnostic: &Diagnostic) -> Option<Position> {
    let start = diagnostic.span?.start;
    (start.line > 0).then_some(Position {
        line: start.line,
        column: start.column,
    })
}

fn from_schema(error: &SchemaError) -> Error {
    match error {
        SchemaError::FieldNotFound {
            field,
            valid_fields,
        } => {
            let error = Error::new(
                "42703",
                format!("column \"{}\" does not exist", field.flat_name()),
            );
            let known: Vec<String> = valid_fields.iter().map(|f| f.flat_name()).collect();
            match closest(&field.name, valid_fields.iter().map(|f| f.name.as_str())) {
                Some(name) => error.with_hint(format!("Perhaps you meant \"{name}\".")),
                None if known.is_empty() => error,
                None => error.with_hint(format!("Columns here: {}.", shortened(&known))),
            }
        }
        SchemaError::AmbiguousReference { field } => Error::new(
            "42702",
            format!("column reference \"{}\" is ambiguous", field.name),
        )
        .with_hint("Qualify it with the name of its table."),
        SchemaError::DuplicateQualifiedField { name, .. }
        | SchemaError::DuplicateUnqualifiedField { name } => Error::new(
            "42701",
            format!("column \"{name}\" specified more than once"),
        ),
    }
}

fn from_plan(text: &str) -> Error {
    let line = first_line(text);
    if let Some(name) = quoted_after(line, "table '").filter(|_| line.ends_with("not found")) {
        let short = name.rsplit('.').next().unwrap_or(name);
        return Error::unknown_table(short);
    }
    if let Some(name) = quoted_after(line, "table function '") {
        return Error::new("42883", format!("table function \"{name}\" does not exist"));
    }
    if let Some(name) = quoted_after(line, "Invalid function '") {
        let error = Error::new("42883", format!("function {name} does not exist"));
        let offered = quoted_after(text, "Did you mean '");
        return match closest(name, offered.into_iter()) {
            Some(similar) => error.with_hint(format!("Perhaps you meant {similar}.")),
            None => error,
        };
    }
    misplaced_aggregate(line)
        .or_else(|| wrong_arguments(line))
        .or_else(|| from_subquery(line))
        .unwrap_or_else(|| from_types(line))
}

/// Aggregates in places that have none, and keys that stand beside rows of several values.
fn misplaced_aggregate(line: &str) -> Option<Error> {
    if line.contains("Aggregate functions are not allowed in the WHERE") {
        let error = Error::new("42803", "aggregate functions are not allowed in WHERE");
        return Some(error.with_hint("Conditions on groups stand in HAVING, behind GROUP BY."));
    }
    if line.contains("Aggregate function calls cannot be nested") {
        let error = Error::new("42803", "aggregate function calls cannot be nested");
        return Some(error.with_hint("Let a subquery in FROM compute the inner one."));
    }
    if line.contains("cannot be resolved") || line.contains("must appear in the GROUP BY") {
        return Some(Error::new("42803", in_sql(line)));
    }
    if line.starts_with("For SELECT DISTINCT, ORDER BY")
        || line.starts_with("SELECT DISTINCT ON expressions must match")
    {
        return Some(Error::new("42P10", in_sql(line)));
    }
    None
}

/// Functions that do not take what they were called with.
fn wrong_arguments(line: &str) -> Option<Error> {
    let hint = "No function of that name takes arguments of these types; add casts.";
    let called = quoted_after(line, "the given name and argument types '");
    if let Some(called) = called {
        let called = in_sql(called).replace("checked_sum(", "sum(");
        let error = Error::new("42883", format!("function {called} does not exist"));
        return Some(error.with_hint(hint));
    }
    if line.contains("failed to match any signature")
        && let Some(name) = quoted_after(line, "Function '")
    {
        let text = format!("function {name} does not take arguments of these types");
        let (_, detail) = line.split_once("errors: ").unwrap_or_default();
        let detail = in_sql(detail.split(",Error during").next().unwrap_or_default());
        return Some(
            Error::new("42883", text)
                .with_detail(&detail)
                .with_hint(hint),
        );
    }
    let is_call = line.contains("No function matches") || line.contains("function call");
    is_call.then(|| Error::new("42883", in_sql(line)).with_hint(hint))
}

/// Subqueries that no join can be made of.
fn from_subquery(line: &str) -> Option<Error> {
    if line.contains("should only return one column") {
        return Some(Error::new("42601", "subquery must return only one column"));
    }
    let is_correlated = line.starts_with("Correlated scalar subquery")
        || line.starts_with("In/Exist/SetComparison subquery")
        || line.starts_with("Accessing outer reference columns");
    is_correlated.then(subquery_not_supported)
}

fn subquery_not_supported() -> Error {
    let text = "not supported: a subquery of this form, here, that reads the row around it";
    Error::new("0A000", text)
        .with_hint("Join the tables instead, or let the subquery be an aggregate or have LIMIT 1.")
}

/// What the planner says before an operator that its operands do not have.
const MISSING_OPERATORS: [&str; 6] = [
    "Cannot get result type for temporal operation ",
    "Cannot infer common argument type for comparison operation ",
    "Cannot infer common argument type for regex operation ",
    "Cannot infer common type for bitwise operation ",
    "Cannot infer common string type for string concat operation ",
    "Cannot coerce arithmetic expression ",
];

/// What is said about types.
fn from_types(line: &str) -> Error {
    let mut prefixes = MISSING_OPERATORS.iter();
    let behind = prefixes.find_map(|prefix| line.split_once(prefix));
    if let Some((_, operation)) = behind {
        let operation = operation.split(": ").next().unwrap_or(operation);
        let operation = operation.trim_end_matches(" to valid types");
        let text = format!("operator does not exist: {}", in_sql(operation));
        return Error::new("42883", text).with_hint("Add casts.");
    }
    if let Some(rest) = line.strip_prefix("Cannot create filter with non-boolean predicate ") {
        let data_type = rest.rsplit(' ').next().map(in_sql).unwrap_or_default();
        let text = format!("a condition must be BOOLEAN, not {data_type}");
        return Error::new("42804", text).with_hint("Compare it with something.");
    }
    if ["Cannot coerce", "Cannot infer common", "Failed to coerce"]
        .iter()
        .any(|words| line.contains(words))
    {
        return Error::new("42804", in_sql(line))
            .with_hint("Cast one side to the type of the other.");
    }
    if line.starts_with("Invalid placeholder") {
        return no_parameter(line);
    }
    Error::new("42000", in_sql(line))
}

/// A statement names a parameter, and has none of that number.
pub(super) fn no_parameter(line: &str) -> Error {
    let at = line.find('$').unwrap_or(line.len());
    let name = line.get(at..).unwrap_or_default();
    let end = name.find(|it: char| it != '$' && !it.is_ascii_digit());
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or(name);
    Error::new("42P02", format!("there is no parameter {name}")).with_hint(
        "Prepare the statement, and give a value for each of its parameters from $1 to $65535.",
    )
}

/// What the planner does not do, without its own names for it.
fn not_implemented(text: &str) -> Error {
    let line = first_line(text);
    if line.starts_with("Physical plan does not support logical expression") {
        return subquery_not_supported();
    }
    let named = line.strip_prefix("Unsupported ast node in sqltorel: ");
    let what = match named {
        Some(node) => {
            let end = node.find([' ', '(', '{']).unwrap_or(node.len());
            node.get(..end).unwrap_or(node).to_uppercase()
        }
        None => in_sql(line),
    };
    Error::new("0A000", format!("not supported: {what}"))
}

/// What is left has only a text to go by.
pub(super) fn from_message(text: &str) -> Error {
    let line = first_line(text);
    let lower = line.to_lowercase();
    let is_range = [
        "overflow",
        "out of range",
        "too large to store",
        "can't cast value",
    ]
    .iter()
    .any(|part| lower.contains(part));
    let is_text = [
        "cannot cast string",
        "cannot cast value '",
        "error parsing",
        "parse error",
        "invalid input",
    ]
    .iter()
    .any(|part| lower.contains(part));
    match () {
        () if line.starts_with("Placeholder '") => no_parameter(line),
        () if lower.contains("scalar subquery returned more than one row") => {
            Error::more_than_one_row()
        }
        () if lower.contains("divide by zero") => Error::new("22012", "division by zero"),
        () if is_range => Error::new("22003", format!("value out of range: {}", in_sql(line))),
        () if is_text => Error::new("22P02", in_sql(line)),
        () if line.contains("No function matches") => from_plan(line),
        () => Error::new("22000", in_sql(line)),
    }
}

fn internal(text: &str) -> Error {
    let line = first_line(text);
    if line.contains("Failed to coerce types") {
        return from_types(line);
    }
    Error::new("XX000", format!("internal error: {}", first_line(text)))
        .with_hint("This is a fault of the program, not of the statement; please report it.")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

fn quoted_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    text.split_once(before)?
        .1
        .split_once('\'')
        .map(|(name, _)| name)
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = names
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        format!("{shown}, …")
    } else {
        shown
    }
}

/// The candidate nearest to `name`, when at most a third of its letters differ.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = name.chars().count() / 3;
    candidates
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, ignoring case.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_changes() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("ID", "id"), 0);
    }

    #[test]
    fn the_nearest_name_is_offered_and_far_ones_are_not() {
        let names = ["l_orderkey", "l_partkey", "l_comment"];
        assert_eq!(closest("l_orderky", names.into_iter()), Some("l_orderkey"));
        assert_eq!(closest("price", names.into_iter()), None);
    }

    #[test]
    fn own_errors_pass_through_unchanged() {
        let own = Error::new("22001", "too long").with_hint("cut it");
        let wrapped = DataFusionError::External(Box::new(own.clone()));
        let shared = DataFusionError::Shared(std::sync::Arc::new(wrapped));
        assert_eq!(Error::from(shared), own);
    }
}
