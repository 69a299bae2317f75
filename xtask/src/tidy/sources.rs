//! What production code does not contain.

use super::Finding;
use crate::tree::Tree;

/// Calls that turn an error into a panic.
const PANICKING: [&str; 4] = [".unwrap()", ".expect(", ".unwrap_err()", ".expect_err("];
/// Macros that stand for code somebody still has to write.
const STUBS: [&str; 2] = ["todo!", "unimplemented!"];
/// Names that say where code was put, not what it does.
const EMPTY_NAMES: [&str; 10] = [
    "util",
    "utils",
    "common",
    "helper",
    "helpers",
    "base",
    "misc",
    "shared",
    "stuff",
    "functions_misc",
];

/// Errors are values: `unwrap` and `expect` belong to tests.
pub fn no_unwrap_outside_tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, file, source) in tree.production_sources() {
        for (line, text) in source.code_lines() {
            if let Some(call) = PANICKING.iter().find(|call| text.contains(*call)) {
                findings.push(Finding::new(
                    "unwrap",
                    &file.path,
                    line,
                    format!("`{call}` outside tests: return the error"),
                ));
            }
        }
    }
    findings
}

/// What is merged is finished.
pub fn no_stubs(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, file, source) in tree.production_sources() {
        for (line, text) in source.code_lines() {
            if let Some(stub) = STUBS.iter().find(|stub| text.contains(*stub)) {
                findings.push(Finding::new(
                    "stubs",
                    &file.path,
                    line,
                    format!("`{stub}` is not code"),
                ));
            }
        }
    }
    findings
}

/// A module is named after what it answers.
pub fn modules_have_telling_names(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.rust.is_some()) {
        let parts = file
            .path
            .split('/')
            .map(|part| part.trim_end_matches(".rs"));
        if let Some(name) = parts.into_iter().find(|part| EMPTY_NAMES.contains(part)) {
            let message = format!("`{name}` does not say what is inside");
            findings.push(Finding::new("names", &file.path, 0, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    const STORE: (&str, &str) = (
        "crates/quire-store/Cargo.toml",
        "[package]\nname = \"quire-store\"\n",
    );

    #[test]
    fn unwrap_is_found_in_production_and_free_in_tests() {
        let source = "fn f() { g().unwrap(); h().unwrap_or(1); }\n#[cfg(test)]\nmod tests {\n    fn t() { g().unwrap(); }\n}\n";
        let findings = no_unwrap_outside_tests(&tree_of(&[
            STORE,
            ("crates/quire-store/src/a.rs", source),
            (
                "crates/quire-store/tests/b.rs",
                "fn t() { g().expect(\"x\"); }\n",
            ),
        ]));
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.line)
                .collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn a_stub_is_found() {
        let source = "fn f() { todo!() }\n";
        assert_eq!(
            no_stubs(&tree_of(&[STORE, ("crates/quire-store/src/a.rs", source)])).len(),
            1
        );
    }

    #[test]
    fn an_empty_name_is_found_for_files_and_folders() {
        let tree = tree_of(&[
            ("crates/a/src/util.rs", ""),
            ("crates/a/src/common/b.rs", ""),
            ("crates/a/src/base64.rs", ""),
        ]);
        assert_eq!(modules_have_telling_names(&tree).len(), 2);
    }
}
