//! Paper 3, §IV-A2 and §IV-B: the rows of the table that its system is evaluated with.

use crate::LabError;
use crate::leaves::shuffled;
use crate::random::LabRandom;
use crate::sample_text::made_up_text;

/// Numbers of a row.
pub const EVALUATED_NUMBERS: usize = 32;

/// Bytes of the string of a row.
pub const EVALUATED_STRING_BYTES: usize = 32;

/// What the text of the paper says of figure 11: the ratio of rows on its drive, and what the other scenarios add to it.
const PAPER_RATIO: f64 = 2.08;
const PAPER_GAINS: [f64; 6] = [0.0, 0.206, 0.305, 0.449, 0.375, 0.408];

/// The compression ratios of figure 11: of rows, R2C, RLT, CLT, XOR and XOR+RLT.
pub fn ratios_of_the_paper() -> [f64; 6] {
    PAPER_GAINS.map(|gain| PAPER_RATIO * (1.0 + gain))
}

/// Words of a text, each as often as it is there.
#[derive(Clone, Debug)]
pub struct EvaluatedWords(Vec<String>);

impl EvaluatedWords {
    /// The words of `text`, or of a made-up one.
    ///
    /// # Errors
    /// When it has none.
    pub fn of(text: Option<&[u8]>) -> Result<Self, LabError> {
        let made_up;
        let text = match text {
            Some(text) => text,
            None => {
                made_up = made_up_text(11, 1 << 20);
                made_up.as_bytes()
            }
        };
        let words = text.split(|byte| !byte.is_ascii_alphabetic());
        let words = words.filter(|word| !word.is_empty());
        let words: Vec<String> = words
            .filter_map(|word| Some(str::from_utf8(word).ok()?.to_owned()))
            .collect();
        if words.is_empty() {
            Err(LabError::EmptyText)
        } else {
            Ok(Self(words))
        }
    }

    /// Words until they are long enough, cut.
    fn string(&self, random: &mut LabRandom) -> String {
        let mut string = String::with_capacity(2 * EVALUATED_STRING_BYTES);
        while string.len() < EVALUATED_STRING_BYTES {
            if !string.is_empty() {
                string.push(' ');
            }
            let number = random.below(self.0.len() as u64) as usize;
            string.push_str(self.0.get(number).map_or("", String::as_str));
        }
        // Words are ASCII, so this is no half of a character.
        string.truncate(EVALUATED_STRING_BYTES);
        string
    }
}

/// A row without its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluatedRow {
    /// Each within a tenth of the centre of its column.
    pub numbers: [u32; EVALUATED_NUMBERS],
    /// [`EVALUATED_STRING_BYTES`] of ASCII.
    pub string: String,
}

/// The rows of the table, without end and always the same.
#[derive(Clone, Debug)]
pub struct EvaluatedRows<'a> {
    words: &'a EvaluatedWords,
    random: LabRandom,
    /// Of each column, between 2^8 and 2^16.
    centres: [u64; EVALUATED_NUMBERS],
}

impl<'a> EvaluatedRows<'a> {
    /// From the first on.
    pub fn new(words: &'a EvaluatedWords) -> Self {
        let mut random = LabRandom(42);
        let centres = [(); EVALUATED_NUMBERS].map(|()| 256 + random.below((1 << 16) - 256));
        Self {
            words,
            random,
            centres,
        }
    }
}

impl Iterator for EvaluatedRows<'_> {
    type Item = EvaluatedRow;

    fn next(&mut self) -> Option<EvaluatedRow> {
        let string = self.words.string(&mut self.random);
        let numbers = self.centres.map(|centre| {
            let least = centre * 9 / 10;
            (least + self.random.below(centre * 11 / 10 + 1 - least)) as u32
        });
        Some(EvaluatedRow { numbers, string })
    }
}

/// The keys from 0 in the random order in which figure 11 has its rows inserted.
pub fn evaluated_keys(rows: u64) -> Vec<u64> {
    shuffled(rows, &mut LabRandom(43))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_in_section_iv_a2() -> Result<(), LabError> {
        let words = EvaluatedWords::of(Some(b"one two, three"))?;
        let rows: Vec<EvaluatedRow> = EvaluatedRows::new(&words).take(2_000).collect();
        assert!(rows.iter().all(|row| row.string.len() == 32));
        assert!(rows.iter().all(|row| row.string.starts_with(['o', 't'])));
        for column in 0..EVALUATED_NUMBERS {
            let numbers = rows.iter().map(|row| f64::from(row.numbers[column]));
            let (least, most) = numbers
                .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), one| {
                    (least.min(one), most.max(one))
                });
            let centre = (least + most) / 2.0;
            assert!((250.0..65_540.0).contains(&centre), "{centre}");
            // Of 2,000 numbers some are near both ends of the range of a fifth of the centre.
            let width = (most - least) / centre;
            assert!((0.19..0.21).contains(&width), "{width}");
        }
        assert_eq!(
            rows,
            EvaluatedRows::new(&words).take(2_000).collect::<Vec<_>>()
        );
        assert!(EvaluatedWords::of(Some(b"1, 2")).is_err());
        Ok(())
    }

    #[test]
    fn keys_are_all_there_and_in_no_order() {
        let mut keys = evaluated_keys(1_000);
        assert!(!keys.is_sorted());
        keys.sort_unstable();
        assert_eq!(keys, (0..1_000).collect::<Vec<_>>());
    }
}
