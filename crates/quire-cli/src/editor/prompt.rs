//! The prompt, also of the lines after the first.
//!
//! A statement is edited as one text, so that earlier lines can still be changed. Enter on an
//! unfinished one begins a line indented by the width of the prompt, and the indentation is shown
//! as the continuation prompt. Inside a string or comment nothing is added: every blank counts.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};

use crate::lexer::UnfinishedText;
use crate::script::{behind_end, waiting};

/// Before the first line.
pub const PROMPT: &str = "quire> ";

/// Before rows that are asked for.
pub const ROWS_PROMPT: &str = ">> ";

/// Before later lines: in general, and while a parenthesis is open. As wide as the prompt.
const CONTINUATION: &str = "  ...> ";
const CONTINUATION_IN_PARENTHESES: &str = "  (..> ";

/// As wide as the prompt.
const INDENTATION: &str = "       ";

/// Whether what was typed can run as it is.
pub fn is_complete(text: &str) -> bool {
    let is_plain_word = matches!(
        text.trim().to_lowercase().as_str(),
        "quit" | "exit" | "help"
    );
    is_plain_word || waiting(text) == UnfinishedText::Nothing
}

/// Whether rows that were typed can be taken as they are: what stands behind their end must be complete.
pub fn are_complete_rows(text: &str) -> bool {
    behind_end(text).is_none_or(is_complete)
}

/// Whether rows are asked for, or statements.
#[derive(Debug, Clone, Default)]
pub struct AsksForRows(Arc<AtomicBool>);

impl AsksForRows {
    pub fn set(&self, asks: bool) {
        self.0.store(asks, Ordering::Relaxed);
    }

    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether what was typed is all that is wanted.
    pub fn is_complete(&self, text: &str) -> bool {
        if self.get() {
            are_complete_rows(text)
        } else {
            is_complete(text)
        }
    }
}

/// Enter: runs a complete text, otherwise begins a line below.
pub struct ContinueLine {
    pub asks_for_rows: AsksForRows,
}

impl ConditionalEventHandler for ContinueLine {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        let before = context.line().get(..context.pos())?;
        if self.asks_for_rows.is_complete(context.line()) {
            return Some(Cmd::AcceptLine);
        }
        let line_break = if self.asks_for_rows.get() {
            "\n"
        } else {
            line_break(before)
        };
        Some(Cmd::Insert(1, line_break.to_owned()))
    }
}

/// Tab: in rows a character like all others.
pub struct InsertTab {
    pub asks_for_rows: AsksForRows,
}

impl ConditionalEventHandler for InsertTab {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let is_plain = self.asks_for_rows.get();
        is_plain.then(|| Cmd::Insert(1, "\t".to_owned()))
    }
}

/// Ctrl-C: clears what was typed, and remembers whether there was anything.
pub struct ClearLine {
    /// Set when the line was empty already.
    pub was_empty: Arc<AtomicBool>,
}

impl ConditionalEventHandler for ClearLine {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        self.was_empty
            .store(context.line().is_empty(), Ordering::Relaxed);
        Some(Cmd::Interrupt)
    }
}

/// What Enter adds after this text.
fn line_break(before: &str) -> &'static str {
    match waiting(before) {
        UnfinishedText::Quote | UnfinishedText::Rows => "\n",
        _ => "\n       ",
    }
}

/// The text with the indentation of its later lines replaced by the continuation prompt.
pub fn show_continuations(text: &str, uses_color: bool) -> Cow<'_, str> {
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let (dim, plain) = if uses_color {
        ("\x1b[2m", "\x1b[0m")
    } else {
        ("", "")
    };
    let mut shown = String::with_capacity(text.len() + 32);
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let indented = line.strip_prefix(INDENTATION).filter(|_| offset > 0);
        // The text before is gone over only where it matters: there may be many rows.
        let prompted = indented.and_then(|rest| Some((continuation(&text[..offset])?, rest)));
        match prompted {
            Some((prompt, rest)) => {
                shown.push_str(dim);
                shown.push_str(prompt);
                shown.push_str(plain);
                shown.push_str(rest);
            }
            None => shown.push_str(line),
        }
        offset += line.len();
    }
    Cow::Owned(shown)
}

/// The prompt of a line below this text, unless its blanks count.
fn continuation(before: &str) -> Option<&'static str> {
    match waiting(before) {
        UnfinishedText::Quote | UnfinishedText::Rows => None,
        UnfinishedText::Parenthesis => Some(CONTINUATION_IN_PARENTHESES),
        UnfinishedText::Semicolon | UnfinishedText::Nothing => Some(CONTINUATION),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CONTINUATION, CONTINUATION_IN_PARENTHESES, INDENTATION, PROMPT, are_complete_rows,
        is_complete, line_break, show_continuations,
    };

    #[test]
    fn all_prompts_are_equally_wide() {
        for prompt in [CONTINUATION, CONTINUATION_IN_PARENTHESES, INDENTATION] {
            assert_eq!(prompt.len(), PROMPT.len());
        }
        assert_eq!(line_break("select 1"), format!("\n{INDENTATION}"));
    }

    #[test]
    fn statements_need_a_semicolon_and_commands_do_not() {
        assert!(is_complete("select 1;"));
        assert!(is_complete(".tables"));
        assert!(is_complete("exit"));
        assert!(is_complete(""));
        assert!(!is_complete("select 1"));
        assert!(!is_complete("select '; quit"));
    }

    #[test]
    fn nothing_is_added_inside_quotes() {
        assert_eq!(line_break("select 'a"), "\n");
        assert_eq!(line_break("/* a"), "\n");
        assert_eq!(line_break("\\copy t from stdin\n1"), "\n");
        assert_eq!(line_break("select (1"), "\n       ");
    }

    #[test]
    fn rows_are_complete_unless_a_statement_is_begun_behind_them() {
        for text in ["1\tselect", "", "1\n\\.", "1\n\\.\nselect 1;"] {
            assert!(are_complete_rows(text), "{text:?}");
        }
        assert!(!are_complete_rows("1\n\\.\nselect 1"));
    }

    #[test]
    fn indentation_is_shown_as_a_prompt_of_the_same_width() {
        assert_eq!(show_continuations("select 1;", false), "select 1;");
        assert_eq!(
            show_continuations("select\n       1", false),
            "select\n  ...> 1"
        );
        assert_eq!(
            show_continuations("select (\n       1", false),
            "select (\n  (..> 1"
        );
        assert_eq!(
            show_continuations("select '\n       1", false),
            "select '\n       1"
        );
        assert_eq!(show_continuations("select\n  1", false), "select\n  1");
        assert_eq!(
            show_continuations("select\n       1", true),
            "select\n\x1b[2m  ...> \x1b[0m1"
        );
    }
}
