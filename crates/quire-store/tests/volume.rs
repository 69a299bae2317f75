//! What a volume promises when nothing goes wrong.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_store::{
    BatchWriteError, CATALOG_PAGE, Disk, MAX_PAYLOAD_BYTES, MemDisk, OpenMode, PageId, PageKind,
    PageReadError, Volume, VolumeOptions,
};

fn new_volume() -> (Arc<MemDisk>, Volume) {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    (disk, volume)
}

fn reopen(disk: &Arc<MemDisk>) -> Volume {
    Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap()
}

fn no_findings(volume: &Volume) {
    let findings = volume.check().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

/// Bytes that differ from page to page and do not repeat.
fn payload(seed: u64, length: usize) -> Vec<u8> {
    (0..length as u64)
        .map(|at| (at.wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9) >> 23) as u8)
        .collect()
}

#[test]
fn a_batch_is_visible_after_its_commit_only() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, b"one").unwrap();
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, b"root")
        .unwrap();
    assert_eq!(&*batch.read(page).unwrap(), b"one");
    assert!(matches!(
        volume.read(page),
        Err(PageReadError::NotFound { .. })
    ));
    let sequence = batch.commit().unwrap();
    assert_eq!(sequence, volume.commit_sequence());
    assert_eq!(&*volume.read(page).unwrap(), b"one");
    drop(volume);
    let volume = reopen(&disk);
    assert_eq!(&*volume.read(page).unwrap(), b"one");
    assert_eq!(&*volume.read(CATALOG_PAGE).unwrap(), b"root");
    no_findings(&volume);
}

#[test]
fn a_dropped_batch_leaves_nothing() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let kept = batch.write(PageKind::Segment, b"kept").unwrap();
    batch.commit().unwrap();
    let bytes = disk.len().unwrap();
    let batch = volume.begin().unwrap();
    for seed in 0..20 {
        batch
            .write(PageKind::Segment, &payload(seed, 300_000))
            .unwrap();
    }
    batch.replace(kept, PageKind::Segment, b"new").unwrap();
    assert_eq!(&*batch.read(kept).unwrap(), b"new");
    assert!(
        disk.len().unwrap() > bytes + 4_000_000,
        "the batch was written in part"
    );
    drop(batch);
    assert_eq!(disk.len().unwrap(), bytes);
    assert_eq!(&*volume.read(kept).unwrap(), b"kept");
    no_findings(&volume);
}

