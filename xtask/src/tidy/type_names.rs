//! How many types share their name with another one: a search for such a name finds both.

use crate::rust_source::RustSource;
use crate::tree::Tree;
use std::collections::{BTreeMap, HashMap};

/// Names of which the module path says the rest, as in the standard library.
const CONVENTIONAL: [&str; 5] = ["Error", "Builder", "Iter", "IntoIter", "Options"];

/// For each crate, its definitions of types outside tests whose name another definition of the workspace has.
pub fn repeated_type_names(tree: &Tree) -> BTreeMap<String, usize> {
    let definitions: Vec<(&str, &str)> = tree
        .production_sources()
        .flat_map(|(member, _, source)| {
            type_names(source).map(move |name| (member.name.as_str(), name))
        })
        .filter(|(_, name)| !CONVENTIONAL.contains(name))
        .collect();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for (_, name) in &definitions {
        *holders.entry(name).or_default() += 1;
    }
    let mut counts = BTreeMap::new();
    for (member, name) in &definitions {
        if holders[name] > 1 {
            *counts.entry((*member).to_owned()).or_default() += 1;
        }
    }
    counts
}

fn type_names(source: &RustSource) -> impl Iterator<Item = &str> {
    source
        .code_lines()
        .filter_map(|(_, line)| defined_type(line))
}

/// The type that a line begins to define. A field, a macro's variable or a word within a line defines none.
fn defined_type(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(after) = rest.strip_prefix("pub") {
        rest = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => after,
        }
        .trim_start();
    }
    rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let (keyword, rest) = rest.split_once(' ')?;
    if !["struct", "enum", "trait", "union"].contains(&keyword) {
        return None;
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let name = &rest[..end];
    name.starts_with(char::is_uppercase).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    fn counts(sources: &[(&str, &str)]) -> Vec<(String, usize)> {
        let mut files = vec![
            ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ];
        files.extend(sources);
        repeated_type_names(&tree_of(&files)).into_iter().collect()
    }

    #[test]
    fn every_holder_of_a_repeated_name_counts_for_its_crate() {
        let found = counts(&[
            (
                "crates/a/src/lib.rs",
                "pub(crate) struct State;\nenum Alone {}\n",
            ),
            ("crates/a/src/m.rs", "fn f() {\n    trait State {}\n}\n"),
            ("crates/b/src/lib.rs", "pub union State<T> { a: T }\n"),
        ]);
        assert_eq!(found, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    }

    #[test]
    fn conventional_names_may_be_repeated() {
        let source = "pub enum Error {}\npub struct Builder;\n";
        assert!(
            counts(&[
                ("crates/a/src/lib.rs", source),
                ("crates/b/src/lib.rs", source)
            ])
            .is_empty()
        );
    }

    #[test]
    fn types_of_tests_and_words_in_comments_do_not_count() {
        let source = "struct Row;\n// struct Row;\n#[cfg(test)]\nmod tests {\n    struct Row;\n}\n";
        assert!(
            counts(&[
                ("crates/a/src/lib.rs", source),
                ("crates/a/src/x/tests.rs", "struct Row;\n")
            ])
            .is_empty()
        );
    }

    #[test]
    fn only_the_beginning_of_an_item_defines_a_type() {
        assert_eq!(
            defined_type("    pub(in a::b) struct Key<'a> {"),
            Some("Key")
        );
        assert_eq!(defined_type("unsafe trait Alive {}"), Some("Alive"));
        assert_eq!(defined_type("struct $name;"), None);
        assert_eq!(defined_type("public struct Key;"), None);
        assert_eq!(defined_type("let a = struct Key;"), None);
    }
}
