//! What the paper prints: tables 3, 4 and 5, and its set-up (section 5.1), from its text.

use std::time::Duration;

use quire_store::disk::DeviceProfile;

use crate::tpcd::machine::DeviceBuffer;

/// Pages of AODB.
pub(crate) const PAGE_BYTES: usize = 4096;
/// The pool at scale 1.
pub(crate) const POOL_BYTES: f64 = 24.0 * 1024.0 * 1024.0;

/// A table of the benchmark: compressed and not, its kilobytes (table 3) and the seconds of loading it (table 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaperTable {
    pub(crate) name: &'static str,
    pub(crate) kilobytes: [f64; 2],
    pub(crate) load_seconds: Option<[f64; 2]>,
}

const fn table(
    name: &'static str,
    kilobytes: [f64; 2],
    load_seconds: Option<[f64; 2]>,
) -> PaperTable {
    PaperTable {
        name,
        kilobytes,
        load_seconds,
    }
}

const fn minutes(minutes: f64, seconds: f64) -> f64 {
    minutes * 60.0 + seconds
}

/// Tables 3 and 4.
pub(crate) const TABLES: [PaperTable; 8] = [
    table(
        "lineitem",
        [427_360.0, 758_540.0],
        Some([minutes(17.0, 13.8), minutes(11.0, 31.5)]),
    ),
    table(
        "orders",
        [132_164.0, 177_900.0],
        Some([minutes(3.0, 6.9), minutes(2.0, 8.1)]),
    ),
    table(
        "partsupp",
        [112_588.0, 124_600.0],
        Some([minutes(1.0, 35.2), minutes(1.0, 14.3)]),
    ),
    table("part", [24_120.0, 29_680.0], Some([27.3, 17.4])),
    table("customer", [22_916.0, 28_256.0], Some([22.4, 15.1])),
    table("supplier", [1_412.0, 1_640.0], Some([1.5, 1.2])),
    table("nation", [4.0, 4.0], None),
    table("region", [4.0, 4.0], None),
];

/// Seconds: of a query or update function, compressed and not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaperSeconds {
    pub(crate) name: &'static str,
    pub(crate) compressed: [f64; 2],
    pub(crate) uncompressed: [f64; 2],
}

const fn row(name: &'static str, compressed: [f64; 2], uncompressed: [f64; 2]) -> PaperSeconds {
    PaperSeconds {
        name,
        compressed,
        uncompressed,
    }
}

/// Table 5: running time and processor time.
pub(crate) const QUERIES: [PaperSeconds; 19] = [
    row("Q1", [64.7, 60.6], [121.2, 40.3]),
    row("Q2", [24.2, 8.8], [28.7, 6.0]),
    row("Q3", [166.5, 112.5], [188.7, 84.6]),
    row("Q4", [113.6, 76.3], [177.8, 65.3]),
    row("Q5", [96.0, 76.4], [154.0, 59.2]),
    row("Q6", [53.9, 32.0], [121.0, 24.8]),
    row("Q7", [107.0, 81.0], [162.6, 60.9]),
    row("Q8", [86.6, 66.2], [146.4, 41.8]),
    row("Q9", [226.5, 167.0], [280.4, 138.2]),
    row("Q10", [133.1, 84.5], [197.5, 63.1]),
    row("Q11", [21.5, 8.0], [24.5, 5.0]),
    row("Q12", [107.7, 88.7], [168.1, 76.5]),
    row("Q13", [80.5, 47.5], [149.8, 34.3]),
    row("Q14", [63.6, 42.0], [128.0, 31.3]),
    row("Q15", [60.8, 45.0], [120.7, 34.2]),
    row("Q16", [84.3, 44.4], [175.3, 42.8]),
    row("Q17", [109.3, 68.8], [246.9, 57.0]),
    row("UF1", [1.2, 1.2], [0.6, 0.6]),
    row("UF2", [253.2, 50.5], [418.6, 63.3]),
];

