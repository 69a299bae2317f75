//! Read-ahead gives what `Pin::read` gives, within its bound, and asks the disk as seldom as it says.

mod random;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use quire_format::volume::{IMAGE_HEADER_BYTES, PageId, PageKind};

use super::{ReadAhead, ReadAheadSource, RequestedBytes};
use crate::disk::{
    DeviceProfile, Disk, DiskCall, Fault, FaultKind, HookedDisk, MemDisk, OpenMode, SimDisk,
    ThrottledDisk,
};
use crate::error::PageReadError;
use crate::volume::{Pin, Volume, VolumeOptions};

const MIB: usize = 1 << 20;

/// Pseudorandom numbers: xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }
}

/// What a page holds in a round of rewriting.
fn payload(number: usize, round: usize, bytes: usize) -> Vec<u8> {
    let mut random = Random::new((number * 1_000 + round) as u64 + 1);
    let words = (0..bytes.div_ceil(8)).map(|_| random.next().to_le_bytes());
    let mut payload = words.collect::<Vec<_>>().concat();
    payload.truncate(bytes);
    payload
}

fn options(cache_bytes: usize) -> VolumeOptions {
    VolumeOptions {
        cache_bytes,
        ..VolumeOptions::default()
    }
}

/// A closed volume with pages of these lengths.
fn written(lengths: &[usize]) -> (Vec<u8>, Vec<PageId>) {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let batch = volume.begin().unwrap();
    let pages = lengths.iter().enumerate().map(|(number, bytes)| {
        let payload = payload(number, 0, *bytes);
        batch.write(PageKind::Segment, &payload).unwrap()
    });
    let pages = pages.collect();
    batch.commit().unwrap();
    volume.close().unwrap();
    (disk.to_bytes(), pages)
}

fn open(disk: Arc<dyn Disk>, cache_bytes: usize) -> Volume {
    Volume::open_with(disk, OpenMode::ReadOnly, options(cache_bytes)).unwrap()
}

/// Where the images are, by offset.
fn placed(pin: &Pin, pages: &[PageId]) -> Vec<(u64, u64, PageId)> {
    let entries = pages
        .iter()
        .map(|page| pin.version.pages.get(*page).unwrap());
    let mut placed: Vec<_> = entries
        .map(|entry| (entry.offset, u64::from(entry.payload_bytes), entry.page))
        .collect();
    placed.sort_unstable();
    placed
}

/// Requests by the rule as it is written down: gaps up to 32 KiB, requests up to 2 MiB from the first payload to the end of the last.
fn requests_by_the_rule(placed: &[(u64, u64, PageId)]) -> Vec<(u64, u64)> {
    let mut requests: Vec<(u64, u64)> = Vec::new();
    for (offset, bytes, _) in placed {
        let (start, end) = (offset + IMAGE_HEADER_BYTES as u64, offset + 32 + bytes);
        match requests.last_mut() {
            Some(last) if offset - last.1 <= 32 << 10 && end - last.0 <= 2 << 20 => last.1 = end,
            _ => requests.push((start, end)),
        }
    }
    requests
}

fn image_bytes(payload_bytes: usize) -> u64 {
    (payload_bytes + IMAGE_HEADER_BYTES) as u64
}

