//! Where results go: the standard output, or a file named by `.output` or `.once`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

/// A place for results.
pub struct ShellOutput {
    stdout: BufWriter<Stdout>,
    file: Option<Redirection>,
}

struct Redirection {
    writer: BufWriter<File>,
    /// Ends with the next statement.
    is_once: bool,
}

impl ShellOutput {
    /// The standard output.
    pub fn new() -> Self {
        Self {
            stdout: BufWriter::new(io::stdout()),
            file: None,
        }
    }

    /// Sends what follows to a new file, or one that is overwritten.
    ///
    /// # Errors
    /// When the file cannot be made; the output stays what it was.
    pub fn redirect(&mut self, path: &Path, is_once: bool) -> io::Result<()> {
        let writer = BufWriter::new(File::create(path)?);
        self.reset()?;
        self.file = Some(Redirection { writer, is_once });
        Ok(())
    }

    /// Back to the standard output.
    ///
    /// # Errors
    /// When the rest of the file cannot be written.
    pub fn reset(&mut self) -> io::Result<()> {
        match self.file.take() {
            Some(mut file) => file.writer.flush(),
            None => Ok(()),
        }
    }

    /// Whether results appear on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.file.is_none() && io::stdout().is_terminal()
    }

    /// Whether results go to a file.
    pub fn is_redirected(&self) -> bool {
        self.file.is_some()
    }

    /// Where results are written.
    pub fn writer(&mut self) -> &mut dyn Write {
        match &mut self.file {
            Some(file) => &mut file.writer,
            None => &mut self.stdout,
        }
    }

    /// The standard output, wherever results go.
    pub fn process_writer(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    /// Makes everything written visible; ends `.once`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_statement(&mut self) -> io::Result<()> {
        self.writer().flush()?;
        if self.file.as_ref().is_some_and(|file| file.is_once) {
            self.file = None;
        }
        Ok(())
    }
}
