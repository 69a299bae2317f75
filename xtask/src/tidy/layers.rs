//! Which part of a crate may import which: imports point down inside crates, too.
//!
//! A part is a module at the root of a crate, with all that is in its folder. The table has them from the lowest to the highest. Imports
//! that point up are counted, and so are the files that import each other in a circle: [`super::ratchets`] has the numbers, which may
//! only fall.

use super::Finding;
use crate::imports::Imports;
use crate::tree::{Crate, Tree};

/// The parts of each crate, the lowest first.
const LAYERS: [(&str, &[&str]); 24] = [
    (
        "quire-codec",
        &[
            "kernel",
            "stored_set",
            "physical_type",
            "codec_id",
            "error",
            "cursor",
            "code_writer",
            "effort",
            "huffman",
            "int",
            "values",
            "block",
            "correlated",
            "field",
            "ordered",
            "transform",
            "boolean",
            "fixed",
            "float",
            "distinct",
            "text",
            "choose",
        ],
    ),
    (
        "quire-vector",
        &[
            "compare",
            "key_set",
            "arithmetic",
            "joins",
            "groups",
            "slots",
            "sort",
            "integer",
        ],
    ),
    (
        "quire-format",
        &[
            "document",
            "wire",
            "volume",
            "page_numbers",
            "data_set",
            "catalog",
            "zone",
            "row_page",
            "distinct_sketch",
            "tuple",
            "log",
            "page_dictionary",
            "redo",
            "staging_mark",
            "key",
            "segment",
            "relation",
            "row_group",
            "table_root",
            "column_sample",
            "row_position",
            "reference",
        ],
    ),
    (
        "quire-store",
        &[
            "error", "ghosts", "patience", "disk", "volume", "log", "pool",
        ],
    ),
    (
        "quire-device",
        &[
            "options",
            "properties",
            "error",
            "tree",
            "records",
            "generation",
            "dead",
            "context",
            "set",
            "disk",
            "volume",
            "device",
            "check",
        ],
    ),
    (
        "quire-mount",
        &[
            "error",
            "options",
            "errno",
            "attributes",
            "directories",
            "virtual_attributes",
            "inode_table",
            "sync_queue",
            "served",
            "space",
            "extended",
            "listing",
            "front",
            "mount_point",
            "unmount",
            "mounted",
        ],
    ),
    ("quire-kv", &["btree", "progress", "mvcc"]),
    (
        "quire-tables",
        &[
            "types",
            "row_table",
            "scalar_array",
            "engine_options",
            "error",
            "definition",
            "stagings",
            "page_cluster",
            "staging",
            "pages",
            "rows",
            "delta",
            "zone_table",
            "predicate",
            "sequences",
            "scan_statistics",
            "row_group_entry",
            "shared_dictionaries",
            "catalog",
            "column_reads",
            "rebase",
            "row_half",
            "table",
            "scan",
            "key_order",
            "unique_columns",
            "append",
            "samples",
            "snapshot",
            "sweep",
            "check",
            "published",
            "engine",
            "transaction",
        ],
    ),
    (
        "quire-exec",
        &[
            "plan",
            "avm",
            "key_hash",
            "costs",
            "access",
            "explained",
            "tuple",
        ],
    ),
    (
        "quire-native",
        &["operation", "span", "outline", "emit", "machine"],
    ),
    (
        "quire-text",
        &[
            "sql_scanner",
            "number_in",
            "base64",
            "boolean",
            "bytea",
            "type_name",
            "time_limit",
            "gregorian",
            "number_out",
            "zone",
            "calendar",
            "temporal",
        ],
    ),
    (
        "quire-decision",
        &[
            "consistency",
            "error",
            "measured",
            "pairwise_matrix",
            "weights",
            "hierarchy",
        ],
    ),
    (
        "quire-files",
        &[
            "error",
            "control",
            "typed_array_builder",
            "writable",
            "atomic_file",
            "pipeline",
            "parquet",
            "csv",
        ],
    ),
    (
        "quire-error",
        &[
            "error",
            "activity",
            "time_limit",
            "chore",
            "cancel",
            "interruption",
            "progress",
            "wait",
        ],
    ),
    (
        "quire-functions",
        &[
            "array_results",
            "group_states",
            "prefixes",
            "replaced_function",
            "float_totals",
            "frames",
            "sum",
            "bytes",
            "own_name",
            "planner_options",
            "storage",
            "scans",
            "time",
            "array_text",
            "array_cast",
            "array_changes",
            "average",
            "characters",
            "checked_arithmetic",
            "collected_rows",
            "costs",
            "decimal_casts",
            "decimal_digits",
            "encodings",
            "file",
            "float_aggregates",
            "float_casts",
            "float_domains",
            "float_key",
            "joined_bytes",
            "large_text",
            "lossy_cast",
            "nested_text",
            "ordered_doubles",
            "ordered_texts",
            "outer_aggregate",
            "percentiles",
            "ranks",
            "round_floats",
            "rounding",
            "sequences",
            "single_value",
            "text",
            "whole_decimals",
            "array_slices",
            "array_of_rows",
            "prefix_aggregates",
        ],
    ),
    (
        "quire-sql",
        &[
            "tokens",
            "calls",
            "names",
            "walk",
            "ambiguous_keys",
            "positions",
            "grouping_sets",
            "named_windows",
            "row_comparison",
            "arrays",
            "chains",
            "dialect",
            "frame_offsets",
            "output_columns",
            "scopes",
            "outer_columns",
            "sequence_statement",
            "copy_statement",
            "depth",
            "maintenance_statement",
            "role_statement",
            "set_members",
            "table_clauses",
            "parse",
            "array_subqueries",
            "distinct_keys",
            "outer_aggregates",
            "rows_in_subqueries",
            "similar",
            "typed_neighbours",
            "expression_names",
            "split",
            "reject",
            "types",
            "with_queries",
            "alias_scopes",
            "renamed_functions",
            "time_series",
            "rewrite",
            "large_literals",
        ],
    ),
    (
        "quire-planner",
        &[
            "statistics",
            "scalar",
            "aggregate",
            "expression",
            "external",
            "scan",
            "whole_table",
            "repeatable",
            "optimize",
            "explained",
            "plan",
        ],
    ),
    (
        "quire",
        &[
            "tuple_counts",
            "value_ref",
            "result_rows",
            "memory_limits",
            "options",
            "device",
            "experiment_options",
            "memory",
            "native",
            "merging",
            "scram",
            "machine",
            "settings",
            "plan_cache",
            "planners",
            "sessions",
            "opened",
            "session",
            "roles",
            "outcome",
            "definition_text",
            "backup",
            "check",
            "pg_catalog",
            "planning",
            "sql",
            "statement",
            "connection",
            "database",
        ],
    ),
    (
        "quire-lab",
        &[
            "verdict",
            "figure",
            "claims",
            "report",
            "random",
            "stored",
            "sample_text",
            "machine",
            "counters",
            "device",
            "clock",
            "super_scalar",
            "sectors",
            "leaves",
            "codecs",
            "streams",
            "evaluated_table",
            "dual_format",
            "iterator_models",
            "length_decoding",
            "page_model",
            "postings",
            "render",
            "transforms",
            "universal_table",
            "whole_tuples",
            "uncompressed_tuples",
        ],
    ),
    (
        "quire-experiments",
        &[
            "tpcd",
            "avm",
            "column_tables",
            "devices",
            "tpch",
            "bandwidth",
            "buffer_pool",
            "dual_format_system",
        ],
    ),
    (
        "quire-server",
        &[
            "malformed",
            "types",
            "failure",
            "wire",
            "copy",
            "auth",
            "options",
            "net",
            "server_state",
            "session",
            "serve",
            "server",
        ],
    ),
    (
        "quire-python",
        &[
            "errors",
            "waiting",
            "capsule",
            "from_python",
            "opened",
            "to_python",
            "reader",
            "result",
            "type_name",
            "columns",
            "show",
            "frames",
            "statement",
            "bulk",
            "cursor",
            "relation",
            "connection",
        ],
    ),
    (
        "quire-cli",
        &[
            "exit_code",
            "interrupt",
            "bare_words",
            "keywords",
            "render",
            "allocator",
            "lexer",
            "script",
            "rows_behind",
            "shell",
            "commands",
            "run_script",
            "editor",
            "lab",
            "data_set",
            "mount",
            "arguments",
            "check",
            "inspect",
            "interactive",
            "serve",
        ],
    ),
    (
        "quire-testkit",
        &[
            "random", "recovery", "engine", "store", "log", "plan", "rows",
        ],
    ),
];

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
