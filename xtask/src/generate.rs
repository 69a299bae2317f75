//! Documents written by code, so that they cannot disagree with it.

use std::fs;
use std::path::Path;

/// A document: its path relative to the root, and the function that writes its text.
type Document = (&'static str, fn() -> String);

const DOCUMENTS: [Document; 1] = [(
    "crates/quire-format/FORMAT.md",
    quire_format::reference::format_document,
)];

/// Rewrites every generated document.
pub fn write_all(root: &Path) -> Result<(), String> {
    for (path, write) in DOCUMENTS {
        fs::write(root.join(path), write()).map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Paths of generated documents that differ from what the code would write now.
pub fn stale(root: &Path) -> Vec<&'static str> {
    stale_among(&DOCUMENTS, root)
}

fn stale_among(documents: &[Document], root: &Path) -> Vec<&'static str> {
    let is_stale = |path: &str, write: fn() -> String| {
        fs::read_to_string(root.join(path)).ok() != Some(write())
    };
    documents
        .iter()
        .filter(|(path, write)| is_stale(path, *write))
        .map(|(path, _)| *path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_differs_or_is_missing_is_stale() {
        let root = std::env::temp_dir().join(format!("xtask-generate-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("fresh.md"), "new").unwrap();
        fs::write(root.join("old.md"), "old").unwrap();
        let documents: [Document; 3] = [
            ("fresh.md", || "new".to_owned()),
            ("old.md", || "new".to_owned()),
            ("missing.md", || "new".to_owned()),
        ];
        assert_eq!(stale_among(&documents, &root), ["old.md", "missing.md"]);
        fs::remove_dir_all(&root).unwrap();
    }
}
