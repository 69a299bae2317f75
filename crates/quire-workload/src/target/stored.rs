//! How much of the disk do the files of a database take?

use super::TargetError;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Unit of `st_blocks`, whatever the blocks of the file system are (POSIX `<sys/stat.h>`, Linux `stat(2)`).
const BLOCK_BYTES: u64 = 512;

/// Bytes that are allocated for a file, or for the files and directories below a directory. Holes, as InnoDB's page compression makes them, do
/// not count; what a file system compresses counts as it is stored. Files that vanish meanwhile count nothing.
///
/// # Errors
/// When a directory cannot be read.
pub fn allocated_bytes(path: &Path) -> Result<u64, TargetError> {
    let mut bytes = 0;
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        let error = |error| TargetError::File {
            path: path.clone(),
            error,
        };
        let Some(metadata) = unless_vanished(fs::symlink_metadata(&path)).map_err(error)? else {
            continue;
        };
        bytes += metadata.blocks() * BLOCK_BYTES;
        if metadata.is_dir() {
            for entry in unless_vanished(fs::read_dir(&path))
                .map_err(error)?
                .into_iter()
                .flatten()
            {
                waiting.push(entry.map_err(error)?.path());
            }
        }
    }
    Ok(bytes)
}

fn unless_vanished<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
