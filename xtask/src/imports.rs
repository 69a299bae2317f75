//! Which file of a crate imports which.
//!
//! An import is a path that begins with `crate`, `super` or `self`, in a `use` or in code. It leads to the file that defines what it
//! names: a `pub use` on the way is followed. A re-export by itself is no import, and neither are the lines of tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_source::RustSource;
use crate::tree::{Crate, Tree};

/// The imports of one crate, by the paths of files below its `src`.
pub struct Imports {
    /// For each file: the files that it imports from.
    pub of: BTreeMap<String, BTreeSet<String>>,
}

/// What a file imports and exports.
struct Module {
    uses: Vec<Use>,
    /// Paths in code, from the root of the crate.
    inline: Vec<Vec<String>>,
}

/// One name that a `use` brings in.
struct Use {
    is_public: bool,
    /// From the root of the crate.
    target: Vec<String>,
    name: String,
}

impl Imports {
    /// Reads those of a crate.
    pub fn read(tree: &Tree, member: &Crate) -> Self {
        let root = format!("{}/src/", member.folder);
        let sources = tree.production_sources();
        let sources = sources.filter_map(|(owner, file, source)| {
            let inside = file.path.strip_prefix(&root)?;
            (owner.name == member.name).then(|| (inside.to_owned(), source))
        });
        let sources: BTreeMap<String, &RustSource> = sources.collect();
        let by_path: BTreeMap<Vec<String>, String> = sources
            .keys()
            .map(|file| (module_path(file), file.clone()))
            .collect();
        let modules = sources
            .into_iter()
            .map(|(file, source)| {
                let module = Module::read(module_path(&file), source, &by_path);
                (file, module)
            })
            .collect();
        let files = Files {
            modules: &modules,
            by_path: &by_path,
        };
        let of = modules
            .iter()
            .map(|(file, module)| (file.clone(), files.imported_by(file, module)))
            .collect();
        Self { of }
    }

    /// Sets of two or more files that import each other, directly or not: the strongly connected components.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let reach: BTreeMap<&String, BTreeSet<&String>> = self
            .of
            .keys()
            .map(|file| (file, self.reached_from(file)))
            .collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for file in self.of.keys() {
            let is_in_circle = |other: &&String| reach[other].contains(file);
            let circle: Vec<String> = reach[file]
                .iter()
                .copied()
                .filter(is_in_circle)
                .cloned()
                .collect();
            if circle.len() > 1 && seen.insert(circle.clone()) {
                circles.push(circle);
            }
        }
        circles
    }

    fn reached_from(&self, file: &str) -> BTreeSet<&String> {
        let mut reached = BTreeSet::new();
        let mut pending: Vec<&String> = self.of[file].iter().collect();
        while let Some(next) = pending.pop() {
            if reached.insert(next) {
                pending.extend(&self.of[next]);
            }
        }
        reached
    }
}

struct Files<'m> {
    modules: &'m BTreeMap<String, Module>,
    by_path: &'m BTreeMap<Vec<String>, String>,
}

impl Files<'_> {
    fn imported_by(&self, file: &str, module: &Module) -> BTreeSet<String> {
        let private = module.uses.iter().filter(|item| !item.is_public);
        let targets = private.map(|item| &item.target).chain(&module.inline);
        let found = targets.filter_map(|target| self.defining(target));
        found.filter(|found| found != file).collect()
    }

    /// The file that defines what a path names.
    fn defining(&self, target: &[String]) -> Option<String> {
        let mut target = target.to_vec();
        // Re-exports in a circle end here.
        for _ in 0..16 {
            let (length, file) = (0..=target.len())
                .rev()
                .find_map(|length| Some((length, self.by_path.get(&target[..length])?)))?;
            let Some(name) = target.get(length) else {
                return Some(file.clone());
            };
            let uses = &self.modules[file].uses;
            match uses
                .iter()
                .find(|item| item.is_public && item.name == *name)
            {
                Some(export) => {
                    let rest = target[length + 1..].to_vec();
                    target = [export.target.clone(), rest].concat();
                }
                None => return Some(file.clone()),
            }
        }
        None
    }
}

impl Module {
    fn read(
        path: Vec<String>,
        source: &RustSource,
        modules: &BTreeMap<Vec<String>, String>,
    ) -> Self {
        let code: String = source
            .code_lines()
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        let (mut uses, mut rest) = (Vec::new(), String::new());
        let mut left = code.as_str();
        while let Some(at) = next_use(left) {
            let (before, item) = left.split_at(at);
            let Some((item, after)) = item.split_once(';') else {
                break;
            };
            let line = before.rfind('\n').map_or(0, |end| end + 1);
            rest.push_str(&before[..line]);
            let is_public = before[line..].trim_start().starts_with("pub");
            let tree = item.trim_start_matches("use ");
            for (names, name) in flattened(tree) {
                if let Some(target) = from_root(&names, &path, modules) {
                    uses.push(Use {
                        is_public,
                        target,
                        name,
                    });
                }
            }
            left = after;
        }
        rest.push_str(left);
        let inline = inline_paths(&rest);
        let inline = inline.filter_map(|names| from_root(&names, &path, modules));
        Self {
            inline: inline.collect(),
            uses,
        }
    }
}

