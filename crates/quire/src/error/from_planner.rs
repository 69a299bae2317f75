//! DataFusion's and Arrow's errors, with PostgreSQL's SQLSTATE codes.

use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, Diagnostic, SchemaError};

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
            DataFusionError::SQL(inner, _) => crate::sql::parse::from_parser(*inner),
            DataFusionError::Plan(text) => from_plan(&text),
            DataFusionError::NotImplemented(text) => {
                Error::new("0A000", format!("not supported: {}", first_line(&text)))
            }
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
    if line.contains("No function matches") || line.contains("function call") {
        return Error::new("42883", line)
            .with_hint("No function of that name takes arguments of these types; add casts.");
    }
    if line.contains("cannot be resolved") || line.contains("must appear in the GROUP BY") {
        return Error::new("42803", line);
    }
    if line.contains("Cannot coerce") || line.contains("Cannot infer common") {
        return Error::new("42804", line).with_hint("Cast one side to the type of the other.");
    }
    Error::new("42000", line)
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
        "error parsing",
        "parse error",
        "invalid input",
    ]
    .iter()
    .any(|part| lower.contains(part));
    match () {
        () if lower.contains("divide by zero") => Error::new("22012", "division by zero"),
        () if is_range => Error::new("22003", format!("value out of range: {line}")),
        () if is_text => Error::new("22P02", line),
        () => Error::new("22000", line),
    }
}

fn internal(text: &str) -> Error {
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
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
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
