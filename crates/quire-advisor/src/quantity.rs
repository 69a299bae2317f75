//! Numbers as a person reads them: three digits and a unit.

const BYTE_UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
const TIME_UNITS: [&str; 3] = ["µs", "ms", "s"];

/// Bytes, in powers of 1,000: `31.2 GB`.
pub(crate) fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, &BYTE_UNITS)
}

/// A time in microseconds: `61 µs`.
pub(crate) fn time(us: f64) -> String {
    scaled(us, &TIME_UNITS)
}

/// A bandwidth in MB/s.
pub(crate) fn bandwidth(mb_s: f64) -> String {
    format!("{}/s", scaled(mb_s * 1e6, &BYTE_UNITS))
}

fn scaled(value: f64, units: &[&str]) -> String {
    let mut value = value.max(0.0);
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 && value.fract() == 0.0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_000), "1 kB");
        assert_eq!(bytes(31_249_000_000), "31.2 GB");
        assert_eq!(bytes(999_600), "1 MB");
        assert_eq!(time(0.25), "0.25 µs");
        assert_eq!(time(61.04), "61 µs");
        assert_eq!(time(2_000_000.0), "2 s");
        assert_eq!(bandwidth(350.0), "350 MB/s");
        assert_eq!(bandwidth(0.0), "0 B/s");
    }
}
