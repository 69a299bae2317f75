"""Waits over the server: who waits for whom, and every way to end it, by psycopg."""

import pathlib
import tempfile
import threading
import time
import unittest

import psycopg

from quire_server import NAME, ServerTest, start, stop
from quire_shell import run

# A wait ends within 100 ms on an idle machine; this is for a busy one.
SECONDS_MAX = 20


class Waiting(threading.Thread):
    """A statement on a connection of its own, which is expected to wait and to fail."""

    def __init__(self, connection, sql):
        super().__init__()
        self.connection, self.sql, self.error = connection, sql, None
        self.pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        self.start()

    def run(self):
        try:
            self.connection.execute(self.sql)
        except psycopg.Error as error:
            self.error = error

    def sqlstate(self):
        self.join(SECONDS_MAX)
        assert not self.is_alive(), self.sql
        return self.error.sqlstate if self.error else None


def until(condition):
    """Waits until something is so."""
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


class Waits(ServerTest):
    def setUp(self):
        self.connections = []
        self.addCleanup(lambda: [connection.close() for connection in self.connections])
        watcher = self.connect()
        watcher.execute("DROP TABLE IF EXISTS held, other")
        watcher.execute("CREATE TABLE held (id INTEGER PRIMARY KEY, v INTEGER)")
        watcher.execute("INSERT INTO held VALUES (1, 1)")
        self.watcher, self.holder, self.waiter = watcher, self.connect(), self.connect()

    def connect(self, **more):
        connection = psycopg.connect(self.conninfo(**more), autocommit=True)
        self.connections.append(connection)
        return connection

    def hold_definitions(self):
        self.holder.execute("BEGIN")
        self.holder.execute("CREATE TABLE other (i INTEGER)")

    def waits(self, sql):
        """A statement that waits already, as `quire_waits()` says."""
        waiting = Waiting(self.waiter, sql)
        shown = "SELECT count(*) FROM quire_waits() WHERE session = %s"
        until(lambda: self.watcher.execute(shown, [waiting.pid]).fetchone()[0] == 1)
        return waiting

    def test_a_cancel_request_ends_a_wait_for_definitions(self):
        self.hold_definitions()
        waiting = self.waits("CREATE TABLE third (i INTEGER)")
        self.waiter.cancel()
        self.assertEqual(waiting.sqlstate(), "57014")

    def test_statement_timeout_ends_a_wait_for_definitions(self):
        self.hold_definitions()
        self.waiter.execute("SET statement_timeout = '200ms'")
        waiting = Waiting(self.waiter, "CREATE TABLE third (i INTEGER)")
        self.assertEqual(waiting.sqlstate(), "57014")
        self.assertIn("statement timeout", str(waiting.error))

    def test_lock_timeout_ends_a_wait_for_definitions(self):
        self.hold_definitions()
        self.waiter.execute("SET lock_timeout = '200ms'")
        self.assertEqual(Waiting(self.waiter, "CREATE TABLE third (i INTEGER)").sqlstate(), "55P03")

    def test_pg_cancel_backend_ends_a_wait(self):
        self.hold_definitions()
        waiting = self.waits("CREATE TABLE third (i INTEGER)")
        shown = self.watcher.execute(
            "SELECT state, wait_event_type, query, usename, datname, backend_type FROM pg_stat_activity WHERE pid = %s",
            [waiting.pid],
        ).fetchone()
        self.assertEqual(
            shown, ("active", "Lock", "CREATE TABLE third (i INTEGER)", "ada", NAME, "client backend")
        )
        holder = self.holder.info.backend_pid
        blockers = self.watcher.execute("SELECT pg_blocking_pids(%s)", [waiting.pid]).fetchone()[0]
        self.assertEqual(blockers, [holder])
        self.assertEqual(self.watcher.execute("SELECT pg_cancel_backend(%s)", [waiting.pid]).fetchone(), (True,))
        self.assertEqual(waiting.sqlstate(), "57014")
        # The connection goes on.
        self.assertEqual(self.waiter.execute("SELECT 1").fetchone(), (1,))

    def test_pg_terminate_backend_ends_an_idle_transaction_and_its_locks(self):
        self.hold_definitions()
        waiting = self.waits("CREATE TABLE third (i INTEGER)")
        pid = self.holder.info.backend_pid
        idle = self.watcher.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone()
        self.assertEqual(idle, ("idle in transaction",))
        self.assertEqual(self.watcher.execute("SELECT pg_terminate_backend(%s)", [pid]).fetchone(), (True,))
        self.assertIsNone(waiting.sqlstate())
        with self.assertRaises(psycopg.OperationalError):
            self.holder.execute("SELECT 1")
        listed = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"
        until(lambda: self.watcher.execute(listed, [pid]).fetchone() == (0,))
        self.watcher.execute("DROP TABLE third")

    def test_pg_terminate_backend_ends_a_statement(self):
        self.hold_definitions()
        waiting = self.waits("CREATE TABLE third (i INTEGER)")
        self.assertEqual(self.watcher.execute("SELECT pg_terminate_backend(%s)", [waiting.pid]).fetchone(), (True,))
        self.assertEqual(waiting.sqlstate(), "57P01")

    def test_numbers_of_connections_are_those_of_the_protocol(self):
        for connection in (self.holder, self.waiter):
            pid = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
            self.assertEqual(pid, connection.info.backend_pid)

    def test_loads_wait_for_those_of_the_same_table(self):
        rows = "SELECT i FROM generate_series(1, 20000) AS g(i)"
        for table in ("loaded", "beside"):
            self.watcher.execute(f"DROP TABLE IF EXISTS {table}")
            self.watcher.execute(f"CREATE TABLE {table} (i INTEGER) USING column")
        self.holder.execute("BEGIN")
        self.holder.execute(f"INSERT INTO loaded {rows}")
        self.waiter.execute("SET lock_timeout = '10s'")
        for sql in (f"INSERT INTO beside {rows}", "DELETE FROM beside WHERE i > 5", "VACUUM beside", "VACUUM", "ANALYZE held"):
            with self.subTest(sql):
                self.waiter.execute(sql)
        pid = self.holder.info.backend_pid
        locked = "SELECT relation::regclass::text, mode FROM pg_locks WHERE pid = %s AND locktype = 'object' AND relation IS NOT NULL"
        self.assertEqual(self.watcher.execute(locked, [pid]).fetchall(), [("loaded", "ExclusiveLock")])
        shown = "SELECT object, mode, held_by FROM quire_waits() WHERE session = %s"
        for sql, awaited in (
            (f"INSERT INTO loaded {rows}", "row groups of table loaded"), ("CREATE TABLE third (i INTEGER)", "definitions")
        ):
            waiting = self.waits(sql)
            answer = self.watcher.execute(shown, [waiting.pid]).fetchone()
            self.assertEqual(answer, (awaited, "ExclusiveLock", [pid]))
            self.waiter.cancel()
            self.assertEqual(waiting.sqlstate(), "57014")
        self.holder.execute("COMMIT")
        self.assertEqual(self.watcher.execute("SELECT count(*) FROM loaded").fetchone(), (20000,))
        self.assertEqual(self.watcher.execute("SELECT count(*) FROM beside").fetchone(), (5,))

    def test_a_failed_transaction_keeps_no_lock(self):
        self.holder.execute("BEGIN")
        self.holder.execute("UPDATE held SET v = 2 WHERE id = 1")
        with self.assertRaises(psycopg.Error):
            self.holder.execute("SELECT * FROM nope")
        self.waiter.execute("UPDATE held SET v = 3 WHERE id = 1")
        self.holder.execute("ROLLBACK")

    def test_a_cursor_has_its_time_for_each_fetch(self):
        self.waiter.execute("SET statement_timeout = '2s'")
        self.waiter.execute("BEGIN")
        self.waiter.execute("DECLARE c CURSOR FOR SELECT * FROM generate_series(1, 1000000)")
        for _ in range(4):
            self.assertEqual(len(self.waiter.execute("FETCH 1000 FROM c").fetchall()), 1000)
            time.sleep(0.7)
        self.waiter.execute("ROLLBACK")


