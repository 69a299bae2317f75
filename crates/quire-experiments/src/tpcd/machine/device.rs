//! When a device with memory in front of it would have done what it is asked.
//!
//! A disk of one arm: it does one thing at a time, in the order in which it is asked. What it has read stays in its memory for a
//! while. After a read it goes on reading behind it, as far as its memory allows, until something else is asked; so a
//! program that reads a file from the beginning to the end computes while the disk reads, and waits for the slower of the two.
//! Sequences of reads at several places are told apart, and one that has gone on before is read ahead in full before
//! the arm moves to another, as systems do for files. Writes are accepted while there is memory for them.

use std::time::Duration;

use quire_store::disk::DeviceProfile;

/// What a device is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskAccess {
    Read { offset: u64, bytes: u64 },
    Write { offset: u64, bytes: u64 },
    Sync,
}

/// The memory of a device, and the system's in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceBuffer {
    /// Sequences of reads that are told apart.
    pub(crate) stream_count: usize,
    /// How far a sequence is read ahead of what was asked for.
    pub(crate) ahead_bytes: u64,
    /// Writes that have been accepted and are not done yet.
    pub(crate) write_bytes: u64,
}

/// A sequence of reads.
struct ReadStream {
    /// Bytes before this one, as many as two times what is read ahead, are in memory.
    read_to: u64,
    /// Behind the last byte that was asked for.
    asked_to: u64,
    /// The moment of `read_to`.
    at: Duration,
    goes_on: bool,
    /// Number of the newest access.
    used: u64,
}

/// What the device has in its memory, and until when it is busy.
pub(crate) struct Buffered {
    profile: DeviceProfile,
    buffer: DeviceBuffer,
    streams: Vec<ReadStream>,
    /// The position of the stream at which the arm is.
    active: Option<usize>,
    free_at: Duration,
    written_to: u64,
    accesses: u64,
}

fn duration(bytes: u64, bytes_per_second: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / bytes_per_second.max(1) as f64)
}

impl Buffered {
    pub(crate) fn new(profile: DeviceProfile, buffer: DeviceBuffer) -> Self {
        Self {
            profile,
            buffer,
            streams: Vec::new(),
            active: None,
            free_at: Duration::ZERO,
            written_to: 0,
            accesses: 0,
        }
    }

    /// When who asks at the moment `now` has an answer.
    pub(crate) fn done_at(&mut self, now: Duration, access: DiskAccess) -> Duration {
        self.accesses += 1;
        match access {
            DiskAccess::Read { offset, bytes } => {
                self.read(now, offset, offset.saturating_add(bytes))
            }
            DiskAccess::Write { offset, bytes } => self.write(now, offset, bytes),
            DiskAccess::Sync => {
                self.free_at = self.leave(now) + self.profile.sync_latency;
                self.free_at
            }
        }
    }

    fn reading(&self, bytes: u64) -> Duration {
        duration(bytes, self.profile.read_bytes_per_second)
    }

    fn read(&mut self, now: Duration, offset: u64, end: u64) -> Duration {
        self.read_ahead(now);
        let ahead_bytes = self.buffer.ahead_bytes;
        let found = self.streams.iter().position(|stream| {
            let oldest = stream.read_to.saturating_sub(2 * ahead_bytes);
            (oldest..=stream.read_to.saturating_add(ahead_bytes)).contains(&offset)
        });
        let at = match found {
            Some(at) => at,
            None => self.add_stream(offset, now),
        };
        let is_active = self.active == Some(at);
        let Some(stream) = self.streams.get_mut(at) else {
            return now;
        };
        stream.used = self.accesses;
        stream.goes_on |= found.is_some() && offset >= stream.asked_to;
        stream.asked_to = stream.asked_to.max(end);
        let lacking = end.saturating_sub(stream.read_to);
        if lacking == 0 {
            return now;
        }
        let begins_at = if is_active {
            now.max(self.free_at)
        } else {
            self.leave(now) + self.profile.read_latency
        };
        self.free_at = begins_at + self.reading(lacking);
        self.active = Some(at);
        if let Some(stream) = self.streams.get_mut(at) {
            (stream.read_to, stream.at) = (end, self.free_at);
        }
        self.free_at
    }

    /// What the device has read by itself until now.
    fn read_ahead(&mut self, now: Duration) {
        let rate = self.profile.read_bytes_per_second;
        let ahead_bytes = self.buffer.ahead_bytes;
        let Some(stream) = self.active.and_then(|at| self.streams.get_mut(at)) else {
            return;
        };
        let Some(idle) = now.checked_sub(stream.at) else {
            return;
        };
        let goal = stream.asked_to.saturating_add(ahead_bytes);
        let bytes = (idle.as_secs_f64() * rate as f64) as u64;
        let bytes = bytes.min(goal.saturating_sub(stream.read_to));
        stream.read_to += bytes;
        stream.at = now;
    }

    /// When the arm can move from where it is: a sequence that goes on is read ahead in full before.
    fn leave(&mut self, now: Duration) -> Duration {
        let begins_at = now.max(self.free_at);
        let ahead_bytes = self.buffer.ahead_bytes;
        let stream = self.active.take().and_then(|at| self.streams.get_mut(at));
        let Some(stream) = stream.filter(|stream| stream.goes_on) else {
            return begins_at;
        };
        let goal = stream.asked_to.saturating_add(ahead_bytes);
        let bytes = goal.saturating_sub(stream.read_to);
        stream.read_to += bytes;
        begins_at + self.reading(bytes)
    }

