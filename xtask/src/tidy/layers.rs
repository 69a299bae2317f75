//! Which part of a crate may import which: imports point down inside crates, too.
//!
//! A part is a module at the root of a crate, with all that is in its folder. The table has them from the lowest to the highest. Imports
//! that point up are counted, and so are the files that import each other in a circle: [`super::ratchets`] has the numbers, which may
//! only fall.

use super::Finding;
use super::layer_table::LAYERS;
use crate::imports::Imports;
use crate::tree::{Crate, Tree};

/// Every part of a crate is in the table, and nothing else is.
pub fn parts_are_in_the_table_of_layers(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &tree.crates {
        let Some(layers) = layers_of(member) else {
            continue;
        };
        let imports = Imports::read(tree, member);
        let parts: Vec<&str> = imports.of.keys().filter_map(|file| part_of(file)).collect();
        let missing = parts.iter().filter(|part| !layers.contains(part));
        let gone = layers.iter().filter(|part| !parts.contains(part));
        let mut say = |part: &str, what: &str| {
            let message = format!("{part} {what} the table of layers");
            findings.push(Finding::new("layers", &member.folder, 0, message));
        };
        missing.for_each(|part| say(part, "is not in"));
        gone.for_each(|part| say(part, "is not in the crate, and in"));
    }
    findings.dedup();
    findings
}

/// Imports of a crate from a lower part to a higher one.
pub fn upward_imports(member: &Crate, imports: &Imports) -> usize {
    let Some(layers) = layers_of(member) else {
        return 0;
    };
    let height = |file: &str| {
        let part = part_of(file)?;
        layers.iter().position(|layer| *layer == part)
    };
    let is_upward = |from: &str, to: &str| height(from).zip(height(to)).is_some_and(|(a, b)| a < b);
    let files = imports.of.iter();
    let upward = files.map(|(from, to)| to.iter().filter(|to| is_upward(from, to)).count());
    upward.sum()
}

fn layers_of(member: &Crate) -> Option<&'static [&'static str]> {
    let found = LAYERS.iter().find(|(name, _)| *name == member.name);
    found.map(|(_, layers)| *layers)
}

/// The part that a file belongs to; `None` for the root.
fn part_of(file: &str) -> Option<&str> {
    let part = file.split('/').next()?.trim_end_matches(".rs");
    (!matches!(part, "lib" | "main") && !file.starts_with("bin/")).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    const KV: (&str, &str) = (
        "crates/quire-kv/Cargo.toml",
        "[package]\nname = \"quire-kv\"\n",
    );
    const PROGRESS: (&str, &str) = ("crates/quire-kv/src/progress.rs", "pub struct Work;\n");
    const MVCC: (&str, &str) = (
        "crates/quire-kv/src/mvcc/mod.rs",
        "use crate::btree::BTree;\n",
    );

    fn kv(btree: &str) -> Tree {
        tree_of(&[
            KV,
            PROGRESS,
            MVCC,
            ("crates/quire-kv/src/btree/tree.rs", btree),
        ])
    }

    fn upward(tree: &Tree) -> usize {
        upward_imports(&tree.crates[0], &Imports::read(tree, &tree.crates[0]))
    }

    #[test]
    fn an_import_of_a_higher_part_is_counted() {
        assert_eq!(upward(&kv("use std::fmt;\n")), 0);
        assert_eq!(
            upward(&kv("use crate::mvcc::Mvcc;\nuse crate::progress::Work;\n")),
            2
        );
    }

    #[test]
    fn a_part_that_is_not_in_the_table_is_found() {
        let tree = tree_of(&[KV, PROGRESS, MVCC, ("crates/quire-kv/src/other.rs", "")]);
        let found = parts_are_in_the_table_of_layers(&tree);
        let messages: Vec<_> = found
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "other is not in the table of layers",
                "btree is not in the crate, and in the table of layers"
            ]
        );
    }
}
