//! Which crate may depend on which: arrows point down, and what is absent from a crate stays absent.

use super::Finding;
use crate::tree::Tree;

/// For each crate of the workspace: those that it may depend on. A crate that is not listed is an error.
const ARROWS: [(&str, &[&str]); 31] = [
    ("quire-codec", &[]),
    ("quire-format", &["quire-codec"]),
    ("quire-vector", &["quire-codec"]),
    ("quire-store", &["quire-format", "quire-codec"]),
    (
        "quire-device",
        &["quire-store", "quire-format", "quire-codec"],
    ),
    ("quire-mount", &["quire-device"]),
    ("quire-kv", &["quire-store", "quire-format", "quire-codec"]),
    (
        "quire-tables",
        &[
            "quire-kv",
            "quire-store",
            "quire-vector",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-exec",
        &[
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-native",
        &["quire-exec", "quire-tables", "quire-format", "quire-codec"],
    ),
    ("quire-text", &[]),
    ("quire-decision", &[]),
    (
        "quire-advisor",
        &[
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-decision",
            "quire-codec",
        ],
    ),
    ("quire-files", &["quire-text"]),
    ("quire-sources", &["quire-files", "quire-text"]),
    (
        "quire-error",
        &[
            "quire-files",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-functions",
        &[
            "quire-error",
            "quire-text",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-sql",
        &[
            "quire-functions",
            "quire-error",
            "quire-text",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-planner",
        &[
            "quire-sql",
            "quire-functions",
            "quire-error",
            "quire-text",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-vector",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire",
        &[
            "quire-planner",
            "quire-sql",
            "quire-functions",
            "quire-error",
            "quire-files",
            "quire-sources",
            "quire-text",
            "quire-advisor",
            "quire-decision",
            "quire-native",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-device",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-lab",
        &["quire-decision", "quire-codec", "quire-format"],
    ),
    ("quire-workload", &["quire-lab"]),
    (
        "quire-experiments",
        &[
            "quire",
            "quire-workload",
            "quire-lab",
            "quire-decision",
            "quire-native",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-device",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    ("quire-server", &["quire", "quire-text"]),
    ("quire-python", &["quire", "quire-text"]),
    (
        "quire-cli",
        &[
            "quire",
            "quire-server",
            "quire-lab",
            "quire-workload",
            "quire-experiments",
            "quire-mount",
            "quire-device",
            "quire-text",
        ],
    ),
    (
        "quire-testkit",
        &[
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "quire-acceptance",
        &[
            "quire",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-format",
            "quire-codec",
            "quire-testkit",
        ],
    ),
    (
        "quire-fuzz",
        &[
            "quire-server",
            "quire",
            "quire-lab",
            "quire-format",
            "quire-codec",
        ],
    ),
    (
        "row-speed",
        &[
            "quire",
            "quire-exec",
            "quire-tables",
            "quire-kv",
            "quire-store",
            "quire-codec",
        ],
    ),
    ("xtask", &["quire-format"]),
];

/// Dependencies (by the start of their name) that only the named crates may have.
const FENCED: [(&str, &[&str]); 9] = [
    ("fuser", &["quire-mount"]),
    ("pyo3", &["quire-python"]),
    ("rustls", &["quire-server"]),
    ("cranelift", &["quire-native"]),
    (
        "datafusion",
        &[
            "quire",
            "quire-error",
            "quire-functions",
            "quire-planner",
            "quire-sql",
            "quire-acceptance",
        ],
    ),
    ("parquet", &["quire-files", "quire-acceptance"]),
    ("object_store", &[]),
    (
        "tokio",
        &[
            "quire",
            "quire-error",
            "quire-planner",
            "quire-cli",
            "quire-acceptance",
        ],
    ),
    (
        "arrow",
        &[
            "quire",
            "quire-error",
            "quire-functions",
            "quire-planner",
            "quire-sql",
            "quire-text",
            "quire-files",
            "quire-sources",
            "quire-kv",
            "quire-tables",
            "quire-advisor",
            "quire-exec",
            "quire-cli",
            "quire-acceptance",
            "quire-python",
            "quire-testkit",
        ],
    ),
];

/// Crates that turn values into bytes and back, without files, sockets, processes or the environment.
const PURE: [&str; 9] = [
    "quire-codec",
    "quire-format",
    "quire-device",
    "quire-kv",
    "quire-tables",
    "quire-exec",
    "quire-text",
    "quire-decision",
    "quire-advisor",
];
const OUTSIDE_WORLD: [&str; 4] = ["std::fs", "std::net", "std::process", "std::env"];

/// Dependencies between crates follow `ARROWS`. Dependencies of tests are exempt: a test may look from anywhere.
pub fn crates_depend_downwards(tree: &Tree) -> Vec<Finding> {
    let names: Vec<&str> = tree
        .crates
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    let mut findings = Vec::new();
    for member in &tree.crates {
        let manifest = format!("{}/Cargo.toml", member.folder);
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == member.name) else {
            findings.push(Finding::new(
                "arrows",
                &manifest,
                0,
                "this crate is not in the table of arrows",
            ));
            continue;
        };
        for dependency in member.dependencies.iter().map(String::as_str) {
            if names.contains(&dependency) && !allowed.contains(&dependency) {
                let message = format!(
                    "{} must not depend on {dependency}: arrows point down",
                    member.name
                );
                findings.push(Finding::new("arrows", &manifest, 0, message));
            }
        }
    }
    findings
}

/// Heavy dependencies belong to the crate that was made for them.
pub fn heavy_dependencies_stay_in_their_room(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &tree.crates {
        for dependency in &member.dependencies {
            let fence = FENCED
                .iter()
                .find(|(start, _)| dependency.starts_with(start));
            if let Some((_, crates)) = fence
                && !crates.contains(&member.name.as_str())
            {
                let message = format!("only {} may depend on {dependency}", crates.join(", "));
                findings.push(Finding::new(
                    "arrows",
                    &format!("{}/Cargo.toml", member.folder),
                    0,
                    message,
                ));
            }
        }
    }
    findings
}

/// Codec, format, kv, tables and exec open no file and no socket, and read no environment: the store does.
pub fn pure_rooms_do_no_io(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .production_sources()
        .filter(|(member, _, _)| PURE.contains(&member.name.as_str()));
    let mut findings = Vec::new();
    for (member, file, source) in sources {
        for (line, text) in source.code_lines() {
            if let Some(module) = OUTSIDE_WORLD.iter().find(|module| text.contains(*module)) {
                let message = format!(
                    "{} does no input or output of its own, but names {module}",
                    member.name
                );
                findings.push(Finding::new("arrows", &file.path, line, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree_of;
    use super::*;

    const CODEC: (&str, &str) = (
        "crates/quire-codec/Cargo.toml",
        "[package]\nname = \"quire-codec\"\n",
    );

    #[test]
    fn an_arrow_up_is_found() {
        let tree = tree_of(&[
            (
                "crates/quire-codec/Cargo.toml",
                "[package]\nname = \"quire-codec\"\n[dependencies]\nquire-store.workspace = true\n",
            ),
            (
                "crates/quire-store/Cargo.toml",
                "[package]\nname = \"quire-store\"\n[dependencies]\nquire-codec.workspace = true\n",
            ),
        ]);
        let findings = crates_depend_downwards(&tree);
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0]
                .message
                .contains("quire-codec must not depend on quire-store")
        );
    }

    #[test]
    fn an_arrow_of_the_tests_is_free() {
        let manifest =
            "[package]\nname = \"quire-store\"\n[dev-dependencies]\nquire.workspace = true\n";
        let quire = ("crates/quire/Cargo.toml", "[package]\nname = \"quire\"\n");
        assert_eq!(
            crates_depend_downwards(&tree_of(&[
                ("crates/quire-store/Cargo.toml", manifest),
                quire
            ])),
            []
        );
    }

    #[test]
    fn an_unknown_room_is_found() {
        let tree = tree_of(&[(
            "crates/quire-extra/Cargo.toml",
            "[package]\nname = \"quire-extra\"\n",
        )]);
        assert_eq!(crates_depend_downwards(&tree).len(), 1);
    }

    #[test]
    fn a_fenced_dependency_elsewhere_is_found() {
        let manifest = "[package]\nname = \"quire-tables\"\n[dependencies]\ndatafusion-expr.workspace = true\narrow-array = \"1\"\n";
        assert_eq!(
            heavy_dependencies_stay_in_their_room(&tree_of(&[(
                "crates/quire-tables/Cargo.toml",
                manifest
            )]))
            .len(),
            1
        );
    }

    #[test]
    fn a_file_opened_in_a_pure_room_is_found() {
        let source = "use std::fs::File;\n// std::fs in a comment\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let findings = pure_rooms_do_no_io(&tree_of(&[
            CODEC,
            ("crates/quire-codec/src/lib.rs", source),
        ]));
        assert_eq!(
            findings
                .iter()
                .map(|finding| finding.line)
                .collect::<Vec<_>>(),
            [1]
        );
    }
}
