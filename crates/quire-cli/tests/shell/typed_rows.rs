//! Rows that are typed or pasted at the prompt, behind `COPY … FROM stdin` and `\copy … from stdin`.

use crate::program::Folder;
use crate::terminal::{CONTROL_C, CONTROL_D, ENTER, Terminal};

/// What a terminal sends around text that is pasted.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// Both statements that ask for rows in PostgreSQL's text format.
const COPIES: [&str; 2] = ["COPY t FROM stdin;", "\\copy t from stdin"];

fn terminal(folder: &Folder) -> Terminal {
    let mut terminal = Terminal::start(folder, &[]);
    terminal.enter("CREATE TABLE t (id INTEGER, word TEXT);", "CREATE TABLE\n");
    terminal.wait_for_prompt();
    terminal
}

impl Terminal {
    fn wait_for_rows(&mut self) {
        self.wait_until("a row is asked for", |terminal| {
            terminal.last_line() == ">>"
        });
    }

    fn paste(&mut self, text: &str) {
        let [begin, end] = PASTE;
        self.press(&format!("{begin}{text}{end}"));
    }

    /// Counts the rows; the tag makes a number of it that is nowhere else on the screen.
    fn assert_count(&mut self, tag: u32, count: u32) {
        self.wait_for_prompt();
        self.enter(
            &format!("SELECT {tag}000 + count(*) AS n FROM t;"),
            &format!("│ {tag}00{count} │"),
        );
        self.wait_for_prompt();
    }
}

#[test]
fn the_rows_of_a_copy_are_asked_for() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    terminal.enter("COPY t FROM stdin;", "End with a backslash and a period");
    terminal.wait_for_rows();
    terminal.press("1\\tx");
    terminal.press(ENTER);
    terminal.wait_until("the next row is asked for", |terminal| {
        terminal.text().contains(">> 1\\tx\n") && terminal.last_line() == ">>"
    });
    terminal.enter("\\.", "22P04");
    terminal.enter("COPY t FROM stdin csv;", "COPY t FROM stdin csv;");
    terminal.wait_for_rows();
    terminal.press("7,seven\n");
    terminal.press("\\.\n");
    terminal.wait_for("COPY 1");
    terminal.wait_for_prompt();
    terminal.enter("SELECT id + 35 AS found FROM t;", "42");
    terminal.wait_for_prompt();
    terminal.enter("\\copy t from pstdin", "\\copy t from pstdin");
    terminal.wait_for_rows();
    // A tab is one, and completes nothing; and Ctrl-D ends the rows, too.
    terminal.enter("8\tSELE", ">> 8    SELE\n>>");
    terminal.press(CONTROL_D);
    terminal.assert_count(512, 2);
    terminal.enter("SELECT word || 'CT' AS w FROM t WHERE id = 8;", "SELECT");
    terminal.wait_for("│ SELECT │");
    terminal.wait_for_prompt();
    terminal.leave();
}

#[test]
fn control_c_ends_a_copy_that_asks_for_rows_at_once() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    for (tag, copy) in [(501, COPIES[0]), (502, COPIES[1])] {
        terminal.enter(copy, copy);
        terminal.wait_for_rows();
        terminal.enter(&format!("{tag}\twhole"), "whole\n>>");
        terminal.press("2\tbegun");
        terminal.wait_for("begun");
        terminal.press(CONTROL_C);
        terminal.wait_for("57014");
        terminal.assert_count(tag, 0);
        // So that the next error is not this one.
        terminal.press("\x0c");
        terminal.wait_until("an empty screen", |terminal| {
            !terminal.text().contains("57014")
        });
    }
    terminal.leave();
}

#[test]
fn lines_pasted_with_a_copy_are_its_rows() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    for (tag, copy) in [(2, COPIES[0]), (4, COPIES[1])] {
        // A row that looks like a statement, and one that is indented as those are.
        let rows = format!("{tag}\tSELECT 1;\r       7\tit's");
        terminal.paste(&format!("{copy}\r{rows}\r\\.\rSELECT {tag} + 600;"));
        terminal.press(ENTER);
        terminal.wait_for(&format!(" {} │", 600 + tag));
        terminal.assert_count(700 + tag, tag);
    }
    assert!(
        !terminal.written_text().contains("ERROR"),
        "{}",
        terminal.text()
    );
    terminal.leave();
}

#[test]
fn lines_pasted_where_rows_are_asked_for_end_where_they_say() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    for (tag, copy) in [(2, COPIES[0]), (4, COPIES[1])] {
        terminal.enter(copy, copy);
        terminal.wait_for_rows();
        terminal.paste(&format!("{tag}\tx\r7\ty\r\\.\rSELECT {tag} + 600;"));
        terminal.press(ENTER);
        terminal.wait_for(&format!(" {} │", 600 + tag));
        terminal.assert_count(700 + tag, tag);
    }
    terminal.leave();
}

#[test]
fn keys_that_come_before_they_are_asked_for_are_rows_and_then_statements() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    for (tag, copy) in [(2, COPIES[0]), (4, COPIES[1])] {
        // As from a terminal that does not say what is pasted.
        terminal.press(&format!(
            "{copy}\r{tag}\tx\r7\tSELECT 1;\r\\.\rSELECT {tag} + 600;\r"
        ));
        terminal.wait_for(&format!(" {} │", 600 + tag));
        terminal.assert_count(700 + tag, tag);
    }
    terminal.leave();
}

#[test]
fn rows_of_a_copy_that_is_refused_are_no_statements() {
    let folder = Folder::new();
    let mut terminal = terminal(&folder);
    terminal.enter(".bail off", ".bail off");
    terminal.wait_for_prompt();
    for (tag, copy) in [
        (1, "COPY missing FROM stdin;"),
        (2, "\\copy missing from stdin"),
    ] {
        terminal.paste(&format!(
            "{copy}\rINSERT INTO t VALUES (1, 'x');\r\\.\rSELECT {tag} + 600;"
        ));
        terminal.press(ENTER);
        terminal.wait_for(&format!(" {} │", 600 + tag));
        terminal.assert_count(700 + tag, 0);
    }
    assert!(
        terminal.written_text().contains("42P01"),
        "{}",
        terminal.text()
    );
    terminal.leave();
}
