//! Numbers that may only fall: what was already wrong, or already wide, must not get worse unnoticed.
//!
//! `xtask/ratchets.toml` records them. A value above its record fails; a value below it asks for
//! `cargo xtask tidy --tighten`. Raising one is an edit by hand, which a reader of the change sees.

use super::Finding;
use super::layers::upward_imports;
use super::type_names::repeated_type_names;
use crate::imports::Imports;
use crate::rust_source::RustSource;
use crate::tree::{Crate, TextFile, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const RECORD: &str = "xtask/ratchets.toml";
/// Files up to this length need no record.
const FILE_LINES_MAX: usize = 600;
/// Functions up to this length need no record.
const FUNCTION_LINES_MAX: usize = 70;

const HEADING: &str = "\
# Numbers that may only fall. `cargo xtask tidy` compares, `cargo xtask tidy --tighten` lowers.
# long-files: lines of a file above 600. long-functions: lines of a function above 70.
# waivers: `allow` and `expect` of lints outside tests. public-items: `pub` items outside tests (what other crates can call).
# upward-imports: imports of a higher part of the same crate (`xtask/src/tidy/layers.rs`). file-circles: groups of files that import each
# other. files-in-circles: the files of these groups.
# repeated-type-names: types outside tests whose name another type of the workspace has (`xtask/src/tidy/type_names.rs`).
";

/// Section → name → value.
type Values = BTreeMap<&'static str, BTreeMap<String, usize>>;

const SECTIONS: [&str; 8] = [
    "long-files",
    "long-functions",
    "waivers",
    "public-items",
    "upward-imports",
    "file-circles",
    "files-in-circles",
    "repeated-type-names",
];

/// The values in the repository.
pub struct Recorded(Values);

impl Recorded {
    pub fn read(root: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(root.join(RECORD)).map_err(|error| format!("{RECORD}: {error}"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut values = Values::new();
        let mut section = None;
        for (at, line) in text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim()))
        {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                section = Some(
                    *SECTIONS
                        .iter()
                        .find(|known| **known == name)
                        .ok_or(format!("{RECORD}:{at}: {name}?"))?,
                );
                continue;
            }
            let entry = line.split_once('=').and_then(|(key, value)| {
                Some((
                    section?,
                    key.trim().trim_matches('"').to_owned(),
                    value.trim().parse().ok()?,
                ))
            });
            let (section, key, value) =
                entry.ok_or(format!("{RECORD}:{at}: expected `\"name\" = number`"))?;
            values.entry(section).or_default().insert(key, value);
        }
        Ok(Self(values))
    }

    /// Compares the sources with the record.
    pub fn check(&self, tree: &Tree) -> Vec<Finding> {
        let measured = measure(tree);
        let mut findings = Vec::new();
        for section in SECTIONS {
            let (now, before) = (names_of(&measured, section), names_of(&self.0, section));
            for (name, value) in &now {
                let limit = before.get(name).copied().unwrap_or(0);
                if *value > limit {
                    findings.push(Finding::new(
                        "ratchet",
                        RECORD,
                        0,
                        format!("[{section}] {name} rose from {limit} to {value}"),
                    ));
                }
            }
            for (name, limit) in &before {
                let value = now.get(name).copied().unwrap_or(0);
                if value < *limit {
                    let message = format!(
                        "[{section}] {name} fell from {limit} to {value}: run `cargo xtask tidy --tighten`"
                    );
                    findings.push(Finding::new("ratchet", RECORD, 0, message));
                }
            }
        }
        findings
    }

    /// Lowers the record to the sources; what rose stays as it was, and stays a finding.
    pub fn tighten(&self, tree: &Tree, root: &Path) -> Result<(), String> {
        let text = self.tightened(&measure(tree));
        fs::write(root.join(RECORD), text).map_err(|error| format!("{RECORD}: {error}"))
    }

    fn tightened(&self, measured: &Values) -> String {
        let mut text = HEADING.to_owned();
        for section in SECTIONS {
            let now = names_of(measured, section);
            let _ = writeln!(text, "\n[{section}]");
            for (name, limit) in names_of(&self.0, section) {
                let value = now.get(&name).copied().unwrap_or(0).min(limit);
                if value > 0 {
                    let _ = writeln!(text, "\"{name}\" = {value}");
                }
            }
        }
        text
    }
}

fn names_of(values: &Values, section: &str) -> BTreeMap<String, usize> {
    values.get(section).cloned().unwrap_or_default()
}

fn measure(tree: &Tree) -> Values {
    let mut values = Values::new();
    for file in tree.files.iter().filter(|file| file.rust.is_some()) {
        measure_lengths(file, &mut values);
    }
    for (member, _, source) in tree.production_sources() {
        measure_waivers(member, source, &mut values);
        // No crate can call a program.
        if tree
            .file(&format!("{}/src/lib.rs", member.folder))
            .is_some()
        {
            measure_public_items(member, source, &mut values);
        }
    }
    for member in &tree.crates {
        measure_imports(tree, member, &mut values);
    }
    values.insert("repeated-type-names", repeated_type_names(tree));
    values
}

