//! What work costs on the paper's machine, for the optimizer: it must plan for the machine that is simulated.

use quire_exec::costs::CostModel;

use crate::tpcd::paper;

/// `page_read_sequential` is the cost of so many bytes of page images.
const SEQUENTIAL_BYTES: f64 = 16_384.0;
const KIB: f64 = 1024.0;

/// The costs as `SET costs` takes them: those of a disk follow from the paper's, for both of its disks, and those of a processor are the built-in ones
/// times `slowness`.
pub(crate) fn paper_costs(slowness: f64) -> String {
    let model = CostModel::default();
    let costs = model.shown().map(|cost| {
        let ns = disk_ns(cost.name).unwrap_or(cost.ns * slowness);
        format!("{} = {ns:.3}", cost.name)
    });
    let costs: Vec<String> = costs.collect();
    format!("default, {}", costs.join(", "))
}

/// Nanoseconds of the paper's disk; nothing of what is not a disk's.
fn disk_ns(name: &str) -> Option<f64> {
    let (profile, _) = paper::disk();
    let byte_ns = |bytes_per_second: u64| 1e9 / bytes_per_second as f64;
    let read_byte_ns = byte_ns(profile.read_bytes_per_second);
    let seek_ns = profile.read_latency.as_secs_f64() * 1e9;
    Some(match name {
        "page_read_sequential" => SEQUENTIAL_BYTES * read_byte_ns,
        "page_read_random" => seek_ns + paper::PAGE_BYTES as f64 * read_byte_ns,
        "spill_write" => KIB * byte_ns(profile.write_bytes_per_second),
        "spill_read" => KIB * read_byte_ns,
        // Blocks have any length: where memory is short they are short, too.
        "spill_seek" => seek_ns,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tpcd::machine::device::{Buffered, DiskAccess};

    fn ns(name: &str) -> f64 {
        disk_ns(name).expect("a cost of a disk")
    }

    /// How long the simulated device takes for reads of so many bytes, `apart` bytes from each other, a read on the average.
    fn reads_ns(bytes: u64, apart: u64) -> f64 {
        let (profile, buffer) = paper::disk();
        let mut device = Buffered::new(profile, buffer);
        let mut now = Duration::ZERO;
        let mut access = |at: u64| {
            let offset = at * apart;
            now = device.done_at(now, DiskAccess::Read { offset, bytes });
            now
        };
        let first = access(0);
        let last = (1..=100).map(&mut access).last();
        (last.unwrap_or_default() - first).as_secs_f64() * 1e9 / 100.0
    }

    #[test]
    fn reads_cost_what_the_simulated_device_takes() {
        let is_near = |cost: f64, measured: f64| (cost / measured - 1.0).abs() < 1e-3;
        let far = 64 << 20;
        assert!(is_near(
            ns("page_read_sequential"),
            reads_ns(16_384, 16_384)
        ));
        assert!(is_near(ns("page_read_random"), reads_ns(4_096, far)));
        for block_kib in [2, 6, 28, 64] {
            let cost = ns("spill_seek") + block_kib as f64 * ns("spill_read");
            assert!(
                is_near(cost, reads_ns(block_kib * 1024, far)),
                "{block_kib}"
            );
        }
    }

    #[test]
    fn every_cost_is_named_once_and_the_processors_follow_the_slowness() {
        let text = paper_costs(11.5);
        let of = |name: &str| {
            let found = text.split(", ").find_map(|part| {
                let (known, ns) = part.split_once(" = ")?;
                (known == name).then(|| ns.parse::<f64>().ok())?
            });
            found.expect("a cost")
        };
        let model = CostModel::default();
        let mut disk_costs = 0;
        for cost in model.shown() {
            match disk_ns(cost.name) {
                Some(ns) => {
                    disk_costs += 1;
                    assert!((of(cost.name) - ns).abs() < 0.001);
                }
                None => assert!(
                    (of(cost.name) - 11.5 * cost.ns).abs() < 0.001,
                    "{}",
                    cost.name
                ),
            }
        }
        assert_eq!(disk_costs, 5);
        assert_eq!(text.matches(" = ").count(), model.shown().count());
    }
}
