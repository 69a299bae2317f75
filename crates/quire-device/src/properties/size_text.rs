//! Sizes as ZFS's command line has them: `128k`, `10g`, a plain number of bytes.

/// Binary units, the largest first.
const UNITS: [(&str, u32); 5] = [("p", 50), ("t", 40), ("g", 30), ("m", 20), ("k", 10)];

/// Bytes with the largest unit of which they are a multiple.
pub(crate) fn size_text(bytes: u64) -> String {
    for (unit, shift) in UNITS {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Reads digits and a unit, which may be followed by `b` or `ib`; upper case is as good. `None` for anything else, and for 2^64 bytes or more.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let digits_end = lower.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = lower.split_at(digits_end.unwrap_or(lower.len()));
    let number: u64 = digits.parse().ok()?;
    if matches!(unit, "" | "b") {
        return Some(number);
    }
    let shift = UNITS.iter().find_map(|(name, shift)| {
        let rest = unit.strip_prefix(name)?;
        matches!(rest, "" | "b" | "ib").then_some(*shift)
    })?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("4k", 4 << 10),
            ("1m", 1 << 20),
            ("1536k", 1536 << 10),
            ("10g", 10 << 30),
            ("3t", 3 << 40),
            ("1000000001", 1_000_000_001),
        ] {
            assert_eq!(size_text(bytes), text);
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["128K", "128kb", "128KiB", "131072", "131072b"] {
            assert_eq!(parse_size(text), Some(128 << 10), "{text}");
        }
        for text in [
            "",
            "k",
            "1x",
            "1kk",
            "1.5k",
            "-1",
            "+1",
            "1 k",
            "99999999999g",
            "16384p",
        ] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
