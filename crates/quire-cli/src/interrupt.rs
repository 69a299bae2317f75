//! Ctrl-C while a statement runs: the first press cancels it, the second ends the program.
//!
//! At the prompt the terminal is in raw mode and Ctrl-C is a key of the line editor; the signal
//! then comes from elsewhere and is ignored. In a script it ends the program between statements.

use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quire::CancelHandle;

use crate::exit_code::INTERRUPTED;

#[derive(Debug, Default)]
struct InterruptState {
    /// Present while a statement runs.
    running: Option<CancelHandle>,
    /// Presses since the statement began.
    press_count: u32,
    /// Whether a prompt stands ready to take keys.
    has_prompt: bool,
    /// Whether a statement was cancelled since [`Interrupts::take_interrupted`] last asked.
    was_interrupted: bool,
    /// Whether a statement was ever cancelled.
    has_cancelled: bool,
}

/// Connects the signal with the running statement.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    state: Arc<Mutex<InterruptState>>,
}

impl Interrupts {
    /// Installs the handler. Without one, for want of rights or threads, Ctrl-C ends the program
    /// as it does by default.
    pub fn install(has_prompt: bool) -> Self {
        let interrupts = Self::default();
        interrupts.lock().has_prompt = has_prompt;
        let handler = interrupts.clone();
        let _ = ctrlc::set_handler(move || {
            if handler.press() == Reaction::Exit {
                process::exit(i32::from(INTERRUPTED));
            }
        });
        interrupts
    }

    /// A statement starts; until the guard is dropped Ctrl-C cancels it.
    pub fn start(&self, handle: CancelHandle) -> RunningGuard<'_> {
        let mut state = self.lock();
        state.running = Some(handle);
        state.press_count = 0;
        RunningGuard { interrupts: self }
    }

    /// Ctrl-C, read as a key: cancels the running statement.
    pub fn cancel_running(&self) {
        // A second one would end the program if it were a signal, but the prompt stays.
        let _ = self.press();
    }

    /// Whether a statement was cancelled since the last call.
    pub fn take_interrupted(&self) -> bool {
        std::mem::take(&mut self.lock().was_interrupted)
    }

    /// The same, and the next call says so again.
    pub fn was_interrupted(&self) -> bool {
        self.lock().was_interrupted
    }

    /// Whether a statement was ever cancelled. Its operators may still be at work.
    pub fn has_cancelled(&self) -> bool {
        self.lock().has_cancelled
    }

    fn press(&self) -> Reaction {
        let mut state = self.lock();
        state.press_count += 1;
        match &state.running {
            Some(handle) if state.press_count == 1 => {
                handle.cancel();
                state.was_interrupted = true;
                state.has_cancelled = true;
                Reaction::Stay
            }
            None if state.has_prompt => {
                state.was_interrupted = true;
                Reaction::Stay
            }
            _ => Reaction::Exit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, InterruptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Reaction {
    Stay,
    Exit,
}

/// A statement is running.
pub struct RunningGuard<'a> {
    interrupts: &'a Interrupts,
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.interrupts.lock().running = None;
    }
}

#[cfg(test)]
mod tests {
    use quire::CancelHandle;

    use super::{Interrupts, Reaction};

    fn interrupts(has_prompt: bool) -> Interrupts {
        let interrupts = Interrupts::default();
        interrupts.lock().has_prompt = has_prompt;
        interrupts
    }

    #[test]
    fn the_first_press_cancels_and_the_second_ends_the_program() {
        for has_prompt in [false, true] {
            let interrupts = interrupts(has_prompt);
            let running = interrupts.start(CancelHandle::default());
            assert_eq!(interrupts.press(), Reaction::Stay);
            assert!(interrupts.take_interrupted());
            assert!(!interrupts.take_interrupted());
            assert_eq!(interrupts.press(), Reaction::Exit);
            drop(running);
        }
    }

    #[test]
    fn every_statement_counts_anew() {
        let interrupts = interrupts(true);
        for _ in 0..3 {
            let _running = interrupts.start(CancelHandle::default());
            assert_eq!(interrupts.press(), Reaction::Stay);
        }
    }

    #[test]
    fn between_statements_a_script_ends_and_a_prompt_stays() {
        assert_eq!(interrupts(false).press(), Reaction::Exit);
        assert_eq!(interrupts(true).press(), Reaction::Stay);
    }
}
