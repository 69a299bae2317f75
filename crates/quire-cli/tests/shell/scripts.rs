//! Where statements come from, in which order they run, and where they stop.

use crate::program::Folder;

#[test]
fn statements_come_from_options_files_and_the_standard_input() {
    let folder = Folder::new();
    folder.write("two.sql", "SELECT 'two' AS x;\nSELECT 'three' AS x");
    let output = folder.succeed(&[
        "--no-header",
        "-c",
        "SELECT 'one' AS x",
        "-f",
        "two.sql",
        "-c",
        ".mode line",
        ":memory:",
        "SELECT 'four' AS x",
    ]);
    assert_eq!(output, "one\ntwo\nthree\nx = four\n");

    let finished = folder.run_script(&["--no-header"], "SELECT 'a;b';\n-- no; c\nSELECT $$\n;$$");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(finished.stdout, "a;b\n\"\n;\"\n");
    let finished = folder.run_script(&["--no-header", "-f", "-"], "SELECT 1;");
    assert_eq!(finished.stdout, "1\n");
}

#[test]
fn results_appear_statement_by_statement() {
    use std::io::{BufRead, BufReader, Write};
    let folder = Folder::new();
    let mut child = folder.spawn(&["--no-header"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for expected in ["1\n", "2\n"] {
        stdin
            .write_all(format!("SELECT {};\n", expected.trim()).as_bytes())
            .unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_first_error_ends_a_script() {
    let folder = Folder::new();
    folder.write(
        "bad.sql",
        "SELECT 1 AS x;\n\nSELECT\n  nothing;\nSELECT 3 AS x;\n",
    );
    let finished = folder.run(&["-f", "bad.sql", "-c", "SELECT 4 AS x"]);
    assert_eq!(finished.code, Some(1));
    assert_eq!(finished.stdout, "x\n1\n");
    assert!(
        finished.stderr.starts_with("bad.sql:4: ERROR:  42703: "),
        "{}",
        finished.stderr
    );
    assert!(finished.stderr.contains("nothing"), "{}", finished.stderr);

    let finished = folder.run_script(&[], "SELECT 1 AS x;\nSELEC;\nSELECT 2 AS x;\n");
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(1), "x\n1\n")
    );
    assert!(
        finished.stderr.starts_with("<stdin>:2: ERROR:  42601: "),
        "{}",
        finished.stderr
    );
}

#[test]
fn with_bail_off_the_rest_runs_and_the_exit_code_still_tells() {
    let finished = Folder::new().run_script(&[], ".bail off\n.zzz\nSELEC;\nSELECT 2 AS x;\n");
    assert_eq!(
        (finished.code, finished.stdout.as_str()),
        (Some(1), "x\n2\n")
    );
    assert!(
        finished
            .stderr
            .starts_with("<stdin>:2: ERROR:  there is no command .zzz")
    );
    assert!(
        finished.stderr.contains("<stdin>:3: ERROR:  42601"),
        "{}",
        finished.stderr
    );
}

#[test]
fn the_caret_points_at_the_place() {
    let finished = Folder::new().run(&["-c", "SELECT 1 +\n  é, nothing FROM 5"]);
    assert_eq!(finished.code, Some(1));
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert!(lines[0].starts_with("ERROR:  "), "{}", finished.stderr);
    let source = lines
        .iter()
        .position(|line| line.starts_with("LINE 2: "))
        .unwrap();
    let caret = lines[source + 1].chars().position(|c| c == '^').unwrap();
    let pointed: String = lines[source].chars().skip(caret).collect();
    assert!(
        pointed.starts_with(['é', 'n', '5', 'F']),
        "points at {pointed:?}"
    );
}

#[test]
fn an_unfinished_statement_at_the_end_is_an_error() {
    let finished = Folder::new().run_script(&[], "SELECT 'open;\n");
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(
        finished.stderr.contains("ERROR:  42601"),
        "{}",
        finished.stderr
    );
}

#[test]
fn scripts_read_scripts_but_not_for_ever() {
    let folder = Folder::new();
    folder.write("inner.sql", "SELECT 'inner' AS x;\n");
    folder.write("outer.sql", ".read inner.sql\n.print done\n");
    assert_eq!(folder.succeed(&["-f", "outer.sql"]), "x\ninner\ndone\n");
    folder.write("loop.sql", ".read loop.sql\n");
    let finished = folder.run(&["-f", "loop.sql"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished
            .stderr
            .starts_with("loop.sql:1: ERROR:  scripts read each other too deep"),
        "{}",
        finished.stderr
    );
    let finished = folder.run(&["-f", "missing.sql"]);
    assert_eq!(finished.code, Some(1));
    assert!(
        finished.stderr.contains("missing.sql"),
        "{}",
        finished.stderr
    );
}

#[test]
fn echo_and_timer_show_what_runs_and_how_long() {
    let finished = Folder::new().run(&["--echo", "-c", ".timer on", "-c", "SELECT 1 AS x"]);
    assert_eq!(finished.stdout, "SELECT 1 AS x;\nx\n1\n");
    assert!(finished.stderr.starts_with("Time: ") && finished.stderr.ends_with("s\n"));
}

#[test]
fn what_statements_did_is_told_when_asked() {
    let script = "CREATE TABLE t (a INTEGER);\n.changes on\nINSERT INTO t VALUES (1), (2);\n";
    assert_eq!(Folder::new().run_script(&[], script).stdout, "INSERT 0 2\n");
}

#[test]
fn quit_ends_everything_and_keeps_the_exit_code() {
    let folder = Folder::new();
    let finished = folder.run(&["-c", ".print a", "-c", ".quit", "-c", ".print b"]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), "a\n"));
    let finished = folder.run_script(&[], ".bail off\n.zzz\n.quit\n");
    assert_eq!(finished.code, Some(1));
}

#[test]
fn version_and_help() {
    let folder = Folder::new();
    let version = folder.succeed(&["--version"]);
    assert_eq!(version, format!("quire {}\n", env!("CARGO_PKG_VERSION")));
    let help = folder.succeed(&["--help"]);
    for word in [
        "check",
        "--readonly",
        "--mode",
        "-c",
        "-f",
        "--echo",
        "--no-header",
    ] {
        assert!(help.contains(word), "{word} in {help}");
    }
    assert_eq!(folder.run(&["--nonsense"]).code, Some(2));
}
