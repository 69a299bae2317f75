//! The shell at a terminal: a pseudo-terminal, and a screen that shows what a person would see.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rexpect::process::PtyProcess;

use crate::program::{ENDLESS, Folder};

/// What does not appear within this time does not appear.
const PATIENCE: Duration = Duration::from_secs(60);

pub const CONTROL_C: &str = "\x03";
pub const CONTROL_D: &str = "\x04";
const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const TAB: &str = "\t";
pub const ENTER: &str = "\r";

const PROGRESS_AT_ONCE: [(&str, &str); 1] = [("QUIRE_PROGRESS_DELAY_MS", "0")];

const HEIGHT: NonZeroU16 = NonZeroU16::new(30).unwrap();
const WIDTH: NonZeroU16 = NonZeroU16::new(100).unwrap();

/// A running shell and its screen.
pub struct Terminal {
    /// Ends with the terminal.
    _process: PtyProcess,
    keys: File,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything ever written, for what does not stay on the screen.
    written: Vec<u8>,
}

impl Terminal {
    pub fn start(folder: &Folder, arguments: &[&str]) -> Self {
        Self::start_with(folder, arguments, "")
    }

    /// Started with a value of `NO_COLOR`, whose being empty means nothing.
    fn start_with(folder: &Folder, arguments: &[&str], no_color: &str) -> Self {
        let mut terminal = Self::run(folder, "", arguments, &[("NO_COLOR", no_color)]);
        terminal.wait_for("quire>");
        terminal
    }

    /// Started so that every statement shows how far it has come, however short it is.
    fn start_showing_progress(folder: &Folder) -> Self {
        let mut terminal = Self::run(folder, "", &[], &PROGRESS_AT_ONCE);
        terminal.wait_for("quire>");
        terminal
    }

    /// Runs the program with something behind it in the line of the outer shell.
    fn run(
        folder: &Folder,
        behind: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        // The outer shell tells the exit code; Ctrl-C goes to it too, and it has to outlive that.
        let shell = format!(
            "stty cols 100 rows 30; trap : INT; '{}' \"$@\" {behind}; echo \"exit code $?.\"",
            env!("CARGO_BIN_EXE_quire")
        );
        let mut command = Command::new("sh");
        command
            .args(["-c", &shell, "sh"])
            .args(arguments)
            .current_dir(folder.path())
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .env("TERM", "xterm-256color")
            .envs(environment.iter().copied());
        let process = PtyProcess::new(command).unwrap();
        let mut reader = process.get_file_handle().unwrap();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // At the end of the process reading fails on Linux.
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = process.get_file_handle().unwrap();
        let screen = vt100::Parser::new(HEIGHT, WIDTH, 0);
        Self {
            _process: process,
            keys,
            output,
            screen,
            written: Vec::new(),
        }
    }

    /// Everything written so far, as text.
    pub fn written_text(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Types a line and waits until the screen holds the expected text.
    pub fn enter(&mut self, line: &str, expected: &str) {
        self.press(line);
        self.press(ENTER);
        self.wait_for(expected);
    }

    /// The rows of the screen without the blanks at their ends.
    pub fn text(&self) -> String {
        let rows = self.screen.screen().rows(0, WIDTH.get());
        rows.map(|row| format!("{}\n", row.trim_end())).collect()
    }

    pub fn last_line(&self) -> String {
        self.text()
            .trim_end()
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    }

    pub fn wait_for(&mut self, expected: &str) {
        self.wait_until(expected, |terminal| terminal.text().contains(expected));
    }

    /// Waits for the prompt with nothing behind it: the shell takes keys.
    pub fn wait_for_prompt(&mut self) {
        self.wait_until("an empty prompt", |terminal| {
            terminal.last_line() == "quire>"
        });
    }

    pub fn wait_until(&mut self, what: &str, is_there: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_there(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => {
                    self.screen.process(&bytes);
                    self.written.extend(bytes);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{what:?} did not appear on\n{}", self.text())
                }
            }
        }
    }

