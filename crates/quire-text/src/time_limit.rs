//! Limits of time, as settings have them: `250`, `2s`, `1 min`.

use std::time::Duration;

/// A number of milliseconds, or one with a unit: `ms`, `s`, `min`, `h`, `d`. `None` if it is neither, or too long.
pub fn time_limit_of(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: u64 = number.parse().ok()?;
    let milliseconds = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(milliseconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units() {
        assert_eq!(time_limit_of("50ms"), Some(Duration::from_millis(50)));
        assert_eq!(time_limit_of("2 s"), Some(Duration::from_secs(2)));
        assert_eq!(time_limit_of("7"), Some(Duration::from_millis(7)));
        assert_eq!(time_limit_of("1min"), Some(Duration::from_secs(60)));
        assert_eq!(time_limit_of("0s"), Some(Duration::ZERO));
        for wrong in [
            "",
            "x",
            "ms",
            "-1",
            "1 day",
            "5 weeks",
            "99999999999999999999",
        ] {
            assert_eq!(time_limit_of(wrong), None, "{wrong}");
        }
    }
}
