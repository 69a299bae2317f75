//! What asyncpg asks about types that it has not met, in words that the planner can run.
//!
//! It asks with subqueries in a recursion that follow domains, ranges and composite types, none of which are here. What is left of the
//! question is about base types and arrays of them, whose elements clients know.

/// How the question begins, and the condition that it has.
const START: &str = "WITH RECURSIVE typeinfo_tree(";
const CONDITION: &str = "ti.oid = any($1::oid[])";

/// The same columns.
const TYPES: &str = "\
SELECT t.oid, ns.nspname AS ns, t.typname AS name, t.typtype AS kind, CAST(NULL AS oid) AS basetype,
    t.typelem AS elemtype, e.typdelim AS elemdelim, CAST(NULL AS oid) AS range_subtype,
    CAST(NULL AS text) AS attrtypoids, CAST(NULL AS text) AS attrnames, CAST(0 AS integer) AS depth,
    CAST(NULL AS text) AS basetype_name, e.typname AS elemtype_name, CAST(NULL AS text) AS range_subtype_name
FROM pg_type t
JOIN pg_namespace ns ON ns.oid = t.typnamespace
LEFT JOIN pg_type e ON t.typlen = -1 AND t.typelem <> 0 AND t.typelem = e.oid
WHERE t.oid = ANY($1::oid[])";

/// The question that is asked in place of this one.
pub(super) fn in_other_words(sql: &str) -> &str {
    if sql.starts_with(START) && sql.contains(CONDITION) {
        TYPES
    } else {
        sql
    }
}
