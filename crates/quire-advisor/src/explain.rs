//! Why a choice, in two lines of plain English with numbers.

use quire_store::disk::DeviceProfile;

use crate::measure::ChoiceMeasurement;
use crate::predict::ChoicePrediction;
use crate::quantity;

/// A choice, or what it is compared with.
#[derive(Clone, Copy)]
pub(crate) struct ComparedChoice<'a> {
    pub(crate) measured: &'a ChoiceMeasurement,
    pub(crate) predicted: &'a ChoicePrediction,
}

/// What the choice makes of the whole: size and a read of one row; then scans, writing and the processor.
pub(crate) fn explain(
    choice: ComparedChoice<'_>,
    baseline: ComparedChoice<'_>,
    device: &DeviceProfile,
    memory_bytes: u64,
) -> [String; 2] {
    let (new, old) = (choice.predicted, baseline.predicted);
    let percent = 100.0 * new.whole_bytes as f64 / old.whole_bytes.max(1) as f64;
    let place = format!(
        "with {} of memory on {}",
        quantity::bytes(memory_bytes),
        device.typed_name().unwrap_or(device.name)
    );
    let read = change(
        "a point read takes",
        quantity::time(new.point_read_us),
        quantity::time(old.point_read_us),
    );
    let size = format!(
        "{} → {} ({percent:.0} %); {read} {place}.",
        quantity::bytes(old.whole_bytes),
        quantity::bytes(new.whole_bytes),
    );
    let scan = change(
        "A scan gets",
        quantity::bandwidth(new.scan_mb_s),
        quantity::bandwidth(old.scan_mb_s),
    );
    let write = change(
        "one processor writes",
        quantity::bandwidth(choice.measured.encode_mb_s),
        quantity::bandwidth(baseline.measured.encode_mb_s),
    );
    let response = change(
        "the longest of many point reads takes",
        quantity::time(new.worst_response_us),
        quantity::time(old.worst_response_us),
    );
    [size, format!("{scan}, {write}, {response}.")]
}

/// "takes 61 µs instead of 94 µs", or "takes 61 µs as before".
fn change(what: &str, new: String, old: String) -> String {
    if new == old {
        format!("{what} {new} as before")
    } else {
        format!("{what} {new} instead of {old}")
    }
}