    /// A stream of reads from `offset` on, in the place of the one that has not been used for longest.
    fn add_stream(&mut self, offset: u64, now: Duration) -> usize {
        let stream = ReadStream {
            read_to: offset,
            asked_to: offset,
            at: now,
            goes_on: false,
            used: self.accesses,
        };
        if self.streams.len() < self.buffer.stream_count.max(1) {
            self.streams.push(stream);
            return self.streams.len() - 1;
        }
        let idle = (0..self.streams.len()).filter(|at| self.active != Some(*at));
        let oldest = idle.min_by_key(|at| self.streams.get(*at).map(|stream| stream.used));
        let at = oldest.unwrap_or(0);
        if oldest.is_none() {
            self.free_at = self.leave(now);
        }
        if let Some(place) = self.streams.get_mut(at) {
            *place = stream;
        }
        at
    }

    fn write(&mut self, now: Duration, offset: u64, bytes: u64) -> Duration {
        let rate = self.profile.write_bytes_per_second;
        let latency = if self.active.is_none() && offset == self.written_to {
            self.profile
                .sequential_latency
                .min(self.profile.write_latency)
        } else {
            self.profile.write_latency
        };
        // What is in memory there is not what it was.
        let end = offset.saturating_add(bytes);
        self.free_at = self.leave(now) + latency + duration(bytes, rate);
        self.streams.retain(|stream| {
            stream.asked_to.max(stream.read_to) <= offset
                || stream.read_to.saturating_sub(3 * self.buffer.ahead_bytes) >= end
        });
        self.written_to = end;
        let accepted_at = self
            .free_at
            .saturating_sub(duration(self.buffer.write_bytes, rate));
        accepted_at.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: DeviceBuffer = DeviceBuffer {
        stream_count: 2,
        ahead_bytes: 10_000,
        write_bytes: 2_000,
    };

    /// A byte takes a microsecond, another place 500.
    fn device() -> Buffered {
        let profile = DeviceProfile {
            name: "of a test",
            read_latency: Duration::from_micros(500),
            write_latency: Duration::from_micros(500),
            sequential_latency: Duration::ZERO,
            sync_latency: Duration::from_micros(7),
            read_bytes_per_second: 1_000_000,
            write_bytes_per_second: 1_000_000,
            parallel_accesses: 1,
            parallel_transfers: 1,
        };
        Buffered::new(profile, BUFFER)
    }

    fn read(device: &mut Buffered, now: u64, offset: u64, bytes: u64) -> u128 {
        let access = DiskAccess::Read { offset, bytes };
        device
            .done_at(Duration::from_micros(now), access)
            .as_micros()
    }

    #[test]
    fn who_computes_while_the_device_reads_on_waits_for_the_slower_of_the_two() {
        for (computing, total) in [
            (0, 500 + 100 * 1_000),
            (400, 500 + 100 * 1_000),
            (1_500, 500 + 1_000 + 99 * 1_500),
        ] {
            let mut device = device();
            let mut now = 0;
            for at in 0..100 {
                if at > 0 {
                    now += computing;
                }
                now = read(&mut device, now, at * 1_000, 1_000) as u64;
            }
            assert_eq!(now, total, "computing {computing}");
        }
    }

    #[test]
    fn a_device_reads_no_further_ahead_than_its_memory_is_large() {
        let mut device = device();
        assert_eq!(read(&mut device, 0, 0, 1_000), 1_500);
        // It has read 10,000 bytes since and waits; the next 5,000 take their time.
        assert_eq!(read(&mut device, 100_000, 1_000, 10_000), 100_000);
        assert_eq!(read(&mut device, 100_000, 11_000, 5_000), 105_000);
    }

    #[test]
    fn small_gaps_are_read_over_and_what_was_read_is_still_there() {
        let mut device = device();
        assert_eq!(read(&mut device, 0, 0, 1_000), 1_500);
        assert_eq!(read(&mut device, 1_500, 1_100, 900), 2_500);
        assert_eq!(read(&mut device, 2_500, 500, 100), 2_500);
    }

    #[test]
    fn of_two_sequences_each_is_read_ahead_before_the_arm_moves() {
        let mut device = device();
        assert_eq!(read(&mut device, 0, 0, 1_000), 1_500);
        assert_eq!(read(&mut device, 1_500, 1_000, 1_000), 2_500);
        // The first is read to 12,000, until 12,500.
        assert_eq!(read(&mut device, 2_500, 500_000, 1_000), 14_000);
        assert_eq!(read(&mut device, 14_000, 2_000, 10_000), 14_000);
        // The second has not gone on: the arm moves at once.
        assert_eq!(read(&mut device, 14_000, 12_000, 1_000), 15_500);
    }

    #[test]
    fn random_reads_are_not_read_ahead() {
        let mut device = device();
        let mut now = 0;
        for at in 0..10_u64 {
            now = read(&mut device, now, (at * 7 % 10) * 1_000_000, 100) as u64;
        }
        assert_eq!(now, 10 * 600);
    }

    #[test]
    fn writes_are_accepted_while_there_is_memory_and_a_sync_waits_for_them() {
        let mut device = device();
        let mut write = |now, offset, bytes| {
            let access = DiskAccess::Write { offset, bytes };
            device
                .done_at(Duration::from_micros(now), access)
                .as_micros()
        };
        assert_eq!(write(0, 10_000, 1_000), 0);
        assert_eq!(write(0, 11_000, 1_000), 500);
        assert_eq!(write(500, 12_000, 3_000), 3_500);
        let synced = device.done_at(Duration::from_micros(3_500), DiskAccess::Sync);
        assert_eq!(synced.as_micros(), 5_507);
        // What was overwritten is not in memory.
        assert_eq!(read(&mut device, 6_000, 10_000, 1_000), 7_500);
    }
}
