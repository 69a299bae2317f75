//! What the prose of the repository does not contain.

use super::Finding;
use crate::rust_source::has_word;
use crate::tree::Tree;

/// Remarks about unfinished work. Only the first may stand, and only as `TODO(name):`.
const REMARKS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
/// How the paths begin that exist on one machine only.
const MACHINE_PATHS: [[&str; 2]; 4] = [
    ["/ro", "ot/"],
    ["/ho", "me/"],
    ["/wo", "rk/"],
    ["/tmp/qu", "ire"],
];

/// Unfinished work has a name on it.
pub fn todos_have_an_owner(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|file| file.path != "xtask/src/tidy/words.rs")
    {
        for (at, line) in file.prose().lines().enumerate() {
            let remark = REMARKS.iter().find(|remark| has_word(line, remark));
            if let Some(remark) = remark.filter(|_| !has_owner(line)) {
                let message =
                    format!("`{remark}` without an owner: write `TODO(name): what` or do it");
                findings.push(Finding::new("todo", &file.path, at + 1, message));
            }
        }
    }
    findings
}

fn has_owner(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("TODO(") else {
        return false;
    };
    rest.split_once("):")
        .is_some_and(|(name, _)| !name.is_empty() && !name.contains(char::is_whitespace))
}

/// A path of one machine is wrong on every other.
pub fn no_paths_of_one_machine(tree: &Tree) -> Vec<Finding> {
    let needles: Vec<String> = MACHINE_PATHS.iter().map(|halves| halves.concat()).collect();
    let mut findings = Vec::new();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(needle) = needles.iter().find(|needle| line.contains(needle.as_str())) {
                findings.push(Finding::new(
                    "paths",
                    &file.path,
                    at + 1,
                    format!("{needle} exists on one machine only"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    #[test]
    fn a_remark_needs_an_owner() {
        let tree = tree_of(&[
            (
                "a.rs",
                "// TODO: later\nlet todo = \"TODO\";\n// TODO(ada): the other half\n",
            ),
            ("b.md", "FIXME\nTODOS are fine\n"),
        ]);
        let places: Vec<(String, usize)> = todos_have_an_owner(&tree)
            .into_iter()
            .map(|finding| (finding.path, finding.line))
            .collect();
        assert_eq!(places, [("a.rs".to_owned(), 1), ("b.md".to_owned(), 1)]);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let line = format!("cd {}me/ada/quire\n", "/ho");
        assert_eq!(
            no_paths_of_one_machine(&tree_of(&[("a.md", &line), ("b.md", "cd ~/quire\n")])).len(),
            1
        );
    }
}
