//! Where are the programs of a server, as whom do they run, and where does the server listen?

use super::super::TargetError;
use super::super::server_process::log_end;
use nix::unistd::{User, geteuid};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A system's programs, and the user that they run as if this process is root's: servers refuse to be.
pub(super) struct ServerPrograms {
    pub(super) name: &'static str,
    pub(super) user: &'static str,
}

impl ServerPrograms {
    /// A command that runs as that user.
    pub(super) fn command(&self, program: &Path) -> Result<Command, TargetError> {
        let mut command = Command::new(program);
        if let Some(user) = self.other_user()? {
            // Without supplementary groups, as the standard library has it for root.
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        Ok(command)
    }

    /// Makes a directory of that user's.
    pub(super) fn create_directory(&self, directory: &Path) -> Result<(), TargetError> {
        let file_error = |error| TargetError::File {
            path: directory.to_owned(),
            error,
        };
        fs::create_dir_all(directory).map_err(file_error)?;
        if let Some(user) = self.other_user()? {
            chown(directory, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
                .map_err(file_error)?;
        }
        Ok(())
    }

    /// Runs a command to its end; what it prints goes to `log`.
    pub(super) fn run(&self, mut command: Command, log: &Path) -> Result<(), TargetError> {
        let file_error = |error| TargetError::File {
            path: log.to_owned(),
            error,
        };
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .map_err(file_error)?;
        let both = output.try_clone().map_err(file_error)?;
        let status = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(both)
            .status();
        let program = command.get_program().display();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.not_started(format!(
                "{program}: {status}; the end of {}:\n{}",
                log.display(),
                log_end(log)
            ))),
            Err(error) => Err(self.not_started(format!("{program}: {error}"))),
        }
    }

    pub(super) fn not_started(&self, message: String) -> TargetError {
        TargetError::NotStarted {
            target: self.name.to_owned(),
            message,
        }
    }

    /// A program of the search path or of one of `directories`.
    pub(super) fn find(
        &self,
        program: &str,
        directories: &[PathBuf],
    ) -> Result<PathBuf, TargetError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = directories
            .iter()
            .cloned()
            .chain(std::env::split_paths(&path));
        let found =
            places.find_map(|place| Some(place.join(program)).filter(|file| file.is_file()));
        found.ok_or_else(|| {
            self.not_started(format!(
                "{program} is not installed; install the server, or put it in PATH"
            ))
        })
    }

    fn other_user(&self) -> Result<Option<User>, TargetError> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        match User::from_name(self.user) {
            Ok(Some(user)) => Ok(Some(user)),
            Ok(None) => Err(self.not_started(format!(
                "it does not run as root, and there is no user {}",
                self.user
            ))),
            Err(error) => Err(self.not_started(error.to_string())),
        }
    }
}

/// A port of the loopback that nobody listens on.
pub(super) fn free_port() -> Result<u16, TargetError> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    listener
        .map(|address| address.port())
        .map_err(|error| TargetError::NotStarted {
            target: "a server".into(),
            message: format!("no port is free: {error}"),
        })
}
