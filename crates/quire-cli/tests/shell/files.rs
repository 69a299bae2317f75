//! Database files: kept, read-only, in use, missing, foreign.

use std::io::{BufRead, BufReader, Write};

use crate::program::Folder;

#[test]
fn what_is_stored_is_there_next_time() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", "CREATE TABLE t AS SELECT 42 AS a"]);
    assert_eq!(folder.succeed(&["d.quire", "SELECT a FROM t"]), "a\n42\n");
}

#[test]
fn a_file_named_like_a_subcommand_is_reached_by_its_path() {
    let folder = Folder::new();
    folder.succeed(&["./check", "CREATE TABLE t AS SELECT 42 AS a"]);
    assert_eq!(folder.succeed(&["./check", "SELECT a FROM t"]), "a\n42\n");
}

#[test]
fn read_only_refuses_changes() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", "CREATE TABLE t AS SELECT 42 AS a"]);
    assert_eq!(
        folder.succeed(&["--readonly", "d.quire", "SELECT a FROM t"]),
        "a\n42\n"
    );
    let finished = folder.run(&["--readonly", "d.quire", "DROP TABLE t"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.starts_with("ERROR:  25006: "),
        "{}",
        finished.stderr
    );
    assert_eq!(folder.succeed(&["d.quire", ".tables"]), "t\n");
}

#[test]
fn read_only_makes_no_file() {
    let folder = Folder::new();
    let finished = folder.run(&["--readonly", "missing.quire", "SELECT 1"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(
        finished.stderr.contains("missing.quire"),
        "{}",
        finished.stderr
    );
    assert!(!folder.path().join("missing.quire").exists());
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let finished = Folder::new().run(&["missing/d.quire", "SELECT 1"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("missing/d.quire"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_file_in_use_is_refused_until_it_is_free() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", "CREATE TABLE t AS SELECT 42 AS a"]);
    let mut holder = folder.spawn(&["d.quire"]);
    let mut stdin = holder.stdin.take().unwrap();
    stdin.write_all(b".print open\n").unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "open\n");

    let finished = folder.run(&["d.quire", "SELECT a FROM t"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(
        finished.stderr.contains("another process"),
        "{}",
        finished.stderr
    );

    drop(stdin);
    assert!(holder.wait().unwrap().success());
    assert_eq!(folder.succeed(&["d.quire", "SELECT a FROM t"]), "a\n42\n");
}

#[test]
fn a_foreign_file_is_refused_and_left_alone() {
    let folder = Folder::new();
    let content = "id,name\n1,x\n".repeat(1000);
    folder.write("data.csv", &content);
    let finished = folder.run(&["data.csv", "SELECT 1"]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("data.csv"), "{}", finished.stderr);
    assert_eq!(folder.read("data.csv"), content);
}
