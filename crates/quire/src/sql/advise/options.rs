//! `WITH (size = 3, read = 2, device = 'nvme', …)`

use std::time::Duration;

use quire_advisor::{AdviceRequest, AdviceWeights, ChoiceScope, ReadKind, device_named};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_text::temporal::parse_interval;

use super::errors::of_advisor;

/// The names of all options, for messages.
const NAMES: &str =
    "size, read, write, response, processor, reads, device, memory, budget, choices";

/// No weight is larger.
const WEIGHT_MAX: f64 = 1e6;

/// Of the budget, for drawing samples; the rest is for measuring.
const SAMPLING_SHARE: u32 = 4;

/// What a statement asks for.
pub(super) struct AdviceOptions {
    request: AdviceRequest,
}

impl AdviceOptions {
    /// Reads the options of a statement.
    pub(super) fn of(options: &[(String, String)]) -> Result<Self, Error> {
        let mut request = AdviceRequest::default();
        for (name, value) in options {
            let weights = &mut request.weights;
            match name.as_str() {
                "size" => weights.size = weight(name, value)?,
                "read" => weights.read = weight(name, value)?,
                "write" => weights.write = weight(name, value)?,
                "response" => weights.response = weight(name, value)?,
                "processor" => weights.counts_processor = switch(name, value)?,
                "reads" => request.read_kind = read_kind(value)?,
                "device" => request.device = device_named(value).map_err(of_advisor)?,
                "memory" => request.memory_bytes = bytes(name, value)?,
                "budget" => request.budget = duration(name, value)?,
                "choices" => request.scope = scope(value)?,
                _ => {
                    let text = format!("unrecognized option \"{name}\"");
                    let hint = format!("Options are {NAMES}.");
                    return Err(Error::new("42601", text).with_hint(hint));
                }
            }
        }
        check(&request.weights)?;
        Ok(Self { request })
    }

    /// How long samples may be drawn, for all tables together.
    pub(super) fn sampling_time(&self) -> Duration {
        self.request.budget / SAMPLING_SHARE
    }

    /// What is asked of each of so many tables, which have equal parts of the time.
    pub(super) fn request(&self, table_count: usize, token: &CancelToken) -> AdviceRequest {
        let tables = u32::try_from(table_count.max(1)).unwrap_or(u32::MAX);
        AdviceRequest {
            budget: (self.request.budget - self.sampling_time()) / tables,
            cancel: Some(token.question()),
            ..self.request.clone()
        }
    }
}

fn invalid(name: &str, value: &str, hint: impl Into<String>) -> Error {
    let text = format!("invalid value for option \"{name}\": \"{value}\"");
    Error::new("22023", text).with_hint(hint.into())
}

fn weight(name: &str, value: &str) -> Result<f64, Error> {
    match value.parse() {
        Ok(weight) if (0.0..=WEIGHT_MAX).contains(&weight) => Ok(weight),
        _ => Err(invalid(
            name,
            value,
            "Say how much it counts beside the others: 0 or more.",
        )),
    }
}

/// No order follows from weights that are all 0.
fn check(weights: &AdviceWeights) -> Result<(), Error> {
    let all = [weights.size, weights.read, weights.write, weights.response];
    if all.iter().all(|weight| *weight == 0.0) {
        let text = "size, read, write and response all count for nothing";
        return Err(Error::new("22023", text).with_hint("Give one of them a weight above 0."));
    }
    Ok(())
}

fn switch(name: &str, value: &str) -> Result<bool, Error> {
    match value.to_lowercase().as_str() {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(invalid(name, value, "Say on or off.")),
    }
}

fn read_kind(value: &str) -> Result<ReadKind, Error> {
    match value.to_lowercase().as_str() {
        "points" => Ok(ReadKind::Points),
        "scans" => Ok(ReadKind::Scans),
        "both" => Ok(ReadKind::Both),
        _ => Err(invalid("reads", value, "Say points, scans or both.")),
    }
}

fn scope(value: &str) -> Result<ChoiceScope, Error> {
    match value.to_lowercase().as_str() {
        "usual" => Ok(ChoiceScope::Usual),
        "all" => Ok(ChoiceScope::All),
        _ => Err(invalid("choices", value, "Say usual or all.")),
    }
}

fn bytes(name: &str, value: &str) -> Result<u64, Error> {
    const UNITS: [(&str, f64); 8] = [
        ("", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
    ];
    let text = value.trim();
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let unit = text[digits.len()..].trim().to_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit);
    match (digits.parse::<f64>(), factor) {
        (Ok(count), Some((_, factor))) if count * factor >= 1.0 && count * factor < 1e18 => {
            Ok((count * factor) as u64)
        }
        _ => Err(invalid(
            name,
            value,
            "Say a number of bytes, such as 512MB or 4GiB.",
        )),
    }
}

/// `60`, in seconds, `'60 s'`, `'2 minutes'`.
fn duration(name: &str, value: &str) -> Result<Duration, Error> {
    const HINT: &str = "Say how long measuring may take, such as '60 s'.";
    if let Ok(seconds) = value.parse::<f64>() {
        let duration = Duration::try_from_secs_f64(seconds);
        return duration.map_err(|_| invalid(name, value, HINT));
    }
    let interval = parse_interval(value).map_err(|_| invalid(name, value, HINT))?;
    let micros = u64::try_from(interval.micros).ok();
    match micros.filter(|_| interval.months == 0 && interval.days == 0) {
        Some(micros) => Ok(Duration::from_micros(micros)),
        None => Err(invalid(name, value, HINT)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<AdviceOptions, Error> {
        let pairs = pairs.iter();
        let pairs: Vec<(String, String)> = pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        AdviceOptions::of(&pairs)
    }

    #[test]
    fn options_are_read() {
        let given = options(&[
            ("size", "3"),
            ("response", "0"),
            ("reads", "points"),
            ("device", "sata-ssd"),
            ("memory", "1GB"),
            ("budget", "2 minutes"),
        ]);
        let request = given.unwrap().request;
        assert_eq!(request.weights.size, 3.0);
        assert_eq!(request.weights.response, 0.0);
        assert_eq!(request.read_kind, ReadKind::Points);
        assert_eq!(request.memory_bytes, 1_000_000_000);
        assert_eq!(request.budget, Duration::from_secs(120));
        assert_eq!(
            options(&[("budget", "1.5")]).unwrap().request.budget,
            Duration::from_millis(1500)
        );
    }

    #[test]
    fn wrong_options_are_errors_that_say_what_may_be() {
        for (name, value, sqlstate, hint) in [
            ("colour", "red", "42601", "size, read"),
            ("size", "-1", "22023", "0 or more"),
            ("size", "NaN", "22023", "0 or more"),
            ("device", "floppy", "22023", ""),
            ("memory", "much", "22023", "512MB"),
            ("budget", "3 months", "22023", "60 s"),
            ("reads", "some", "22023", "points"),
            ("processor", "maybe", "22023", "on or off"),
        ] {
            let error = options(&[(name, value)]).err().unwrap();
            assert_eq!(error.sqlstate(), sqlstate, "{name}");
            assert!(error.hint().unwrap_or_default().contains(hint), "{name}");
        }
        let nothing = [
            ("size", "0"),
            ("read", "0"),
            ("write", "0"),
            ("response", "0"),
        ];
        assert_eq!(options(&nothing).err().unwrap().sqlstate(), "22023");
    }
}
