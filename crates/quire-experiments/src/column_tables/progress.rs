//! What is done, and how long it takes.

use std::time::Instant;

/// Tells whoever waits what is done.
pub(crate) struct ExperimentProgress<'p> {
    tell: &'p mut dyn FnMut(&str),
}

impl<'p> ExperimentProgress<'p> {
    pub(crate) fn new(tell: &'p mut dyn FnMut(&str)) -> Self {
        Self { tell }
    }

    /// Says something.
    pub(crate) fn say(&mut self, text: &str) {
        (self.tell)(text);
    }

    /// Does something, and says what and how long it took.
    ///
    /// # Errors
    /// Those of `work`.
    pub(crate) fn timed<T, E>(
        &mut self,
        what: &str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let start = Instant::now();
        let result = work()?;
        self.say(&format!("{what}: {:.2} s", start.elapsed().as_secs_f64()));
        Ok(result)
    }
}
