//! Cutting a value into fixed text and runs.

use super::{RUN_BYTES_MAX, VALUE_BYTES_MAX, VALUE_RUNS_MAX};

/// What a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunClass {
    /// Runs are digits, of any number; all else is fixed.
    Digits,
    /// Runs are ASCII letters and digits, and their lengths belong to the shape.
    Words,
}

impl RunClass {
    fn in_run(self, byte: u8) -> bool {
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Words => byte.is_ascii_alphanumeric(),
        }
    }

    /// What stands for a run of `length` bytes in the key of a shape: a byte that is never fixed text.
    fn mark(self, length: usize) -> u8 {
        match self {
            Self::Digits => b'0',
            Self::Words => b'A' - 1 + length as u8,
        }
    }

    /// Writes to `key` the value with a mark for each run, and to `runs` its runs. Values with equal keys have
    /// one shape. False when the value is too long to have a shape, or has too many runs.
    pub(super) fn apply<'a>(
        self,
        value: &'a [u8],
        key: &mut Vec<u8>,
        runs: &mut Vec<&'a [u8]>,
    ) -> bool {
        key.clear();
        runs.clear();
        if value.len() > VALUE_BYTES_MAX {
            return false;
        }
        let mut rest = value;
        while let Some(&first) = rest.first() {
            if !self.in_run(first) {
                key.push(first);
                rest = &rest[1..];
                continue;
            }
            let longest = &rest[..rest.len().min(RUN_BYTES_MAX)];
            let end = longest.iter().position(|byte| !self.in_run(*byte));
            let (run, after) = rest.split_at(end.unwrap_or(longest.len()));
            key.push(self.mark(run.len()));
            runs.push(run);
            rest = after;
        }
        runs.len() <= VALUE_RUNS_MAX
    }

    /// The fixed texts of a shape with that key: one before each run, and one after the last.
    pub(super) fn texts(self, key: &[u8]) -> Vec<&[u8]> {
        key.split(|byte| self.in_run(*byte)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RunClass;

    #[test]
    fn keys_have_a_mark_for_each_run() {
        let (mut key, mut runs) = (Vec::new(), Vec::new());
        let value = b"Tel. +49-30/0012345678901234567x";
        assert!(RunClass::Digits.apply(value, &mut key, &mut runs));
        assert_eq!(key, b"Tel. +0-0/00x");
        assert_eq!(runs, [&b"49"[..], b"30", b"0012345678901234", b"567"]);
        assert!(RunClass::Words.apply(b"e8-9b47611e8dc6:z", &mut key, &mut runs));
        assert_eq!(key, b"B-L:A");
        assert_eq!(runs, [&b"e8"[..], b"9b47611e8dc6", b"z"]);
        assert_eq!(RunClass::Words.texts(&key), [&b""[..], b"-", b":", b""]);
    }

    #[test]
    fn values_that_are_too_long_have_no_shape() {
        let (mut key, mut runs) = (Vec::new(), Vec::new());
        let long = [b'x'; 1025];
        assert!(RunClass::Digits.apply(&long[..1024], &mut key, &mut runs));
        assert!(!RunClass::Digits.apply(&long, &mut key, &mut runs));
        let numbers = b"1,".repeat(33);
        assert!(RunClass::Digits.apply(&numbers[..64], &mut key, &mut runs));
        assert!(!RunClass::Digits.apply(&numbers, &mut key, &mut runs));
    }
}
