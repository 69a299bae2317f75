//! Line editing: statements over several lines, history, completion.

mod completion;
mod history;
mod prompt;

use std::borrow::Cow;
use std::io;
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

use crate::rows_behind::{RowTypist, TypedRows};
use crate::shell::Shell;
use completion::CompletionNames;
use prompt::{
    AsksForRows, ClearLine, ContinueLine, InsertTab, PROMPT, ROWS_PROMPT, show_continuations,
};

/// Statements remembered from session to session.
const HISTORY_LENGTH: usize = 10_000;

/// A line editor for statements.
pub struct Editor {
    inner: rustyline::Editor<Assistant, FileHistory>,
    history_file: Option<PathBuf>,
    /// Whether the last Ctrl-C found nothing to clear.
    was_empty: Arc<AtomicBool>,
    asks_for_rows: AsksForRows,
}

/// What was typed.
pub enum TypedLine {
    /// Something that can run.
    Text(String),
    /// Ctrl-C. `was_empty` when there was nothing to clear.
    Cleared { was_empty: bool },
    /// Ctrl-D.
    End,
}

struct Assistant {
    names: CompletionNames,
    uses_color: bool,
    asks_for_rows: AsksForRows,
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
        let asks_for_rows = AsksForRows::default();
        inner.set_helper(Some(Assistant {
            names: CompletionNames::default(),
            uses_color,
            asks_for_rows: asks_for_rows.clone(),
        }));
        let was_empty = Arc::new(AtomicBool::new(false));
        bind_keys(&mut inner, &asks_for_rows, &was_empty);
        let history_file = history::file();
        if let Some(file) = &history_file {
            // A first session has none; one that cannot be read is as good as none.
            let _ = inner.load_history(file);
        }
        Ok(Self {
            inner,
            history_file,
            was_empty,
            asks_for_rows,
        })
    }

    /// Reads until all that was typed can run.
    ///
    /// # Errors
    /// Those of the terminal.
    pub fn read(&mut self) -> Result<TypedLine> {
        let text = match self.inner.readline(PROMPT) {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => {
                let was_empty = self.was_empty.load(Ordering::Relaxed);
                return Ok(TypedLine::Cleared { was_empty });
            }
            Err(ReadlineError::Eof) => return Ok(TypedLine::End),
            Err(error) => return Err(error),
        };
        if !text.trim().is_empty() {
            self.inner.add_history_entry(text.as_str())?;
            if let Some(file) = &self.history_file {
                // A disk without room is no reason to stop the session.
                let _ = self.inner.append_history(file);
            }
        }
        Ok(TypedLine::Text(text))
    }

    /// Learns the names of tables and columns for completion.
    pub fn learn_names(&mut self, shell: &mut Shell) {
        if let Some(assistant) = self.inner.helper_mut() {
            assistant.names.learn(shell);
        }
    }
}

fn bind_keys(
    editor: &mut rustyline::Editor<Assistant, FileHistory>,
    asks_for_rows: &AsksForRows,
    was_empty: &Arc<AtomicBool>,
) {
    let continue_line = ContinueLine {
        asks_for_rows: asks_for_rows.clone(),
    };
    let insert_tab = InsertTab {
        asks_for_rows: asks_for_rows.clone(),
    };
    let clear_line = ClearLine {
        was_empty: Arc::clone(was_empty),
    };
    let mut bind = |key, modifiers, handler| {
        editor.bind_sequence(KeyEvent(key, modifiers), EventHandler::Conditional(handler));
    };
    bind(KeyCode::Enter, Modifiers::NONE, Box::new(continue_line));
    bind(KeyCode::Tab, Modifiers::NONE, Box::new(insert_tab));
    bind(KeyCode::Char('C'), Modifiers::CTRL, Box::new(clear_line));
}

/// An error of the line editor as one of the terminal.
pub fn to_io(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}

impl RowTypist for Editor {
    /// By the line editor as well: it has what was pasted behind the statement already.
    fn type_rows(&mut self) -> io::Result<TypedRows> {
        self.asks_for_rows.set(true);
        let typed = self.inner.readline(ROWS_PROMPT);
        self.asks_for_rows.set(false);
        match typed {
            Ok(text) => Ok(TypedRows::Text(text)),
            Err(ReadlineError::Interrupted) => Ok(TypedRows::Interrupted),
            Err(ReadlineError::Eof) => Ok(TypedRows::End),
            Err(error) => Err(to_io(error)),
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
        Ok(if self.asks_for_rows.is_complete(context.input()) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.asks_for_rows.get() {
            Cow::Borrowed(line)
        } else {
            show_continuations(line, self.uses_color)
        }
    }

    fn highlight_char(&self, line: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor && line.contains('\n') && !self.asks_for_rows.get()
    }
}
