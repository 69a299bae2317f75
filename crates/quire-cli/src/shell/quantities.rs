//! Bytes, counts and times as people read them.

use std::time::Duration;

/// Three significant digits with a decimal unit: `0 B`, `4.10 kB`, `265 MB`.
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    // 999.5 would be shown as 1000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Reads `512MB`, `4 GiB`, `1.5GB` or a plain number of bytes.
///
/// # Errors
/// When it is none of these, or zero, or more than there can be.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, f64); 9] = [
        ("", 1.0),
        ("b", 1.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("gb", 1e9),
        ("tb", 1e12),
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("gib", 1_073_741_824.0),
    ];
    let digits = text
        .trim()
        .trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let unit = text.trim()[digits.len()..].trim().to_lowercase();
    let factor = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| factor);
    match (digits.parse::<f64>(), factor) {
        (Ok(count), Some(factor)) if count * factor >= 1.0 && count * factor < 9e18 => {
            Ok((count * factor) as usize)
        }
        _ => Err(format!(
            "{text} is no number of bytes such as 512MB or 4GiB"
        )),
    }
}

/// The number with a comma between groups of three digits.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `0.3 ms`, `12.3 ms`, `1.234 s`, `2 min 5.0 s`.
pub fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 1.0 {
        return format!("{:.1} ms", seconds * 1000.0);
    }
    if seconds < 60.0 {
        return format!("{seconds:.3} s");
    }
    let minutes = duration.as_secs() / 60;
    format!("{minutes} min {:.1} s", seconds - minutes as f64 * 60.0)
}

/// Whole seconds, minutes or hours: `7 s`, `2 min 05 s`, `1 h 02 min`.
pub fn rough_duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{bytes_text, count_text, duration_text, parse_bytes, rough_duration_text};

    #[test]
    fn bytes_have_three_digits() {
        assert_eq!(bytes_text(0), "0 B");
        assert_eq!(bytes_text(999), "999 B");
        assert_eq!(bytes_text(1000), "1.00 kB");
        assert_eq!(bytes_text(12_345), "12.3 kB");
        assert_eq!(bytes_text(265_400_000), "265 MB");
        assert_eq!(bytes_text(999_600), "1.00 MB");
        assert_eq!(bytes_text(u64::MAX), "18447 PB");
    }

    #[test]
    fn bytes_are_read_with_their_unit() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("512MB"), Ok(512_000_000));
        assert_eq!(parse_bytes(" 1.5 gb "), Ok(1_500_000_000));
        assert_eq!(parse_bytes("4GiB"), Ok(4 << 30));
        for wrong in ["", "MB", "0", "-1GB", "4 apples", "nan", "inf", "1e30"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count_text(0), "0");
        assert_eq!(count_text(999), "999");
        assert_eq!(count_text(6_001_215), "6,001,215");
        assert_eq!(count_text(100_000), "100,000");
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        assert_eq!(duration_text(Duration::from_micros(340)), "0.3 ms");
        assert_eq!(duration_text(Duration::from_millis(1_234)), "1.234 s");
        assert_eq!(duration_text(Duration::from_millis(125_040)), "2 min 5.0 s");
        assert_eq!(rough_duration_text(Duration::from_millis(7_900)), "7 s");
        assert_eq!(rough_duration_text(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(
            rough_duration_text(Duration::from_secs(3_725)),
            "1 h 02 min"
        );
    }
}
