"""The Python package against PEP 249: what the text of the standard says, said again as tests."""

import inspect
import pathlib
import tempfile
import threading
import unittest

import quire


class Module(unittest.TestCase):
    def test_the_module_says_what_it_is(self):
        self.assertEqual(quire.apilevel, "2.0")
        self.assertIn(quire.threadsafety, (1, 2, 3))
        self.assertEqual(quire.paramstyle, "qmark")
        self.assertTrue(callable(quire.connect))

    def test_exceptions_are_derived_as_the_standard_says(self):
        self.assertTrue(issubclass(quire.Warning, Exception))
        self.assertTrue(issubclass(quire.Error, Exception))
        for one in (quire.InterfaceError, quire.DatabaseError):
            self.assertEqual(one.__mro__[1], quire.Error)
        for one in (
            quire.DataError,
            quire.OperationalError,
            quire.IntegrityError,
            quire.InternalError,
            quire.ProgrammingError,
            quire.NotSupportedError,
        ):
            self.assertEqual(one.__mro__[1], quire.DatabaseError)

    def test_everything_public_is_described(self):
        for name in quire.__all__:
            one = getattr(quire, name)
            if inspect.isclass(one) and one.__module__.startswith("quire"):
                self.assertTrue(one.__doc__, name)
        for one in (quire.Connection, quire.Cursor, quire.Relation):
            for name, member in vars(one).items():
                if not name.startswith("_"):
                    self.assertTrue(member.__doc__, f"{one.__name__}.{name}")


class InMemory(unittest.TestCase):
    def setUp(self):
        self.connection = quire.connect(":memory:")
        self.addCleanup(self.connection.close)
        self.cursor = self.connection.cursor()
        self.cursor.execute("CREATE TABLE booze (name VARCHAR(20) PRIMARY KEY, price DECIMAL(10,2))")
        self.connection.commit()
        self.drinks = ["Cooper's", "Victoria", "XXXX"]

    def fill(self):
        self.cursor.executemany("INSERT INTO booze (name) VALUES (?)", [(name,) for name in self.drinks])


class Cursors(InMemory):
    def test_rows_come_one_by_one_and_then_none(self):
        self.fill()
        self.cursor.execute("SELECT name FROM booze ORDER BY name")
        self.assertEqual([self.cursor.fetchone() for _ in range(4)], [(name,) for name in self.drinks] + [None])
        self.assertIsNone(self.cursor.fetchone())

    def test_fetchmany_gives_arraysize_rows(self):
        self.fill()
        self.cursor.execute("SELECT name FROM booze ORDER BY name")
        self.assertEqual(self.cursor.arraysize, 1)
        self.assertEqual(len(self.cursor.fetchmany()), 1)
        self.cursor.arraysize = 10
        self.assertEqual(self.cursor.fetchmany(), [("Victoria",), ("XXXX",)])
        self.assertEqual(self.cursor.fetchmany(5), [])

    def test_fetchall_gives_what_is_left(self):
        self.fill()
        self.cursor.execute("SELECT name FROM booze ORDER BY name")
        self.cursor.fetchone()
        self.assertEqual(self.cursor.fetchall(), [("Victoria",), ("XXXX",)])
        self.assertEqual(self.cursor.fetchall(), [])

    def test_a_cursor_is_an_iterator_over_many_batches(self):
        self.cursor.execute("SELECT value FROM generate_series(1, 30000) ORDER BY value")
        self.assertEqual(list(self.cursor), [(number,) for number in range(1, 30001)])

    def test_rows_are_nobodys_before_a_query(self):
        for cursor in (self.connection.cursor(), self.connection.execute("INSERT INTO booze (name) VALUES ('a')")):
            for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
                self.assertRaises(quire.Error, fetch)

    def test_the_description_has_seven_items_for_each_column(self):
        self.assertIsNone(self.connection.cursor().description)
        self.cursor.execute("SELECT name, price, 1 AS one FROM booze")
        name, price, one = self.cursor.description
        self.assertEqual({len(column) for column in self.cursor.description}, {7})
        self.assertEqual([name[0], price[0], one[0]], ["name", "price", "one"])
        self.assertTrue(name[1] == quire.STRING and price[1] == quire.NUMBER and one[1] == quire.NUMBER)
        self.assertFalse(name[1] == quire.NUMBER or price[1] == quire.DATETIME)
        self.assertEqual(price[4:6], (10, 2))
        self.cursor.execute("DELETE FROM booze")
        self.assertIsNone(self.cursor.description)

    def test_rowcount_counts_changed_rows(self):
        self.assertEqual(self.connection.cursor().rowcount, -1)
        self.fill()
        self.assertEqual(self.cursor.rowcount, 3)
        self.assertEqual(self.cursor.execute("UPDATE booze SET price = 1 WHERE name > 'V'").rowcount, 2)
        self.assertEqual(self.cursor.execute("DELETE FROM booze WHERE name = 'nothing'").rowcount, 0)
        self.assertEqual(self.cursor.execute("DELETE FROM booze WHERE name = ?", ("XXXX",)).rowcount, 1)
        self.assertEqual(self.cursor.execute("SELECT 1").rowcount, -1)

    def test_sizes_may_be_set(self):
        self.cursor.setinputsizes((25,))
        self.cursor.setoutputsize(1000)
        self.cursor.setoutputsize(1000, 0)

    def test_a_closed_cursor_refuses(self):
        self.cursor.close()
        self.assertRaises(quire.InterfaceError, self.cursor.execute, "SELECT 1")
        self.assertRaises(quire.InterfaceError, self.cursor.fetchone)

    def test_returned_rows_come_back(self):
        rows = self.cursor.execute("INSERT INTO booze (name) VALUES ('a'), ('b') RETURNING name").fetchall()
        self.assertEqual(rows, [("a",), ("b",)])


