//! The codec of a column of one row group, and whether it will do for the next.
//!
//! An analysis costs a quarter of what encoding costs, and row groups of a table mostly look alike. So a column
//! is analysed in the first row group of an append and in every sixteenth after it; the others look at a few figures of
//! a small sample ([`Sketch`]). If those are what they were, the codec is kept, and afterwards the size is compared:
//! when a row takes more than 2 % more or 5 % less than in the row group that was analysed, this one is analysed too, and
//! encoded anew if that makes it smaller.
//!
//! What a row group becomes depends on its rows and those before it, never on which worker was faster: a column waits
//! for the decision, not for the encoding, of the same column one row group before. Tasks are taken in the order
//! of row groups, so the one that is waited for is always at work, and the first of them waits for none. A column that
//! may follow another waits for none and leaves none: a map is put off until the column it is from is encoded.

use std::sync::{Arc, OnceLock};

use quire_codec::{EncodeError, PhysicalType};
use quire_format::row_group::Decision;
use quire_format::segment::{
    Beneath, ChooseOptions, CodecChoice, SegmentInput, SegmentValues, Sketch,
};

/// A column is analysed in one of so many row groups, however much alike they look.
const ANALYSIS_PERIOD: usize = 16;

/// Growth of a row, in per cent, above which the codec is in doubt.
const LARGER_PERCENT: usize = 2;

/// Shrinking of a row, in per cent, above which another codec may shrink it more.
const SMALLER_PERCENT: usize = 5;

/// Bytes by which segments may differ in any case: not worth an analysis.
const SLACK_BYTES: usize = 512;

/// What the analysis of a column found.
struct Precedent {
    choice: CodecChoice,
    row_count: usize,
    sketch: Sketch,
    /// Bytes of the segment; `None` if it could not be encoded.
    encoded_bytes: OnceLock<Option<usize>>,
}

/// The precedent a column leaves to the next row group; `None` inside if it leaves none.
type Slot = OnceLock<Option<Arc<Precedent>>>;

/// Links row groups to those before them.
#[derive(Default)]
pub(super) struct PrecedentChain {
    last: Option<Arc<[Slot]>>,
    row_groups: usize,
}

impl PrecedentChain {
    /// The link of the next row group.
    pub(super) fn next(&mut self, column_count: usize) -> Precedents {
        let own: Arc<[Slot]> = (0..column_count).map(|_| Slot::new()).collect();
        let is_analysed = self.row_groups.is_multiple_of(ANALYSIS_PERIOD);
        self.row_groups += 1;
        let before = self.last.replace(Arc::clone(&own));
        Precedents {
            own,
            before: before.filter(|_| !is_analysed),
        }
    }
}

/// What the columns of a row group were told and leave to the next.
pub(super) struct Precedents {
    /// One per column.
    own: Arc<[Slot]>,
    before: Option<Arc<[Slot]>>,
}

/// A column of a row group, encoded.
pub(super) struct Decided {
    pub(super) choice: CodecChoice,
    pub(super) segment: Vec<u8>,
    pub(super) decision: Decision,
}

impl Precedents {
    /// Says that column `index` leaves no precedent: it follows another column.
    pub(super) fn leave_none(&self, index: usize) {
        let _ = self.own[index].set(None);
    }

    /// Encodes column `index` of the row group. To be called once per column.
    pub(super) fn encode(
        &self,
        index: usize,
        input: &SegmentInput<'_>,
        options: &ChooseOptions,
    ) -> Result<Decided, EncodeError> {
        let turn = PrecedentTurn(&self.own[index]);
        let mut values = SegmentValues::new(input)?;
        // The analysis of booleans is one pass over a bit a row.
        if options.forced.is_some() || input.values.physical_type() == PhysicalType::Bool {
            let decision = match options.forced {
                Some(_) => Decision::Asked,
                None => Decision::Analysed,
            };
            return analyse(&mut values, options, decision);
        }
        let sketch = values.sketch();
        let row_count = input.values.len();
        let before = self.before.as_ref();
        match before.and_then(|slots| slots[index].wait().clone()) {
            Some(precedent) if precedent.suits(row_count, &sketch) => {
                turn.leave(&precedent);
                precedent.follow(&mut values, input, options)
            }
            before => {
                let decision = match before {
                    Some(_) => Decision::Different,
                    None => Decision::Analysed,
                };
                let precedent = Arc::new(Precedent {
                    choice: values.choose(options),
                    row_count,
                    sketch,
                    encoded_bytes: OnceLock::new(),
                });
                turn.leave(&precedent);
                precedent.lead(&mut values, decision)
            }
        }
    }
}

/// Whoever waits for a precedent is told that there is none if this ends without one.
struct PrecedentTurn<'a>(&'a Slot);