/// Where reads wait until the test lets them go on.
#[derive(Default)]
struct Barrier {
    /// Reads that have come, and whether they may pass.
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Barrier {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn wait_for(&self, count: usize) {
        let mut state = self.state.lock().unwrap();
        while state.0 < count {
            state = self.changed.wait(state).unwrap();
        }
    }

    fn open(&self) {
        self.state.lock().unwrap().1 = true;
        self.changed.notify_all();
    }
}

fn is_read_thread() -> bool {
    std::thread::current().name() == Some("quire-read")
}

/// A disk whose reads by the threads of the volume wait at a barrier, and the number of all reads.
fn stalled(bytes: Vec<u8>) -> (Arc<dyn Disk>, Arc<Barrier>, Arc<AtomicUsize>) {
    let (barrier, reads) = (Arc::new(Barrier::default()), Arc::new(AtomicUsize::new(0)));
    let (wait, count) = (barrier.clone(), reads.clone());
    let disk = HookedDisk::new(MemDisk::from_bytes(bytes), move |call| {
        if call == DiskCall::Read {
            count.fetch_add(1, Ordering::SeqCst);
            if is_read_thread() {
                wait.pass();
            }
        }
    });
    (Arc::new(disk), barrier, reads)
}

/// Returns when no thread reads for the volume any more.
fn wait_for_threads(volume: &Volume) {
    volume.inner.read_ahead.wait_for_abandoned();
}

#[test]
fn neighbours_are_read_with_one_request() {
    let lengths: Vec<usize> = (0..300)
        .map(|number| 1_000 + number * 7_919 % 30_000)
        .collect();
    let (bytes, pages) = written(&lengths);
    for step in [1, 2, 3, 7] {
        let (disk, barrier, reads) = stalled(bytes.clone());
        barrier.open();
        let volume = open(disk, 512 * MIB);
        let pin = volume.pin();
        let mut asked: Vec<PageId> = pages.iter().copied().step_by(step).collect();
        let requests = requests_by_the_rule(&placed(&pin, &asked));
        // The order in which they are named does not matter.
        let mut random = Random::new(step as u64);
        (1..asked.len()).for_each(|at| asked.swap(at, random.below(at + 1)));
        let reads_before = reads.load(Ordering::SeqCst);
        let scan = pin.read_ahead();
        assert_eq!(scan.request(&asked).pages, asked.len());
        for page in &asked {
            let number = pages.iter().position(|other| other == page).unwrap();
            let read = scan.read(*page).unwrap();
            assert!(read.payload[..] == payload(number, 0, lengths[number])[..]);
        }
        let statistics = scan.statistics();
        assert_eq!(statistics.requests, requests.len() as u64);
        let expected_bytes: u64 = requests.iter().map(|(start, end)| end - start).sum();
        assert_eq!(statistics.bytes, expected_bytes);
        assert_eq!(
            reads.load(Ordering::SeqCst) - reads_before,
            requests.len(),
            "each page is read once"
        );
        assert_eq!(
            statistics.pages_read_ahead + statistics.pages_read_by_readers,
            asked.len() as u64
        );
        assert_eq!(scan.held_bytes(), 0);
        assert!(step > 1 || requests.len() * 20 < asked.len());
    }
}

#[test]
fn a_page_longer_than_a_request_is_a_request() {
    let lengths = [3_000_000, 0, 4 * MIB, 10];
    let (bytes, pages) = written(&lengths);
    let volume = open(Arc::new(MemDisk::from_bytes(bytes)), 128 * MIB);
    let scan = volume.pin().read_ahead();
    assert_eq!(scan.request(&pages).pages, 4);
    for (number, page) in pages.iter().enumerate() {
        let read = scan.read(*page).unwrap();
        assert!(read.payload[..] == payload(number, 0, lengths[number])[..]);
    }
}

#[test]
fn what_is_known_or_does_not_exist_is_left_out() {
    let (bytes, pages) = written(&[500; 10]);
    let volume = open(Arc::new(MemDisk::from_bytes(bytes)), 8 * MIB);
    let pin = volume.pin();
    pin.read(pages[3]).unwrap();
    let missing = PageId::new(1 << 20).unwrap();
    let scan = pin.read_ahead();
    let requested = scan.request(&[pages[0], missing, pages[3], pages[0], pages[1]]);
    let both = RequestedBytes {
        bytes: 2 * image_bytes(500),
        pages: 5,
    };
    assert_eq!(requested, both);
    assert_eq!(scan.request(&pages[..2]).bytes, 0);
    assert_eq!(scan.read(pages[3]).unwrap().source, ReadAheadSource::Cache);
    assert_eq!(scan.read(pages[5]).unwrap().source, ReadAheadSource::Disk);
    assert!(matches!(
        scan.read(missing),
        Err(PageReadError::NotFound { .. })
    ));
}

#[test]
fn the_cache_does_not_keep_what_is_needed_once() {
    let (bytes, pages) = written(&[500; 10]);
    let volume = open(Arc::new(MemDisk::from_bytes(bytes)), 8 * MIB);
    let pin = volume.pin();
    pin.read(pages[9]).unwrap();
    let scan = pin.read_ahead();
    assert_eq!(scan.request_once(&pages[..3]).pages, 3);
    for (number, page) in pages.iter().enumerate() {
        let read = scan.read_once(*page).unwrap();
        assert!(read.payload[..] == payload(number, 0, 500)[..]);
        // What is there anyway is not read, and stays.
        assert_eq!(read.source == ReadAheadSource::Cache, number == 9);
    }
    let is_cached = |page: &PageId| {
        let read = pin.read_ahead().read(*page).unwrap();
        read.source == ReadAheadSource::Cache
    };
    let cached = pages.iter().filter(|page| is_cached(page)).count();
    assert_eq!(cached, 1);
    // Now all have been read to be kept.
    assert!(pages.iter().all(is_cached));
}

#[test]
fn the_bound_is_one_for_all_scans() {
    let (bytes, pages) = written(&[100_000; 40]);
    let (disk, barrier, _) = stalled(bytes);
    let volume = open(disk, 4 * MIB);
    let pin = volume.pin();
    let (first, second) = (pin.read_ahead(), pin.read_ahead());
    assert_eq!(first.held_bytes_max(), MIB as u64);
    // 10 images of 100,032 bytes are less than 1 MiB, 11 are more.
    let ten = RequestedBytes {
        bytes: 10 * image_bytes(100_000),
        pages: 10,
    };
    assert!(!first.is_crowded() && !second.is_crowded());
    assert_eq!(first.request(&pages), ten);
    assert_eq!(first.request(&pages).pages, 10);
    assert!(first.is_crowded() && second.is_crowded());
    assert_eq!(second.request(&pages[20..]), RequestedBytes::default());
    assert_eq!(first.held_bytes(), ten.bytes);
    barrier.wait_for(1);
    barrier.open();
    first.read(pages[0]).unwrap();
    first.read(pages[1]).unwrap();
    assert_eq!(second.request(&pages[20..]).pages, 2);
    for page in &pages[2..10] {
        first.read(*page).unwrap();
    }
    assert_eq!(first.held_bytes(), 0);
    assert_eq!(first.statistics().held_bytes_peak, ten.bytes);
    assert_eq!(second.held_bytes(), 2 * image_bytes(100_000));
    assert!(!first.is_crowded());
    drop((first, second));
    wait_for_threads(&volume);
    assert_eq!(volume.inner.read_ahead.held_bytes(), 0);
}

#[test]
fn the_bound_is_an_eighth_of_the_cache() {
    let (bytes, pages) = written(&[200_000; 30]);
    let volume = open(Arc::new(MemDisk::from_bytes(bytes)), 32 * MIB);
    let scan = volume.pin().read_ahead();
    assert_eq!(scan.held_bytes_max(), 4 * MIB as u64);
    // 20 images of 200,032 bytes are less than 4 MiB, 21 are more.
    assert_eq!(scan.request(&pages).pages, 20);
}

/// Five pages that are one request each; four are being read.
fn five_requests(volume: &Volume, pages: &[PageId], barrier: &Barrier) -> ReadAhead {
    let scan = volume.pin().read_ahead();
    assert_eq!(scan.request(pages).pages, 5);
    barrier.wait_for(4);
    scan
}

#[test]
fn what_is_released_before_it_begins_is_never_read() {
    let (bytes, pages) = written(&[1_500_000; 5]);
    let (disk, barrier, reads) = stalled(bytes);
    let volume = open(disk, 64 * MIB);
    let reads_before = reads.load(Ordering::SeqCst);
    let scan = five_requests(&volume, &pages, &barrier);
    let last = placed(&volume.pin(), &pages)[4].2;
    scan.release(&[last]);
    assert_eq!(scan.held_bytes(), 4 * image_bytes(1_500_000));
    barrier.open();
    for page in pages.iter().filter(|page| **page != last) {
        assert_eq!(scan.read(*page).unwrap().source, ReadAheadSource::ReadAhead);
    }
    assert_eq!(scan.statistics().requests, 4);
    assert_eq!(reads.load(Ordering::SeqCst) - reads_before, 4);
    assert_eq!(scan.read(last).unwrap().source, ReadAheadSource::Disk);
}

#[test]
fn what_is_released_while_it_is_read_is_dropped() {
    let (bytes, pages) = written(&[1_500_000; 5]);
    let (disk, barrier, _) = stalled(bytes);
    let volume = open(disk, 64 * MIB);
    let scan = five_requests(&volume, &pages, &barrier);
    scan.release(&pages);
    // Asked for again while the first read goes on: that is another request.
    assert_eq!(scan.request(&pages[..1]).bytes, image_bytes(1_500_000));
    assert_eq!(scan.held_bytes(), 5 * image_bytes(1_500_000));
    barrier.open();
    let read = scan.read(pages[0]).unwrap();
    assert!(read.payload[..] == payload(0, 0, 1_500_000)[..]);
    drop(scan);
    wait_for_threads(&volume);
    assert_eq!(volume.inner.read_ahead.held_bytes(), 0);
}

#[test]
fn a_reader_does_not_wait_for_what_nobody_has_begun() {
    let (bytes, pages) = written(&[1_500_000; 5]);
    let (disk, barrier, _) = stalled(bytes);
    let volume = open(disk, 64 * MIB);
    let scan = five_requests(&volume, &pages, &barrier);
    let last = placed(&volume.pin(), &pages)[4].2;
    // The threads of the volume still stand at the barrier.
    assert_eq!(scan.read(last).unwrap().source, ReadAheadSource::Disk);
    std::thread::scope(|scope| {
        let readers: Vec<_> = pages
            .iter()
            .filter(|page| **page != last)
            .map(|page| scope.spawn(|| scan.read(*page).unwrap().source))
            .collect();
        barrier.open();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), ReadAheadSource::ReadAhead);
        }
    });
    let statistics = scan.statistics();
    assert_eq!(
        (
            statistics.requests,
            statistics.pages_read_ahead,
            statistics.pages_read_by_readers
        ),
        (5, 4, 1)
    );
}

