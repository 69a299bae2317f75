//! A disk that is as slow as a device, by a clock that is not.
#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use quire_store::disk::{
    DeviceClock, DeviceProfile, Fault, FaultKind, HookedDisk, RealClock, ThrottledDisk,
};
use quire_store::{Disk, MemDisk, OpenMode, PageKind, SimDisk, Volume, VolumeOptions};

/// Time passes when somebody waits, and when the test says so.
#[derive(Debug, Default)]
struct TestClock {
    ns: AtomicU64,
}

impl TestClock {
    fn pass(&self, time: Duration) {
        self.ns.fetch_add(time.as_nanos() as u64, Ordering::SeqCst);
    }
}

impl DeviceClock for TestClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.ns.load(Ordering::SeqCst))
    }

    fn wait_until(&self, moment: Duration) {
        self.ns
            .fetch_max(moment.as_nanos() as u64, Ordering::SeqCst);
    }
}

const US: Duration = Duration::from_micros(1);

#[test]
fn every_access_takes_what_it_takes_on_the_device() {
    let clock = Arc::new(TestClock::default());
    let disk = Arc::new(MemDisk::new());
    let profile = DeviceProfile {
        read_bytes_per_second: 1_000_000,
        write_bytes_per_second: 1_000_000,
        ..DeviceProfile::SATA_SSD
    };
    let throttled = ThrottledDisk::with_clock(disk.clone(), profile, clock.clone());
    throttled.write_at(&[7; 1_000], 500).unwrap();
    assert_eq!(clock.now(), 1_050 * US);
    throttled.write_at(&[8; 1_000], 1_500).unwrap();
    assert_eq!(
        clock.now(),
        2_100 * US,
        "behind the other: 50 us as for any write"
    );
    let mut buffer = [0; 100];
    throttled.read_at(&mut buffer, 1_450).unwrap();
    assert_eq!(clock.now(), 2_290 * US);
    assert_eq!((buffer[49], buffer[50]), (7, 8));
    throttled.sync().unwrap();
    assert_eq!(clock.now(), 3_290 * US);
    let statistics = throttled.statistics();
    assert_eq!(
        (statistics.reads, statistics.writes, statistics.syncs),
        (1, 2, 1)
    );
    assert_eq!(
        (statistics.read_bytes, statistics.written_bytes),
        (100, 2_000)
    );
    assert_eq!(
        (statistics.transfer, statistics.service),
        (2_100 * US, 3_290 * US)
    );
    assert_eq!(statistics.late, Duration::ZERO);
    throttled.set_len(10).unwrap();
    assert_eq!((throttled.len().unwrap(), disk.len().unwrap()), (10, 10));
    assert_eq!(throttled.name(), disk.name());
}

/// A clock that stands still until everybody who is expected waits: then it goes to the first moment that somebody waits for.
#[derive(Debug)]
struct MeetingClock {
    expected: usize,
    state: Mutex<(Duration, Vec<Duration>)>,
    changed: Condvar,
}

impl DeviceClock for MeetingClock {
    fn now(&self) -> Duration {
        self.state.lock().unwrap().0
    }

    fn wait_until(&self, moment: Duration) {
        let mut state = self.state.lock().unwrap();
        state.1.push(moment);
        self.changed.notify_all();
        while state.1.len() < self.expected {
            state = self.changed.wait(state).unwrap();
        }
        state.0 = state.0.max(moment);
    }
}

#[test]
fn requests_of_several_threads_are_in_the_queue_of_the_device_together() {
    // Queue depth 3: of four reads that are submitted at the same time, the fourth begins when the first is done.
    let clock = Arc::new(MeetingClock {
        expected: 4,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let profile = DeviceProfile {
        read_latency: 100 * US,
        read_bytes_per_second: 1_000_000,
        parallel_accesses: 3,
        ..DeviceProfile::SATA_SSD
    };
    let disk = Arc::new(MemDisk::from_bytes(vec![1; 100_000]));
    let throttled = ThrottledDisk::with_clock(disk, profile, clock.clone());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let throttled = &throttled;
            scope.spawn(move || {
                let offset = 1_000 + 10_000 * number;
                throttled.read_at(&mut [0; 5], offset).unwrap();
            });
        }
    });
    let mut moments = std::mem::take(&mut clock.state.lock().unwrap().1);
    moments.sort_unstable();
    assert_eq!(moments, [105 * US, 110 * US, 115 * US, 210 * US]);
    assert_eq!(throttled.statistics().service, 540 * US);
}

