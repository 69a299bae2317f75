//! A server that this process started: it ends with the value that holds it.

use super::TargetError;
use super::descriptors::raise_descriptor_limit;
use super::stored::allocated_bytes;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Recovery after a crash may take so long.
const START_TIMEOUT: Duration = Duration::from_secs(300);
/// After that it is killed; at the next start it recovers.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// What an error shows of the end of a log.
const LOG_BYTES_SHOWN: usize = 2_000;

/// A server and its files. Dropping it stops the server, also while a test panics.
pub(super) struct ServerProcess {
    child: Child,
    /// What asks the server to end in order, without waiting for its clients.
    stop_signal: Signal,
    data: PathBuf,
}

impl ServerProcess {
    /// Starts a server whose files are in `data` and waits until `answers` is `Ok`. What it prints goes to `log`.
    pub(super) fn start(
        name: &str,
        mut command: Command,
        stop_signal: Signal,
        data: &Path,
        log: &Path,
        answers: impl Fn() -> Result<(), TargetError>,
    ) -> Result<Self, TargetError> {
        raise_descriptor_limit();
        let file_error = |error| TargetError::File {
            path: log.to_owned(),
            error,
        };
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(file_error)?;
        command.stdin(Stdio::null());
        command
            .stdout(output.try_clone().map_err(file_error)?)
            .stderr(output);
        let not_started = |message: String| TargetError::NotStarted {
            target: name.to_owned(),
            message,
        };
        let child = command.spawn().map_err(|error| {
            not_started(format!("{}: {error}", command.get_program().display()))
        })?;
        let mut server = Self {
            child,
            stop_signal,
            data: data.to_owned(),
        };
        let started = Instant::now();
        while let Err(error) = answers() {
            let ended = server
                .child
                .try_wait()
                .map_err(|error| not_started(error.to_string()))?;
            if ended.is_some() || started.elapsed() > START_TIMEOUT {
                let end = ended.map_or_else(|| error.to_string(), |status| status.to_string());
                return Err(not_started(format!(
                    "{end}; the end of {}:\n{}",
                    log.display(),
                    log_end(log)
                )));
            }
            sleep(POLL);
        }
        Ok(server)
    }

    /// Bytes of the server's files, its log of changes among them.
    pub(super) fn stored_bytes(server: Option<&Self>, name: &str) -> Result<u64, TargetError> {
        match server {
            Some(server) => allocated_bytes(&server.data),
            None => Err(TargetError::Refused {
                target: name.to_owned(),
                message: "only the files of a server that was started here can be weighed".into(),
            }),
        }
    }

    /// The server's process and those that descend from it at this moment.
    pub(super) fn processes(&self) -> Vec<u32> {
        let children = children_of_processes();
        let mut found = vec![self.child.id()];
        let mut index = 0;
        while let Some(process) = found.get(index) {
            found.extend(children.get(process).into_iter().flatten());
            index += 1;
        }
        found
    }

    fn stop(&mut self) -> io::Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        // Not reaped yet, so that the number is still its own.
        kill(Pid::from_raw(self.child.id() as i32), self.stop_signal)?;
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIMEOUT {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            sleep(POLL);
        }
        let backends = self.processes();
        for process in backends {
            // Those that ended by themselves meanwhile are no error.
            let _ = kill(Pid::from_raw(process as i32), Signal::SIGKILL);
        }
        self.child.wait().map(drop)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("process {} could not be stopped: {error}", self.child.id());
        }
    }
}

/// The end of a log, from a whole character on.
pub(super) fn log_end(log: &Path) -> String {
    let bytes = fs::read(log).unwrap_or_default();
    let start = bytes.len().saturating_sub(LOG_BYTES_SHOWN);
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}

/// For each process those that it started and that still run (proc(5), `/proc/pid/stat`). Processes that end meanwhile are left out.
fn children_of_processes() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = fs::read_to_string(entry.path().join("stat"));
        if let (Some(process), Ok(stat)) = (process, stat)
            && let Some(parent) = parent_of(&stat)
        {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

/// The parent's number, behind the name in parentheses, which may have any characters, and the state.
fn parent_of(stat: &str) -> Option<u32> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_server_and_its_children_are_known_and_end_with_a_panic() {
        let directory =
            std::env::temp_dir().join(format!("quire-workload-process-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "trap 'kill $!; exit' TERM; sleep 1000 & echo $!; wait",
        ]);
        let log = directory.join("log");
        let answers = || match log_end(&log).trim() {
            "" => Err(TargetError::NotStarted {
                target: "sh".into(),
                message: "no child yet".into(),
            }),
            _ => Ok(()),
        };
        let server =
            ServerProcess::start("sh", command, Signal::SIGTERM, &directory, &log, answers)
                .unwrap();
        let child: u32 = log_end(&log).trim().parse().unwrap();
        let own = server.child.id();
        assert_eq!(server.processes(), [own, child]);
        let moved = AssertUnwindSafe(server);
        let panicked = catch_unwind(move || {
            let _server = moved;
            std::panic::resume_unwind(Box::new("as a failing test does"));
        });
        assert!(panicked.is_err());
        assert!(!Path::new(&format!("/proc/{own}")).exists());
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_name_may_have_parentheses() {
        assert_eq!(parent_of("12 (a) R 1) S 7 12 12 0"), Some(7));
        assert_eq!(parent_of("12"), None);
    }
}
