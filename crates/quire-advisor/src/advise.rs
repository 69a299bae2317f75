//! From a sample to advice: measure, predict, rank, explain.

use std::time::Duration;

use arrow_array::Array;
use quire_kv::mvcc::Cancel;
use quire_store::disk::DeviceProfile;

use crate::candidates::{ChoiceScope, candidates};
use crate::choices::StorageChoice;
use crate::error::AdvisorError;
use crate::explain::{ComparedChoice, explain};
use crate::measure::{
    AdvisorClock, ChoiceMeasurement, LeftOutReason, MeasureBudget, WrittenTable, measure,
};
use crate::predict::{ChoicePrediction, ReadingPlace, predict};
use crate::rank::{AdviceWeights, ChoiceRank, CriterionValues, ReadKind, rank};
use crate::sampled_table::SampledTable;
use crate::statements::statements;

/// How often arrays are looked at to say how fast that is.
const QUERY_ROUNDS: usize = 3;

/// What is asked for.
#[derive(Clone)]
pub struct AdviceRequest {
    /// How much each criterion counts.
    pub weights: AdviceWeights,
    /// What the table is mostly read by.
    pub read_kind: ReadKind,
    /// The device that the file will lie on.
    pub device: DeviceProfile,
    /// Memory for the pages of this table, in bytes.
    pub memory_bytes: u64,
    /// How long measuring may take. The choice that all are compared with is measured whatever it is, and no step of a measurement is interrupted.
    pub budget: Duration,
    /// How many choices are measured.
    pub scope: ChoiceScope,
    /// Ends measuring. What has been measured by then is ranked; it is an error if nothing has.
    pub cancel: Option<Cancel>,
}

impl Default for AdviceRequest {
    /// All criteria alike, an NVMe disk, 1 GB of memory, 60 seconds.
    fn default() -> Self {
        Self {
            weights: AdviceWeights::default(),
            read_kind: ReadKind::default(),
            device: DeviceProfile::NVME_SSD,
            memory_bytes: 1_000_000_000,
            budget: Duration::from_secs(60),
            scope: ChoiceScope::default(),
            cancel: None,
        }
    }
}

/// The device of a name that a user types: one of [`DeviceProfile::TYPED_NAMES`], or the beginning of a single one, such as `nvme`.
///
/// # Errors
/// [`AdvisorError::UnknownDevice`].
pub fn device_named(name: &str) -> Result<DeviceProfile, AdvisorError> {
    if let Some(device) = DeviceProfile::from_typed_name(name) {
        return Ok(device);
    }
    let typed = name.to_ascii_lowercase().replace('_', "-");
    let names = DeviceProfile::TYPED_NAMES;
    let mut begun = names.iter().filter(|(known, _)| known.starts_with(&typed));
    match (begun.next(), begun.next()) {
        (Some((_, device)), None) if !typed.is_empty() => Ok(*device),
        _ => Err(AdvisorError::UnknownDevice {
            name: name.to_owned(),
            known: names.map(|(known, _)| known).join(", "),
        }),
    }
}

/// A choice that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvisedChoice {
    /// The choice.
    pub choice: StorageChoice,
    /// What it cost for the sample.
    pub measured: ChoiceMeasurement,
    /// What it will cost for the whole.
    pub predicted: ChoicePrediction,
    /// Its place. `dominated_by` is a place among the advised choices.
    pub rank: ChoiceRank,
    /// Two lines that say what it changes.
    pub explanation: [String; 2],
    /// The statements that apply it; none if the table is so already.
    pub statements: Vec<String>,
}

/// A choice that was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOutChoice {
    /// The choice.
    pub choice: StorageChoice,
    /// Why.
    pub reason: LeftOutReason,
}

/// What is advised.
#[derive(Clone, Debug, PartialEq)]
pub struct CompressionAdvice {
    /// What was measured, the best first; those that another dominates come last.
    pub choices: Vec<AdvisedChoice>,
    /// The place among them of the choice that all are compared with.
    pub baseline: usize,
    /// What was not measured, in the order in which it would have been.
    pub left_out: Vec<LeftOutChoice>,
}

/// A choice on its way to a rank.
struct MeasuredChoice {
    choice: StorageChoice,
    measured: ChoiceMeasurement,
    predicted: ChoicePrediction,
}

/// Measures the choices for a table on this machine, predicts what they cost for the whole, and ranks them.
///
/// # Errors
/// A sample whose parts do not go together, weights of which no order follows, and a table that cannot be written as it is. Other choices that fail are left
/// out and say why.
pub fn advise(
    sample: &SampledTable,
    request: &AdviceRequest,
    clock: &dyn AdvisorClock,
) -> Result<CompressionAdvice, AdvisorError> {
    advise_between(sample, &candidates(sample, request.scope), request, clock)
}

