//! An outer join whose rows without partner are dropped further up runs as an inner join, and answers stay what they are.

use quire::Connection;

use crate::support::{Random, database, explained, rows};

/// Two tables some of whose rows have no partner in the other, and a third to join with; every column has NULLs.
fn tables(connection: &mut Connection) {
    for (name, step) in [("one", 3), ("two", 5), ("three", 7)] {
        rows(
            connection,
            &format!(
                "CREATE TABLE {name} AS SELECT i AS id, CASE WHEN i % {step} <> 0 THEN i * {step} % 31 END AS k, \
                   CASE WHEN i % 4 <> 1 THEN i % 6 END AS v FROM generate_series(1, 40) AS g(i)"
            ),
        );
    }
}

fn joins(connection: &mut Connection, sql: &str) -> String {
    let plan = explained(connection, "", sql).to_lowercase();
    let kinds = ["left", "right", "full"].map(|kind| {
        let count = plan.matches(&format!("join_type={kind}")).count()
            + plan.matches(&format!("{kind} join")).count();
        if count > 0 { kind } else { "" }
    });
    kinds.concat()
}

#[test]
fn outer_joins_are_inner_ones_where_their_added_rows_are_dropped() {
    let mut connection = database().connect();
    tables(&mut connection);
    let from = "SELECT count(*) FROM one LEFT JOIN two ON one.k = two.k";
    for (sql, kinds) in [
        (from.to_owned(), "outer"),
        (format!("{from} WHERE two.v > 2"), ""),
        (format!("{from} WHERE two.v IS NULL"), "outer"),
        (format!("{from} WHERE two.v > 2 OR one.v > 2"), "outer"),
        (format!("{from} JOIN three ON three.v = two.v"), ""),
        (format!("{from} JOIN three ON three.v = one.v"), "outer"),
        (format!("{from} JOIN three ON three.v IS NOT DISTINCT FROM two.v"), "outer"),
        (
            "SELECT x FROM (SELECT one.id, two.v + 1 AS x FROM one LEFT JOIN two ON one.k = two.k) AS q WHERE x > 2".to_owned(),
            "",
        ),
        (
            "SELECT v, count(*) FROM (SELECT two.v FROM one LEFT JOIN two ON one.k = two.k) AS q GROUP BY v HAVING v = 3".to_owned(),
            "",
        ),
        (
            "SELECT q.v FROM (SELECT two.v FROM one LEFT JOIN two ON one.k = two.k ORDER BY one.id LIMIT 5) AS q WHERE q.v > 0".to_owned(),
            "outer",
        ),
    ] {
        let found = joins(&mut connection, &sql);
        assert_eq!(found.is_empty(), kinds.is_empty(), "{sql}: {found}");
    }
}

fn condition(random: &mut Random, tables: &[&str]) -> String {
    let value = |random: &mut Random| {
        let column = random.pick(&["k", "v", "id"]);
        format!("{}.{column}", random.pick(tables))
    };
    let (one, other) = (value(random), value(random));
    match random.below(8) {
        0 => format!("{one} > 3"),
        1 => format!("{one} IS NULL"),
        2 => format!("{one} + 1 = {other}"),
        3 => format!("{one} IN (1, 2, 5)"),
        4 => format!("NOT {one} = {other}"),
        5 => format!("({one} > 2 OR {other} IS NULL)"),
        6 => format!("({one} > 2 OR {other} < 9)"),
        _ => format!("coalesce({one}, 0) = 0"),
    }
}

/// Two outer joins below conditions, whose rows are known: joins have no bearing on conditions that are asked of each row of a table.
fn query(random: &mut Random) -> (String, String) {
    let kinds = ["LEFT", "RIGHT", "FULL", "INNER"];
    let (first, second) = (random.pick(&kinds), random.pick(&kinds));
    let third = format!(
        "three.{} = two.{}",
        random.pick(&["k", "v"]),
        random.pick(&["k", "v"])
    );
    let from = format!("one {first} JOIN two ON one.k = two.k {second} JOIN three ON {third}");
    let conditions = (0..1 + random.below(2)).map(|_| condition(random, &["one", "two", "three"]));
    let condition = conditions.collect::<Vec<_>>().join(" AND ");
    let columns = "one.id AS a, two.id AS b, three.id AS c";
    let ours = format!("SELECT {columns} FROM {from} WHERE {condition} ORDER BY 1, 2, 3");
    // A limit above the joins keeps conditions away from them.
    let all = "one.id AS one_id, one.k AS one_k, one.v AS one_v, two.id AS two_id, two.k AS two_k, two.v AS two_v, \
               three.id AS three_id, three.k AS three_k, three.v AS three_v";
    let apart = ["one", "two", "three"]
        .iter()
        .fold(condition, |text, table| {
            text.replace(&format!("{table}."), &format!("q.{table}_"))
        });
    let theirs = format!(
        "SELECT q.one_id, q.two_id, q.three_id FROM (SELECT {all} FROM {from} LIMIT 1000000) AS q WHERE {apart} ORDER BY 1, 2, 3"
    );
    (ours, theirs)
}

#[test]
fn answers_do_not_depend_on_the_kind_of_a_join() {
    let mut connection = database().connect();
    tables(&mut connection);
    let mut random = Random(1);
    for case in 0..300 {
        let (ours, theirs) = query(&mut random);
        let expected = rows(&mut connection, &theirs);
        assert_eq!(
            rows(&mut connection, &ours),
            expected,
            "case {case}: {ours}"
        );
    }
}
