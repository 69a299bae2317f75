//! Several at once.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::thread;

use quire_mount::MountOptions;

use crate::mounting::{Mount, Place, can_mount, create_sets, has_program, options, text};
use crate::random::Random;

/// More files that sync than threads that answer: readers would wait for ever if a sync occupied one of them until others are served.
#[test]
fn readers_and_writers_go_on_while_others_sync() {
    if !can_mount() {
        return;
    }
    let place = Place::new("syncs");
    let sets = create_sets(&place, Default::default());
    let options = MountOptions {
        threads: std::num::NonZero::new(2).unwrap(),
        write_back_bytes: 1 << 20,
        ..options(&place)
    };
    let mount = Mount::new(&place, sets, options);
    let root = place.directory();
    thread::scope(|scope| {
        for writer in 0..8_u64 {
            let path = root.join(format!("file{writer}"));
            scope.spawn(move || {
                let mut random = Random(writer);
                let mut how = File::options();
                let file = how
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .open(path)
                    .unwrap();
                let mut model = vec![0; 200_000];
                for _ in 0..30 {
                    let length = 1 + random.below(20_000) as usize;
                    let offset = random.below((model.len() - length) as u64);
                    let bytes = random.content(length);
                    file.write_all_at(&bytes, offset).unwrap();
                    model[offset as usize..][..length].copy_from_slice(&bytes);
                    file.sync_data().unwrap();
                    let mut found = vec![0; length];
                    file.read_exact_at(&mut found, offset).unwrap();
                    assert_eq!(found, bytes);
                }
                let mut found = vec![0; model.len()];
                let count = file.read_at(&mut found, 0).unwrap();
                assert_eq!(found[..count], model[..count]);
            });
        }
    });
    mount.end();
}

/// Real programs: what git commits is whole, and copies are as their originals.
#[test]
fn git_and_cp_work() {
    if !can_mount() || !has_program("git") || !has_program("cp") {
        return;
    }
    let place = Place::new("programs");
    let mount = Mount::created(&place);
    let script = r#"
        set -e
        cd "$1"
        git init -q repository
        cp -a "$2" repository/sources
        cd repository
        git add .
        git -c user.name=a -c user.email=a@b commit -qm first
        mv sources moved
        git add -A
        git -c user.name=a -c user.email=a@b commit -qm second
        git gc -q
        git fsck --full --strict
        test -z "$(git status --porcelain)"
        cp -a . ../copy
        diff -r --no-dereference . ../copy
        diff -r --no-dereference moved "$2"
        cd ..
        rm -rf repository
        ls -A
    "#;
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(script)
        .arg("sh")
        .arg(place.directory());
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src"));
    assert_eq!(text(&mut command, 120).trim(), "copy");
    mount.end();
}
