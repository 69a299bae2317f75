//! How mounts end.

use std::fs::File;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quire_device::DataSetProperties;
use quire_mount::{MountError, MountOptions, MountedDataSet};

use crate::mounting::{
    Mount, Place, can_mount, create_sets, is_mounted, open_sets, options, require_sound, text,
};

const ROUNDS_WITH_REQUESTS: u32 = 40;

fn content(place: &Place) -> Vec<u8> {
    let sets = open_sets(place);
    require_sound(&sets);
    let set = sets.open_set("data").unwrap();
    let inode = set.lookup(quire_device::ROOT_INODE, b"file").unwrap();
    set.read(inode, 0, 1 << 20).unwrap()
}

#[test]
fn what_was_written_is_there_after_an_unmount() {
    if !can_mount() {
        return;
    }
    for writeback_cache in [false, true] {
        let place = Place::new("unmount");
        let sets = create_sets(&place, DataSetProperties::default());
        let options = MountOptions {
            writeback_cache,
            ..options(&place)
        };
        let mount = Mount::new(&place, sets, options);
        let file = File::create(place.directory().join("file")).unwrap();
        file.write_all_at(b"not synced", 0).unwrap();
        match mount.mounted.unmount() {
            Err(MountError::Busy { .. }) => {}
            other => panic!("{other:?} while a file is open"),
        }
        file.write_all_at(b"!", 10).unwrap();
        drop(file);
        mount.mounted.unmount().unwrap();
        assert!(mount.mounted.has_ended() && !is_mounted(&place.directory()));
        mount.mounted.unmount().unwrap();
        // As after a crash: nothing is written when the volume is dropped.
        std::mem::forget(mount);
        let copy = Place::new("copy");
        std::fs::copy(place.volume(), copy.volume()).unwrap();
        assert_eq!(content(&copy), b"not synced!");
    }
}

/// Names the folder whose volume this process is to serve with more threads than it may have files.
const STARVED_FOLDER: &str = "QUIRE_MOUNT_STARVED_FOLDER";

/// The process that serves: this executable, with this test only, which does nothing otherwise.
#[test]
fn serves_without_files_if_the_environment_says_so() {
    let Some(folder) = std::env::var_os(STARVED_FOLDER) else {
        return;
    };
    let place = std::mem::ManuallyDrop::new(Place {
        folder: folder.into(),
    });
    let options = MountOptions {
        threads: NonZero::new(500).unwrap(),
        ..options(&place)
    };
    let mount = Mount::new(&place, open_sets(&place), options);
    println!("ended: {}", mount.mounted.wait().unwrap_err());
}

#[test]
fn a_mount_that_cannot_be_served_ends() {
    if !can_mount() {
        return;
    }
    let place = Place::new("starved");
    drop(create_sets(&place, DataSetProperties::default()));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$0\" \"$@\""]);
    command.arg(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "ends::serves_without_files_if_the_environment_says_so",
    ]);
    command
        .arg("--nocapture")
        .env(STARVED_FOLDER, &place.folder);
    let printed = text(&mut command, 60);
    assert!(
        printed.contains("ended: the connection to the kernel has failed"),
        "{printed}"
    );
    assert!(!is_mounted(&place.directory()));
}

#[test]
fn an_unmount_from_outside_ends_the_wait() {
    if !can_mount() {
        return;
    }
    let place = Place::new("outside");
    let mount = Mount::created(&place);
    std::fs::write(place.directory().join("file"), b"outside").unwrap();
    text(Command::new("umount").arg(place.directory()), 20);
    mount.mounted.wait().unwrap();
    require_sound(&mount.sets);
    drop(mount);
    assert_eq!(content(&place), b"outside");
}

#[test]
fn what_lies_below_the_mount_point_is_not_unmounted() {
    if !can_mount() {
        return;
    }
    let place = Place::new("stacked");
    let lower = Mount::created(&place);
    let other = Place::new("upper");
    let sets = create_sets(&other, DataSetProperties::default());
    let set = sets.open_set("data").unwrap();
    let upper = MountedDataSet::mount(set, &place.directory(), options(&other)).unwrap();
    text(Command::new("umount").arg(place.directory()), 20);
    upper.wait().unwrap();
    drop(upper);
    assert!(is_mounted(&place.directory()));
    lower.end();
    assert!(!is_mounted(&place.directory()));
}

#[test]
fn a_mount_that_is_dropped_ends_though_files_are_open() {
    if !can_mount() {
        return;
    }
    let place = Place::new("dropped");
    let mount = Mount::created(&place);
    let file = File::create(place.directory().join("file")).unwrap();
    file.write_all_at(b"dropped", 0).unwrap();
    drop(mount.mounted);
    assert!(!is_mounted(&place.directory()));
    let refused = file.write_all_at(b"x", 0).unwrap_err().raw_os_error();
    let expected = [libc::ENOTCONN, libc::ECONNABORTED, libc::EIO].map(Some);
    assert!(expected.contains(&refused), "{refused:?}");
    require_sound(&mount.sets);
    drop(mount.sets);
    assert_eq!(content(&place), b"dropped");
}

#[test]
fn a_directory_that_is_none_is_refused() {
    let place = Place::new("refused");
    let sets = create_sets(&place, DataSetProperties::default());
    let set = sets.open_set("data").unwrap();
    for path in ["none", "volume.quire"] {
        let path = place.folder.join(path);
        match MountedDataSet::mount(set.clone(), &path, options(&place)) {
            Err(MountError::MountPoint { directory, .. }) => assert_eq!(directory, path),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("mounted on {}", path.display()),
        }
    }
}

#[test]
fn files_that_were_open_without_a_name_are_gone_after_an_unmount() {
    if !can_mount() {
        return;
    }
    let place = Place::new("orphans");
    let mount = Mount::created(&place);
    let files: Vec<File> = (0..20)
        .map(|number| {
            let path = place.directory().join(format!("file{number}"));
            std::fs::write(&path, vec![number; 100_000]).unwrap();
            let file = File::open(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            file
        })
        .collect();
    let mut byte = [0];
    files[7].read_exact_at(&mut byte, 99_999).unwrap();
    assert_eq!(byte, [7]);
    drop(files);
    mount.mounted.unmount().unwrap();
    // The root only.
    assert_eq!(mount.sets.check().inodes, 1);
    require_sound(&mount.sets);
}

#[test]
fn a_request_on_its_way_does_not_make_an_unmount_fail() {
    if !can_mount() {
        return;
    }
    // A thread that takes a request while the connection ends gets another error than the threads that wait for one.
    for _ in 0..ROUNDS_WITH_REQUESTS {
        let place = Place::new("requests");
        let mount = Mount::created(&place);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (directory, is_over) = (place.directory(), &is_over);
                scope.spawn(move || {
                    for name in (0..).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                        // Names that are not there are asked for once each.
                        let _ = directory.join(format!("{thread}-{name}")).metadata();
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(5));
            let ended = mount.mounted.unmount_by_force();
            is_over.store(true, Ordering::Relaxed);
            ended.unwrap();
        });
    }
}
