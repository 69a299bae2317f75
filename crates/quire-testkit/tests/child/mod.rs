//! Processes that are killed: the test's own program again, with one test that runs until then.

use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Starts the test of that name as a process of its own, which finds the path in `variable`.
pub fn start(test: &str, variable: &str, path: &Path) -> (Child, ChildStdout) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(variable, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    (child, output)
}

/// Kills it (SIGKILL).
pub fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A file in the folder for temporary files that goes with this.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// The name is this process's own.
    pub fn new(name: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
