//! Settings that say how values are written and read: what is done here is accepted, everything else is refused.

use quire_text::temporal::TimeZoneRules;

use quire_error::Error;

/// How the names of other encodings of PostgreSQL's begin.
const OTHER_ENCODINGS: [&str; 16] = [
    "BIG5",
    "EUCCN",
    "EUCJP",
    "EUCKR",
    "EUCTW",
    "GB18030",
    "GBK",
    "ISO8859",
    "JOHAB",
    "KOI8",
    "LATIN",
    "MULEINTERNAL",
    "SHIFTJIS",
    "SJIS",
    "UHC",
    "WIN",
];

/// The text that a setting keeps.
///
/// # Errors
/// `22023` for what is no value of the setting, `0A000` for one that only PostgreSQL has.
pub(super) fn accepted(name: &str, value: &str) -> Result<String, Error> {
    match name {
        "client_encoding" => client_encoding(value),
        "datestyle" => date_style(value),
        "intervalstyle" => interval_style(value),
        "bytea_output" => bytes_style(value),
        "extra_float_digits" => float_digits(value),
        "standard_conforming_strings" => plain_strings(value),
        _ => Ok(value.to_owned()),
    }
}

/// The name of the zone that `TimeZone` is set to.
pub(super) fn time_zone(value: &str) -> Result<String, Error> {
    match TimeZoneRules::of_setting(value) {
        Some(zone) => Ok(zone.name().to_owned()),
        None => Err(invalid("TimeZone", value)),
    }
}

fn invalid(name: &str, value: &str) -> Error {
    let text = format!("invalid value for parameter \"{name}\": \"{value}\"");
    Error::new("22023", text)
}

fn not_supported(name: &str, value: &str, hint: &str) -> Error {
    let text = format!("\"{value}\" is not supported for parameter \"{name}\"");
    Error::new("0A000", text).with_hint(hint)
}

/// Text is UTF-8 inside and outside; `SQL_ASCII` asks for no conversion, so it is the same. Of a name only letters and digits count.
fn client_encoding(value: &str) -> Result<String, Error> {
    let letters = value.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_uppercase();
    match name.as_str() {
        "UTF8" | "UNICODE" => return Ok("UTF8".to_owned()),
        "SQLASCII" => return Ok("SQL_ASCII".to_owned()),
        _ => {}
    }
    let is_known = OTHER_ENCODINGS.iter().any(|known| name.starts_with(known));
    Err(if is_known {
        not_supported("client_encoding", value, "Text is UTF8.")
    } else {
        invalid("client_encoding", value)
    })
}

/// Dates are written in the ISO style, and read with the year first, so the order of other styles means nothing.
fn date_style(value: &str) -> Result<String, Error> {
    let mut order = "MDY";
    for word in value.split(',').map(str::trim) {
        match word.to_lowercase().as_str() {
            "iso" | "default" => {}
            "mdy" | "us" | "noneuro" | "noneuropean" => order = "MDY",
            "dmy" | "euro" | "european" => order = "DMY",
            "ymd" => order = "YMD",
            "sql" | "postgres" | "german" => {
                return Err(not_supported(
                    "DateStyle",
                    value,
                    "Dates are in the style ISO.",
                ));
            }
            _ => {
                let detail = format!("Unrecognized key word: \"{word}\".");
                return Err(invalid("DateStyle", value).with_detail(detail));
            }
        }
    }
    Ok(format!("ISO, {order}"))
}

fn bytes_style(value: &str) -> Result<String, Error> {
    match value.trim().to_lowercase().as_str() {
        "hex" => Ok("hex".to_owned()),
        "escape" => Err(not_supported(
            "bytea_output",
            value,
            "Bytes are written as hexadecimal digits.",
        )),
        _ => Err(invalid("bytea_output", value).with_hint("Available values: escape, hex.")),
    }
}

/// Floats have as many digits as tell them from all others, which is what PostgreSQL gives for every number above 0.
fn float_digits(value: &str) -> Result<String, Error> {
    let name = "extra_float_digits";
    let digits: i32 = value.trim().parse().map_err(|_| invalid(name, value))?;
    match digits {
        1..=3 => Ok(digits.to_string()),
        -15..=0 => Err(not_supported(
            name,
            value,
            "Floats are written with all their digits, as with 1.",
        )),
        _ => {
            let text =
                format!("{digits} is outside the valid range for parameter \"{name}\" (-15 .. 3)");
            Err(Error::new("22023", text))
        }
    }
}

fn plain_strings(value: &str) -> Result<String, Error> {
    let name = "standard_conforming_strings";
    match value.trim().to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok("on".to_owned()),
        "off" | "false" | "no" | "0" => Err(not_supported(
            name,
            value,
            "A backslash in '…' is a letter; write E'…'.",
        )),
        _ => Err(Error::new(
            "22023",
            format!("parameter \"{name}\" requires a Boolean value"),
        )),
    }
}

fn interval_style(value: &str) -> Result<String, Error> {
    match value.trim().to_lowercase().as_str() {
        "postgres" => Ok("postgres".to_owned()),
        "postgres_verbose" | "sql_standard" | "iso_8601" => Err(not_supported(
            "IntervalStyle",
            value,
            "Intervals are in the style postgres.",
        )),
        _ => Err(invalid("IntervalStyle", value)
            .with_hint("Available values: postgres, postgres_verbose, sql_standard, iso_8601.")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sqlstate(name: &str, value: &str) -> String {
        accepted(name, value).unwrap_err().sqlstate().to_owned()
    }

    #[test]
    fn what_is_done_is_accepted() {
        assert_eq!(accepted("client_encoding", "utf-8").unwrap(), "UTF8");
        assert_eq!(accepted("client_encoding", "'utf-8'").unwrap(), "UTF8");
        assert_eq!(accepted("client_encoding", "UNICODE").unwrap(), "UTF8");
        assert_eq!(accepted("datestyle", "iso").unwrap(), "ISO, MDY");
        assert_eq!(accepted("datestyle", "DMY, ISO").unwrap(), "ISO, DMY");
        assert_eq!(accepted("intervalstyle", "POSTGRES").unwrap(), "postgres");
        assert_eq!(accepted("extra_float_digits", "3").unwrap(), "3");
        assert_eq!(accepted("standard_conforming_strings", "ON").unwrap(), "on");
        assert_eq!(time_zone("europe/berlin").unwrap(), "Europe/Berlin");
    }

    #[test]
    fn everything_else_is_refused() {
        assert_eq!(sqlstate("client_encoding", "LATIN1"), "0A000");
        assert_eq!(sqlstate("client_encoding", "nix"), "22023");
        assert_eq!(sqlstate("datestyle", "German, DMY"), "0A000");
        assert_eq!(sqlstate("datestyle", "foo"), "22023");
        assert_eq!(sqlstate("intervalstyle", "iso_8601"), "0A000");
        assert_eq!(sqlstate("intervalstyle", "x"), "22023");
        assert_eq!(sqlstate("bytea_output", "escape"), "0A000");
        assert_eq!(sqlstate("extra_float_digits", "0"), "0A000");
        assert_eq!(sqlstate("extra_float_digits", "4"), "22023");
        assert_eq!(sqlstate("standard_conforming_strings", "off"), "0A000");
        assert_eq!(time_zone("nonsense/zone").unwrap_err().sqlstate(), "22023");
    }
}
