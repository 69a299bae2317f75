"""Data frames in and out: pandas, polars, pyarrow, and whatever else has Arrow's PyCapsule interface."""

import datetime
import decimal
import subprocess
import sys
import unittest

import duckdb
import numpy
import pandas
import polars
import pyarrow

import quire

ROWS = [(1, "one", 1.5), (2, None, None), (3, "drei", -2.0)]
# A global that statements name.
global_frame = pyarrow.table({"n": [10, 20]})


class OnlyCapsule:
    """Arrow data without a library's class around it."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


class InMemory(unittest.TestCase):
    def setUp(self):
        self.connection = quire.connect(autocommit=True)
        self.addCleanup(self.connection.close)

    def all(self, sql, *parameters):
        return self.connection.execute(sql, parameters).fetchall()


class Out(InMemory):
    def setUp(self):
        super().setUp()
        self.connection.execute("CREATE TABLE t (n INTEGER, s TEXT, f DOUBLE PRECISION)")
        self.connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        self.relation = self.connection.sql("SELECT * FROM t ORDER BY n")

    def test_pyarrow(self):
        table = self.relation.arrow()
        self.assertEqual(table.schema.names, ["n", "s", "f"])
        self.assertEqual(table.schema.types, [pyarrow.int32(), pyarrow.string(), pyarrow.float64()])
        self.assertEqual([tuple(row.values()) for row in table.to_pylist()], ROWS)

    def test_pandas(self):
        frame = self.relation.df()
        self.assertEqual(frame["n"].tolist(), [1, 2, 3])
        self.assertEqual(frame["n"].dtype, numpy.int32)
        self.assertEqual(frame["s"].isna().tolist(), [False, True, False])
        self.assertEqual(frame["f"].sum(), -0.5)

    def test_polars(self):
        frame = self.relation.pl()
        self.assertEqual(frame.rows(), ROWS)
        self.assertEqual(frame.dtypes, [polars.Int32, polars.String, polars.Float64])

    def test_a_cursor_gives_what_is_left(self):
        cursor = self.connection.execute("SELECT * FROM t ORDER BY n")
        cursor.fetchone()
        self.assertEqual(cursor.arrow().to_pylist(), [dict(zip("nsf", row)) for row in ROWS[1:]])
        self.assertEqual(cursor.fetchall(), [])

    def test_streams_of_the_capsule_interface(self):
        reader = pyarrow.RecordBatchReader.from_stream(self.relation)
        self.assertEqual(reader.read_all().num_rows, 3)
        self.assertEqual(pyarrow.schema(self.relation).names, ["n", "s", "f"])
        self.assertEqual(polars.DataFrame(self.relation).rows(), ROWS)
        wanted = pyarrow.schema([("n", pyarrow.int64()), ("s", pyarrow.large_string()), ("f", pyarrow.float32())])
        reader = pyarrow.RecordBatchReader.from_stream(self.relation, schema=wanted)
        self.assertEqual(reader.schema, wanted)
        self.assertEqual([tuple(row.values()) for row in reader.read_all().to_pylist()], ROWS)

    def test_a_stream_that_nobody_reads_to_its_end(self):
        relation = self.connection.sql("SELECT value FROM generate_series(1, 10000000)")
        reader = pyarrow.RecordBatchReader.from_stream(relation)
        self.assertGreater(reader.read_next_batch().num_rows, 0)
        del reader
        self.assertEqual(self.all("SELECT 1"), [(1,)])

    def test_an_error_comes_out_of_a_stream(self):
        self.connection.execute("CREATE TABLE z AS SELECT value AS v FROM generate_series(0, 100000) ORDER BY value DESC")
        with self.assertRaises(quire.DataError):
            self.connection.sql("SELECT 1 / v FROM z").arrow()
        with self.assertRaisesRegex(Exception, "division by zero"):
            pyarrow.RecordBatchReader.from_stream(self.connection.sql("SELECT 1 / v FROM z")).read_all()

    def test_types_of_arrow(self):
        table = self.connection.sql(
            "SELECT CAST(1 AS SMALLINT) AS i, CAST(2 AS DECIMAL(10,2)) AS d, DATE '2024-02-29' AS day,"
            " TIMESTAMP '2024-02-29 01:02:03' AS t, true AS b, CAST('\\x00ff' AS BYTEA) AS y"
        ).arrow()
        self.assertEqual(
            table.schema.types,
            [
                pyarrow.int16(),
                pyarrow.decimal128(10, 2),
                pyarrow.date32(),
                pyarrow.timestamp("us"),
                pyarrow.bool_(),
                pyarrow.binary(),
            ],
        )
        row = (1, decimal.Decimal("2.00"), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3), True, b"\x00\xff")
        self.assertEqual(tuple(table.to_pylist()[0].values()), row)

    def test_no_rows_have_columns(self):
        relation = self.connection.sql("SELECT * FROM t WHERE n > 100")
        self.assertEqual(relation.arrow().schema.names, ["n", "s", "f"])
        self.assertEqual(list(relation.df().columns), ["n", "s", "f"])
        self.assertEqual(relation.pl().columns, ["n", "s", "f"])

    def test_another_database_reads_it(self):
        relation = self.connection.sql("SELECT value AS n FROM generate_series(1, 100000)")
        with duckdb.connect() as other:
            other.register("numbers", relation.arrow())
            self.assertEqual(other.execute("SELECT sum(n) FROM numbers").fetchone(), (50_000 * 100_001,))


class In(InMemory):
    def test_variables_are_tables(self):
        pandas_frame = pandas.DataFrame({"n": [1, 2, 3], "s": ["a", None, "c"]})
        polars_frame = polars.DataFrame({"n": [1, 2, 3], "s": ["a", None, "c"]})
        arrow_table = pyarrow.table({"n": [1, 2, 3], "s": ["a", None, "c"]})
        lazy_frame = polars_frame.lazy().filter(polars.col("n") > 0)
        capsule = OnlyCapsule(arrow_table)
        array = OnlyArray(arrow_table.to_batches()[0])
        reader = arrow_table.to_reader()
        for name in ("pandas_frame", "polars_frame", "arrow_table", "lazy_frame", "capsule", "array", "reader"):
            with self.subTest(name=name):
                self.assertIsNotNone(locals().get(name))
                self.assertEqual(self.connection.sql(f"SELECT n, s FROM {name} ORDER BY n").fetchall(),
                                 [(1, "a"), (2, None), (3, "c")])

    def test_globals_and_names_with_capitals(self):
        self.assertEqual(self.connection.execute("SELECT sum(n) FROM global_frame").fetchone(), (30,))
        MyFrame = polars.DataFrame({"n": [5]})
        self.assertEqual(self.connection.execute("SELECT n FROM MyFrame").fetchall(), [(5,)])
        self.assertEqual(self.connection.execute('SELECT n FROM "MyFrame"').fetchall(), [(5,)])
        self.assertEqual(MyFrame.height, 1)

    def test_a_table_of_the_file_goes_before_a_variable(self):
        t = pandas.DataFrame({"a": [99]})
        self.assertEqual(self.connection.execute("SELECT a FROM t").fetchall(), [(99,)])
        self.connection.execute("CREATE TABLE t AS SELECT 1 AS a")
        self.assertEqual(self.connection.execute("SELECT a FROM t").fetchall(), [(1,)])
        self.assertEqual(len(t), 1)

    def test_what_is_no_frame_is_no_table(self):
        numbers = [1, 2, 3]
        with self.assertRaises(quire.ProgrammingError) as caught:
            self.connection.execute("SELECT * FROM numbers")
        self.assertEqual(caught.exception.sqlstate, "42P01")
        self.assertEqual(len(numbers), 3)

    def test_variables_of_other_functions_are_not_seen(self):
        def inner():
            return self.connection.execute("SELECT * FROM hidden")

        hidden = pyarrow.table({"n": [1]})
        self.assertEqual(hidden.num_rows, 1)
        self.assertRaises(quire.ProgrammingError, inner)

    def test_frames_with_parameters_joined_with_tables_and_twice(self):
        self.connection.execute("CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT)")
        self.connection.executemany("INSERT INTO names VALUES (?, ?)", [(1, "Ada"), (2, "Bob")])
        facts = pandas.DataFrame({"id": [1, 2, 1], "x": [10, 20, 30]})
        sql = "SELECT name, sum(x) FROM facts JOIN names USING (id) WHERE x > ? GROUP BY name ORDER BY name"
        self.assertEqual(self.connection.execute(sql, (10,)).fetchall(), [("Ada", 30), ("Bob", 20)])
        sql = "SELECT count(*) FROM facts a JOIN facts b ON a.id = b.id"
        self.assertEqual(self.connection.execute(sql).fetchall(), [(5,)])
        self.assertEqual(len(facts), 3)

    def test_a_relation_runs_again_with_the_same_frame(self):
        def relation():
            frame = polars.DataFrame({"n": [1, 2]})
            self.assertEqual(frame.height, 2)
            return self.connection.sql("SELECT sum(n) AS n FROM frame")

        found = relation()
        for _ in range(3):
            self.assertEqual([int(value) for value in found.arrow()["n"].to_pylist()], [3])

    def test_rows_are_inserted_from_frames(self):
        frame = pandas.DataFrame({"n": range(20_000), "s": [f"text {i}" for i in range(20_000)]})
        for storage, key in (("column", ""), ("row", " PRIMARY KEY")):
            self.connection.execute(f"CREATE TABLE t (n BIGINT{key}, s TEXT) USING {storage}")
            cursor = self.connection.execute("INSERT INTO t SELECT n, s FROM frame")
            self.assertEqual(cursor.rowcount, 20_000)
            found = self.connection.execute("SELECT n, s FROM t ORDER BY n").fetchall()
            self.assertEqual(found, list(frame.itertuples(index=False, name=None)))
            self.connection.execute("DROP TABLE t")
        self.connection.execute("CREATE TABLE u AS SELECT * FROM frame")
        self.assertEqual(self.connection.execute("SELECT count(*) FROM u").fetchone(), (20_000,))
        changed = pyarrow.table({"n": [1, 2], "s": ["one", "two"]})
        self.connection.execute("UPDATE u SET s = changed.s FROM changed WHERE u.n = changed.n")
        self.assertEqual(self.connection.execute("SELECT s FROM u WHERE n < 3 ORDER BY n").fetchall(),
                         [("text 0",), ("one",), ("two",)])
        self.assertEqual(changed.num_rows, 2)

    def test_registered_names(self):
        self.connection.register("numbers", pyarrow.table({"n": [1, 2]}))
        self.assertEqual(self.all("SELECT sum(n) FROM numbers"), [(3,)])
        self.connection.register("numbers", pyarrow.table({"n": [5]}))
        self.assertEqual(self.all("SELECT sum(n) FROM numbers"), [(5,)])
        self.connection.unregister("numbers")
        self.assertRaises(quire.ProgrammingError, self.all, "SELECT * FROM numbers")
        self.assertRaises(quire.ProgrammingError, self.connection.unregister, "numbers")
        self.assertRaises(quire.ProgrammingError, self.connection.register, "numbers", [1])
        self.connection.execute("CREATE TABLE t (a INTEGER)")
        self.assertRaises(quire.ProgrammingError, self.connection.register, "t", pyarrow.table({"n": [1]}))

    def test_a_view_of_a_frame_is_refused(self):
        frame = pyarrow.table({"n": [1]})
        with self.assertRaises(quire.NotSupportedError) as caught:
            self.connection.execute("CREATE VIEW v AS SELECT * FROM frame")
        self.assertIn("frame", str(caught.exception))
        self.connection.execute("CREATE VIEW v AS WITH frame AS (SELECT 7 AS n) SELECT * FROM frame")
        self.assertEqual(self.connection.execute("SELECT * FROM v").fetchall(), [(7,)])
        self.assertEqual(frame.num_rows, 1)

    def test_a_frame_of_objects_that_is_no_table_says_why(self):
        frame = pandas.DataFrame({"mixed": [1, "a", object()]})
        with self.assertRaises(quire.Error) as caught:
            self.connection.execute("SELECT * FROM frame")
        self.assertIn("frame", str(caught.exception))
        self.assertIsNotNone(caught.exception.__cause__)
        self.assertEqual(len(frame), 3)

    def test_a_result_is_no_frame(self):
        relation = self.connection.sql("SELECT 1 AS n")
        with self.assertRaisesRegex(quire.Error, "arrow"):
            self.connection.execute("SELECT * FROM relation")
        self.assertEqual(relation.fetchall(), [(1,)])


class ArrowTypes(InMemory):
    """Types that SQL does not have become those that it has, without loss."""

    def check(self, array, expected):
        frame = pyarrow.table({"v": array})
        self.connection.execute("CREATE TABLE t AS SELECT v FROM frame")
        self.assertEqual([row[0] for row in self.connection.execute("SELECT v FROM t").fetchall()], expected)
        self.connection.execute("DROP TABLE t")
        self.assertEqual(frame.num_columns, 1)

    def test_integers_of_all_widths(self):
        for bits in (8, 16, 32, 64):
            signed = [-(2 ** (bits - 1)), None, 2 ** (bits - 1) - 1]
            self.check(pyarrow.array(signed, getattr(pyarrow, f"int{bits}")()), signed)
            unsigned = [0, None, 2**bits - 1]
            self.check(pyarrow.array(unsigned, getattr(pyarrow, f"uint{bits}")()), unsigned)

    def test_texts_and_bytes_of_all_kinds(self):
        texts = ["", None, "a", "a text that is longer than twelve bytes"]
        for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
            self.check(pyarrow.array(texts, kind), texts)
        self.check(pyarrow.array(texts).dictionary_encode(), texts)
        blobs = [b"", None, b"\x00\xff"]
        for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()):
            self.check(pyarrow.array(blobs, kind), blobs)
        self.check(pyarrow.array([b"ab", None], pyarrow.binary(2)), [b"ab", None])

    def test_points_in_time_of_all_units(self):
        moment = datetime.datetime(2024, 2, 29, 12, 30)
        for unit in ("s", "ms", "us", "ns"):
            self.check(pyarrow.array([moment, None], pyarrow.timestamp(unit)), [moment, None])
        aware = moment.replace(tzinfo=datetime.timezone.utc)
        self.check(pyarrow.array([aware], pyarrow.timestamp("ms", tz="Europe/Berlin")), [aware])
        self.check(pyarrow.array([moment.date()], pyarrow.date32()), [moment.date()])

    def test_decimals_and_small_floats(self):
        value = decimal.Decimal("1.25")
        self.check(pyarrow.array([value, None], pyarrow.decimal256(20, 2)), [value, None])
        self.check(pyarrow.array([0.5, None], pyarrow.float16()), [0.5, None])
        self.check(pyarrow.nulls(2), [None, None])

    def test_categories_of_pandas_and_polars(self):
        values = ["a", "b", None, "a"]
        for frame in (
            pandas.DataFrame({"v": pandas.Categorical(values)}),
            polars.DataFrame({"v": values}, schema={"v": polars.Categorical}),
            polars.DataFrame({"v": values}, schema={"v": polars.Enum(["a", "b"])}),
        ):
            found = self.connection.execute("SELECT v FROM frame").fetchall()
            self.assertEqual([row[0] for row in found], values)

    def test_what_has_no_counterpart_names_the_column(self):
        for array in (
            pyarrow.array([{"a": 1}]),
            pyarrow.array([1], pyarrow.timestamp("ns")),
            pyarrow.array([decimal.Decimal(10) ** 50], pyarrow.decimal256(60, 0)),
        ):
            frame = pyarrow.table({"odd": array})
            with self.assertRaises(quire.Error) as caught:
                self.connection.execute("SELECT * FROM frame").fetchall()
            self.assertIn('"odd"', str(caught.exception))
            self.assertIsNotNone(caught.exception.hint)
            self.assertEqual(frame.num_rows, 1)


class WithoutLibraries(unittest.TestCase):
    def test_no_library_is_needed_to_import_and_to_fetch(self):
        program = (
            "import sys\n"
            "for name in ('pandas', 'polars', 'pyarrow', 'numpy'): sys.modules[name] = None\n"
            "import quire\n"
            "connection = quire.connect()\n"
            "print(connection.execute('SELECT 1').fetchall(), repr(connection.sql('SELECT 2 AS two')).count('two'))\n"
            "try: connection.sql('SELECT 1').arrow()\n"
            "except quire.NotSupportedError as error: print(error.hint)\n"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.splitlines(), ["[(1,)] 1", "Install it: pip install pyarrow"])


if __name__ == "__main__":
    unittest.main()
