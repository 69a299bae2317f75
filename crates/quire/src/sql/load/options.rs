//! The options of `COPY`.

use std::path::Path;

use quire_error::Error;
use quire_files::csv::{CsvFlag, CsvOptions, CsvWriteOptions, Delimiter, OnError};
use quire_sql::copy_statement::CopyDirection;
use quire_sql::reject::not_supported;

use super::copy_format::{CopyFormat, CopyKind};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Csv,
    Parquet,
}

impl FileFormat {
    /// By the end of the file's name; what has no known one is CSV.
    pub(super) fn of_path(path: &Path) -> Self {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("parquet" | "pq") => FileFormat::Parquet,
            _ => FileFormat::Csv,
        }
    }
}

type Spelled = [(String, Option<String>)];

/// The format that the options name, or that the path suggests.
pub(super) fn format(spelled: &Spelled, path: &Path) -> Result<FileFormat, Error> {
    let Some((_, name)) = spelled.iter().find(|(name, _)| name == "format") else {
        return Ok(FileFormat::of_path(path));
    };
    match name.as_deref().unwrap_or_default().to_lowercase().as_str() {
        "csv" => Ok(FileFormat::Csv),
        "parquet" => Ok(FileFormat::Parquet),
        other => Err(not_supported(format!("COPY format \"{other}\""))
            .with_hint("Formats are csv and parquet.")),
    }
}

/// Options of reading CSV; what is not said is found out from the file.
pub(super) fn csv_reading(spelled: &Spelled) -> Result<CsvOptions, Error> {
    let mut options = CsvOptions::default();
    for (name, value) in spelled {
        let value = value.as_deref();
        match name.as_str() {
            "format" => {}
            "header" => {
                options.header = if flag(name, value)? {
                    CsvFlag::Yes
                } else {
                    CsvFlag::No
                };
            }
            "delimiter" | "delim" | "sep" => {
                options.delimiter =
                    optional_byte(name, value)?.map_or(Delimiter::None, Delimiter::Byte);
            }
            "quote" => options.quote = optional_byte(name, value)?,
            "escape" => options.escape = optional_byte(name, value)?,
            "null" => options.null_string = text(name, value)?.to_owned(),
            "on_error" => {
                options.on_error = match text(name, value)?.to_lowercase().as_str() {
                    "stop" => OnError::Stop,
                    "ignore" | "skip" => OnError::SkipRow,
                    _ => return Err(invalid(name, value, "stop or ignore")),
                };
            }
            "encoding" => check_encoding(name, value)?,
            _ => return Err(unknown(name)),
        }
    }
    // Lines that are one field are text as it is, unless a quote is asked for.
    if options.delimiter == Delimiter::None && !spelled.iter().any(|(name, _)| name == "quote") {
        options.quote = None;
    }
    Ok(options)
}

/// Options of writing CSV.
pub(super) fn csv_writing(spelled: &Spelled) -> Result<CsvWriteOptions, Error> {
    let mut options = CsvWriteOptions::default();
    for (name, value) in spelled {
        let value = value.as_deref();
        match name.as_str() {
            "format" => {}
            "header" => options.header = flag(name, value)?,
            "delimiter" | "delim" | "sep" => options.delimiter = single_byte(name, value)?,
            "quote" => options.quote = single_byte(name, value)?,
            "escape" => options.escape = optional_byte(name, value)?,
            "null" => text(name, value)?.clone_into(&mut options.null_string),
            "encoding" => check_encoding(name, value)?,
            _ => return Err(unknown(name)),
        }
    }
    Ok(options)
}

/// Parquet files say themselves how they are to be read.
pub(super) fn no_others(spelled: &Spelled, known: &[&str]) -> Result<(), Error> {
    let other = spelled
        .iter()
        .find(|(name, _)| name != "format" && !known.contains(&name.as_str()));
    match other {
        Some((name, _)) => Err(unknown(name)),
        None => Ok(()),
    }
}

/// How a client's rows are written.
pub(super) fn client_format(
    spelled: &Spelled,
    direction: CopyDirection,
) -> Result<CopyFormat, Error> {
    let kind = spelled.iter().find(|(name, _)| name == "format");
    let kind = kind.and_then(|(_, value)| value.as_deref());
    let mut format = match kind.unwrap_or("text").to_lowercase().as_str() {
        "text" => CopyFormat::new(CopyKind::Text),
        "csv" => CopyFormat::new(CopyKind::Csv),
        "binary" => CopyFormat::new(CopyKind::Binary),
        other => {
            let error = not_supported(format!("COPY format \"{other}\""));
            return Err(error.with_hint("Formats are text, csv and binary."));
        }
    };
    let mut escape = None;
    for (name, value) in spelled {
        let value = value.as_deref();
        let is_csv = format.kind == CopyKind::Csv;
        match name.as_str() {
            // Whether rows may be seen before their transaction is committed is for PostgreSQL's pages.
            "format" | "freeze" => {}
            "encoding" => check_encoding(name, value)?,
            _ if format.kind == CopyKind::Binary => return Err(unknown(name)),
            "header" => format.header = flag(name, value)?,
            "delimiter" => format.delimiter = single_byte(name, value)?,
            "null" => text(name, value)?.clone_into(&mut format.null),
            "quote" if is_csv => format.quote = single_byte(name, value)?,
            "escape" if is_csv => escape = Some(single_byte(name, value)?),
            "force_quote" if is_csv && direction == CopyDirection::To => {
                let names = text(name, value)?.split(',');
                format.force_quote = names.map(str::to_owned).collect();
            }
            _ => return Err(unknown(name)),
        }
    }
    format.escape = escape.unwrap_or(format.quote);
    check_bytes(&format)?;
    Ok(format)
}