fn measure_lengths(file: &TextFile, values: &mut Values) {
    let lines = file.text.lines().count();
    if lines > FILE_LINES_MAX {
        values
            .entry("long-files")
            .or_default()
            .insert(file.path.clone(), lines);
    }
    for function in file.rust.iter().flat_map(|source| source.functions()) {
        if function.line_count > FUNCTION_LINES_MAX {
            let name = format!("{}:{}", file.path, function.name);
            let longest = values
                .entry("long-functions")
                .or_default()
                .entry(name)
                .or_default();
            *longest = (*longest).max(function.line_count);
        }
    }
}

fn measure_waivers(member: &Crate, source: &RustSource, values: &mut Values) {
    let is_waiver = |text: &str| text.contains("allow(") || text.contains("expect(");
    let attributes = source.attributes().into_iter();
    let waivers = attributes.filter(|(line, text)| is_waiver(text) && !source.is_test_line(*line));
    add(values, "waivers", member, waivers.count());
}

fn measure_public_items(member: &Crate, source: &RustSource, values: &mut Values) {
    let public = source.code_lines().filter(|(_, text)| is_public_item(text));
    add(values, "public-items", member, public.count());
}

fn measure_imports(tree: &Tree, member: &Crate, values: &mut Values) {
    let imports = Imports::read(tree, member);
    let circles = imports.circles();
    add(
        values,
        "upward-imports",
        member,
        upward_imports(member, &imports),
    );
    add(values, "file-circles", member, circles.len());
    add(values, "files-in-circles", member, circles.concat().len());
}

fn add(values: &mut Values, section: &'static str, member: &Crate, count: usize) {
    if count > 0 {
        *values
            .entry(section)
            .or_default()
            .entry(member.name.clone())
            .or_default() += count;
    }
}

fn is_public_item(line: &str) -> bool {
    const ITEMS: [&str; 10] = [
        "fn", "struct", "enum", "trait", "mod", "use", "const", "static", "type", "async",
    ];
    let mut words = line.split_whitespace();
    words.next() == Some("pub") && words.next().is_some_and(|word| ITEMS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    const STORE: (&str, &str) = (
        "crates/quire-store/Cargo.toml",
        "[package]\nname = \"quire-store\"\n",
    );

    fn check(record: &str, source: &str) -> Vec<String> {
        let tree = tree_of(&[STORE, ("crates/quire-store/src/lib.rs", source)]);
        Recorded::parse(record)
            .unwrap()
            .check(&tree)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_new_public_item_is_found() {
        let record = "[public-items]\n\"quire-store\" = 1\n";
        assert_eq!(check(record, "pub fn a() {}\n"), Vec::<String>::new());
        assert_eq!(
            check(record, "pub fn a() {}\npub fn b() {}\n"),
            ["[public-items] quire-store rose from 1 to 2"]
        );
    }

    #[test]
    fn a_value_that_fell_asks_to_be_recorded() {
        let findings = check("[public-items]\n\"quire-store\" = 2\n", "pub fn a() {}\n");
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("--tighten"));
    }

    #[test]
    fn a_waiver_is_found_outside_tests_only() {
        let source = "#[allow(clippy::x)]\nfn a() {}\n#[cfg(test)]\nmod tests {\n    #![allow(clippy::y)]\n}\n";
        assert_eq!(
            check("", source),
            ["[waivers] quire-store rose from 0 to 1"]
        );
    }

    #[test]
    fn a_long_file_and_a_long_function_are_found() {
        let source = format!(
            "fn long() {{\n{}}}\n{}",
            "    g();\n".repeat(70),
            "\n".repeat(600)
        );
        assert_eq!(
            check("", &source),
            [
                "[long-files] crates/quire-store/src/lib.rs rose from 0 to 672",
                "[long-functions] crates/quire-store/src/lib.rs:long rose from 0 to 72",
            ]
        );
    }

    #[test]
    fn tightening_lowers_and_never_raises() {
        let recorded = Recorded::parse("[waivers]\n\"a\" = 2\n\"b\" = 2\n\"c\" = 1\n").unwrap();
        let measured = Values::from([(
            "waivers",
            BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 9)]),
        )]);
        let text = recorded.tightened(&measured);
        assert!(
            text.contains("\"a\" = 1\n\"b\" = 2\n") && !text.contains("\"c\""),
            "{text}"
        );
    }

    #[test]
    fn a_record_nobody_can_read_is_an_error() {
        assert!(Recorded::parse("[public-items]\nquire-store\n").is_err());
        assert!(Recorded::parse("[other]\n").is_err());
    }
}
