//! Settings of PostgreSQL that are kept and shown, and change nothing here; and those of new tables.

use std::collections::BTreeMap;

use quire_codec::block::BlockCodecId;
use quire_error::Error;

/// How tables are kept that do not say it and need no rows: `row`, `column`, `pax`, or `auto`, which is columns.
pub(crate) const ACCESS_METHOD: &str = "default_table_access_method";

/// What pages of new row tables are compressed with that do not say it.
pub(crate) const PAGE_CODEC: &str = "default_page_codec";

/// The version of PostgreSQL whose catalog, protocol and formats these are; what clients are told.
pub(crate) const SERVER_VERSION: &str = concat!("15.0 (Quire ", env!("CARGO_PKG_VERSION"), ")");

/// What clients set by habit. The server heeds the timeouts of silence.
const OF_CLIENTS: [(&str, &str); 24] = [
    (ACCESS_METHOD, "auto"),
    (PAGE_CODEC, "lz4"),
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("check_function_bodies", "on"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, MDY"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("integer_datetimes", "on"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C.UTF-8"),
    ("max_identifier_length", "255"),
    ("intervalstyle", "postgres"),
    ("password_encryption", "scram-sha-256"),
    ("search_path", "public"),
    ("row_security", "off"),
    ("server_encoding", "UTF8"),
    ("server_version", SERVER_VERSION),
    ("server_version_num", "150000"),
    ("standard_conforming_strings", "on"),
];

/// What directs PostgreSQL's planner and executor, with its defaults. Statements that turn a plan off for a while give the same rows here.
const OF_PLANNERS: [(&str, &str); 41] = [
    ("constraint_exclusion", "partition"),
    ("cpu_index_tuple_cost", "0.005"),
    ("cpu_operator_cost", "0.0025"),
    ("cpu_tuple_cost", "0.01"),
    ("cursor_tuple_fraction", "0.1"),
    ("default_statistics_target", "100"),
    ("effective_cache_size", "4GB"),
    ("enable_async_append", "on"),
    ("enable_bitmapscan", "on"),
    ("enable_gathermerge", "on"),
    ("enable_hashagg", "on"),
    ("enable_hashjoin", "on"),
    ("enable_incremental_sort", "on"),
    ("enable_indexonlyscan", "on"),
    ("enable_indexscan", "on"),
    ("enable_material", "on"),
    ("enable_memoize", "on"),
    ("enable_mergejoin", "on"),
    ("enable_nestloop", "on"),
    ("enable_parallel_append", "on"),
    ("enable_parallel_hash", "on"),
    ("enable_partition_pruning", "on"),
    ("enable_partitionwise_aggregate", "off"),
    ("enable_partitionwise_join", "off"),
    ("enable_seqscan", "on"),
    ("enable_sort", "on"),
    ("enable_tidscan", "on"),
    ("from_collapse_limit", "8"),
    ("geqo", "on"),
    ("geqo_threshold", "12"),
    ("hash_mem_multiplier", "2"),
    ("jit_above_cost", "100000"),
    ("join_collapse_limit", "8"),
    ("maintenance_work_mem", "64MB"),
    ("max_parallel_workers_per_gather", "2"),
    ("min_parallel_index_scan_size", "512kB"),
    ("min_parallel_table_scan_size", "8MB"),
    ("parallel_setup_cost", "1000"),
    ("parallel_tuple_cost", "0.1"),
    ("random_page_cost", "4"),
    ("work_mem", "4MB"),
];

/// Those that say what is so, and that nobody changes.
const FIXED: [&str; 7] = [
    "integer_datetimes",
    "lc_collate",
    "lc_ctype",
    "max_identifier_length",
    "server_encoding",
    "server_version",
    "server_version_num",
];

/// Refuses to change a setting that says what is so.
pub(super) fn check_changeable(name: &str) -> Result<(), Error> {
    if FIXED.contains(&name) {
        let text = format!("parameter \"{name}\" cannot be changed");
        return Err(Error::new("55P02", text));
    }
    Ok(())
}

/// Refuses a value of a setting of new tables that no table can have.
pub(super) fn check_of_tables(name: &str, value: &str) -> Result<(), Error> {
    let hint = match name {
        ACCESS_METHOD if !["auto", "column", "pax", "row"].contains(&value) => {
            "Say auto, column, pax or row.".to_owned()
        }
        PAGE_CODEC if BlockCodecId::from_name(value).is_none() => {
            format!("Codecs of pages are {}.", page_codecs())
        }
        _ => return Ok(()),
    };
    let text = format!("invalid value for parameter \"{name}\": \"{value}\"");
    Err(Error::new("22023", text).with_hint(hint))
}

/// The names of all codecs of pages, for messages.
pub(crate) fn page_codecs() -> String {
    BlockCodecId::ALL.map(BlockCodecId::name).join(", ")
}

/// Their values at the beginning.
pub(super) fn defaults() -> BTreeMap<&'static str, String> {
    let all = OF_CLIENTS.iter().chain(&OF_PLANNERS);
    all.map(|(name, value)| (*name, (*value).to_owned()))
        .collect()
}

/// Whether a setting is on or off.
pub(super) fn is_switch(name: &str) -> bool {
    let default = OF_PLANNERS.iter().find(|(known, _)| *known == name);
    default.is_some_and(|(_, value)| ["on", "off"].contains(value))
}
