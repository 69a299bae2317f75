//! A process is killed (SIGKILL) while it commits, again and again, on a real file.
#![allow(clippy::unwrap_used)]

mod child;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use child::Scratch;
use quire_store::{CATALOG_PAGE, FileDisk, PageId, PageKind, Volume, VolumeOptions};
use quire_testkit::random::{TestRandom, environment_number};

const CHILD_FILE: &str = "QUIRE_KILLED_CHILD_FILE";
const SEGMENTS: u64 = 6;

fn open(path: &Path) -> Volume {
    let disk = Arc::new(FileDisk::open_or_create(path).unwrap());
    Volume::open_or_create(
        disk,
        VolumeOptions {
            run_bytes: 32 << 10,
            ..VolumeOptions::default()
        },
    )
    .unwrap()
}

/// The content of segment `at` of table version `version`.
fn segment(version: u64, at: u64) -> Vec<u8> {
    let mut random = TestRandom::new(version * SEGMENTS + at);
    let length = random.below(60_000) as usize;
    random.bytes(length)
}

/// The catalog: the version, and the pages of its segments.
fn catalog(version: u64, pages: &[PageId]) -> Vec<u8> {
    let numbers = std::iter::once(version).chain(pages.iter().map(|page| page.get()));
    numbers.flat_map(u64::to_le_bytes).collect()
}

/// Reads the catalog and verifies everything it names. Returns the version and the pages.
fn verify(volume: &Volume) -> (u64, Vec<PageId>) {
    let Ok(catalog) = volume.read(CATALOG_PAGE) else {
        return (0, Vec::new());
    };
    let numbers: Vec<u64> = catalog
        .chunks(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let pages: Vec<PageId> = numbers[1..]
        .iter()
        .map(|page| PageId::new(*page).unwrap())
        .collect();
    for (at, page) in pages.iter().enumerate() {
        assert!(volume.read(*page).unwrap()[..] == segment(numbers[0], at as u64)[..]);
    }
    assert_eq!(
        volume.stats().page_count,
        1 + SEGMENTS,
        "nothing else is left"
    );
    (numbers[0], pages)
}

/// Replaces the table by its next version.
fn commit_next(volume: &Volume, version: u64, old: &[PageId]) -> Vec<PageId> {
    let batch = volume.begin().unwrap();
    let write = |at| {
        batch
            .write(PageKind::Segment, &segment(version, at))
            .unwrap()
    };
    let pages: Vec<PageId> = (0..SEGMENTS).map(write).collect();
    old.iter().for_each(|page| batch.free(*page).unwrap());
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, &catalog(version, &pages))
        .unwrap();
    batch.commit().unwrap();
    pages
}

/// The child: commits until it is killed, and says what it has committed.
#[test]
fn child_commits_until_it_is_killed() {
    let Ok(path) = std::env::var(CHILD_FILE) else {
        return;
    };
    let volume = open(Path::new(&path));
    let (mut version, mut pages) = verify(&volume);
    loop {
        version += 1;
        pages = commit_next(&volume, version, &pages);
        writeln!(std::io::stdout(), "committed {version}").unwrap();
        if version % 7 == 0 {
            volume.checkpoint().unwrap();
        }
        if version % 31 == 0 {
            volume.clean().unwrap();
        }
    }
}

/// Runs the child for a moment and returns the last version it said it had committed.
fn run_and_kill(path: &Path, life: Duration) -> u64 {
    let (child, output) = child::start("child_commits_until_it_is_killed", CHILD_FILE, path);
    std::thread::sleep(life);
    child::kill(child);
    let version = |line: String| line.split("committed ").nth(1)?.trim().parse().ok();
    BufReader::new(output)
        .lines()
        .map_while(Result::ok)
        .filter_map(version)
        .last()
        .unwrap_or(0)
}

#[test]
fn nothing_committed_is_lost_when_the_process_is_killed() {
    let path = Scratch::new("quire-killed");
    let mut random = TestRandom::new(environment_number("QUIRE_SEED", 1));
    let mut committed = 0;
    for _ in 0..environment_number("QUIRE_KILLS", 25) {
        let life = Duration::from_millis(10 + random.below(150));
        committed = run_and_kill(&path.0, life).max(committed);
        let volume = open(&path.0);
        let (found, pages) = verify(&volume);
        assert!(
            found == committed || found == committed + 1,
            "version {committed} was committed, {found} is there"
        );
        assert!(
            volume.check().findings.is_empty(),
            "{:?}",
            volume.check().findings
        );
        committed = found;
        if random.chance(30) {
            committed += 1;
            commit_next(&volume, committed, &pages);
            volume.close().unwrap();
        }
    }
    assert!(committed > 25, "the children must have got to work");
}