#[test]
fn two_readers_of_one_page_both_get_it() {
    let (bytes, pages) = written(&[700_000]);
    let (disk, barrier, _) = stalled(bytes);
    let volume = open(disk, 64 * MIB);
    let scan = volume.pin().read_ahead();
    scan.request(&pages);
    barrier.wait_for(1);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| scan.read(pages[0]).unwrap().payload))
            .collect();
        barrier.open();
        for reader in readers {
            assert!(reader.join().unwrap()[..] == payload(0, 0, 700_000)[..]);
        }
    });
}

#[test]
fn an_error_is_reported_by_the_reader_and_by_nobody_else() {
    let (bytes, pages) = written(&[3_000; 20]);
    let disk = Arc::new(SimDisk::new(bytes));
    let volume = open(disk.clone(), 8 * MIB);
    let scan = volume.pin().read_ahead();
    let fault = Fault {
        kind: FaultKind::Read,
        nth: disk.call_count(FaultKind::Read),
        is_persistent: true,
        error: io::ErrorKind::Other,
        effect: 0,
    };
    disk.add_fault(fault);
    assert_eq!(scan.request(&pages).pages, 20);
    let expected = volume.pin().read(pages[4]).unwrap_err().to_string();
    assert_eq!(scan.read(pages[4]).unwrap_err().to_string(), expected);
    disk.clear_faults();
    for (number, page) in pages.iter().enumerate() {
        let read = scan.read(*page).unwrap();
        assert_eq!(read.source, ReadAheadSource::Disk);
        assert!(read.payload[..] == payload(number, 0, 3_000)[..]);
    }
    assert_eq!(scan.statistics().pages_failed, 20);
    assert_eq!(scan.held_bytes(), 0);
}