#[test]
fn a_batch_sees_its_own_writes_wherever_they_are() {
    let (_, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let mut pages = Vec::new();
    for seed in 0..12 {
        let bytes = payload(seed, 250_000);
        pages.push((batch.write(PageKind::Segment, &bytes).unwrap(), bytes));
    }
    for (page, bytes) in &pages {
        assert_eq!(&batch.read(*page).unwrap()[..], &bytes[..]);
    }
    let (first, _) = pages[0];
    batch.replace(first, PageKind::Table, b"newer").unwrap();
    assert_eq!(&*batch.read(first).unwrap(), b"newer");
    batch.free(pages[1].0).unwrap();
    assert!(matches!(
        batch.read(pages[1].0),
        Err(PageReadError::NotFound { .. })
    ));
    assert!(matches!(
        batch.free(pages[1].0),
        Err(BatchWriteError::NotFound { .. })
    ));
    batch.commit().unwrap();
    assert_eq!(&*volume.read(first).unwrap(), b"newer");
    assert!(volume.read(pages[1].0).is_err());
    no_findings(&volume);
}

#[test]
fn payloads_of_every_length_come_back() {
    let (disk, volume) = new_volume();
    let lengths = [
        0,
        1,
        31,
        4_000,
        4_096,
        65_536,
        (1 << 20) - 1,
        1 << 20,
        MAX_PAYLOAD_BYTES,
    ];
    let batch = volume.begin().unwrap();
    let write = |&length: &usize| {
        batch
            .write(PageKind::Segment, &payload(length as u64, length))
            .unwrap()
    };
    let pages: Vec<PageId> = lengths.iter().map(write).collect();
    let too_large = batch.write(PageKind::Segment, &vec![0; MAX_PAYLOAD_BYTES + 1]);
    assert!(matches!(too_large, Err(BatchWriteError::TooLarge { .. })));
    batch.commit().unwrap();
    for volume in [
        volume,
        reopen(&Arc::new(MemDisk::from_bytes(disk.to_bytes()))),
    ] {
        for (page, length) in pages.iter().zip(lengths) {
            assert!(volume.read(*page).unwrap()[..] == payload(length as u64, length)[..]);
        }
        no_findings(&volume);
    }
}

#[test]
fn a_pin_keeps_what_it_saw() {
    let (_, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let pages: Vec<PageId> = (0..40)
        .map(|seed| {
            batch
                .write(PageKind::Segment, &payload(seed, 50_000))
                .unwrap()
        })
        .collect();
    batch.commit().unwrap();
    let pin = volume.pin();
    for round in 1..6 {
        let batch = volume.begin().unwrap();
        for page in &pages {
            let bytes = payload(page.get() * round, 50_000);
            batch.replace(*page, PageKind::Segment, &bytes).unwrap();
        }
        batch.commit().unwrap();
        volume.checkpoint().unwrap();
        volume.clean().unwrap();
    }
    for (seed, page) in pages.iter().enumerate() {
        assert!(pin.read(*page).unwrap()[..] == payload(seed as u64, 50_000)[..]);
    }
    let pinned_bytes = volume.stats().file_bytes;
    drop(pin);
    volume.clean().unwrap();
    assert!(
        volume.stats().file_bytes < pinned_bytes,
        "the pinned space came back"
    );
    no_findings(&volume);
}

/// It moves some megabytes in each step, and says before how much will be moved.
#[test]
fn cleaning_tells_how_far_it_has_come() {
    let (_, volume) = new_volume();
    let mut pages = Vec::new();
    for round in 0..12 {
        let batch = volume.begin().unwrap();
        for number in 0..200 {
            let bytes = payload(round * 1_000 + number, 20_000);
            pages.push(batch.write(PageKind::Segment, &bytes).unwrap());
        }
        batch.commit().unwrap();
    }
    let batch = volume.begin().unwrap();
    for page in pages.iter().enumerate().filter(|(at, _)| at % 2 == 0) {
        batch.free(*page.1).unwrap();
    }
    batch.commit().unwrap();
    let mut told = Vec::new();
    let report = volume
        .clean_telling(&mut |moved_bytes, left_bytes| {
            told.push((moved_bytes, left_bytes));
            true
        })
        .unwrap();
    assert!(told.len() > 3, "{told:?}");
    assert!(told.is_sorted_by_key(|(moved_bytes, _)| *moved_bytes));
    assert_eq!(told[0].0, 0);
    assert_eq!(told.last().unwrap().0, report.moved_bytes);
    for (moved_bytes, left_bytes) in told.iter().copied() {
        let ratio = (moved_bytes + left_bytes) as f64 / report.moved_bytes as f64;
        assert!((0.7..1.3).contains(&ratio), "{told:?}");
    }
    no_findings(&volume);
}

#[test]
fn cleaning_shortens_the_file_and_keeps_every_page() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let pages: Vec<PageId> = (0..400)
        .map(|seed| {
            batch
                .write(PageKind::Segment, &payload(seed, 20_000))
                .unwrap()
        })
        .collect();
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    let (kept, freed): (Vec<_>, Vec<_>) =
        pages.iter().enumerate().partition(|(at, _)| at % 10 == 0);
    for (_, page) in freed {
        batch.free(*page).unwrap();
    }
    batch.commit().unwrap();
    let report = volume.clean().unwrap();
    assert!(
        report.moved_pages >= 40 && report.file_bytes_after < report.file_bytes_before,
        "{report:?}"
    );
    for (seed, page) in &kept {
        assert!(volume.read(**page).unwrap()[..] == payload(*seed as u64, 20_000)[..]);
    }
    no_findings(&volume);
    volume.close().unwrap();
    let live_bytes = 40 * 20_032;
    assert!(
        disk.len().unwrap() < live_bytes + live_bytes / 8,
        "{}",
        disk.len().unwrap()
    );
    let volume = reopen(&disk);
    assert_eq!(volume.stats().page_count, 40);
    no_findings(&volume);
}

#[test]
fn several_threads_fill_one_batch() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let written: Vec<(PageId, u64)> = std::thread::scope(|scope| {
        let fill = |thread: u64| {
            let batch = &batch;
            scope.spawn(move || {
                let write = |at: u64| {
                    let seed = thread * 1_000 + at;
                    let length = (seed * 7_919 % 90_000) as usize;
                    (
                        batch
                            .write(PageKind::Segment, &payload(seed, length))
                            .unwrap(),
                        seed,
                    )
                };
                (0..60).map(write).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..4).map(fill).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    batch.commit().unwrap();
    let from_log = reopen(&Arc::new(MemDisk::from_bytes(disk.to_bytes())));
    for volume in [volume, from_log] {
        for (page, seed) in &written {
            let length = (seed * 7_919 % 90_000) as usize;
            assert!(volume.read(*page).unwrap()[..] == payload(*seed, length)[..]);
        }
        assert_eq!(volume.stats().page_count, 240);
        no_findings(&volume);
    }
}

/// A version is one commit: readers see all pages with the same number, whatever the writer does
/// with the space in the meantime.
#[test]
fn readers_see_whole_commits_while_a_writer_replaces_and_cleans() {
    let options = VolumeOptions {
        cache_bytes: 200_000,
        checkpoint_log_bytes: 64 << 10,
        run_bytes: 16 << 10,
        ..VolumeOptions::default()
    };
    let volume = Volume::create(Arc::new(MemDisk::new()), options).unwrap();
    let fill = |round: u8, at: usize| vec![round; 500 + 600 * at];
    let batch = volume.begin().unwrap();
    let write = |at| batch.write(PageKind::Segment, &fill(0, at)).unwrap();
    let pages: Vec<PageId> = (0..12).map(write).collect();
    batch.commit().unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = || {
            let mut read_count = 0;
            // At least once, however late the machine starts this thread.
            while read_count == 0 || !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                let pin = volume.pin();
                let round = pin.read(pages[0]).unwrap()[0];
                for (at, page) in pages.iter().enumerate() {
                    assert!(pin.read(*page).unwrap()[..] == fill(round, at)[..]);
                }
                drop(pin);
                volume.read(pages[read_count % pages.len()]).unwrap();
                read_count += 1;
            }
            read_count
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for round in 1..=250 {
            let batch = volume.begin().unwrap();
            for (at, page) in pages.iter().enumerate() {
                batch
                    .replace(*page, PageKind::Segment, &fill(round, at))
                    .unwrap();
            }
            batch.commit().unwrap();
            if round % 10 == 0 {
                volume.clean().unwrap();
            }
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() > 0));
    });
    no_findings(&volume);
}

#[test]
fn one_batch_waits_for_the_other() {
    let (_, volume) = new_volume();
    let first = volume.begin().unwrap();
    std::thread::scope(|scope| {
        let second = scope.spawn(|| {
            let batch = volume.begin().unwrap();
            batch.write(PageKind::Segment, b"second").unwrap();
            batch.commit().unwrap()
        });
        first.write(PageKind::Segment, b"first").unwrap();
        let sequence = first.commit().unwrap();
        assert!(second.join().unwrap() > sequence);
    });
    assert_eq!(volume.stats().page_count, 2);
}

#[test]
fn space_is_used_again() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let page = batch
        .write(PageKind::Segment, &payload(1, 100_000))
        .unwrap();
    batch.commit().unwrap();
    for round in 0..200 {
        let batch = volume.begin().unwrap();
        batch
            .replace(page, PageKind::Segment, &payload(round, 100_000))
            .unwrap();
        batch.commit().unwrap();
    }
    assert!(
        disk.len().unwrap() < 4 << 20,
        "20 MB were written, {}",
        disk.len().unwrap()
    );
    volume.close().unwrap();
    let volume = reopen(&disk);
    assert!(volume.read(page).unwrap()[..] == payload(199, 100_000)[..]);
    no_findings(&volume);
}

