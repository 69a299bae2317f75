#![allow(clippy::unwrap_used)]
use quire_sql::parse::{ParsedCommand, parse};

use super::*;

fn rewritten(sql: &str) -> String {
    match parse(sql).unwrap() {
        ParsedCommand::Statement(mut statement, _) => {
            assert!(rewrite(&mut statement), "{sql}");
            statement.to_string().replace('\u{1f}', "~")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_statements_do_not_ask() {
    for sql in [
        "SELECT a::text, sum(b) FROM t JOIN columns ON true WHERE c ~ 'x'",
        "SELECT 1",
        "SELECT cast(a AS varchar(3)) FROM public.t",
    ] {
        match parse(sql).unwrap() {
            ParsedCommand::Statement(statement, _) => assert!(!asks_catalog(&statement), "{sql}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn words_of_postgresql_become_ours() {
    assert_eq!(
        rewritten(
            "SELECT pg_catalog.abs(x) FROM pg_class WHERE y OPERATOR(pg_catalog.~) 'a' COLLATE pg_catalog.default"
        ),
        "SELECT abs(x) FROM pg_class WHERE y ~ 'a'"
    );
    assert_eq!(
        rewritten("SELECT x FROM t WHERE y = 't'::regclass AND z = a::pg_catalog.regtype::text"),
        "SELECT x FROM t WHERE y = regclass('t') AND z = regtype_name(a)"
    );
    assert_eq!(
        rewritten("SELECT x::pg_catalog.regclass, '5'::oid FROM t"),
        "SELECT regclass_name(x) AS \"regclass\", '5'::INT UNSIGNED FROM t"
    );
    assert_eq!(
        rewritten("SELECT ARRAY(SELECT rolname FROM pg_roles)"),
        "SELECT (SELECT array_agg(rolname) FROM pg_roles)"
    );
}

#[test]
fn a_table_that_is_empty_gives_names_only() {
    assert_eq!(
        rewritten(
            "SELECT tgname, a.oid::regclass AS b, 1 FROM pg_trigger t JOIN pg_class a ON true ORDER BY tgname"
        ),
        "SELECT CAST(NULL AS TEXT) AS \"tgname\", CAST(NULL AS TEXT) AS \"b\", \
         CAST(NULL AS TEXT) AS \"?column?~2\" WHERE false"
    );
    let counted = "SELECT count(*) FROM pg_trigger";
    assert_eq!(rewritten(counted), counted);
    let joined = "SELECT c.oid FROM pg_class AS c LEFT JOIN pg_inherits AS i ON true";
    assert_eq!(rewritten(joined), joined);
}

#[test]
fn lookups_become_joins() {
    assert_eq!(
        rewritten(
            "SELECT a.attname, (SELECT d.adbin FROM pg_attrdef d WHERE d.adnum = a.attnum AND adrelid = 5) AS x FROM pg_attribute a, pg_class c"
        ),
        "SELECT a.attname, CASE WHEN \"mark~0\".found THEN \"d~0\".adbin END AS x FROM pg_attribute a \
         CROSS JOIN pg_class c LEFT OUTER JOIN (pg_attrdef AS \"d~0\" CROSS JOIN \
         (SELECT true AS found) AS \"mark~0\") ON \"d~0\".adnum = a.attnum AND \"d~0\".adrelid = 5"
    );
    let counted = "SELECT (SELECT count(*) FROM pg_class) FROM pg_attribute";
    assert_eq!(rewritten(counted), counted);
}

#[test]
fn lateral_values_are_put_in_place() {
    assert_eq!(
        rewritten(
            "SELECT o.n FROM pg_class c CROSS JOIN LATERAL (SELECT f(c.oid)) AS o(n) WHERE o.n > 1"
        ),
        "SELECT (f(c.oid)) FROM pg_class c WHERE (f(c.oid)) > 1"
    );
}