/// What means something must be distinct.
fn check_bytes(format: &CopyFormat) -> Result<(), Error> {
    let wrong = |what: &str| Err(Error::new("22023", format!("COPY {what}")));
    if format.null.contains(['\n', '\r']) {
        return wrong("null representation cannot use newline or carriage return");
    }
    if format.null.as_bytes().contains(&format.delimiter) {
        return wrong("delimiter must not appear in the NULL specification");
    }
    match format.kind {
        CopyKind::Csv if format.quote == format.delimiter => {
            wrong("delimiter and quote must be different")
        }
        CopyKind::Text
            if b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&format.delimiter) =>
        {
            wrong("delimiter cannot be a letter, a digit, a dot or a backslash")
        }
        _ => Ok(()),
    }
}

fn unknown(name: &str) -> Error {
    Error::new(
        "42601",
        format!("option \"{name}\" of COPY is not known for this format"),
    )
}

fn invalid(name: &str, value: Option<&str>, expected: &str) -> Error {
    let value = value.unwrap_or_default();
    Error::new(
        "22023",
        format!("COPY option {name} must be {expected}, not \"{value}\""),
    )
}

fn text<'v>(name: &str, value: Option<&'v str>) -> Result<&'v str, Error> {
    value.ok_or_else(|| invalid(name, None, "followed by a value"))
}

fn flag(name: &str, value: Option<&str>) -> Result<bool, Error> {
    match value.map(str::to_lowercase).as_deref() {
        None | Some("true" | "on" | "1" | "match") => Ok(true),
        Some("false" | "off" | "0") => Ok(false),
        Some(_) => Err(invalid(name, value, "true or false")),
    }
}

fn single_byte(name: &str, value: Option<&str>) -> Result<u8, Error> {
    match text(name, value)? {
        "\\t" => Ok(b'\t'),
        text => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(*byte),
            _ => Err(invalid(name, value, "one ASCII character")),
        },
    }
}

/// No character at all is said as `''`.
fn optional_byte(name: &str, value: Option<&str>) -> Result<Option<u8>, Error> {
    match value {
        Some("") => Ok(None),
        _ => single_byte(name, value).map(Some),
    }
}

fn check_encoding(name: &str, value: Option<&str>) -> Result<(), Error> {
    match text(name, value)?
        .to_lowercase()
        .replace(['-', '_'], "")
        .as_str()
    {
        "utf8" => Ok(()),
        _ => Err(
            not_supported(format!("encoding {}", value.unwrap_or_default()))
                .with_hint("Convert the file to UTF-8 first."),
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn spelled(options: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
        options
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned)))
            .collect()
    }

    #[test]
    fn options_are_read() {
        let options = spelled(&[
            ("header", None),
            ("delimiter", Some("\\t")),
            ("null", Some("NA")),
            ("on_error", Some("ignore")),
        ]);
        let csv = csv_reading(&options).unwrap();
        assert_eq!(
            (csv.header, csv.delimiter),
            (CsvFlag::Yes, Delimiter::Byte(b'\t'))
        );
        assert_eq!(
            (csv.null_string.as_str(), csv.on_error),
            ("NA", OnError::SkipRow)
        );
    }

    #[test]
    fn without_delimiter_quotes_are_plain_unless_asked_for() {
        let csv = csv_reading(&spelled(&[("delimiter", Some(""))])).unwrap();
        assert_eq!((csv.delimiter, csv.quote), (Delimiter::None, None));
        let asked = spelled(&[("quote", Some("'")), ("delimiter", Some(""))]);
        assert_eq!(csv_reading(&asked).unwrap().quote, Some(b'\''));
    }

    #[test]
    fn unknown_and_wrong_options_are_errors() {
        for (name, value) in [
            ("headr", None),
            ("delimiter", Some("ab")),
            ("header", Some("maybe")),
        ] {
            assert!(csv_reading(&spelled(&[(name, value)])).is_err(), "{name}");
        }
        assert!(format(&spelled(&[("format", Some("binary"))]), Path::new("f")).is_err());
    }

    #[test]
    fn the_name_of_a_file_tells_its_format() {
        let format = |path| FileFormat::of_path(Path::new(path));
        assert_eq!(format("a/b.PARQUET"), FileFormat::Parquet);
        assert_eq!(format("a.csv"), FileFormat::Csv);
        assert_eq!(format("a.tbl"), FileFormat::Csv);
    }
}