#[test]
fn a_damaged_page_fails_alone() {
    let (mut bytes, pages) = written(&[3_000; 20]);
    let volume = open(Arc::new(MemDisk::from_bytes(bytes.clone())), 8 * MIB);
    let offset = volume.pin().version.pages.get(pages[7]).unwrap().offset;
    bytes[offset as usize + IMAGE_HEADER_BYTES + 1_234] ^= 4;
    let volume = open(Arc::new(MemDisk::from_bytes(bytes)), 8 * MIB);
    let pin = volume.pin();
    let scan = pin.read_ahead();
    scan.request(&pages);
    for (number, page) in pages.iter().enumerate() {
        if number == 7 {
            let expected = pin.read(*page).unwrap_err().to_string();
            let error = scan.read(*page).unwrap_err();
            assert!(matches!(error, PageReadError::Corrupt { .. }));
            assert_eq!(error.to_string(), expected);
        } else {
            let read = scan.read(*page).unwrap();
            assert!(read.payload[..] == payload(number, 0, 3_000)[..]);
        }
    }
    assert_eq!(scan.statistics().pages_failed, 1);
    assert_eq!(scan.statistics().requests, 1);
}

#[test]
fn a_panic_of_a_thread_leaves_nobody_waiting() {
    let (bytes, pages) = written(&[300_000; 12]);
    let disk = HookedDisk::new(MemDisk::from_bytes(bytes), |call| {
        assert!(
            call != DiskCall::Read || !is_read_thread(),
            "the disk of this test panics"
        );
    });
    let volume = open(Arc::new(disk), 64 * MIB);
    let scan = volume.pin().read_ahead();
    assert_eq!(scan.request(&pages).pages, 12);
    for (number, page) in pages.iter().enumerate() {
        let read = scan.read(*page).unwrap();
        assert!(read.payload[..] == payload(number, 0, 300_000)[..]);
    }
    drop(scan);
    wait_for_threads(&volume);
    assert_eq!(volume.inner.read_ahead.held_bytes(), 0);
}