impl PrecedentTurn<'_> {
    fn leave(&self, precedent: &Arc<Precedent>) {
        let _ = self.0.set(Some(Arc::clone(precedent)));
    }
}

impl Drop for PrecedentTurn<'_> {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

/// The same for the size of a segment.
struct Measurement<'a>(&'a OnceLock<Option<usize>>);

impl Drop for Measurement<'_> {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

fn analyse(
    values: &mut SegmentValues<'_>,
    options: &ChooseOptions,
    decision: Decision,
) -> Result<Decided, EncodeError> {
    let choice = values.choose(options);
    let segment = values.encode(choice.codec)?;
    Ok(Decided {
        choice,
        segment,
        decision,
    })
}

impl Precedent {
    /// Whether rows that look like this may take the same codec.
    fn suits(&self, row_count: usize, sketch: &Sketch) -> bool {
        2 * row_count >= self.row_count && self.sketch.resembles(sketch)
    }

    /// Encodes the row group that was analysed.
    fn lead(
        &self,
        values: &mut SegmentValues<'_>,
        decision: Decision,
    ) -> Result<Decided, EncodeError> {
        let measurement = Measurement(&self.encoded_bytes);
        let segment = values.encode(self.choice.codec)?;
        let _ = measurement.0.set(Some(segment.len()));
        Ok(Decided {
            choice: self.choice,
            segment,
            decision,
        })
    }

    /// Encodes a row group that looks like it.
    fn follow(
        &self,
        values: &mut SegmentValues<'_>,
        input: &SegmentInput<'_>,
        options: &ChooseOptions,
    ) -> Result<Decided, EncodeError> {
        let choice = self.choice_for(input);
        let segment = match values.encode(choice.codec) {
            Ok(segment) => segment,
            Err(EncodeError::NotConstant) => return analyse(values, options, Decision::Larger),
            Err(error) => return Err(error),
        };
        let decision = judge(choice.estimated_bytes, segment.len());
        if decision == Decision::Followed {
            return Ok(Decided {
                choice,
                segment,
                decision,
            });
        }
        let analysed = values.choose(options);
        if analysed.codec == choice.codec {
            return Ok(Decided {
                choice: analysed,
                segment,
                decision,
            });
        }
        let anew = values.encode(analysed.codec)?;
        // What storage makes of either is not known here; the analysis has looked.
        let pays = anew.len() < segment.len() || options.beneath != Beneath::Nothing;
        let (choice, segment) = if pays {
            (analysed, anew)
        } else {
            (choice, segment)
        };
        Ok(Decided {
            choice,
            segment,
            decision,
        })
    }

    /// The choice, as it would be if every row took as much as it did when it was analysed.
    fn choice_for(&self, input: &SegmentInput<'_>) -> CodecChoice {
        let scaled = |bytes: usize| {
            let scaled = bytes as u128 * input.values.len() as u128;
            (scaled / self.row_count.max(1) as u128) as usize
        };
        // It is being encoded by another worker at the most.
        let encoded_bytes = self.encoded_bytes.wait();
        let runner_up = self.choice.runner_up;
        CodecChoice {
            codec: self.choice.codec,
            estimated_bytes: scaled(encoded_bytes.unwrap_or(self.choice.estimated_bytes)),
            remaining_bytes: scaled(self.choice.remaining_bytes),
            runner_up: runner_up.map(|(codec, bytes)| (codec, scaled(bytes))),
            raw_bytes: input.values.raw_bytes(),
        }
    }
}

/// Whether a size is near enough to what was expected.
fn judge(expected_bytes: usize, bytes: usize) -> Decision {
    let larger = expected_bytes * (100 + LARGER_PERCENT) / 100 + SLACK_BYTES;
    let smaller = expected_bytes * (100 - SMALLER_PERCENT) / 100;
    if bytes > larger {
        Decision::Larger
    } else if bytes + SLACK_BYTES < smaller {
        Decision::Smaller
    } else {
        Decision::Followed
    }
}

#[cfg(test)]
mod tests {
    use super::{Decision, PrecedentChain, judge};

    #[test]
    fn sizes_near_the_expected_one_are_followed() {
        assert_eq!(judge(100_000, 102_512), Decision::Followed);
        assert_eq!(judge(100_000, 102_513), Decision::Larger);
        assert_eq!(judge(100_000, 94_488), Decision::Followed);
        assert_eq!(judge(100_000, 94_487), Decision::Smaller);
        assert_eq!(judge(0, 512), Decision::Followed);
    }

    #[test]
    fn every_sixteenth_row_group_starts_anew() {
        let mut chain = PrecedentChain::default();
        let links = (0..40).map(|_| chain.next(3).before.is_some());
        let first: Vec<usize> = links
            .enumerate()
            .filter(|(_, is_linked)| !is_linked)
            .map(|(index, _)| index)
            .collect();
        assert_eq!(first, [0, 16, 32]);
    }
}
