//! The inverted file as PFOR-DELTA segments of the paper.

use super::InvertedFile;
use crate::LabError;
use crate::super_scalar::{
    Chosen, Compression, Marking, Reference, Segment, SegmentError, SegmentSettings,
    SuperScalarSample, choose, encode,
};
use quire_codec::{Corrupt, VECTOR_VALUES};

/// Values of a segment, each of which has its own base and width.
pub(super) const SEGMENT_VALUES: usize = 16 * VECTOR_VALUES;

/// The running sums of all gaps, of one list after the other, as PFOR-DELTA. Its differences are the gaps, also
/// where a list begins; the entries of a list are its sums less that before it.
#[derive(Clone, Debug)]
pub struct CompressedLists {
    segments: Vec<Vec<u8>>,
}

impl CompressedLists {
    /// Compresses all lists, each segment with the base and width that its sample asks for.
    pub fn new(file: &InvertedFile) -> Result<Self, LabError> {
        let sums = running_sums(file.gaps());
        let segments = encode_sums(&sums, &settings(&sums))?;
        Ok(Self { segments })
    }

    /// Bytes of all segments.
    pub fn bytes(&self) -> usize {
        self.segments.iter().map(Vec::len).sum()
    }

    /// Decodes the list of `word`, and hands over its entries in order, at most 1,024 at a time.
    pub fn each_posting(
        &self,
        file: &InvertedFile,
        word: &str,
        mut take: impl FnMut(&[u32]),
    ) -> Result<(), Corrupt> {
        let Some(list) = file.list(word) else {
            return Ok(());
        };
        let first_segment = list.gaps.start / SEGMENT_VALUES;
        let mut sums = [0u32; VECTOR_VALUES];
        for (at, image) in self.segments.iter().enumerate().skip(first_segment) {
            let before = at * SEGMENT_VALUES;
            if before >= list.gaps.end {
                break;
            }
            let mut segment = Segment::<u32>::open(image, None)?;
            let mut next = list.gaps.start.max(before);
            let end = list.gaps.end.min(before + segment.value_count());
            while next < end {
                let vector = (next - before) / VECTOR_VALUES;
                let vector_start = before + vector * VECTOR_VALUES;
                let rows = segment.decode_vector(vector, &mut sums)?;
                let vector_end = end.min(vector_start + rows);
                let entries = &mut sums[next - vector_start..vector_end - vector_start];
                for sum in entries.iter_mut() {
                    *sum = sum.wrapping_sub(list.sum_before);
                }
                take(entries);
                next = vector_end;
            }
        }
        Ok(())
    }
}

/// The sum of the gaps up to each, wrapping.
pub(super) fn running_sums(gaps: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    let add = |&gap: &u32| {
        sum = sum.wrapping_add(gap);
        sum
    };
    gaps.iter().map(add).collect()
}

/// PFOR-DELTA as the paper's analysis sets it, for each segment.
pub(super) fn settings(sums: &[u32]) -> Vec<SegmentSettings<'static, u32>> {
    settings_by(sums, SEGMENT_VALUES)
}

/// As [`settings`], for segments of `segment_values`.
pub(super) fn settings_by(
    sums: &[u32],
    segment_values: usize,
) -> Vec<SegmentSettings<'static, u32>> {
    let of_segment = |sums| {
        let choices = choose(&SuperScalarSample::take(sums));
        let chosen = choices.iter().find_map(|choice| match choice.chosen {
            Chosen::PforDelta { base } => Some((base, choice.width)),
            _ => None,
        });
        let (base, width) = chosen.unwrap_or((0, 8));
        SegmentSettings {
            reference: Reference::PforDelta { base },
            width,
            marking: Marking::Linked,
            compression: Compression::DoubleCursor,
        }
    };
    sums.chunks(segment_values).map(of_segment).collect()
}

/// The segments of running sums, with settings found before.
pub(super) fn encode_sums(
    sums: &[u32],
    settings: &[SegmentSettings<'static, u32>],
) -> Result<Vec<Vec<u8>>, SegmentError> {
    encode_sums_by(sums, SEGMENT_VALUES, settings)
}

/// As [`encode_sums`], in segments of `segment_values`.
pub(super) fn encode_sums_by(
    sums: &[u32],
    segment_values: usize,
    settings: &[SegmentSettings<'static, u32>],
) -> Result<Vec<Vec<u8>>, SegmentError> {
    let segments = sums.chunks(segment_values).zip(settings);
    segments
        .map(|(sums, settings)| encode(sums, settings))
        .collect()
}
