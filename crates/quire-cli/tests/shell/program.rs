//! Starting the program, and a folder for its files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Text of one column of a million rows, as a query.
pub const MANY_ROWS: &str = "SELECT value FROM generate_series(1, 1000000)";

/// A query that runs until it is cancelled.
pub const ENDLESS: &str = "SELECT count(*) FROM generate_series(1, 100000000) AS a(x) \
     JOIN generate_series(1, 100000000) AS b(y) ON a.x + b.y < 0";

/// A join that compares for hours without a row to show, so that it never looks up.
pub const ABSORBED: &str = "SELECT count(*) FROM generate_series(1, 1000000) AS a(x) \
     JOIN generate_series(1, 10000000) AS b(y) ON a.x + b.y < 0";

/// An empty folder that is removed at the end of the test.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("shell-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file as text.
    pub fn file(&self, name: &str) -> String {
        self.path.join(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path.join(name), content).unwrap();
        self.file(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path.join(name)).unwrap()
    }

    /// The program with these arguments, its history kept in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quire"));
        command
            .args(arguments)
            .current_dir(&self.path)
            .env("XDG_STATE_HOME", self.path.join("state"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    pub fn run(&self, arguments: &[&str]) -> Finished {
        Finished::from(self.command(arguments).output().unwrap())
    }

    /// Runs a script given on the standard input.
    pub fn run_script(&self, arguments: &[&str], script: &str) -> Finished {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(script.as_bytes())
            .unwrap();
        Finished::from(child.wait_with_output().unwrap())
    }

    /// Runs statements that must succeed; their output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let finished = self.run(arguments);
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
        finished.stdout
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What a program that ended left.
#[derive(Debug)]
pub struct Finished {
    pub stdout: String,
    pub stderr: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}