#[test]
fn long_chains_of_map_changes_are_followed() {
    let (disk, volume) = new_volume();
    let mut pages = Vec::new();
    for round in 0..60_u64 {
        let batch = volume.begin().unwrap();
        for seed in 0..40 {
            pages.push((
                batch
                    .write(PageKind::RowGroup, &payload(seed + round, 64))
                    .unwrap(),
                seed + round,
            ));
        }
        if let Some(at) = pages.len().checked_sub(70) {
            batch.free(pages.remove(at).0).unwrap();
        }
        batch.commit().unwrap();
        volume.checkpoint().unwrap();
        let volume = reopen(&Arc::new(MemDisk::from_bytes(disk.to_bytes())));
        assert_eq!(volume.stats().page_count, pages.len() as u64);
        no_findings(&volume);
    }
    for (page, seed) in pages {
        assert!(volume.read(page).unwrap()[..] == payload(seed, 64)[..]);
    }
}

#[test]
fn an_empty_batch_writes_nothing() {
    let (disk, volume) = new_volume();
    let before = disk.to_bytes();
    assert_eq!(volume.begin().unwrap().commit().unwrap(), 0);
    drop(volume.begin().unwrap());
    volume.checkpoint().unwrap();
    volume.close().unwrap();
    assert!(disk.to_bytes() == before);
}

