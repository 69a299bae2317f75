//! How code that cannot wait, such as a function of SQL, hears that its statement is cancelled.
//!
//! A planner's functions find it among the options that they are given with each call. Compiled statements, which all connections
//! share, run on the caller's thread: there it is the thread's.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::config::{ConfigEntry, ConfigExtension, ConfigOptions, ExtensionOptions};
use datafusion::common::{Result, config_err};

use crate::cancel::CancelToken;
use crate::error::Error;

thread_local! {
    /// The statement that this thread runs.
    static RUNNING: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// Bytes of a value that a function makes for a plan.
const FOLDED_BYTES_MAX: usize = 1 << 20;

/// Whom to ask.
#[derive(Debug, Clone, Default)]
pub struct Interruption {
    token: Option<CancelToken>,
    /// Whether functions are called to fold constants of a plan, not to make rows.
    is_planning: Arc<AtomicBool>,
}

impl Interruption {
    /// That of a statement.
    pub fn new(token: &CancelToken) -> Self {
        Self {
            token: Some(token.clone()),
            is_planning: Arc::default(),
        }
    }

    /// What a function finds among its options, or on its thread.
    pub fn of(options: &ConfigOptions) -> Self {
        match options.extensions.get::<Self>() {
            Some(known) => known.clone(),
            None => Self {
                token: RUNNING.with_borrow(Clone::clone),
                is_planning: Arc::default(),
            },
        }
    }

    /// Planning lasts until the guard is dropped.
    pub fn begin_planning(options: &ConfigOptions) -> Planning {
        let interruption = Self::of(options);
        interruption.is_planning.store(true, Ordering::Relaxed);
        Planning(interruption.is_planning)
    }

    /// Whether a function may make a value of so many bytes now. A large constant stays a call until the statement runs: each pass
    /// over a plan copies its constants.
    pub fn allows(&self, bytes: usize) -> bool {
        bytes <= FOLDED_BYTES_MAX || !self.is_planning.load(Ordering::Relaxed)
    }

    /// Fails when the statement is cancelled.
    pub fn check(&self) -> Result<(), Error> {
        match &self.token {
            Some(token) if token.is_cancelled() => Err(Error::cancelled()),
            _ => Ok(()),
        }
    }
}

/// See [`Interruption::begin_planning`].
pub struct Planning(Arc<AtomicBool>);

impl Drop for Planning {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Runs a statement on this thread.
pub fn while_running<T>(token: &CancelToken, work: impl FnOnce() -> T) -> T {
    /// Puts back what there was, also when the work panics.
    struct RunningTokenGuard(Option<CancelToken>);
    impl Drop for RunningTokenGuard {
        fn drop(&mut self) {
            RUNNING.set(self.0.take());
        }
    }
    let _restore = RunningTokenGuard(RUNNING.replace(Some(token.clone())));
    work()
}

impl ConfigExtension for Interruption {
    const PREFIX: &'static str = "quire_interruption";
}

/// It is no setting: nothing shows it or sets it.
impl ExtensionOptions for Interruption {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, _: &str) -> Result<()> {
        config_err!("there is no setting {key}")
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        Vec::new()
    }
}