class Parameters(InMemory):
    def test_marks_and_numbers(self):
        self.assertEqual(self.cursor.execute("SELECT ? + ?", (1, 2)).fetchone(), (3,))
        self.assertEqual(self.cursor.execute("SELECT $2 - $1", [1, 2]).fetchone(), (1,))

    def test_quotes_in_a_value_are_not_those_of_the_statement(self):
        name = "'; DROP TABLE x"
        self.cursor.execute("INSERT INTO booze VALUES (?, ?)", (name, "1.50"))
        self.assertEqual(self.cursor.execute("SELECT name FROM booze").fetchall(), [(name,)])

    def test_the_wrong_number_is_said(self):
        for wrong in ((1,), (1, 2, 3)):
            with self.assertRaises(quire.ProgrammingError) as caught:
                self.cursor.execute("SELECT ? + ?", wrong)
            self.assertIn("2 parameters", str(caught.exception))

    def test_a_text_or_a_mapping_is_no_sequence_of_parameters(self):
        for wrong in ("a", b"a", {"name": "a"}):
            with self.assertRaises(quire.ProgrammingError):
                self.cursor.execute("SELECT ?", wrong)

    def test_a_prepared_statement_follows_the_table(self):
        other = self.connection.duplicate()
        self.addCleanup(other.close)
        for connection in (self.connection, other):
            connection.autocommit = True
        self.connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
        self.connection.execute("INSERT INTO t VALUES (?)", (1,))
        other.execute("DROP TABLE t")
        other.execute("CREATE TABLE t (a TEXT PRIMARY KEY)")
        self.connection.execute("INSERT INTO t VALUES (?)", ("one",))
        self.assertEqual(self.connection.execute("SELECT a FROM t").fetchall(), [("one",)])

    def test_executemany_takes_any_iterable_and_does_all_or_nothing(self):
        self.cursor.executemany("INSERT INTO booze VALUES (?, ?)", ([f"n{i}", i] for i in range(5000)))
        self.assertEqual(self.cursor.rowcount, 5000)
        self.connection.commit()
        with self.assertRaises(quire.IntegrityError):
            self.cursor.executemany("INSERT INTO booze VALUES (?, ?)", [("new", 1), ("n7", 2)])
        self.assertFalse(self.connection.in_transaction)
        self.assertEqual(self.cursor.execute("SELECT count(*) FROM booze").fetchone(), (5000,))

    def test_executemany_of_a_column_table(self):
        self.cursor.execute("CREATE TABLE c (a INTEGER, b TEXT, c DOUBLE PRECISION)")
        rows = [(i, f"text {i}" if i % 3 else None, i / 4) for i in range(3000)]
        self.cursor.executemany("INSERT INTO c VALUES (?, ?, ?)", rows)
        self.assertEqual(self.cursor.rowcount, 3000)
        self.assertEqual(self.cursor.execute("SELECT * FROM c ORDER BY a").fetchall(), rows)

    def test_executemany_does_what_execute_does_row_by_row(self):
        rows = [(i, f"{i}", i / 2 if i % 5 else None) for i in range(200)]
        mixed = [(i, str(i), i if i % 2 else i / 4) for i in range(200)]
        texts = [(str(i), i, "1.5") for i in range(200)]
        for storage in ("row", "column"):
            for insert in (
                "INSERT INTO {} VALUES (?, ?, ?)",
                "insert into {} (a, b, c) values ($1, $2, $3);",
                "INSERT INTO {} (c, b, a) VALUES ($3, $2, $1)",
                "INSERT INTO {} (a, b, c) VALUES (CAST(? AS INTEGER) + 1, ?, ?)",
                'INSERT INTO {} ("a", "b", "c") VALUES (?, ?, ?) -- as they come',
            ):
                for given in (rows, mixed, texts):
                    found = []
                    for many in (True, False):
                        self.connection.execute(f"CREATE TABLE t (a INTEGER, b VARCHAR(9), c DOUBLE PRECISION, d INTEGER DEFAULT 7) USING {storage}")
                        if many:
                            self.connection.executemany(insert.format("t"), given)
                        else:
                            for row in given[:3]:
                                self.connection.execute(insert.format("t"), row)
                        found.append(self.connection.execute("SELECT * FROM t ORDER BY a").fetchall())
                        self.connection.rollback()
                    with self.subTest(storage=storage, insert=insert, row=given[0]):
                        self.assertEqual(found[0][:3], found[1])
                        self.assertEqual(len(found[0]), 200)

    def test_executemany_of_many_rows_fails_as_a_whole(self):
        rows = [(f"n{number}", number) for number in range(100)] + [("far too long for a name of booze", 1)]
        with self.assertRaises(quire.DataError):
            self.cursor.executemany("INSERT INTO booze VALUES (?, ?)", rows)
        self.assertEqual(self.cursor.execute("SELECT count(*) FROM booze").fetchone(), (0,))

    def test_executemany_is_not_for_queries(self):
        self.assertRaises(quire.ProgrammingError, self.cursor.executemany, "SELECT ?", [(1,)])

    def test_an_iterator_may_not_use_the_connection_that_draws_from_it(self):
        def rows():
            yield ("a", 1)
            self.connection.execute("SELECT 1")

        with self.assertRaises(quire.ProgrammingError):
            self.cursor.executemany("INSERT INTO booze VALUES (?, ?)", rows())