#[test]
fn read_only_means_read_only() {
    let (disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let page = batch.write(PageKind::Segment, b"x").unwrap();
    batch.commit().unwrap();
    let before = disk.to_bytes();
    let copy = Arc::new(MemDisk::from_bytes(before.clone()));
    let reader = Volume::open(copy.clone(), OpenMode::ReadOnly).unwrap();
    assert_eq!(&*reader.read(page).unwrap(), b"x");
    assert!(matches!(
        reader.begin(),
        Err(BatchWriteError::ReadOnly { .. })
    ));
    assert!(reader.checkpoint().is_err());
    assert!(reader.clean().is_err());
    no_findings(&reader);
    reader.close().unwrap();
    assert!(copy.to_bytes() == before);
}

#[test]
fn pages_named_before_they_are_written() {
    let (disk, volume) = new_volume();
    let [first, second, third] = [0; 3].map(|_| volume.allocate_page().unwrap());
    assert!(first < second && second < third);
    let batch = volume.begin().unwrap();
    let written = batch.write(PageKind::Segment, b"written").unwrap();
    let later = volume.allocate_page().unwrap();
    assert!(third < written && written < later);
    batch.put(second, PageKind::Row, b"second").unwrap();
    batch.put(later, PageKind::Row, b"later").unwrap();
    batch.put(later, PageKind::Row, b"later still").unwrap();
    let unknown = PageId::new(later.get() + 1).unwrap();
    for wrong in [unknown, CATALOG_PAGE] {
        let result = batch.put(wrong, PageKind::Row, b"wrong");
        assert!(matches!(result, Err(BatchWriteError::NotFound { page, .. }) if page == wrong));
    }
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    batch.put(second, PageKind::Row, b"second again").unwrap();
    batch.free(later).unwrap();
    let result = batch.put(later, PageKind::Row, b"freed");
    assert!(matches!(result, Err(BatchWriteError::NotFound { .. })));
    batch.commit().unwrap();
    no_findings(&volume);
    drop(volume);
    let volume = reopen(&disk);
    assert_eq!(&*volume.read(second).unwrap(), b"second again");
    assert_eq!(volume.pin().kind(second).unwrap(), PageKind::Row);
    assert_eq!(volume.pin().pages(), [second, written]);
    assert!(volume.allocate_page().unwrap() > later);
}

#[test]
fn a_dropped_batch_takes_the_names_of_its_pages_with_it() {
    let (_disk, volume) = new_volume();
    let batch = volume.begin().unwrap();
    let lost = batch.write(PageKind::Segment, b"lost").unwrap();
    let named = volume.allocate_page().unwrap();
    drop(batch);
    let batch = volume.begin().unwrap();
    batch.put(named, PageKind::Row, b"named").unwrap();
    let next = batch.write(PageKind::Segment, b"next").unwrap();
    assert!(lost < named && named < next);
    batch.commit().unwrap();
    assert!(!volume.pin().contains(lost));
}