class LongStatements(ServerTest):
    """Statements that would take hours, of every kind of operator: each ends with its time, and leaves no work that the next waits for."""

    STATEMENTS = [
        "SELECT sum(a.i + b.i) FROM a, a AS b",
        "SELECT count(*) FROM a JOIN a AS b ON a.i < b.i",
        "SELECT count(*) FROM a JOIN a AS b ON a.t || b.t LIKE '%zz%'",
        "SELECT count(*) FROM a LEFT JOIN a AS b ON a.i + b.i = 7 AND a.i > b.i",
        "SELECT count(*) FROM a JOIN a AS b ON a.k = b.k WHERE a.t || b.t = 'none'",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY x % 1009) AS r FROM generate_series(1, 300000000) AS g(x)) AS s",
        "SELECT count(*) FROM a WHERE regexp_replace(repeat(t, 50000), '(a|b)+c', 'x', 'g') = 'q'",
        "SELECT length(string_agg(t, ',')) FROM generate_series(1, 100000), a",
        "SELECT count(*) FROM a WHERE i NOT IN (SELECT b.i + 1 FROM a AS b, generate_series(1, 100000))",
        "SELECT count(*) FROM a WHERE repeat(t, 300000) LIKE '%q%z%q%z%q'",
        "SELECT count(DISTINCT (a.i, b.i)) FROM a, a AS b",
        "SELECT count(*) FROM a WHERE NOT EXISTS (SELECT 1 FROM a AS b WHERE b.k = a.k AND b.i > a.i + 300000)",
        "EXPLAIN ANALYZE SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM a AS b WHERE b.k = a.k AND b.i > a.i + 300000)",
        "EXPLAIN ANALYZE SELECT count(*) FROM a JOIN a AS b ON a.k = b.k WHERE a.t || b.t = 'none'",
        "EXPLAIN ANALYZE SELECT count(*) FROM a LEFT JOIN a AS b ON a.i + b.i = 7 AND a.i > b.i",
        "EXPLAIN ANALYZE SELECT sum(a.i + b.i) FROM a, a AS b",
        "INSERT INTO a SELECT a.i, b.k, a.t FROM a, a AS b",
        "UPDATE a SET t = (SELECT max(b.t) FROM a AS b WHERE b.i <> a.i)",
        "CREATE TABLE z AS SELECT a.i FROM a, a AS b",
    ]

    def test_each_ends_with_its_time_and_leaves_nothing(self):
        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE a AS SELECT i, i % 10 AS k, 'text ' || i AS t FROM generate_series(1, 200000) AS g(i)")
            for sql in self.STATEMENTS:
                with self.subTest(sql):
                    connection.execute(f"SET statement_timeout = '{SECONDS_MAX}s'")
                    connection.execute("BEGIN")
                    connection.execute("SET LOCAL statement_timeout = '200ms'")
                    with self.assertRaises(psycopg.errors.QueryCanceled):
                        connection.execute(sql)
                    connection.execute("ROLLBACK")
                    self.assertEqual(connection.execute("SELECT count(*) FROM a").fetchone(), (200000,))


