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

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(bytes: u64, read_us: f64, mb_s: f64) -> (ChoiceMeasurement, ChoicePrediction) {
        let measured = ChoiceMeasurement {
            data_bytes: 0,
            metadata_bytes: 0,
            encode_mb_s: mb_s,
            decode_mb_s: 0.0,
            cold_point_read_us: 0.0,
            hot_point_read_us: 0.0,
            worst_response_us: 0.0,
            scan_row_ns: 0.0,
            scan_column_ns: Vec::new(),
            processor_seconds: 0.0,
        };
        let predicted = ChoicePrediction {
            whole_bytes: bytes,
            data_bytes: bytes,
            metadata_bytes: 0,
            page_access_us: 0.0,
            point_read_us: read_us,
            worst_response_us: 400.0,
            scan_mb_s: 2.0 * mb_s,
            load_seconds: 0.0,
            insert_compression_us: None,
        };
        (measured, predicted)
    }

    fn compared(figures: &(ChoiceMeasurement, ChoicePrediction)) -> ComparedChoice<'_> {
        ComparedChoice {
            measured: &figures.0,
            predicted: &figures.1,
        }
    }

    #[test]
    fn two_lines_say_what_changes() {
        let (old, new) = (
            figures(31_200_000_000, 94.0, 150.0),
            figures(8_424_000_000, 61.0, 90.0),
        );
        let lines = explain(
            compared(&new),
            compared(&old),
            &DeviceProfile::NVME_SSD,
            1_000_000_000,
        );
        assert_eq!(
            lines,
            [
                "31.2 GB → 8.42 GB (27 %); a point read takes 61 µs instead of 94 µs with 1 GB of memory on nvme-ssd.",
                "A scan gets 180 MB/s instead of 300 MB/s, one processor writes 90 MB/s instead of 150 MB/s, the longest of many point reads \
                 takes 400 µs as before.",
            ]
        );
    }
}