    /// Waits for the end of the program; its exit code.
    fn wait_for_end(self) -> String {
        self.wait_for_end_with_text().0
    }

    /// The same, and everything that was written.
    fn wait_for_end_with_text(mut self) -> (String, String) {
        self.wait_until("the end", |terminal| terminal.last_line().ends_with('.'));
        let last_line = self.last_line();
        let code = last_line
            .trim_start_matches("exit code ")
            .trim_end_matches('.');
        (code.to_owned(), self.written_text())
    }

    pub fn leave(mut self) {
        self.press(CONTROL_D);
        assert_eq!(self.wait_for_end(), "0");
    }
}

#[test]
fn a_statement_goes_over_several_lines_and_ends_with_its_semicolon() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter("SELECT CAST(1 AS INTEGER) AS a,", "\n  ...>");
    terminal.enter("abs(", "\n  (..>");
    terminal.enter("CAST(-2 AS INTEGER)) AS b", "AS b\n  ...>");
    terminal.enter(";", "1 row");
    assert!(
        terminal.text().contains(
            "quire> SELECT CAST(1 AS INTEGER) AS a,\n  ...> abs(\n  (..> CAST(-2 AS INTEGER)) AS b\n  ...> ;\n\
             ┌─────────┬─────────┐\n\
             │       a │       b │\n\
             │ integer │ integer │\n\
             ├─────────┼─────────┤\n\
             │       1 │       2 │\n\
             └─────────┴─────────┘\n\
             1 row\n"
        ),
        "{}",
        terminal.text()
    );
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn text_in_quotes_keeps_its_lines_as_they_are() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter(".mode json", "json");
    terminal.wait_for_prompt();
    terminal.enter("SELECT 'one", "'one\n");
    terminal.enter("  two' AS t;", "[{\"t\":\"one\\n  two\"}]");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn an_earlier_line_can_still_be_changed() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter(".mode csv", "csv");
    terminal.wait_for_prompt();
    terminal.enter("SELECT 1 AS a", "\n  ...>");
    terminal.press(", 2 AS b;");
    // Up to the end of the first line, over "a" and into "AS", to turn 1 into 10.
    terminal.press(UP);
    terminal.wait_for(", 2 AS b;");
    for _ in 0..20 {
        terminal.press(LEFT);
    }
    terminal.press("\x05");
    terminal.press("x");
    terminal.wait_for("SELECT 1 AS ax");
    terminal.press(ENTER);
    terminal.wait_for("ax,b\n1,2");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn the_history_is_kept_from_session_to_session() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter("SELECT 'from long ago' AS t;", "1 row");
    terminal.wait_for_prompt();
    terminal.leave();
    let history = folder.read("state/quire/history");
    assert!(history.contains("from long ago"), "{history}");

    let mut terminal = Terminal::start(&folder, &[]);
    terminal.press(UP);
    terminal.wait_for("quire> SELECT 'from long ago' AS t;");
    terminal.press(ENTER);
    terminal.wait_for("1 row");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn control_c_clears_the_line_and_twice_on_an_empty_one_leaves() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    for line in ["SELECT one", "SELECT two", "SELECT three"] {
        terminal.press(line);
        terminal.wait_for(line);
        terminal.press(CONTROL_C);
        terminal.wait_for_prompt();
    }
    assert!(!terminal.text().contains("ERROR"));
    terminal.press(CONTROL_C);
    terminal.wait_for("Ctrl-C again");
    terminal.wait_for_prompt();
    terminal.press(CONTROL_C);
    assert_eq!(terminal.wait_for_end(), "0");
}

