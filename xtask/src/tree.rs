//! The repository as the checks see it: crates with their manifests, and text files.

use crate::rust_source::RustSource;
use std::fs;
use std::path::Path;

/// Folders that hold no sources of ours.
const NOT_OURS: [&str; 5] = ["target", ".git", ".venv", ".ci/out", "node_modules"];
/// Larger files than this are data.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// A text file of the repository.
pub struct TextFile {
    /// Relative to the root, with forward slashes.
    pub path: String,
    pub text: String,
    /// Present for `.rs`.
    pub rust: Option<RustSource>,
}

/// A crate of the workspace.
pub struct Crate {
    pub name: String,
    /// Folder relative to the root.
    pub folder: String,
    /// Names under `[dependencies]` and `[build-dependencies]`, with renames undone. Those of tests are left out.
    pub dependencies: Vec<String>,
}

/// Everything the checks look at.
pub struct Tree {
    pub files: Vec<TextFile>,
    pub crates: Vec<Crate>,
}

impl Tree {
    /// Reads the repository under `root`.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut paths = Vec::new();
        walk(root, "", &mut paths)?;
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            let bytes = fs::read(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(TextFile::new(&path, text));
            }
        }
        Ok(Self::from_files(files))
    }

    /// Makes a tree of files already in memory.
    pub fn from_files(files: Vec<TextFile>) -> Self {
        let crates = files.iter().filter_map(Crate::from_manifest).collect();
        Self { files, crates }
    }

    pub fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Rust files that are neither tests, benchmarks nor examples, with their crate.
    pub fn production_sources(&self) -> impl Iterator<Item = (&Crate, &TextFile, &RustSource)> {
        self.files.iter().filter_map(|file| {
            let owner = self.owner_of(&file.path)?;
            let inside = file
                .path
                .strip_prefix(&owner.folder)?
                .strip_prefix("/src/")?;
            let is_test = inside
                .split('/')
                .any(|part| part == "tests" || part == "tests.rs");
            if is_test {
                None
            } else {
                Some((owner, file, file.rust.as_ref()?))
            }
        })
    }

    pub fn owner_of(&self, path: &str) -> Option<&Crate> {
        self.crates.iter().find(|member| {
            path.strip_prefix(&member.folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

impl TextFile {
    pub fn new(path: &str, text: String) -> Self {
        let rust = path.ends_with(".rs").then(|| RustSource::new(&text));
        Self {
            path: path.to_owned(),
            text,
            rust,
        }
    }

    /// The words written for people: comments of Rust, everything of other files.
    pub fn prose(&self) -> &str {
        self.rust.as_ref().map_or(&self.text, |rust| &rust.comments)
    }
}

impl Crate {
    fn from_manifest(file: &TextFile) -> Option<Self> {
        let folder = file.path.strip_suffix("/Cargo.toml")?;
        let (mut name, mut dependencies) = (None, Vec::new());
        let mut section = String::new();
        for line in file
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with('#'))
        {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').to_owned();
                let table = section.rsplit_once("dependencies.");
                if let Some((_, dependency)) = table.filter(|(kind, _)| !kind.ends_with("dev-")) {
                    dependencies.push(dependency.to_owned());
                }
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let key = key
                .trim()
                .split('.')
                .next()
                .unwrap_or_default()
                .trim_matches('"');
            if section == "package" && key == "name" {
                name = Some(value.trim().trim_matches('"').to_owned());
            } else if section.ends_with("dependencies") && !section.ends_with("dev-dependencies") {
                dependencies.push(dependency_name(key, value));
            }
        }
        Some(Self {
            name: name?,
            folder: folder.to_owned(),
            dependencies,
        })
    }
}

/// The real name of a dependency: `package = "…"` when it was renamed.
fn dependency_name(key: &str, value: &str) -> String {
    let renamed = value
        .split_once("package")
        .and_then(|(_, rest)| rest.split('"').nth(1));
    renamed.unwrap_or(key).to_owned()
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<(), String> {
    let entries = fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let metadata = entry
            .metadata()
            .map_err(|error| format!("{path}: {error}"))?;
        if NOT_OURS.contains(&path.as_str()) || path.ends_with("/__pycache__") {
            continue;
        }
        if metadata.is_dir() {
            walk(root, &path, paths)?;
        } else if metadata.len() <= TEXT_BYTES_MAX && !path.ends_with(".lock") {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_gives_its_dependencies_by_kind() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { package = \"d\", version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\ne = \"1\"\n[dev-dependencies]\nf.workspace = true\n\
                    [dependencies.g]\nversion = \"1\"\n[dev-dependencies.h]\nversion = \"1\"\n";
        let tree = Tree::from_files(vec![TextFile::new("crates/a/Cargo.toml", text.to_owned())]);
        assert_eq!(tree.crates[0].dependencies, ["b", "d", "e", "g"]);
    }

    #[test]
    fn test_files_are_not_production_sources() {
        let manifest = TextFile::new(
            "crates/a/Cargo.toml",
            "[package]\nname = \"a\"\n".to_owned(),
        );
        let source = |path: &str| TextFile::new(path, "fn a() {}\n".to_owned());
        let tree = Tree::from_files(vec![
            manifest,
            source("crates/a/src/lib.rs"),
            source("crates/a/src/x/tests.rs"),
            source("crates/a/src/tests/y.rs"),
            source("crates/a/tests/z.rs"),
        ]);
        let paths: Vec<&str> = tree
            .production_sources()
            .map(|(_, file, _)| file.path.as_str())
            .collect();
        assert_eq!(paths, ["crates/a/src/lib.rs"]);
    }
}
