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
    /// Queue depth: requests whose latencies overlap.
    pub parallel_accesses: usize,
    /// Transfers that overlap, each at the bandwidth above: 1 for a device whose requests share one bus.
    pub parallel_transfers: usize,
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
        parallel_transfers: 1,
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
        parallel_transfers: 1,
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
        parallel_transfers: 1,
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
        parallel_transfers: 1,
    };

    /// A drive of 2021 that compresses what it stores (paper 3, §V): 650,000 reads and 520,000 writes of 4 KiB a second, 3.2 GB/s, 100 us for a
    /// read. Writes are acknowledged when they are in memory that survives a loss of power.
    pub const CSD_2021: Self = Self {
        name: "compressing drive of 2021",
        read_latency: us(100),
        write_latency: us(20),
        sequential_latency: us(20),
        sync_latency: us(20),
        read_bytes_per_second: 3_200 * MEGABYTE,
        write_bytes_per_second: 2_130 * MEGABYTE,
        parallel_accesses: 65,
        parallel_transfers: 1,
    };

    /// The solid-state disks of paper 4: 600 GB of MLC flash each, three of them (table I). Latencies and rates are fitted to one random read or write at
    /// a time of 8 and of 16 KiB (table II): 25.73 and 31.30 MiB/s, 40.08 and 55.82 MiB/s. The queries per second grow almost linearly up
    /// to 16 connections (§VI-B), so 16 requests do not disturb each other. The rates of sequential accesses (58.22 and 53.60 MiB/s reading, 51.52 and
    /// 78.90 MiB/s writing) follow from no latency and rate: those of the model lie between half and one and a half times the paper's. The paper
    /// says nothing of syncs; theirs is that of a SATA disk.
    pub const BAIDU_MLC: Self = Self {
        name: "MLC SSDs of paper 4",
        read_latency: us(108),
        write_latency: us(110),
        sequential_latency: us(25),
        sync_latency: us(1_000),
        read_bytes_per_second: 41_900_000,
        write_bytes_per_second: 96_400_000,
        parallel_accesses: 16,
        parallel_transfers: 16,
    };

    /// Twelve disks as one, with 350 MB/s: the larger machine of table 6.1 in paper 2. 8 ms for a seek and half a turn.
    pub const RAID_12: Self = Self {
        name: "RAID of 12 disks",
        read_bytes_per_second: 350 * MEGABYTE,
        write_bytes_per_second: 350 * MEGABYTE,
        parallel_accesses: 12,
        ..Self::RAID_4
    };

    /// Four disks as one, with 80 MB/s: the smaller machine of table 6.1 in paper 2. 8 ms for a seek and half a turn.
    pub const RAID_4: Self = Self {
        name: "RAID of 4 disks",
        read_latency: us(8_000),
        write_latency: us(8_000),
        sequential_latency: us(50),
        sync_latency: us(4_200),
        read_bytes_per_second: 80 * MEGABYTE,
        write_bytes_per_second: 80 * MEGABYTE,
        parallel_accesses: 4,
        parallel_transfers: 1,
    };

    /// The same device with another bandwidth of reads and writes, to see where a query stops waiting for the disk.
    #[must_use]
    pub const fn with_bandwidth(self, bytes_per_second: u64) -> Self {
        Self {
            read_bytes_per_second: bytes_per_second,
            write_bytes_per_second: bytes_per_second,
            ..self
        }
    }

    /// All of the above.
    pub const ALL: [Self; 8] = [
        Self::DISK_OF_1998,
        Self::DISK_7200_RPM,
        Self::RAID_12,
        Self::RAID_4,
        Self::SATA_SSD,
        Self::NVME_SSD,
        Self::CSD_2021,
        Self::BAIDU_MLC,
    ];

    /// What a user types for each of them.
    pub const TYPED_NAMES: [(&'static str, Self); 8] = [
        ("disk-of-1998", Self::DISK_OF_1998),
        ("disk-7200-rpm", Self::DISK_7200_RPM),
        ("raid-12", Self::RAID_12),
        ("raid-4", Self::RAID_4),
        ("sata-ssd", Self::SATA_SSD),
        ("nvme-ssd", Self::NVME_SSD),
        ("csd-2021", Self::CSD_2021),
        ("baidu-mlc", Self::BAIDU_MLC),
    ];

    /// The profile of a name that a user types; `_` is as good as `-`, and upper case as lower.
    #[must_use]
    pub fn from_typed_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let mut all = Self::TYPED_NAMES.into_iter();
        all.find(|(typed, _)| *typed == name)
            .map(|(_, profile)| profile)
    }

    /// What a user types for it; `None` for a profile that is none of the above.
    #[must_use]
    pub fn typed_name(&self) -> Option<&'static str> {
        let mut all = Self::TYPED_NAMES.into_iter();
        all.find(|(_, profile)| profile == self)
            .map(|(typed, _)| typed)
    }
}