class Transactions(InMemory):
    def count(self):
        return self.cursor.execute("SELECT count(*) FROM booze").fetchone()[0]

    def test_rollback_takes_back_and_commit_keeps(self):
        self.fill()
        self.assertTrue(self.connection.in_transaction)
        self.connection.rollback()
        self.assertEqual(self.count(), 0)
        self.fill()
        self.connection.commit()
        self.connection.rollback()
        self.assertEqual(self.count(), 3)

    def test_queries_begin_no_transaction(self):
        self.count()
        self.assertFalse(self.connection.in_transaction)

    def test_others_see_what_is_committed(self):
        other = self.connection.duplicate()
        self.addCleanup(other.close)
        self.fill()
        self.assertEqual(other.execute("SELECT count(*) FROM booze").fetchone(), (0,))
        self.connection.commit()
        self.assertEqual(other.execute("SELECT count(*) FROM booze").fetchone(), (3,))

    def test_autocommit(self):
        self.connection.autocommit = True
        self.fill()
        self.assertFalse(self.connection.in_transaction)
        self.connection.rollback()
        self.assertEqual(self.count(), 3)
        self.connection.execute("BEGIN")
        self.connection.execute("DELETE FROM booze")
        with self.assertRaises(quire.ProgrammingError):
            self.connection.autocommit = False
        self.connection.rollback()
        self.assertEqual(self.count(), 3)

    def test_a_statement_that_fails_alone_leaves_no_transaction(self):
        with self.assertRaises(quire.ProgrammingError):
            self.connection.execute("INSERT INTO nothing VALUES (1)")
        self.assertFalse(self.connection.in_transaction)

    def test_a_failed_transaction_cannot_be_committed(self):
        self.fill()
        with self.assertRaises(quire.IntegrityError):
            self.connection.execute("INSERT INTO booze (name) VALUES ('XXXX')")
        with self.assertRaises(quire.InternalError) as caught:
            self.connection.commit()
        self.assertEqual(caught.exception.sqlstate, "25P02")
        self.assertEqual(self.count(), 0)


