//! A folder that is removed at the end of a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use quire_sources::SourceDatabase;
use rusqlite::Connection;

pub struct SourceTestFolder(pub PathBuf);

impl SourceTestFolder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("quire-sources-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Names of the files in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for SourceTestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn opened(path: &Path) -> SourceDatabase {
    SourceDatabase::open(path.to_str().unwrap()).unwrap()
}

/// A file made by these statements, opened.
pub fn sqlite(statements: &str) -> (SourceTestFolder, SourceDatabase) {
    let folder = SourceTestFolder::new();
    let path = folder.file("app.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(statements)
        .unwrap();
    let database = opened(&path);
    (folder, database)
}
