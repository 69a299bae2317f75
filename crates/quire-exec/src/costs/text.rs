//! Measured costs as text, to be kept beside the data and not in it: a file moves between machines, and a measurement does not.
//!
//! ```text
//! quire costs 1
//! machine <what identifies it>
//! <name> <nanoseconds>
//! …
//! check <FNV-1a of all lines before, 16 hexadecimal digits>
//! ```
//!
//! Whoever reads it takes all of it or nothing: names that are missing, unknown or twice, numbers that no work can take, another machine or version,
//! and a wrong check all mean that nothing has been measured.

use std::fmt::Write as _;

use super::{COUNT, CostModel, CostSource, KNOWN, is_cost};

const HEADING: &str = "quire costs 1";

/// Longer texts are no costs.
const TEXT_BYTES_MAX: usize = 16 << 10;

impl CostModel {
    /// The text that [`CostModel::from_text`] reads on a machine of this name.
    #[must_use]
    pub fn to_text(&self, machine: &str) -> String {
        let mut text = format!("{HEADING}\nmachine {machine}\n");
        for (known, ns) in KNOWN.iter().zip(self.ns) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {ns}", known.name);
        }
        let check = check_of(&text);
        let _ = writeln!(text, "check {check:016x}");
        text
    }

    /// What was measured on the machine of this name; nothing if the text does not say that.
    #[must_use]
    pub fn from_text(text: &str, machine: &str) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (said, check) = text.strip_suffix('\n')?.rsplit_once('\n')?;
        let said_check = u64::from_str_radix(check.strip_prefix("check ")?, 16).ok()?;
        let mut lines = said.lines();
        let is_ours = lines.next() == Some(HEADING)
            && lines.next()?.strip_prefix("machine ") == Some(machine)
            && check_of(&format!("{said}\n")) == said_check;
        if !is_ours {
            return None;
        }
        let mut costs = Self::default();
        let mut count = 0;
        for (line, known) in lines.by_ref().zip(&KNOWN) {
            let ns = line.strip_prefix(known.name)?.strip_prefix(' ')?;
            let ns = ns.parse().ok().filter(|ns| is_cost(*ns))?;
            costs.note(known.cost, ns, CostSource::Measured);
            count += 1;
        }
        (count == COUNT && lines.next().is_none()).then_some(costs)
    }
}

/// G. Fowler, L. Noll, K. Vo: FNV-1a, of 64 bits.
fn check_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::costs::Cost;

    fn measured() -> CostModel {
        let mut costs = CostModel::default();
        for (at, known) in KNOWN.iter().enumerate() {
            costs.note(known.cost, 0.5 + at as f64 * 1.37, CostSource::Measured);
        }
        costs
    }

    #[test]
    fn the_published_check_values_come_out() {
        // From the authors' page of test vectors.
        assert_eq!(check_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(check_of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(check_of("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn what_was_written_is_read_on_the_same_machine_only() {
        let text = measured().to_text("some machine, 8 threads");
        assert_eq!(
            CostModel::from_text(&text, "some machine, 8 threads"),
            Some(measured())
        );
        assert_eq!(CostModel::from_text(&text, "another machine"), None);
        assert_eq!(measured().of(Cost::DecodePlain), 0.5);
    }

    #[test]
    fn whatever_is_damaged_is_nothing() {
        let text = measured().to_text("m");
        for end in 0..text.len() {
            assert_eq!(
                CostModel::from_text(&text[..end], "m"),
                None,
                "cut at {end}"
            );
        }
        for at in 0..text.len() {
            for bit in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let damaged = String::from_utf8(bytes).unwrap();
                // A digit of the check may be written in either case.
                let is_same = damaged.eq_ignore_ascii_case(&text);
                assert!(
                    is_same || CostModel::from_text(&damaged, "m").is_none(),
                    "bit {bit} of {at}"
                );
            }
        }
        let doubled = format!("{text}{text}");
        assert_eq!(CostModel::from_text(&doubled, "m"), None);
        // The right check of wrong lines.
        for (from, to) in [("row ", "raw "), ("quire costs 1", "quire costs 2")] {
            let (said, _) = text.rsplit_once("check ").unwrap();
            let wrong = said.replacen(from, to, 1);
            let wrong = format!("{wrong}check {:016x}\n", check_of(&wrong));
            assert_eq!(CostModel::from_text(&wrong, "m"), None, "{to}");
        }
    }
}
