//! A file that appears under its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::CopyError;

static NEXT_SUFFIX: AtomicU64 = AtomicU64::new(0);

/// Bytes go to a temporary file beside the target; [`AtomicFile::commit`] makes them durable and
/// gives them the name. Dropped without commit, nothing is left, and an older file of that name
/// is untouched. A target that exists and is no regular file (a pipe, a device) is written in place.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    shown_name: Arc<str>,
    /// Temporary path and final path; `None` once committed or when written in place.
    rename: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Opens a file that will be known as `path`.
    ///
    /// # Errors
    /// [`CopyError::Directory`] or [`CopyError::Io`].
    pub fn create(path: &Path) -> Result<Self, CopyError> {
        let shown_name: Arc<str> = path.to_string_lossy().into();
        let failed = |source| CopyError::io("create", &shown_name, source);
        // The target of a link is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&target) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(CopyError::Directory { file: shown_name });
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new()
                    .write(true)
                    .open(&target)
                    .map_err(failed)?;
                return Ok(Self {
                    file,
                    shown_name,
                    rename: None,
                });
            }
            _ => {}
        }
        let Some(name) = target.file_name() else {
            return Err(failed(io::Error::from(io::ErrorKind::InvalidInput)));
        };
        let suffix = NEXT_SUFFIX.fetch_add(1, Ordering::Relaxed);
        let mut temporary_name = std::ffi::OsString::from(".");
        temporary_name.push(name);
        temporary_name.push(format!(".{}.{suffix}.partial", std::process::id()));
        let temporary = target.with_file_name(temporary_name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(failed)?;
        Ok(Self {
            file,
            shown_name,
            rename: Some((temporary, target)),
        })
    }

    /// Makes the bytes durable and visible under the name.
    ///
    /// # Errors
    /// [`CopyError::Io`]; nothing is left then.
    pub fn commit(mut self) -> Result<(), CopyError> {
        let Some((temporary, target)) = &self.rename else {
            return Ok(());
        };
        self.file
            .sync_all()
            .map_err(|e| CopyError::io("write", &self.shown_name, e))?;
        fs::rename(temporary, target).map_err(|e| CopyError::io("rename", &self.shown_name, e))?;
        // Best effort: some file systems cannot sync a directory.
        let directory = target.parent().filter(|p| !p.as_os_str().is_empty());
        if let Ok(directory) = File::open(directory.unwrap_or(Path::new("."))) {
            let _ = directory.sync_all();
        }
        self.rename = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.rename.take() {
            // Nothing can be done about a failure; the name says what the file is.
            let _ = fs::remove_file(temporary);
        }
    }
}