#[test]
fn what_the_disk_below_takes_is_part_of_it() {
    for (takes, passes, late) in [(30, 91, 0), (91, 91, 0), (400, 400, 309)] {
        let clock = Arc::new(TestClock::default());
        let (below, slow) = (MemDisk::from_bytes(vec![1; 5_000]), clock.clone());
        let disk = HookedDisk::new(below, move |_| slow.pass(takes * US));
        let profile = DeviceProfile {
            read_bytes_per_second: 1_000_000_000,
            ..DeviceProfile::SATA_SSD
        };
        let throttled = ThrottledDisk::with_clock(Arc::new(disk), profile, clock.clone());
        throttled.read_at(&mut [0; 1_000], 4_000).unwrap();
        assert_eq!(clock.now(), passes * US);
        assert_eq!(throttled.statistics().late, late * US);
    }
}

#[test]
fn errors_come_through() {
    let below = Arc::new(SimDisk::new(vec![1; 5_000]));
    let clock = Arc::new(TestClock::default());
    let throttled = ThrottledDisk::with_clock(below.clone(), DeviceProfile::NVME_SSD, clock);
    let error = throttled.read_at(&mut [0; 10], 4_999).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    below.set_quota(Some(5_000));
    let error = throttled.write_at(&[0; 10], 5_000).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    below.add_fault(Fault {
        kind: FaultKind::Sync,
        nth: 0,
        is_persistent: false,
        error: ErrorKind::Other,
        effect: 0,
    });
    assert!(throttled.sync().is_err());
}

#[test]
fn a_volume_works_on_it() {
    let below = Arc::new(MemDisk::new());
    let clock = Arc::new(TestClock::default());
    let profile = DeviceProfile::DISK_OF_1998;
    let throttled = Arc::new(ThrottledDisk::with_clock(
        below.clone(),
        profile,
        clock.clone(),
    ));
    let volume = Volume::create(throttled.clone(), VolumeOptions::default()).unwrap();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, &[9; 3_000]).unwrap();
    batch.commit().unwrap();
    drop(volume);
    let statistics = throttled.statistics();
    assert!(statistics.syncs > 0 && statistics.service >= statistics.transfer);
    assert!(clock.now() >= statistics.transfer);
    let volume = Volume::open(below, OpenMode::ReadOnly).unwrap();
    assert_eq!(volume.read(page).unwrap()[..], [9; 3_000]);
}

/// What a volume counts is what the disk below was asked for.
#[test]
fn a_volume_counts_what_it_reads_and_writes() {
    let below = Arc::new(MemDisk::new());
    let volume = Volume::create(below.clone(), VolumeOptions::default()).unwrap();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, &[9; 3_000]).unwrap();
    batch.commit().unwrap();
    drop(volume);
    let clock = Arc::new(TestClock::default());
    let disk = ThrottledDisk::with_clock(below, DeviceProfile::BAIDU_MLC, clock);
    let disk = Arc::new(disk);
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    let is_counted = || {
        let (counted, asked) = (volume.disk_traffic(), disk.statistics());
        assert_eq!(
            (counted.reads, counted.read_bytes),
            (asked.reads, asked.read_bytes)
        );
        assert_eq!(
            (counted.writes, counted.written_bytes),
            (asked.writes, asked.written_bytes)
        );
        assert_eq!(counted.syncs, asked.syncs);
        assert_eq!(volume.stats().disk, counted);
        counted
    };
    let opened = is_counted();
    assert!(
        opened.reads > 0 && opened.writes == 0,
        "opening writes nothing"
    );
    volume.read(page).unwrap();
    let read = is_counted().since(&opened);
    assert_eq!((read.reads, read.read_bytes), (1, 3_000));
    volume.read(page).unwrap();
    assert_eq!(is_counted().since(&opened), read, "it was in memory");
    let batch = volume.begin().unwrap();
    batch.write(PageKind::Segment, &[8; 5_000]).unwrap();
    batch.commit().unwrap();
    let written = is_counted().since(&opened);
    assert!(written.written_bytes >= 5_000 && written.syncs > 0);
}

#[test]
fn the_real_clock_never_returns_early() {
    let clock = RealClock::new();
    for us in [0, 1, 40, 120, 700] {
        let moment = clock.now() + us * US;
        clock.wait_until(moment);
        assert!(clock.now() >= moment);
    }
}
