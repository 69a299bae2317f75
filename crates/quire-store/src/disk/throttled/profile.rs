//! Latencies and bandwidths of devices.

use std::time::Duration;

/// Latencies and bandwidths of a device. Requests bypass the page cache of the operating system, as with `O_DIRECT`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceProfile {
    /// Name for reports.
    pub name: &'static str,
    /// Time to the first byte of a random read: one that does not begin where the last request ended.
    pub read_latency: Duration,
    /// Time to the first byte of a random write.
    pub write_latency: Duration,
    /// Time to the first byte of a request that begins where the last one ended.
    pub sequential_latency: Duration,
    /// Time of a sync after all writes have completed.
    pub sync_latency: Duration,
    /// Bandwidth of reads.
    pub read_bytes_per_second: u64,
    /// Bandwidth of writes.
    pub write_bytes_per_second: u64,
    /// Queue depth: requests whose latencies overlap. Their transfers do not.
    pub parallel_accesses: usize,
}

const fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

const MEGABYTE: u64 = 1_000_000;

impl DeviceProfile {
    /// A disk of 1998: 7,200 turns a minute, 9 ms for a seek, 4.2 ms for half a turn, 12 MB/s.
    pub const DISK_OF_1998: Self = Self {
        name: "disk of 1998",
        read_latency: us(13_200),
        write_latency: us(13_200),
        sequential_latency: us(300),
        sync_latency: us(300),
        read_bytes_per_second: 12 * MEGABYTE,
        write_bytes_per_second: 12 * MEGABYTE,
        parallel_accesses: 1,
    };

    /// A disk of the 2020s with 7,200 turns a minute: 8 ms for a seek, 4.2 ms for half a turn, 200 MB/s.
    pub const DISK_7200_RPM: Self = Self {
        name: "7,200 rpm disk",
        read_latency: us(12_200),
        write_latency: us(12_200),
        sequential_latency: us(50),
        sync_latency: us(4_200),
        read_bytes_per_second: 200 * MEGABYTE,
        write_bytes_per_second: 200 * MEGABYTE,
        parallel_accesses: 1,
    };

    /// A solid-state disk behind SATA: 90,000 reads of 4 KiB a second with a full queue, 530 MB/s, no protection from power loss.
    pub const SATA_SSD: Self = Self {
        name: "SATA SSD",
        read_latency: us(90),
        write_latency: us(50),
        sequential_latency: us(50),
        sync_latency: us(1_000),
        read_bytes_per_second: 530 * MEGABYTE,
        write_bytes_per_second: 500 * MEGABYTE,
        parallel_accesses: 8,
    };

    /// A solid-state disk behind four lanes of PCI Express 3: 800,000 reads of 4 KiB a second, 3.4 GB/s.
    pub const NVME_SSD: Self = Self {
        name: "NVMe SSD",
        read_latency: us(80),
        write_latency: us(20),
        sequential_latency: us(20),
        sync_latency: us(400),
        read_bytes_per_second: 3_400 * MEGABYTE,
        write_bytes_per_second: 3_000 * MEGABYTE,
        parallel_accesses: 64,
    };

    /// All of the above.
    pub const ALL: [Self; 4] = [
        Self::DISK_OF_1998,
        Self::DISK_7200_RPM,
        Self::SATA_SSD,
        Self::NVME_SSD,
    ];
}
