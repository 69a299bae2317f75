//! Mounts whose process is killed: what was synced is there.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use quire_device::{DataSetProperties, ROOT_INODE, SynchronousWrites};
use quire_mount::MountOptions;

use crate::mounting::{
    Mount, Place, Running, can_mount, create_sets, is_mounted, open_sets, options, require_sound,
};
use crate::random::{Random, seeds};

/// Names the folder whose volume this process is to serve.
const FOLDER: &str = "QUIRE_MOUNT_FOLDER";
const WRITEBACK: &str = "QUIRE_MOUNT_WRITEBACK";

/// The process that serves: this executable, with this test only, which does nothing otherwise.
#[test]
fn serves_if_the_environment_says_so() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let place = std::mem::ManuallyDrop::new(Place {
        folder: folder.into(),
    });
    let options = MountOptions {
        writeback_cache: std::env::var_os(WRITEBACK).is_some(),
        write_back_bytes: 1 << 20,
        sync_interval: Duration::from_millis(200),
        ..options(&place)
    };
    let mount = Mount::new(&place, open_sets(&place), options);
    eprintln!("serving");
    mount.mounted.wait().unwrap();
}

/// A process that serves the volume of a place.
pub struct Server {
    running: Running,
}

impl Server {
    pub fn start(place: &Place, writeback_cache: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "killed::serves_if_the_environment_says_so",
            "--nocapture",
        ]);
        command.env(FOLDER, &place.folder);
        if writeback_cache {
            command.env(WRITEBACK, "1");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::piped());
        let mut running = Running(command.spawn().unwrap());
        let mut lines = BufReader::new(running.0.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("serving\n") {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{said}");
            said.push_str(&line);
        }
        // It may say more, and does not have to wait for a reader.
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { running }
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(&mut self) {
        self.running.0.kill().unwrap();
        self.running.0.wait().unwrap();
    }
}

/// The bytes of a record, which say how long they are.
fn record(seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(31).wrapping_add(number));
    let length = 1 + random.below(random.clone().pick(&[50, 3000, 60_000])) as usize;
    random.content(length)
}

/// Appends records to files, and syncs each, until the mount is gone. `synced` counts those that are.
fn append(directory: &Path, seed: u64, synced: &AtomicU64) {
    let create = |name: &str| {
        let mut how = File::options();
        how.append(true).create(true).open(directory.join(name))
    };
    let step = |number: u64| -> std::io::Result<()> {
        let mut file = create("appended")?;
        file.write_all(&record(seed, number))?;
        if number.is_multiple_of(3) {
            file.sync_all()?;
        } else {
            file.sync_data()?;
        }
        // A file that is renamed and whose directory is synced has its new name.
        let name = format!("file{number}");
        std::fs::write(directory.join("new"), number.to_string())?;
        File::open(directory.join("new"))?.sync_all()?;
        std::fs::rename(directory.join("new"), directory.join(name))?;
        File::open(directory)?.sync_all()?;
        if let Some(old) = number.checked_sub(20) {
            std::fs::remove_file(directory.join(format!("file{old}")))?;
        }
        Ok(())
    };
    for number in 0.. {
        if step(number).is_err() {
            return;
        }
        synced.store(number + 1, Ordering::Release);
    }
}

fn check_records(place: &Place, seed: u64, synced: u64) {
    let sets = open_sets(place);
    let set = sets.open_set("data").unwrap();
    require_sound(&sets);
    let mount = Mount::new(place, sets, options(place));
    let expected: Vec<u8> = (0..synced)
        .flat_map(|number| record(seed, number))
        .collect();
    if synced > 0 {
        let inode = set.lookup(ROOT_INODE, b"appended").unwrap();
        let file = File::open(place.directory().join("appended")).unwrap();
        assert!(set.attributes(inode).unwrap().size >= expected.len() as u64);
        let mut found = vec![0; expected.len()];
        file.read_exact_at(&mut found, 0).unwrap();
        assert!(found == expected, "{synced} records were synced");
    }
    for number in synced.saturating_sub(19)..synced {
        let path = place.directory().join(format!("file{number}"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), number.to_string());
    }
    drop(set);
    mount.end();
}

fn run(seed: u64) {
    let mut random = Random(seed);
    let place = Place::new("killed");
    let is_logged = random.chance(50);
    let writeback_cache = random.chance(50);
    let properties = DataSetProperties {
        record_bytes: Some(random.pick(&[4 << 10, 128 << 10])),
        synchronous: is_logged.then_some(SynchronousWrites::Logged),
        ..DataSetProperties::default()
    };
    let patience = Duration::from_micros(random.below(400_000));
    println!("seed {seed}: {properties:?}, writeback_cache {writeback_cache}, {patience:?}");
    drop(create_sets(&place, properties));
    let mut server = Server::start(&place, writeback_cache);
    assert!(is_mounted(&place.directory()));
    let synced = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| append(&place.directory(), seed, &synced));
        thread::sleep(patience);
        server.kill();
    });
    let stale = std::fs::metadata(place.directory()).unwrap_err();
    assert_eq!(stale.raw_os_error(), Some(libc::ENOTCONN));
    quire_mount::unmount(&place.directory()).unwrap();
    check_records(&place, seed, synced.into_inner());
}

#[test]
fn what_was_synced_is_there_after_a_kill() {
    if !can_mount() {
        return;
    }
    for seed in seeds(5) {
        run(seed);
    }
}
