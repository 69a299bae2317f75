//! What is compiled, and what is left to the general path.

use super::{compiled, table};

#[test]
fn statements_of_sysbench_and_pgbench_are_covered() {
    let table = table();
    for sql in [
        "SELECT t FROM x WHERE id = 500",
        "SELECT t FROM x WHERE id BETWEEN 1 AND 100",
        "SELECT SUM(s) FROM x WHERE id BETWEEN 1 AND 100",
        "SELECT t FROM x WHERE id BETWEEN 1 AND 100 ORDER BY t",
        "SELECT DISTINCT t FROM x WHERE id BETWEEN 1 AND 100 ORDER BY t",
        "SELECT id, t, v FROM x WHERE s IN (1, 2, 3)",
        "UPDATE x SET s = s + 1 WHERE id = 5",
        "UPDATE x SET t = 'abc' WHERE id = 5",
        "UPDATE x SET b = b + -4711 WHERE id = 5 RETURNING b",
        "DELETE FROM x WHERE id = 5",
        "INSERT INTO x (id, s, t, v) VALUES (1, 2, 'a', 'b')",
        "INSERT INTO x (id, at) VALUES (1, CURRENT_TIMESTAMP)",
        "INSERT INTO x (id) VALUES (1), (2) ON CONFLICT (id) DO NOTHING RETURNING id",
        "INSERT INTO x (id, s) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET s = excluded.s, b = x.b + 1 WHERE x.s < excluded.s",
        "SELECT * FROM x WHERE id = 5 FOR UPDATE",
        "SELECT b FROM public.x AS y WHERE y.id > 3 ORDER BY id LIMIT 10",
        // As long as the table has few rows.
        "SELECT t FROM x",
        "SELECT count(*) FROM x",
        "SELECT t FROM x WHERE id > 5",
        "SELECT t FROM x WHERE f = 1.5 ORDER BY day DESC",
    ] {
        assert!(compiled(sql, &table, Vec::new()).is_some(), "{sql}");
    }
}

#[test]
fn what_is_not_understood_in_full_is_left_alone() {
    let table = table();
    for sql in [
        "SELECT t FROM x FOR UPDATE",
        "SELECT t FROM x, x AS y WHERE x.id = 5",
        "SELECT s, count(*) FROM x WHERE id < 5 AND id > 1 GROUP BY s",
        "SELECT sum(f) FROM x WHERE id BETWEEN 1 AND 2",
        "SELECT random() FROM x WHERE id = 1",
        "SELECT id FROM x WHERE id = (SELECT max(id) FROM x)",
        "SELECT nothing FROM x WHERE id = 1",
        "UPDATE x SET s = 1",
        "UPDATE x SET s = 1, s = 2 WHERE id = 1",
        "DELETE FROM x",
        "INSERT INTO x (id, t) VALUES (1, 1), (2, 'a')",
        "INSERT INTO x SELECT * FROM x",
        "INSERT INTO x (id, id) VALUES (1, 2)",
        "SELECT id FROM y WHERE id = 1",
        "INSERT INTO x (id, s) VALUES (1, 2), (3, 4) ON CONFLICT (id) DO UPDATE SET s = 1",
        "INSERT INTO x (id, s) VALUES (1, 2) ON CONFLICT DO UPDATE SET s = 1",
        "INSERT INTO x (id, s) VALUES (1, 2) ON CONFLICT (s) DO UPDATE SET s = 1",
        "INSERT INTO x (id, s) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET s = s + 1",
        "INSERT INTO x (id, s) VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET s = DEFAULT",
    ] {
        assert!(compiled(sql, &table, Vec::new()).is_none(), "{sql}");
    }
}
