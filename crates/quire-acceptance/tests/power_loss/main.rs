//! Power losses on a real file.
//!
//! A database does its work on a file, through a disk that writes down what reaches the file and in which order: writes, changes of
//! length, syncs, and which statements had been acknowledged by then. From such a log files are made as a loss of power may leave them at
//! any moment: what was synced is there; of what was not, nothing is, or a part in the order of the writes, or any part, torn at sectors of
//! 512 bytes. Each must open, have everything that was acknowledged, and agree with itself.
//!
//! `QUIRE_POWER_IMAGES` is the number of files, `QUIRE_SEED` the first seed; a failure names its seed. Threads make the moments differ from
//! run to run, not the statements.
#![allow(clippy::unwrap_used)]

mod recording;
mod verify;
mod workload;

use std::path::PathBuf;

use quire_testkit::random::{TestRandom, environment_number};

use recording::{CrashKind, RecordingDisk};

/// Files made of one workload.
const IMAGES_PER_WORKLOAD: u64 = 20;

#[test]
fn nothing_acknowledged_is_lost_and_everything_agrees() {
    let image_count = environment_number("QUIRE_POWER_IMAGES", 40);
    let first_seed = environment_number("QUIRE_SEED", 1);
    let workload_count = image_count.div_ceil(IMAGES_PER_WORKLOAD);
    for seed in first_seed..first_seed + workload_count {
        let images = IMAGES_PER_WORKLOAD.min(image_count);
        let tally = lose_power(seed, images);
        println!("seed {seed}: {tally}");
    }
}

/// Runs the workload of a seed, and opens what crashes may have left of it.
fn lose_power(seed: u64, image_count: u64) -> String {
    let folder = Folder::new(seed);
    let disk = RecordingDisk::create(&folder.0.join("work.quire"));
    workload::run(&disk, &folder.0, seed);
    let log = disk.into_log();
    let mut random = TestRandom::new(seed);
    for number in 0..image_count {
        let kind = CrashKind::ALL[number as usize % CrashKind::ALL.len()];
        let crash = log.crash(kind, &mut random);
        let path = folder.0.join(format!("crash-{number}.quire"));
        std::fs::write(&path, &crash.bytes).unwrap();
        if let Err(what) = verify::verify(&path, &crash.acknowledged) {
            panic!(
                "QUIRE_SEED={seed}, file {number} ({kind:?}, after {} of {} operations): {what}",
                crash.position,
                log.len()
            );
        }
        std::fs::remove_file(&path).unwrap();
    }
    let totals = log.totals();
    format!("{image_count} files of {totals}")
}

/// A folder of its own, gone with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(seed: u64) -> Self {
        let name = format!("quire-power-loss-{}-{seed}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