#[test]
fn control_c_cancels_a_statement_and_the_session_goes_on() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.press(ENDLESS);
    terminal.press(";");
    terminal.press(ENTER);
    // The signal comes from the terminal once the editor has given it back.
    let mut tries = 0;
    while !terminal.text().contains("57014") {
        tries += 1;
        assert!(tries < 20, "{}", terminal.text());
        std::thread::sleep(Duration::from_millis(500));
        terminal.press(CONTROL_C);
        terminal.wait_for("57014");
    }
    terminal.wait_for_prompt();
    terminal.enter("SELECT 'still here' AS t;", "│ still here │");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn errors_and_results_stand_in_order() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter("SELEC 1;", "LINE 1: SELEC 1");
    terminal.wait_for_prompt();
    assert!(
        terminal.text().contains("ERROR:  42601"),
        "{}",
        terminal.text()
    );
    terminal.enter("CREATE TABLE t (a INTEGER);", "CREATE TABLE\n");
    terminal.wait_for_prompt();
    terminal.enter("\\timing", "Timer is on.");
    terminal.wait_for_prompt();
    terminal.enter("INSERT INTO t VALUES (1);", "INSERT 0 1\nTime: ");
    terminal.wait_for_prompt();
    terminal.enter("quit", "");
    assert_eq!(terminal.wait_for_end(), "0");
}

#[test]
fn tab_completes_commands_tables_and_words() {
    let folder = Folder::new();
    folder.succeed(&["d.quire", "CREATE TABLE regions AS SELECT 7 AS r_regionkey"]);
    let mut terminal = Terminal::start(&folder, &["d.quire"]);
    terminal.wait_for("d.quire: 1 table.");
    terminal.press(".sch");
    terminal.press(TAB);
    terminal.wait_for("quire> .schema");
    terminal.press("reg");
    terminal.press(TAB);
    terminal.wait_for("quire> .schema regions");
    terminal.press(CONTROL_C);
    terminal.wait_for_prompt();
    terminal.press("SELE");
    terminal.press(TAB);
    terminal.press("r_re");
    terminal.press(TAB);
    terminal.press("FROM reg");
    terminal.press(TAB);
    terminal.wait_for("quire> SELECT r_regionkey FROM regions");
    terminal.press(";");
    terminal.press(ENTER);
    terminal.wait_for("1 row");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn a_wide_result_keeps_to_the_terminal() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &[]);
    terminal.enter(
        "SELECT repeat('x', 500) AS t, value AS n FROM generate_series(1, 100) ORDER BY n;",
        "100 rows (40 shown)",
    );
    terminal.wait_for_prompt();
    let text = terminal.text();
    let row = text
        .lines()
        .find(|line| line.contains("│ 100 │") || line.contains("100 │"))
        .unwrap();
    assert!(
        row.contains("xxx… │") && row.chars().count() == 100,
        "{row}"
    );
    terminal.leave();
}

#[test]
fn a_long_load_shows_a_bar_and_removes_it() {
    let folder = Folder::new();
    // Doubled until somebody has looked while it ran.
    let mut row_count = 2_000_000;
    loop {
        let export = format!(
            "COPY (SELECT value AS a, value % 977 AS b FROM generate_series(1, {row_count})) TO 'load.csv'"
        );
        folder.succeed(&["-c", &export]);
        let mut terminal = Terminal::start_showing_progress(&folder);
        terminal.enter(
            "CREATE TABLE t AS SELECT * FROM 'load.csv'; SELECT count(*) AS n FROM t;",
            &format!("│ {row_count} │"),
        );
        terminal.wait_for_prompt();
        let written = terminal.written_text();
        let text = terminal.text();
        terminal.leave();
        if written.contains("Loading t [") {
            assert!(
                written.contains(" rows  ") && written.contains("B/s"),
                "{written}"
            );
            assert!(!text.contains("Loading"), "the bar stayed on\n{text}");
            return;
        }
        assert!(row_count < 500_000_000, "no bar for {row_count} rows");
        row_count *= 2;
    }
}

#[test]
fn a_long_query_shows_a_bar_that_goes_with_its_cancellation() {
    let folder = Folder::new();
    let mut terminal = Terminal::start_showing_progress(&folder);
    terminal.enter(
        "CREATE TABLE t AS SELECT value AS a FROM generate_series(1, 5000000) AS s(value);",
        "SELECT 5000000\n",
    );
    terminal.wait_for_prompt();
    // Whoever runs it is long busy with each batch.
    terminal.press("SELECT sum(length(repeat('x', 10000 + a % 10))) FROM t;");
    terminal.press(ENTER);
    terminal.wait_until("a bar", |terminal| {
        terminal.last_line().starts_with("Reading [")
    });
    let line = terminal.last_line();
    assert!(line.contains(" of 5,000,000 rows"), "{line}");
    terminal.press(CONTROL_C);
    terminal.wait_for("57014");
    terminal.wait_for_prompt();
    assert!(!terminal.text().contains("Reading"), "{}", terminal.text());
    terminal.leave();
}

