//! Mounts that end with their test, and commands with a time limit.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use quire_device::{DataSetProperties, DataSetVolume, DeviceOptions};
use quire_mount::{MountError, MountOptions, MountedDataSet};
use quire_store::{FileDisk, OpenMode, Volume, VolumeOptions};

/// A folder with a volume and a mount point. Nothing is left of it, also when a test fails.
pub struct Place {
    pub folder: PathBuf,
}

static PLACES: AtomicU32 = AtomicU32::new(0);

impl Place {
    pub fn new(name: &str) -> Self {
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let folder = std::env::temp_dir().join(format!("quire-mount-{process}-{number}-{name}"));
        std::fs::create_dir_all(folder.join("mounted")).unwrap();
        Self { folder }
    }

    pub fn volume(&self) -> PathBuf {
        self.folder.join("volume.quire")
    }

    pub fn directory(&self) -> PathBuf {
        self.folder.join("mounted")
    }

    /// Ends what a process that was killed has left.
    pub fn unmount_stale(&self) {
        let mut command = Command::new("umount");
        command.arg("-l").arg(self.directory());
        let _ = output(&mut command, 20);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        if mounts.contains(&*self.directory().to_string_lossy()) {
            self.unmount_stale();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Whether this machine mounts anything; otherwise says why not, once for each test.
pub fn can_mount() -> bool {
    let place = Place::new("probe");
    let sets = create_sets(&place, DataSetProperties::default());
    match MountedDataSet::mount(
        sets.open_set("data").unwrap(),
        &place.directory(),
        MountOptions::default(),
    ) {
        Ok(_) => true,
        Err(error @ (MountError::NoFuse { .. } | MountError::Refused { .. })) => {
            println!("skipped: {error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// A new volume with a data set `data`.
pub fn create_sets(place: &Place, properties: DataSetProperties) -> DataSetVolume {
    let disk = FileDisk::open_or_create(place.volume()).unwrap();
    let volume = Volume::create(Arc::new(disk), VolumeOptions::default()).unwrap();
    let sets = DataSetVolume::create(volume, DeviceOptions::default()).unwrap();
    sets.create_set("data", properties).unwrap();
    sets
}

/// The volume again, with little memory, so that much of it is written.
pub fn open_sets(place: &Place) -> DataSetVolume {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match FileDisk::open(place.volume(), OpenMode::ReadWrite) {
            Ok(disk) => {
                let volume = Volume::open(Arc::new(disk), OpenMode::ReadWrite).unwrap();
                return DataSetVolume::open(volume, DeviceOptions::default()).unwrap();
            }
            // Who has been killed is not gone yet.
            Err(error) if Instant::now() > deadline => panic!("{error}"),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    }
}

pub fn options(place: &Place) -> MountOptions {
    MountOptions {
        allow_other: true,
        volume_file: Some(place.volume()),
        ..MountOptions::default()
    }
}

/// A mount with its volume.
pub struct Mount {
    pub mounted: MountedDataSet,
    pub sets: DataSetVolume,
}

impl Mount {
    pub fn new(place: &Place, sets: DataSetVolume, options: MountOptions) -> Self {
        let set = sets.open_set("data").unwrap();
        let mounted = MountedDataSet::mount(set, &place.directory(), options).unwrap();
        Self { mounted, sets }
    }

    pub fn created(place: &Place) -> Self {
        let sets = create_sets(place, DataSetProperties::default());
        Self::new(place, sets, options(place))
    }

    /// Unmounts, and finds nothing wrong with the volume.
    pub fn end(self) {
        self.mounted.unmount().unwrap();
        require_sound(&self.sets);
    }
}

pub fn require_sound(sets: &DataSetVolume) {
    assert_eq!(sets.check().findings, []);
    assert_eq!(sets.volume().check().findings, []);
}

/// Ends a process when it is dropped.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Waits until the process ends; kills it after `seconds`.
    pub fn wait(&mut self, seconds: u64) -> Option<std::process::ExitStatus> {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < deadline {
            if let Some(status) = self.0.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        None
    }
}

/// Runs a command; one that takes longer than `seconds` is killed, and the test fails.
pub fn output(command: &mut Command, seconds: u64) -> Output {
    command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let what = format!("{command:?}");
    let mut running = Running(command.spawn().unwrap());
    let (stdout, stderr) = (running.0.stdout.take(), running.0.stderr.take());
    let reader = |from: Option<Box<dyn std::io::Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.unwrap().read_to_end(&mut bytes);
            bytes
        })
    };
    let stdout = reader(stdout.map(|pipe| Box::new(pipe) as Box<dyn std::io::Read + Send>));
    let stderr = reader(stderr.map(|pipe| Box::new(pipe) as Box<dyn std::io::Read + Send>));
    let status = running.wait(seconds);
    let status = status.unwrap_or_else(|| panic!("{what} takes more than {seconds} s"));
    Output {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

/// What a command prints; it has to succeed.
pub fn text(command: &mut Command, seconds: u64) -> String {
    let what = format!("{command:?}");
    let output = output(command, seconds);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether a program is there; says so if it is not.
pub fn has_program(name: &str) -> bool {
    let found = Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let is_there = found.is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: there is no {name}");
    }
    is_there
}

/// Whether a directory is a mount point.
pub fn is_mounted(directory: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.contains(&format!(" {} ", directory.display()))
}