class Permissions(ServerTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="quire-server-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.database = cls.folder / "test.quire"
        roles = [
            "CREATE USER ada SUPERUSER PASSWORD 'p'", "CREATE ROLE bob LOGIN PASSWORD 'p'",
            "CREATE ROLE eve LOGIN PASSWORD 'p'", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)",
        ]
        made = run(cls.database, *roles)
        assert made.returncode == 0, made.stderr
        cls.server, cls.port = start(cls.database)
        cls.addClassCleanup(stop, cls.server)
        cls.rows = cls.folder / "rows.csv"
        cls.rows.write_text("a,b\n1,x\n2,y\n")

    def connect(self, user):
        connection = psycopg.connect(self.conninfo(user=user, password="p"), autocommit=True)
        self.addCleanup(connection.close)
        return connection

    def signal(self, connection, function, target):
        sql = f"SELECT pg_{function}_backend(%s)"
        try:
            return connection.execute(sql, [target.info.backend_pid]).fetchone()[0]
        except psycopg.Error as error:
            return error.sqlstate

    def test_roles_end_what_is_theirs(self):
        ada, bob, eve = self.connect("ada"), self.connect("bob"), self.connect("eve")
        for function in ("cancel", "terminate"):
            self.assertEqual(self.signal(eve, function, bob), "42501")
            self.assertEqual(self.signal(eve, function, ada), "42501")
        self.assertIs(self.signal(self.connect("bob"), "cancel", bob), True)
        self.assertIs(self.signal(ada, "terminate", bob), True)
        # The signal is on its way when the function returns, as in PostgreSQL.
        with self.assertRaises(psycopg.OperationalError):
            for _ in range(100):
                bob.execute("SELECT 1")
                time.sleep(0.05)

    def test_statements_of_others_are_hidden(self):
        bob, eve = self.connect("bob"), self.connect("eve")
        bob.execute("SELECT 1 AS secret")
        shown = "SELECT query FROM pg_stat_activity WHERE pid = %s"
        self.assertEqual(eve.execute(shown, [bob.info.backend_pid]).fetchone(), ("<insufficient privilege>",))
        self.assertEqual(
            self.connect("ada").execute(shown, [bob.info.backend_pid]).fetchone(), ("SELECT 1 AS secret",)
        )

    def test_changes_read_files_of_the_server(self):
        ada, bob = self.connect("ada"), self.connect("bob")
        ada.execute("SET statement_timeout = '60s'")
        bob.execute("SET statement_timeout = '60s'")
        changes = [
            f"INSERT INTO t SELECT * FROM '{self.rows}'",
            f"UPDATE t SET b = x.b FROM '{self.rows}' x WHERE x.a = t.a",
            f"CREATE TABLE made AS SELECT * FROM '{self.rows}'",
            f"DELETE FROM t USING '{self.rows}' x WHERE x.a = t.a",
        ]
        for change in changes:
            with self.assertRaises(psycopg.errors.InsufficientPrivilege):
                bob.execute(change)
        counts = [ada.execute(change).rowcount for change in changes]
        self.assertEqual([counts[0], counts[1], counts[3]], [2, 2, 2])


if __name__ == "__main__":
    unittest.main()
