//! `cargo xtask tidy`: the rules of STYLE.md that a machine can check.
//!
//! Each rule is a function from the tree to findings, with a test that shows it a violation. A rule that is broken
//! today and has to stay broken for a while is a ratchet, not an exception.

mod arrows;
mod documents;
mod layer_table;
mod layers;
mod ratchets;
mod sources;
mod type_names;
mod unsafe_rooms;
mod words;

use crate::generate;
use crate::tree::Tree;
use std::fmt;
use std::path::Path;

/// Something that breaks a rule, and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    /// Line from 1; 0 when the whole file is meant.
    line: usize,
    rule: &'static str,
    message: String,
}

impl Finding {
    fn new(rule: &'static str, path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: [{}] {}", self.path, self.rule, self.message),
            line => write!(f, "{}:{line}: [{}] {}", self.path, self.rule, self.message),
        }
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

/// The rules that need nothing but the tree.
const RULES: [Rule; 14] = [
    arrows::crates_depend_downwards,
    arrows::heavy_dependencies_stay_in_their_room,
    arrows::pure_rooms_do_no_io,
    layers::parts_are_in_the_table_of_layers,
    unsafe_rooms::unsafe_stays_in_named_rooms,
    sources::no_unwrap_outside_tests,
    sources::no_stubs,
    sources::modules_have_telling_names,
    words::todos_have_an_owner,
    words::no_paths_of_one_machine,
    documents::every_crate_has_a_readme,
    documents::style_guide_is_short,
    documents::sql_tests_assert_something,
    documents::stations_exist,
];

/// Checks the repository under `root`; prints the findings and fails when there is one.
pub fn run(root: &Path, options: &[String]) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let recorded = ratchets::Recorded::read(root)?;
    if options.iter().any(|option| option == "--tighten") {
        return recorded.tighten(&tree, root);
    }
    if let Some(unknown) = options.first() {
        return Err(format!("unknown option {unknown:?}"));
    }
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.extend(recorded.check(&tree));
    findings.extend(stale_documents(root));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!(
                "tidy: {} files, {} crates, nothing to say",
                tree.files.len(),
                tree.crates.len()
            );
            Ok(())
        }
        count => Err(format!("{count} findings")),
    }
}

fn stale_documents(root: &Path) -> impl Iterator<Item = Finding> {
    let finding = |path| Finding::new("generated", path, 0, "is stale: run `cargo xtask gen`");
    generate::stale(root).into_iter().map(finding)
}

/// A tree of given paths and texts, for the tests of the rules.
#[cfg(test)]
fn tree_of(files: &[(&str, &str)]) -> Tree {
    use crate::tree::TextFile;
    Tree::from_files(
        files
            .iter()
            .map(|(path, text)| TextFile::new(path, (*text).to_owned()))
            .collect(),
    )
}
