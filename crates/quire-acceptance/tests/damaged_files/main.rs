//! Files that lie: pages changed by somebody who knows the format, so that every checksum of the volume is right.
//!
//! No checksum can tell that such a file is not what was written. So what it says may be wrong, but whatever it says ends in rows or in an
//! error: nothing panics, nothing runs for ever, and memory stays within a limit.
//!
//! `QUIRE_DAMAGED_FILES` is the number of files, `QUIRE_SEED` the first seed. A failure names its seed; that file alone:
//! `QUIRE_SEED=… QUIRE_DAMAGED_FILES=1`.
#![allow(clippy::unwrap_used)]

mod damage;
mod questions;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use quire::{Database, DatabaseOptions};
use quire_store::{MemDisk, OpenMode};
use quire_testkit::random::{TestRandom, environment_number};

use questions::Answers;

/// Whoever has not answered all questions by then hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the process may have taken at its peak, with statements of 64 MiB and a cache of 4 MiB.
const PEAK_BYTES_MAX: u64 = 400 << 20;

static PANICS: AtomicU64 = AtomicU64::new(0);

#[test]
fn files_that_lie_end_in_rows_or_errors() {
    let file_count = environment_number("QUIRE_DAMAGED_FILES", 60);
    let first_seed = environment_number("QUIRE_SEED", 1);
    count_panics();
    let originals = [original(true), original(false)];
    let mut tally = Answers::default();
    for seed in first_seed..first_seed + file_count {
        let mut random = TestRandom::new(seed);
        let original = &originals[random.below(2) as usize];
        let (bytes, changes) = damage::damaged(original, &mut random);
        let path = Scratch::new(seed, &bytes);
        let answers = questioned(&path.0, &format!("QUIRE_SEED={seed}: {changes:?}"));
        tally.add(&answers);
        assert_eq!(
            PANICS.load(Ordering::SeqCst),
            0,
            "QUIRE_SEED={seed}: {changes:?}"
        );
    }
    let peak_bytes = peak_bytes();
    println!(
        "{file_count} files from seed {first_seed} on: {tally:?}, {} MiB at most",
        peak_bytes >> 20
    );
    assert!(
        peak_bytes <= PEAK_BYTES_MAX,
        "{peak_bytes} bytes at the peak"
    );
    assert!(tally.errors > 0 && tally.rows > 0, "{tally:?}");
}

/// Counts the panics of all threads, and shows them as before.
fn count_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::SeqCst);
        before(panic);
    }));
}

/// The bytes of a file with everything in it: closed in good order, or as a kill leaves it.
fn original(is_closed: bool) -> Vec<u8> {
    let disk = Arc::new(MemDisk::new());
    let shared = Arc::clone(&disk) as Arc<dyn quire_store::Disk>;
    let database = Database::on_disk(shared, OpenMode::ReadWrite, options()).unwrap();
    let mut connection = database.connect();
    for statement in questions::DEFINITIONS.split(";\n") {
        questions::ask(&mut connection, statement).unwrap();
    }
    if is_closed {
        drop(connection);
        drop(database);
        return disk.to_bytes();
    }
    questions::ask(&mut connection, "CHECKPOINT").unwrap();
    for statement in questions::LAST_CHANGES.split(";\n") {
        questions::ask(&mut connection, statement).unwrap();
    }
    disk.to_bytes()
}

pub fn options() -> DatabaseOptions {
    DatabaseOptions {
        cache_bytes: 4 << 20,
        memory_bytes: 64 << 20,
        threads: 2,
        ..DatabaseOptions::default()
    }
}

/// Asks a file everything, on a thread that may be given up.
fn questioned(path: &Path, what: &str) -> Answers {
    let (sender, receiver) = channel();
    let file = path.to_owned();
    let thread = thread::spawn(move || {
        let _ = sender.send(questions::ask_all(&file));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(answers) => answers,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: no answer after {PATIENCE:?}"),
        Err(RecvTimeoutError::Disconnected) => {
            let _ = thread.join();
            panic!("{what}: a panic")
        }
    }
}

/// The most memory that the process has had.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
    kibibytes.parse::<u64>().unwrap() * 1024
}

/// A file of its own, gone with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(seed: u64, bytes: &[u8]) -> Self {
        let name = format!("quire-damaged-{}-{seed}.quire", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