#[test]
fn statements_that_rewrite_tables_say_what_they_are_busy_with() {
    let folder = Folder::new();
    let mut terminal = Terminal::start_showing_progress(&folder);
    for (sql, tag) in [
        (
            "CREATE TABLE r (id BIGINT PRIMARY KEY, mixed BIGINT);",
            "CREATE TABLE\n",
        ),
        (
            "INSERT INTO r SELECT value, value * 7919 % 50000 FROM generate_series(1, 200000) AS s(value);",
            "INSERT 0 200000\n",
        ),
    ] {
        terminal.enter(sql, tag);
        terminal.wait_for_prompt();
    }
    // Which phases are seen depends on how long they last, as the line is redrawn at intervals.
    for (sql, tag, phases) in [
        (
            "CREATE INDEX by_mixed ON r (mixed);",
            "CREATE INDEX",
            &["Reading ", "Indexing ", "Sorting ", "Committing "][..],
        ),
        (
            "ALTER TABLE r SET (compression = none);",
            "ALTER TABLE",
            &["Reading ", "Rewriting ", "Sorting ", "Committing "],
        ),
        (
            "ANALYZE r;",
            "ANALYZE",
            &["Reading ", "Sampling ", "Committing "],
        ),
        (
            "VACUUM FULL r;",
            "VACUUM",
            &[
                "Reading ",
                "Rewriting ",
                "Sorting ",
                "Committing ",
                "Cleaning ",
            ],
        ),
        ("SELECT count(*) FROM r;", "200000 │", &["Reading "]),
    ] {
        terminal.written.clear();
        terminal.enter(sql, &format!("{tag}\n"));
        terminal.wait_for_prompt();
        let written = terminal.written_text();
        let is_shown = |phase: &&str| written.contains(*phase);
        assert!(phases.iter().any(is_shown), "{sql}: {written:?}");
        let text = terminal.text();
        assert!(
            !phases.iter().any(|phase| text.contains(phase)),
            "{sql}: the line stayed on\n{text}"
        );
    }
    terminal.leave();
}

#[test]
fn where_results_are_not_seen_nothing_is_shown() {
    let folder = Folder::new();
    let sql = "SELECT count(*) AS n FROM generate_series(1, 1000000) AS s(value)";
    for (behind, is_shown) in [("", true), ("| cat", false), ("> rows.csv", false)] {
        let terminal = Terminal::run(&folder, behind, &["-c", sql], &PROGRESS_AT_ONCE);
        let (code, written) = terminal.wait_for_end_with_text();
        assert_eq!(code, "0");
        assert_eq!(written.contains("Reading"), is_shown, "{behind}: {written}");
    }
    assert_eq!(folder.read("rows.csv"), "n\n1000000\n");
}

#[test]
fn color_is_used_unless_no_color_is_set() {
    for (no_color, dim_null, red_error) in [
        ("", "\x1b[2mNULL\x1b[0m", "\x1b[1;31mERROR:\x1b[0m  42601"),
        ("1", "│ NULL │", "\nERROR:  42601"),
    ] {
        let folder = Folder::new();
        let mut terminal = Terminal::start_with(&folder, &[], no_color);
        terminal.enter("SELECT CAST(NULL AS TEXT) AS n; SELEC;", "LINE 1: SELEC");
        terminal.wait_for_prompt();
        let written = terminal.written_text();
        assert!(written.contains(dim_null), "{no_color:?}: {written:?}");
        assert!(written.contains(red_error), "{no_color:?}: {written:?}");
        terminal.leave();
    }
}
