//! Documents and SQL tests that have to be there and to say something.

use super::Finding;
use crate::tree::Tree;

/// A longer style guide is not read.
const STYLE_LINES_MAX: usize = 150;
/// A README below this size is a heading.
const README_BYTES_MIN: usize = 400;

/// Each room says what it answers.
pub fn every_crate_has_a_readme(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for room in &tree.crates {
        let path = format!("{}/README.md", room.folder);
        match tree.file(&path) {
            None => findings.push(Finding::new(
                "readme",
                &path,
                0,
                "is missing: say what the room answers",
            )),
            Some(file) if file.text.len() < README_BYTES_MIN => {
                findings.push(Finding::new("readme", &path, 0, "says next to nothing"));
            }
            Some(_) => {}
        }
    }
    findings
}

/// The style guide stays short.
pub fn style_guide_is_short(tree: &Tree) -> Vec<Finding> {
    let lines = tree
        .file("STYLE.md")
        .map_or(0, |file| file.text.lines().count());
    if (1..=STYLE_LINES_MAX).contains(&lines) {
        return Vec::new();
    }
    vec![Finding::new(
        "style",
        "STYLE.md",
        0,
        format!("has {lines} lines, allowed are 1 to {STYLE_LINES_MAX}"),
    )]
}

/// An `.slt` file that asks nothing cannot fail.
pub fn sql_tests_assert_something(tree: &Tree) -> Vec<Finding> {
    let asserts = |line: &str| line.starts_with("query ") || line.starts_with("statement error");
    tree.files
        .iter()
        .filter(|file| file.path.ends_with(".slt") && !file.text.lines().any(asserts))
        .map(|file| Finding::new("slt", &file.path, 0, "has no query and no expected error"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    #[test]
    fn a_missing_and_an_empty_readme_are_found() {
        let tree = tree_of(&[
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("crates/b/README.md", "# b\n"),
        ]);
        assert_eq!(every_crate_has_a_readme(&tree).len(), 2);
    }

    #[test]
    fn a_long_or_missing_style_guide_is_found() {
        assert_eq!(style_guide_is_short(&tree_of(&[])).len(), 1);
        assert_eq!(
            style_guide_is_short(&tree_of(&[("STYLE.md", &"x\n".repeat(151))])).len(),
            1
        );
        assert_eq!(
            style_guide_is_short(&tree_of(&[("STYLE.md", &"x\n".repeat(150))])),
            []
        );
    }

    #[test]
    fn a_sql_test_without_a_question_is_found() {
        let tree = tree_of(&[
            ("tests/slt/a.slt", "statement ok\nCREATE TABLE t (a INT)\n"),
            ("tests/slt/b.slt", "query I\nSELECT 1\n----\n1\n"),
        ]);
        assert_eq!(sql_tests_assert_something(&tree).len(), 1);
    }
}
