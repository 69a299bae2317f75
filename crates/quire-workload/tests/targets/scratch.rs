//! Directories of tests, and what is installed.

use std::path::{Path, PathBuf};

/// A directory that is removed with this value.
pub struct ScratchDirectory(PathBuf);

impl ScratchDirectory {
    pub fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("quire-workload-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // A failing test reports its own error.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whether a program is in the search path or in a directory, of which one part may be any. If not, says so.
pub fn installed(program: &str, directory: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    match directory.split_once("/*/") {
        Some((parent, below)) => {
            let versions = std::fs::read_dir(parent).into_iter().flatten().flatten();
            places.extend(versions.map(|version| version.path().join(below)));
        }
        None => places.push(directory.into()),
    }
    let found = places.iter().any(|place| place.join(program).is_file());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
