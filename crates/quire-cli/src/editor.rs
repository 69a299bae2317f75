//! Line editing: statements over several lines, history, completion.

mod completion;
mod history;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::completion::Completer;
use rustyline::config::{BellStyle, ColorMode, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Result};

use crate::shell::Shell;
use completion::Names;
use prompt::{ClearLine, ContinueLine, PROMPT, is_complete, show_continuations};

/// Statements remembered from session to session.
const HISTORY_LENGTH: usize = 10_000;

/// A line editor for statements.
pub struct Editor {
    inner: rustyline::Editor<Assistant, FileHistory>,
    history_file: Option<PathBuf>,
    /// Whether the last Ctrl-C found nothing to clear.
    was_empty: Arc<AtomicBool>,
}

/// What was typed.
pub enum Typed {
    /// Something that can run.
    Text(String),
    /// Ctrl-C. `was_empty` when there was nothing to clear.
    Cleared { was_empty: bool },
    /// Ctrl-D.
    End,
}

struct Assistant {
    names: Names,
    uses_color: bool,
}

impl Editor {
    /// An editor with the history of earlier sessions.
    ///
    /// # Errors
    /// When the terminal cannot be set up.
    pub fn new(uses_color: bool) -> Result<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_LENGTH)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .bell_style(BellStyle::None)
            .color_mode(ColorMode::Forced)
            .build();
        let mut inner = rustyline::Editor::with_config(config)?;
        inner.set_helper(Some(Assistant {
            names: Names::default(),
            uses_color,
        }));
        inner.bind_sequence(
            KeyEvent(KeyCode::Enter, Modifiers::NONE),
            EventHandler::Conditional(Box::new(ContinueLine)),
        );
        let was_empty = Arc::new(AtomicBool::new(false));
        let clear_line = ClearLine {
            was_empty: Arc::clone(&was_empty),
        };
        inner.bind_sequence(
            KeyEvent(KeyCode::Char('C'), Modifiers::CTRL),
            EventHandler::Conditional(Box::new(clear_line)),
        );
        let history_file = history::file();
        if let Some(file) = &history_file {
            // A first session has none; one that cannot be read is as good as none.
            let _ = inner.load_history(file);
        }
        Ok(Self {
            inner,
            history_file,
            was_empty,
        })
    }

    /// Reads until all that was typed can run.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn read(&mut self) -> Result<Typed> {
        let text = match self.inner.readline(PROMPT) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => {
                let was_empty = self.was_empty.load(Ordering::Relaxed);
                return Ok(Typed::Cleared { was_empty });
            }
            Err(ReadlineError::Eof) => return Ok(Typed::End),
            Err(error) => return Err(error),
        };
        if !text.trim().is_empty() {
            self.inner.add_history_entry(text.as_str())?;
            if let Some(file) = &self.history_file {
                // A disk without room is no reason to stop the session.
                let _ = self.inner.append_history(file);
            }
        }
        Ok(Typed::Text(text))
    }

    /// Learns the names of tables and columns for completion.
    pub fn learn_names(&mut self, shell: &mut Shell) {
        if let Some(assistant) = self.inner.helper_mut() {
            assistant.names.learn(shell);
        }
    }
}

impl Helper for Assistant {}

impl rustyline::hint::Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = rustyline::completion::Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> Result<(usize, Vec<Self::Candidate>)> {
        self.names.complete(line, pos)
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext) -> Result<ValidationResult> {
        Ok(if is_complete(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> std::borrow::Cow<'l, str> {
        show_continuations(line, self.uses_color)
    }

    fn highlight_char(&self, line: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor && line.contains('\n')
    }
}
