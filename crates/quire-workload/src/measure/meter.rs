//! Two samples, and what happened between them.

use super::machine::{machine_stat, own_seconds, ticks_per_second};
use super::proc_text::MachineStat;
use super::processes::{GroupSum, ProcessTable, io_of};
use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

/// What a group of processes used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupUse {
    /// Seconds of processor time outside the kernel.
    pub user_s: f64,
    /// Seconds of processor time in the kernel.
    pub system_s: f64,
    /// Bytes from storage; `None` if they must not be read, as those of processes of another user.
    pub read_bytes: Option<u64>,
    /// Bytes to storage.
    pub written_bytes: Option<u64>,
}

/// What a measurement found.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMeasurement {
    pub elapsed: Duration,
    /// Processors of the machine.
    pub processors: usize,
    /// The database; `None` if it runs in this process: then [`driver`](Self::driver) has the use of both.
    pub server: Option<GroupUse>,
    /// Other processes; `None` if none were named.
    pub others: Option<GroupUse>,
    /// This process.
    pub driver: GroupUse,
    /// The share of the machine's processor time in which it was busy, whoever used it, from 0 to 1.
    pub machine_busy: Option<f64>,
}

impl RunMeasurement {
    /// Processor time as a share of that of all processors, in percent.
    pub fn percent(&self, seconds: f64) -> f64 {
        let available = self.elapsed.as_secs_f64() * self.processors as f64;
        if available > 0.0 {
            100.0 * seconds / available
        } else {
            0.0
        }
    }
}

/// The first sample of a measurement.
#[derive(Debug)]
pub struct Meter {
    server_roots: Vec<u32>,
    other_roots: Vec<u32>,
    start: MeterSample,
}

impl Meter {
    /// Begins. `server` are the processes of the database, none if it runs in this process. A process that is in both groups counts as the
    /// database's.
    pub fn start(server: &[u32], others: &[u32]) -> Self {
        Self {
            server_roots: server.to_vec(),
            other_roots: others.to_vec(),
            start: MeterSample::take(server, others),
        }
    }

    /// Ends. `server` are the processes of the database now: those that it started outside the families of the first ones count, too.
    pub fn finish(&self, server: &[u32]) -> RunMeasurement {
        let mut roots = self.server_roots.clone();
        roots.extend(server);
        let end = MeterSample::take(&roots, &self.other_roots);
        let ticks = ticks_per_second();
        let group = |roots: &[u32], start: &GroupSum, end: &GroupSum| {
            (!roots.is_empty()).then(|| group_use(start, end, ticks))
        };
        let machine = self.start.machine.zip(end.machine);
        let cores = end.machine.map(|machine| machine.processors);
        let (user_s, system_s) = own_use(self.start.own, end.own);
        let driver_io = io_between(self.start.own_io, end.own_io);
        RunMeasurement {
            elapsed: end.began.duration_since(self.start.ended),
            processors: cores
                .or_else(|| thread::available_parallelism().ok().map(usize::from))
                .unwrap_or(1),
            server: group(&roots, &self.start.server, &end.server),
            others: group(&self.other_roots, &self.start.others, &end.others),
            driver: GroupUse {
                user_s,
                system_s,
                read_bytes: driver_io.map(|(read, _)| read),
                written_bytes: driver_io.map(|(_, written)| written),
            },
            machine_busy: machine.and_then(|(start, end)| busy_between(start, end)),
        }
    }
}

#[derive(Debug)]
struct MeterSample {
    /// The time between these two is that of the sample, and no part of a measurement.
    began: Instant,
    ended: Instant,
    server: GroupSum,
    others: GroupSum,
    own: (f64, f64),
    own_io: GroupSum,
    machine: Option<MachineStat>,
}

impl MeterSample {
    fn take(server: &[u32], others: &[u32]) -> Self {
        let began = Instant::now();
        let own = BTreeSet::from([std::process::id()]);
        let table = if server.is_empty() && others.is_empty() {
            ProcessTable::default()
        } else {
            ProcessTable::read()
        };
        let server = table.family(server, &own);
        let without = server.union(&own).copied().collect();
        let others = table.family(others, &without);
        let sum = |family| GroupSum {
            io: io_of(family),
            ..table.sum(family)
        };
        Self {
            server: sum(&server),
            others: sum(&others),
            own_io: sum(&own),
            own: own_seconds(),
            machine: machine_stat(),
            began,
            ended: Instant::now(),
        }
    }
}

fn group_use(start: &GroupSum, end: &GroupSum, ticks: f64) -> GroupUse {
    let seconds = |start: u64, end: u64| end.saturating_sub(start) as f64 / ticks;
    let io = io_between(*start, *end);
    GroupUse {
        user_s: seconds(start.user, end.user),
        system_s: seconds(start.system, end.system),
        read_bytes: io.map(|(read, _)| read),
        written_bytes: io.map(|(_, written)| written),
    }
}

fn io_between(start: GroupSum, end: GroupSum) -> Option<(u64, u64)> {
    let (start, end) = (start.io?, end.io?);
    Some((
        end.read_bytes.saturating_sub(start.read_bytes),
        end.written_bytes.saturating_sub(start.written_bytes),
    ))
}

fn own_use(start: (f64, f64), end: (f64, f64)) -> (f64, f64) {
    ((end.0 - start.0).max(0.0), (end.1 - start.1).max(0.0))
}

fn busy_between(start: MachineStat, end: MachineStat) -> Option<f64> {
    let all = end.all.checked_sub(start.all).filter(|&all| all > 0)?;
    Some(end.busy.saturating_sub(start.busy) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_in_this_process_has_no_group_of_its_own() {
        let measured = Meter::start(&[], &[]).finish(&[]);
        assert_eq!(measured.server, None);
        assert_eq!(measured.others, None);
        assert!(measured.processors >= 1);
    }

    #[test]
    fn this_process_is_never_part_of_the_database() {
        let own = [std::process::id()];
        let measured = Meter::start(&own, &own).finish(&own);
        let used = measured.server.map(|used| used.user_s + used.system_s);
        assert_eq!(used, Some(0.0));
    }

    #[test]
    fn the_busy_share_is_that_of_the_time_between() {
        let stat = |busy, all| MachineStat {
            busy,
            all,
            processors: 2,
        };
        assert_eq!(busy_between(stat(50, 100), stat(80, 200)), Some(0.3));
        assert_eq!(busy_between(stat(50, 100), stat(50, 100)), None);
    }

    #[test]
    fn percent_is_of_all_processors() {
        let mut measured = Meter::start(&[], &[]).finish(&[]);
        measured.elapsed = Duration::from_secs(10);
        measured.processors = 4;
        assert_eq!(measured.percent(20.0), 50.0);
        measured.elapsed = Duration::ZERO;
        assert_eq!(measured.percent(20.0), 0.0);
    }
}
