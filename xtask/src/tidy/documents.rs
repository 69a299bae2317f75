//! Documents and SQL tests that have to be there and to say something.

use super::Finding;
use crate::tree::Tree;

/// A longer style guide is not read.
const STYLE_LINES_MAX: usize = 150;
/// A README below this size is a heading.
const README_BYTES_MIN: usize = 400;

/// Each crate has a README.
pub fn every_crate_has_a_readme(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &tree.crates {
        let path = format!("{}/README.md", member.folder);
        match tree.file(&path) {
            None => findings.push(Finding::new(
                "readme",
                &path,
                0,
                "is missing: say what the crate answers",
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

/// The stations of the architecture's walks are modules that exist.
pub fn stations_exist(tree: &Tree) -> Vec<Finding> {
    let Some(document) = tree.file("ARCHITECTURE.md") else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (line, text) in (1..).zip(document.text.lines()) {
        for station in text.split('`').skip(1).step_by(2) {
            if station.starts_with("quire") && !is_module(tree, station) {
                let text = format!("there is no module {station}");
                findings.push(Finding::new("stations", &document.path, line, text));
            }
        }
    }
    findings
}

/// Whether a crate, as its manifest or as Rust calls it, has a file for the module. What is no path of modules is none of our business.
fn is_module(tree: &Tree, path: &str) -> bool {
    let mut parts = path.split("::");
    let name = parts.next().unwrap_or_default().replace('_', "-");
    let is_name = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let inside: Vec<&str> = parts.collect();
    if inside.iter().any(|part| !is_name(part)) {
        return true;
    }
    let Some(owner) = tree.crates.iter().find(|owner| owner.name == name) else {
        return !is_name(&name.replace('-', "_"));
    };
    let base = format!("{}/src/{}", owner.folder, inside.join("/"));
    inside.is_empty()
        || tree.file(&format!("{base}.rs")).is_some()
        || tree.file(&format!("{base}/mod.rs")).is_some()
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
    fn a_station_that_is_gone_is_found() {
        let walk = "`quire_a::b`, `quire_a::b::c`, then `quire_a::gone` of `quire-a`, `quire_gone`; `quire_pool()`\n";
        let tree = tree_of(&[
            ("ARCHITECTURE.md", walk),
            ("crates/a/Cargo.toml", "[package]\nname = \"quire-a\"\n"),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/b/c/mod.rs", ""),
        ]);
        assert_eq!(stations_exist(&tree).len(), 2);
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