#[test]
fn a_volume_that_is_dropped_leaves_no_read_behind() {
    let (bytes, pages) = written(&[1_500_000; 5]);
    let (disk, barrier, reads) = stalled(bytes);
    let volume = open(disk.clone(), 64 * MIB);
    let reads_before = reads.load(Ordering::SeqCst);
    let scan = five_requests(&volume, &pages, &barrier);
    drop(scan);
    let opener = {
        let barrier = barrier.clone();
        std::thread::spawn(move || barrier.open())
    };
    drop(volume);
    assert_eq!(Arc::strong_count(&disk), 1, "nobody else has the disk");
    assert_eq!(reads.load(Ordering::SeqCst) - reads_before, 4);
    opener.join().unwrap();
}

/// Rewrites all pages, and gives back the space of what was there.
fn rewrite(volume: &Volume, pages: &[PageId], round: usize, bytes: usize) {
    let batch = volume.begin().unwrap();
    for (number, page) in pages.iter().enumerate() {
        let payload = payload(number, round, bytes);
        batch.replace(*page, PageKind::Segment, &payload).unwrap();
    }
    batch.commit().unwrap();
    volume.checkpoint().unwrap();
}

#[test]
fn a_scan_reads_its_snapshot_while_pages_are_rewritten() {
    let bytes = 30_000;
    let (image, pages) = written(&[30_000; 40]);
    let profile = DeviceProfile {
        read_latency: Duration::from_micros(300),
        sequential_latency: Duration::from_micros(100),
        ..DeviceProfile::NVME_SSD
    };
    let disk = ThrottledDisk::new(Arc::new(MemDisk::from_bytes(image)), profile);
    let volume = Volume::open_with(Arc::new(disk), OpenMode::ReadWrite, options(4 * MIB)).unwrap();
    for round in 0..20 {
        let pin = volume.pin();
        let scan = pin.read_ahead();
        let mut next = scan.request(&pages).pages;
        rewrite(&volume, &pages, round + 1, bytes);
        for (number, page) in pages.iter().enumerate() {
            let read = scan.read(*page).unwrap();
            assert!(read.payload[..] == payload(number, round, bytes)[..]);
            next = next.max(number + 1);
            next += scan.request(&pages[next..]).pages;
        }
        // This one ends in the middle of its reads, and the space that they read is given back and used again.
        drop((scan, pin));
        let ended = volume.pin().read_ahead();
        ended.request(&pages);
        drop(ended);
        rewrite(&volume, &pages, round + 1, bytes);
        for (number, page) in pages.iter().enumerate() {
            assert!(volume.read(*page).unwrap()[..] == payload(number, round + 1, bytes)[..]);
        }
    }
}

#[test]
fn space_is_given_back_as_soon_as_a_scan_has_ended() {
    let (image, pages) = written(&[1_500_000; 5]);
    let (disk, barrier, _) = stalled(image);
    let volume = Volume::open_with(disk, OpenMode::ReadWrite, options(64 * MIB)).unwrap();
    let scan = five_requests(&volume, &pages, &barrier);
    drop(scan);
    let opener = std::thread::spawn(move || barrier.open());
    let batch = volume.begin().unwrap();
    pages.iter().for_each(|page| batch.free(*page).unwrap());
    batch.commit().unwrap();
    volume.checkpoint().unwrap();
    opener.join().unwrap();
    let mut writer = volume.inner.lock_writer();
    let newest = writer.contents.commit_sequence;
    assert_eq!(writer.oldest_pinned(), newest, "no read holds a version");
}