/// %-CPU of table 5: time and processor time.
pub(crate) fn utilization([time, processor]: [f64; 2]) -> f64 {
    100.0 * processor / time
}

/// Processor seconds of queries 1 and 6 over uncompressed tables. They read one table each, so no plan is in them: what our processor needs
/// for them says how fast it is.
pub(crate) const SCANS_CPU_SECONDS: f64 = 40.3 + 24.8;

/// Kilobytes of the table that query 6 reads, uncompressed, and the seconds it takes. Its processor is busy for a fifth of the time: the disk decides.
const SCAN_KILOBYTES: f64 = 758_540.0;
const SCAN_SECONDS: f64 = 121.0;

/// The disk of the paper, by its figures where it has some: 6.4 MB/s of sequential reads, from query 6. What it does not say is a disk of its kind: 9 ms for
/// a seek and 4.2 ms for half of one of 7,200 turns a minute. The system reads 128 KiB ahead and writes behind.
pub(crate) fn disk() -> (DeviceProfile, DeviceBuffer) {
    let bytes_per_second = (SCAN_KILOBYTES * 1024.0 / SCAN_SECONDS) as u64;
    let profile = DeviceProfile {
        name: "the paper's disk",
        read_bytes_per_second: bytes_per_second,
        write_bytes_per_second: bytes_per_second,
        sequential_latency: Duration::ZERO,
        ..DeviceProfile::DISK_OF_1998
    };
    let buffer = DeviceBuffer {
        stream_count: 16,
        ahead_bytes: 128 << 10,
        write_bytes: 1 << 20,
    };
    (profile, buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its third column, compressed and not.
    const PRINTED_UTILIZATION: [[f64; 2]; 19] = [
        [93.7, 33.3],
        [36.4, 20.9],
        [67.6, 44.8],
        [67.2, 36.7],
        [79.6, 38.4],
        [59.4, 20.5],
        [75.7, 37.5],
        [76.4, 28.6],
        [73.7, 49.3],
        [63.5, 31.9],
        [37.2, 20.4],
        [82.4, 45.5],
        [59.0, 22.9],
        [66.0, 24.5],
        [74.0, 28.3],
        [52.7, 24.4],
        [62.9, 23.0],
        [100.0, 100.0],
        [19.9, 15.1],
    ];

    #[test]
    fn utilizations_are_as_printed() {
        for (row, [packed, plain]) in QUERIES.iter().zip(PRINTED_UTILIZATION) {
            for (seconds, printed) in [(row.compressed, packed), (row.uncompressed, plain)] {
                let found = utilization(seconds);
                assert!(
                    (found - printed).abs() < 0.11,
                    "{}: {found}, {printed}",
                    row.name
                );
            }
        }
    }

    /// Sums as the paper prints them, so that a slip of the pen is noticed.
    #[test]
    fn the_figures_add_up_to_the_papers_totals() {
        let total = |of: fn(&PaperSeconds) -> f64| QUERIES.iter().map(of).sum::<f64>();
        for (sum, printed) in [
            (total(|row| row.compressed[0]), 1854.2),
            (total(|row| row.compressed[1]), 1161.4),
            (total(|row| row.uncompressed[0]), 3010.8),
            (total(|row| row.uncompressed[1]), 929.2),
        ] {
            assert!((sum - printed).abs() < 0.5, "{sum}, printed {printed}");
        }
        let sum = |at: usize| TABLES.iter().map(|table| table.kilobytes[at]).sum::<f64>();
        // The paper prints 1,120,634.
        assert_eq!((sum(0), sum(1)), (720_568.0, 1_120_624.0));
        let load = |at: usize| {
            let loads = TABLES.iter().filter_map(|table| table.load_seconds);
            loads.map(|load| load[at]).sum::<f64>()
        };
        let (packed, plain) = (load(0), load(1));
        assert!((packed - (22.0 * 60.0 + 47.1)).abs() < 0.15, "{packed}");
        assert!((plain - (15.0 * 60.0 + 27.6)).abs() < 0.15, "{plain}");
    }
}
