//! The same operations on the file system of the host and on a data set, with the same results.

use std::path::Path;
use std::process::Command;

use quire_mount::MountOptions;

use crate::mounting::{Mount, Place, can_mount, create_sets, has_program, options, text};
use crate::random::seeds;

/// What `oracle.py` says of a directory.
fn trace(directory: &Path, seed: u64) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mount/oracle.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(directory).arg(seed.to_string());
    text(command.env("PYTHONHASHSEED", "0"), 300)
}

fn compare(options_of: impl Fn(&Place) -> MountOptions, differs: impl Fn(&str) -> bool) {
    if !can_mount() || !has_program("python3") {
        return;
    }
    for seed in seeds(1) {
        let place = Place::new("host");
        let on_host = place.folder.join("host");
        std::fs::create_dir(&on_host).unwrap();
        let expected = trace(&on_host, seed);
        let sets = create_sets(&place, Default::default());
        let mount = Mount::new(&place, sets, options_of(&place));
        let found = trace(mount.mounted.directory(), seed);
        let mut suite = "";
        for (expected, found) in expected.lines().zip(found.lines()) {
            if expected.starts_with("suite") {
                suite = expected;
            }
            assert!(
                found == expected || differs(expected),
                "in {suite}, seed {seed}: {found}; on the host {expected}"
            );
        }
        assert!(expected.lines().count() > 900, "{expected}");
        assert_eq!(found.lines().count(), expected.lines().count());
        mount.end();
    }
}

#[test]
fn files_behave_as_those_of_the_host() {
    compare(options, |_| false);
}

#[test]
fn files_behave_as_those_of_the_host_when_the_kernel_collects_writes() {
    let options = |place: &Place| MountOptions {
        writeback_cache: true,
        ..options(place)
    };
    // Then there are no holes for who looks for them, and a file that is cut off where it ends keeps its time.
    compare(options, |line| {
        line.starts_with("seek ") || line.starts_with("truncate changes")
    });
}
