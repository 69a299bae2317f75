//! `quire check`.

use std::fs;

use crate::program::Folder;

const TABLE: &str = "CREATE TABLE t AS SELECT value AS id, 'row ' || value AS name \
     FROM generate_series(1, 20000)";

#[test]
fn a_sound_file_has_no_findings() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", TABLE]);
    let before = fs::read(folder.file("d.quire")).unwrap();
    let report = folder.succeed(&["check", "d.quire"]);
    assert!(
        report.starts_with("d.quire: ") && report.ends_with("nothing wrong\n"),
        "{report}"
    );
    assert!(
        fs::read(folder.file("d.quire")).unwrap() == before,
        "check changed the file"
    );
}

#[test]
fn damage_is_found_and_its_place_named() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", TABLE]);
    let sound = fs::read(folder.file("d.quire")).unwrap();
    let mut finding_count = 0;
    for step in 1..16 {
        let offset = sound.len() * step / 16;
        let mut damaged = sound.clone();
        damaged[offset] ^= 0x10;
        fs::write(folder.file("d.quire"), &damaged).unwrap();
        let finished = folder.run(&["check", "d.quire"]);
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
        match finished.code {
            Some(0) => {
                // Space that holds nothing may be damaged without harm.
                let answer =
                    folder.succeed(&["d.quire", "SELECT count(*), sum(id) FROM t", "--no-header"]);
                assert_eq!(answer, "20000,200010000\n", "offset {offset}");
            }
            Some(1) => {
                finding_count += 1;
                assert!(finished.stdout.contains("byte "), "{}", finished.stdout);
                assert!(
                    finished.stdout.trim_end().ends_with("finding")
                        || finished.stdout.trim_end().ends_with("findings")
                );
            }
            Some(2) => {
                finding_count += 1;
                assert!(finished.stderr.contains("d.quire"), "{}", finished.stderr);
            }
            other => panic!("exit code {other:?} at offset {offset}"),
        }
    }
    assert!(finding_count > 0, "no damage was found");
}

#[test]
fn a_file_that_cannot_be_examined_is_trouble_not_a_finding() {
    let folder = Folder::new();
    folder.write("notes.txt", "no database\n".repeat(1000));
    for file in ["missing.quire", "notes.txt"] {
        let finished = folder.run(&["check", file]);
        assert_eq!(
            (finished.code, finished.stdout.as_str()),
            (Some(2), ""),
            "{file}"
        );
        assert!(finished.stderr.contains(file), "{}", finished.stderr);
    }
    assert!(!folder.path().join("missing.quire").exists());
    assert_eq!(folder.run(&["check"]).code, Some(2));
}

#[test]
fn a_broken_file_is_rebuilt_into_another() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", TABLE]);
    let mut broken = fs::read(folder.file("d.quire")).unwrap();
    // Both superblocks lie in the first pages of the file.
    broken[..4096 * 2].fill(0xff);
    fs::write(folder.file("d.quire"), &broken).unwrap();
    assert_eq!(folder.run(&["d.quire", "SELECT 1"]).code, Some(1));

    let report = folder.succeed(&["check", "--rebuild", "saved.quire", "d.quire"]);
    assert!(report.contains("pages found in d.quire"), "{report}");
    assert!(report.ends_with("nothing wrong\n"), "{report}");
    assert!(
        fs::read(folder.file("d.quire")).unwrap() == broken,
        "the broken file was changed"
    );
    let answer = folder.succeed(&[
        "saved.quire",
        "SELECT count(*), sum(id) FROM t",
        "--no-header",
    ]);
    assert_eq!(answer, "20000,200010000\n");

    let finished = folder.run(&["check", "--rebuild", "saved.quire", "d.quire"]);
    assert_eq!(finished.code, Some(2));
    assert!(
        finished.stderr.contains("saved.quire"),
        "{}",
        finished.stderr
    );

    folder.write("notes.txt", "no database\n".repeat(1000));
    let finished = folder.run(&["check", "--rebuild", "nothing.quire", "notes.txt"]);
    assert_eq!(finished.code, Some(2));
    assert!(!folder.path().join("nothing.quire").exists());
}
