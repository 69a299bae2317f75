//! Ctrl-C in scripts, and readers that leave early.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};

use crate::program::{ABSORBED, ENDLESS, Finished, Folder, MANY_ROWS};

fn interrupt(child: &Child) {
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn an_interrupted_script_cancels_its_statement_and_ends() {
    for endless in [ENDLESS, ABSORBED] {
        interrupt_once(endless);
    }
}

fn interrupt_once(endless: &str) {
    let folder = Folder::new();
    let mut child = folder.spawn(&["-c", ".print begun", "-c", endless, "-c", ".print never"]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    // The statement starts some time after the line; a signal that comes before ends the program
    // with the same code, but without the message.
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let finished = Finished::from(child.wait_with_output().unwrap());
    assert_eq!((finished.code, rest.as_str()), (Some(130), ""));
    assert!(
        finished.stderr.contains("ERROR:  57014: "),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_reader_that_leaves_early_ends_the_program_quietly() {
    for mode in ["csv", "jsonlines", "line"] {
        let folder = Folder::new();
        let mut child = folder.spawn(&["--mode", mode, "-c", MANY_ROWS, "-c", "SELECT 'after'"]);
        let mut first = [0; 100];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let finished = Finished::from(child.wait_with_output().unwrap());
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(141), ""),
            "{mode}"
        );
    }
}