/// `a/b.rs` and `a/b/mod.rs` are the module `a::b`; `lib.rs` and `main.rs` are the root.
fn module_path(inside: &str) -> Vec<String> {
    let stem = inside.trim_end_matches(".rs");
    let mut path: Vec<String> = stem.split('/').map(str::to_owned).collect();
    let is_named_by_folder = |last: &String| matches!(last.as_str(), "mod" | "lib" | "main");
    if path.last().is_some_and(is_named_by_folder) {
        path.pop();
    }
    path
}

fn next_use(code: &str) -> Option<usize> {
    code.match_indices("use ").map(|(at, _)| at).find(|at| {
        let line = code[..*at].rfind('\n').map_or(0, |end| end + 1);
        let before = code[line..*at].trim();
        before.is_empty()
            || before == "pub"
            || (before.starts_with("pub(") && before.ends_with(')'))
    })
}

/// The paths of a tree of `use`, each with the name that it gets.
fn flattened(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((start, group)) = tree.split_once('{') {
        let start = segments(start);
        let group = group.rsplit_once('}').map_or(group, |(inside, _)| inside);
        let parts = split_at_commas(group).into_iter();
        return parts
            .flat_map(|part| flattened(&part))
            .map(|(names, name)| ([start.clone(), names].concat(), name))
            .collect();
    }
    let (path, alias) = match tree.split_once(" as ") {
        Some((path, alias)) => (path, Some(alias.trim().to_owned())),
        None => (tree, None),
    };
    let names = segments(path);
    let name = alias.or_else(|| names.last().cloned()).unwrap_or_default();
    vec![(names, name)]
}

fn segments(path: &str) -> Vec<String> {
    let names = path.split("::").map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn split_at_commas(group: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(letter);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Paths in code that begin at the root of the crate or above the module.
fn inline_paths(code: &str) -> impl Iterator<Item = Vec<String>> {
    let starts = ["crate::", "super::"].into_iter();
    starts.flat_map(move |start| {
        let found = code.match_indices(start);
        let found = found.filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            !before.is_some_and(|letter| letter.is_alphanumeric() || "_:".contains(letter))
        });
        found.map(|(at, _)| {
            let is_path = |letter: &char| letter.is_alphanumeric() || "_:".contains(*letter);
            let path: String = code[at..].chars().take_while(is_path).collect();
            segments(&path)
        })
    })
}

/// A path as one from the root of the crate; `None` for what another crate has. One that begins with no keyword may lead to a module
/// below.
fn from_root(
    names: &[String],
    module: &[String],
    modules: &BTreeMap<Vec<String>, String>,
) -> Option<Vec<String>> {
    let above = names.iter().take_while(|name| *name == "super").count();
    let base = match names.first().map(String::as_str) {
        Some("crate") => return Some(names[1..].to_vec()),
        Some("self") => module,
        Some("super") => &module[..module.len().checked_sub(above)?],
        _ => {
            let child = [module, names.get(..1)?].concat();
            let is_child = modules.contains_key(&child);
            return is_child.then(|| [module, names].concat());
        }
    };
    let rest = &names[above.max(1)..];
    Some([base, rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TextFile;

    fn imports(files: &[(&str, &str)]) -> Imports {
        let manifest = (
            "crates/quire-x/Cargo.toml",
            "[package]\nname = \"quire-x\"\n",
        );
        let files = files.iter().chain([&manifest]);
        let files = files.map(|(path, text)| TextFile::new(path, (*text).to_owned()));
        let tree = Tree::from_files(files.collect());
        Imports::read(&tree, &tree.crates[0])
    }

    const A: &str = "crates/quire-x/src/a/mod.rs";
    const B: &str = "crates/quire-x/src/a/b.rs";
    const C: &str = "crates/quire-x/src/c.rs";

    #[test]
    fn an_import_leads_to_the_file_that_defines_the_name() {
        let found = imports(&[
            (
                A,
                "mod b;\npub use b::B;\npub(crate) use self::b::other as again;\n",
            ),
            (B, "pub struct B;\npub fn other() {}\n"),
            (C, "use std::fmt;\nuse crate::{\n    a::{B, again},\n};\n"),
        ]);
        assert!(found.of["a/mod.rs"].is_empty());
        assert_eq!(found.of["c.rs"], BTreeSet::from(["a/b.rs".to_owned()]));
        assert!(found.circles().is_empty());
    }

    #[test]
    fn paths_in_code_count_and_those_of_tests_do_not() {
        let found = imports(&[
            (A, "mod b;\nfn f() { crate::c::g(); }\n"),
            (B, "#[cfg(test)]\nmod tests {\n    use crate::c::g;\n}\n"),
            (C, "pub fn g() { /* crate::a */ }\n"),
        ]);
        assert_eq!(found.of["a/mod.rs"], BTreeSet::from(["c.rs".to_owned()]));
        assert!(found.of["a/b.rs"].is_empty() && found.of["c.rs"].is_empty());
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let found = imports(&[
            (A, "mod b;\nuse b::B;\npub struct A;\n"),
            (B, "use super::A;\npub struct B;\n"),
            (C, "use crate::a::A;\n"),
        ]);
        assert_eq!(found.circles(), [["a/b.rs", "a/mod.rs"]]);
    }
}
