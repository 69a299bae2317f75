//! The conversation at a terminal.

use std::io::{self, Write};

use crate::commands::greeting;
use crate::editor::{Editor, TypedLine, to_io};
use crate::shell::{Flow, Shell};

/// Reads and runs what is typed until the user leaves.
///
/// # Errors
/// When the terminal can no longer be written to.
pub fn run(shell: &mut Shell) -> io::Result<()> {
    let greeting = greeting(shell);
    writeln!(io::stdout(), "{greeting}")?;
    let mut editor = Editor::new(shell.uses_color()).map_err(to_io)?;
    let mut may_leave = false;
    loop {
        editor.learn_names(shell);
        match editor.read().map_err(to_io)? {
            TypedLine::Text(text) => {
                may_leave = false;
                shell.take_interrupted();
                if run_typed(shell, &text, &mut editor)? == Flow::Quit {
                    return Ok(());
                }
            }
            TypedLine::Cleared { was_empty: false } => may_leave = false,
            TypedLine::Cleared { was_empty: true } if may_leave => return Ok(()),
            TypedLine::Cleared { was_empty: true } => {
                may_leave = true;
                writeln!(io::stdout(), "Ctrl-C again, Ctrl-D or .quit leaves.")?;
            }
            TypedLine::End => return Ok(()),
        }
    }
}

/// Runs what was typed; the words people try first mean the command of that name.
fn run_typed(shell: &mut Shell, text: &str, editor: &mut Editor) -> io::Result<Flow> {
    match text.trim().trim_end_matches(';').to_lowercase().as_str() {
        "quit" | "exit" => Ok(Flow::Quit),
        "help" => shell.run_script(".help".as_bytes(), None),
        _ => shell.run_typed(text, editor),
    }
}