/// The same between choices that the caller names; the first is the one that all are compared with. Choices that need another layout than the table can
/// have are not refused here.
///
/// # Errors
/// As [`advise`], and [`AdvisorError::NoChoices`].
pub fn advise_between(
    sample: &SampledTable,
    choices: &[StorageChoice],
    request: &AdviceRequest,
    clock: &dyn AdvisorClock,
) -> Result<CompressionAdvice, AdvisorError> {
    sample.check()?;
    if choices.is_empty() {
        return Err(AdvisorError::NoChoices);
    }
    let budget = MeasureBudget::new(clock, request.budget, request.cancel.as_ref());
    let place = ReadingPlace {
        device: &request.device,
        memory_bytes: request.memory_bytes,
        query_mb_s: query_mb_s(sample, clock),
    };
    let mut measured = Vec::new();
    let mut left_out = Vec::new();
    for (number, &choice) in choices.iter().enumerate() {
        let is_baseline = number == 0;
        let tried = if is_baseline {
            measured_choice(sample, choice, &place, &budget.without_end())
        } else {
            measured_choice(sample, choice, &place, &budget)
        };
        match tried {
            Ok(one) => measured.push(one),
            Err(LeftOutReason::Cancelled) if is_baseline => return Err(AdvisorError::Cancelled),
            Err(reason) if is_baseline => {
                let reason = reason.to_string();
                return Err(AdvisorError::Baseline { reason });
            }
            Err(reason) => left_out.push(LeftOutChoice { choice, reason }),
        }
    }
    advice(sample, request, measured, left_out)
}

fn measured_choice(
    sample: &SampledTable,
    choice: StorageChoice,
    place: &ReadingPlace<'_>,
    budget: &MeasureBudget<'_>,
) -> Result<MeasuredChoice, LeftOutReason> {
    let (measured, written): (_, WrittenTable) = measure(sample, &choice, budget)?;
    let predicted = predict(sample, &choice, (&measured, &written), place, budget)?;
    Ok(MeasuredChoice {
        choice,
        measured,
        predicted,
    })
}

fn advice(
    sample: &SampledTable,
    request: &AdviceRequest,
    measured: Vec<MeasuredChoice>,
    left_out: Vec<LeftOutChoice>,
) -> Result<CompressionAdvice, AdvisorError> {
    let values: Vec<CriterionValues> = measured
        .iter()
        .map(|one| CriterionValues::new(&one.measured, &one.predicted, request.read_kind))
        .collect();
    let ranks = rank(&values, &request.weights)?;
    let mut order: Vec<usize> = (0..measured.len()).collect();
    // Of those that share a rank the one that takes less of the processor comes first; those without a rank follow by what they take in the file.
    order.sort_by(|&one, &other| {
        let key = |place: usize| ranks[place].rank.unwrap_or(usize::MAX);
        let bytes = |place: usize| match ranks[place].rank {
            Some(_) => 0,
            None => measured[place].predicted.whole_bytes,
        };
        let processor = |place: usize| measured[place].measured.processor_seconds;
        (key(one).cmp(&key(other)))
            .then(bytes(one).cmp(&bytes(other)))
            .then(processor(one).total_cmp(&processor(other)))
    });
    let place_of = |number: usize| order.iter().position(|&one| one == number);
    let compared = |number: usize| ComparedChoice {
        measured: &measured[number].measured,
        predicted: &measured[number].predicted,
    };
    let choices = order.iter().map(|&number| {
        let mut rank = ranks[number].clone();
        rank.dominated_by = rank.dominated_by.and_then(place_of);
        let one = &measured[number];
        AdvisedChoice {
            choice: one.choice,
            measured: one.measured.clone(),
            predicted: one.predicted,
            rank,
            explanation: explain(
                compared(number),
                compared(0),
                &request.device,
                request.memory_bytes,
            ),
            statements: statements(sample, &one.choice),
        }
    });
    Ok(CompressionAdvice {
        choices: choices.collect(),
        baseline: place_of(0).unwrap_or_default(),
        left_out,
    })
}

/// The bandwidth of a query that does nothing but look at every byte of plain arrays, in MB/s; of a table without rows it is 1.
fn query_mb_s(sample: &SampledTable, clock: &dyn AdvisorClock) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..QUERY_ROUNDS {
        let start = clock.now();
        let mut sum = 0_u64;
        for array in sample.pieces.iter().flat_map(|piece| piece.columns()) {
            for buffer in array.to_data().buffers() {
                let (words, rest) = buffer.as_slice().as_chunks::<8>();
                let words = words.iter().map(|word| u64::from_le_bytes(*word));
                sum = words.fold(sum, u64::wrapping_add);
                sum = rest
                    .iter()
                    .fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
            }
        }
        std::hint::black_box(sum);
        let seconds = clock.now().saturating_sub(start).as_secs_f64();
        best = best.min(seconds);
    }
    (sample.plain_bytes() as f64 / 1e6 / best.max(1e-9)).max(1.0)
}