class Closing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "one.quire"

    def test_closing_loses_what_is_not_committed(self):
        connection = quire.connect(self.path)
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.commit()
        connection.execute("INSERT INTO t VALUES (1)")
        connection.close()
        connection.close()
        self.assertTrue(connection.closed)
        with quire.connect(str(self.path)) as connection:
            self.assertEqual(connection.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_everything_of_a_closed_connection_refuses(self):
        connection = quire.connect(self.path)
        cursor = connection.execute("SELECT 1")
        relation = connection.sql("SELECT 2")
        connection.close()
        for call in (connection.cursor, connection.commit, connection.rollback, cursor.fetchone, relation.fetchall):
            self.assertRaises(quire.InterfaceError, call)
        self.assertRaises(quire.InterfaceError, connection.execute, "SELECT 1")

    def test_a_with_block_commits_or_rolls_back_and_closes(self):
        with quire.connect(self.path) as connection:
            connection.execute("CREATE TABLE t (a INTEGER)")
        self.assertTrue(connection.closed)
        with self.assertRaises(ZeroDivisionError):
            with quire.connect(self.path) as connection:
                connection.execute("INSERT INTO t VALUES (1)")
                raise ZeroDivisionError
        with quire.connect(self.path) as connection:
            self.assertEqual(connection.execute("SELECT count(*) FROM t").fetchone(), (0,))

    def test_connections_of_a_process_share_a_file(self):
        with quire.connect(self.path, autocommit=True) as one, quire.connect(self.path, autocommit=True) as two:
            one.execute("CREATE TABLE t (a INTEGER)")
            two.execute("INSERT INTO t VALUES (1)")
            self.assertEqual(one.execute("SELECT a FROM t").fetchall(), [(1,)])

    def test_read_only(self):
        self.assertRaises(quire.Error, quire.connect, self.path, read_only=True)
        with quire.connect(self.path) as connection:
            connection.execute("CREATE TABLE t (a INTEGER)")
            connection.commit()
            with self.assertRaises(quire.OperationalError):
                quire.connect(self.path, read_only=True)
        with quire.connect(self.path, read_only=True) as connection:
            self.assertEqual(connection.execute("SELECT * FROM t").fetchall(), [])
            with self.assertRaises(quire.Error) as caught:
                connection.execute("INSERT INTO t VALUES (1)")
            self.assertEqual(caught.exception.sqlstate, "25006")
        self.assertRaises(quire.ProgrammingError, quire.connect, read_only=True)


class Errors(InMemory):
    def test_each_error_has_its_class_and_sqlstate(self):
        self.cursor.execute("INSERT INTO booze VALUES ('a', 1)")
        self.connection.commit()
        for sql, expected, sqlstate in (
            ("SELEC 1", quire.ProgrammingError, "42601"),
            ("SELECT * FROM nothing", quire.ProgrammingError, "42P01"),
            ("SELECT nothing FROM booze", quire.ProgrammingError, "42703"),
            ("SELECT 1 / 0", quire.DataError, "22012"),
            ("SELECT CAST('x' AS INTEGER)", quire.DataError, "22P02"),
            ("INSERT INTO booze VALUES ('a', 2)", quire.IntegrityError, "23505"),
            ("INSERT INTO booze VALUES (NULL, 2)", quire.IntegrityError, "23502"),
            ("MERGE INTO booze USING booze AS b ON true WHEN MATCHED THEN DELETE", quire.NotSupportedError, "0A000"),
        ):
            with self.subTest(sql=sql), self.assertRaises(expected) as caught:
                self.cursor.execute(sql).fetchall()
            self.assertEqual(caught.exception.sqlstate, sqlstate)
            self.assertTrue(caught.exception.message)
            self.connection.rollback()

    def test_an_error_has_its_place_and_what_to_do(self):
        with self.assertRaises(quire.ProgrammingError) as caught:
            self.cursor.execute("SELECT * FROM booz")
        error = caught.exception
        self.assertIn("booze", error.hint)
        self.assertIn(error.hint, str(error))
        with self.assertRaises(quire.ProgrammingError) as caught:
            self.cursor.execute("SELECT 1 +\n FROM")
        self.assertEqual(caught.exception.line, 2)


class Relations(unittest.TestCase):
    def setUp(self):
        self.connection = quire.connect(autocommit=True)
        self.addCleanup(self.connection.close)
        self.connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
        self.connection.execute("INSERT INTO t VALUES (1, 'one'), (2, NULL)")

    def test_a_statement_without_rows_gives_none(self):
        self.assertIsNone(self.connection.sql("CREATE TABLE u (a INTEGER)"))

    def test_looking_takes_no_rows(self):
        relation = self.connection.sql("SELECT * FROM t ORDER BY a")
        text = repr(relation)
        for part in ("a", "integer", "one", "NULL", "(2 rows)"):
            self.assertIn(part, text)
        self.assertEqual(repr(relation), text)
        self.assertEqual(relation.fetchall(), [(1, "one"), (2, None)])

    def test_frames_are_always_whole(self):
        relation = self.connection.sql("SELECT * FROM t WHERE a >= ? ORDER BY a", [1])
        self.assertEqual(relation.fetchone(), (1, "one"))
        for _ in range(2):
            self.assertEqual(relation.arrow().num_rows, 2)
        self.assertEqual(relation.fetchall(), [(2, None)])
        self.assertEqual(relation.fetchall(), [])

    def test_a_change_runs_once(self):
        relation = self.connection.sql("INSERT INTO t VALUES (3, 'three') RETURNING a")
        self.assertEqual(relation.arrow().to_pylist(), [{"a": 3}])
        self.assertEqual(relation.df()["a"].tolist(), [3])
        self.assertEqual(relation.fetchall(), [(3,)])
        self.assertEqual(self.connection.execute("SELECT count(*) FROM t").fetchone(), (3,))

    def test_iteration_and_names(self):
        relation = self.connection.sql("SELECT a, b AS letter FROM t ORDER BY a")
        self.assertEqual(relation.columns, ["a", "letter"])
        self.assertEqual([row[0] for row in relation], [1, 2])
        self.assertEqual([column[1] for column in relation.description], ["INTEGER", "TEXT"])

    def test_long_tables_are_cut(self):
        text = repr(self.connection.sql("SELECT value FROM generate_series(1, 100000)"))
        self.assertIn("there are more", text)
        self.assertLess(len(text.splitlines()), 40)


class Threads(unittest.TestCase):
    def test_a_connection_for_each_thread(self):
        first = quire.connect(autocommit=True)
        self.addCleanup(first.close)
        first.execute("CREATE TABLE t (thread INTEGER, number INTEGER, PRIMARY KEY (thread, number))")

        def work(thread):
            with first.duplicate() as connection:
                for number in range(50):
                    connection.execute("INSERT INTO t VALUES (?, ?)", (thread, number))

        self.run_threads(work, 4)
        self.assertEqual(first.execute("SELECT count(*), sum(number) FROM t").fetchone(), (200, 4 * 49 * 25))

    def test_one_connection_for_all_threads(self):
        connection = quire.connect(autocommit=True)
        self.addCleanup(connection.close)
        connection.execute("CREATE TABLE t (thread INTEGER, number INTEGER, PRIMARY KEY (thread, number))")

        def work(thread):
            for number in range(50):
                connection.execute("INSERT INTO t VALUES (?, ?)", (thread, number))
                rows = connection.execute("SELECT number FROM t WHERE thread = ?", (thread,)).fetchall()
                if len(rows) != number + 1:
                    raise AssertionError(f"{len(rows)} rows after {number + 1}")

        self.run_threads(work, 4)
        self.assertEqual(connection.execute("SELECT count(*) FROM t").fetchone(), (200,))

    def test_one_cursor_for_all_threads_gives_each_row_once(self):
        connection = quire.connect()
        self.addCleanup(connection.close)
        cursor = connection.execute("SELECT value FROM generate_series(1, 20000)")
        found = [[] for _ in range(4)]
        self.run_threads(lambda thread: found[thread].extend(iter(cursor.fetchone, None)), 4)
        self.assertEqual(sorted(row[0] for rows in found for row in rows), list(range(1, 20001)))

    def run_threads(self, work, count):
        failures = []

        def guarded(thread):
            try:
                work(thread)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=guarded, args=(thread,)) for thread in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
