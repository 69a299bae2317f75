"""Values of every SQL type to Python and back, against what Python itself calculates."""

import datetime
import decimal
import math
import unittest
import uuid

import numpy
import pandas

import quire

D = decimal.Decimal
UTC = datetime.timezone.utc

# Type, and values that are to come back as they are.
VALUES = [
    ("BOOLEAN", [True, False]),
    ("SMALLINT", [0, -(2**15), 2**15 - 1]),
    ("INTEGER", [0, -(2**31), 2**31 - 1]),
    ("BIGINT", [0, -(2**63), 2**63 - 1]),
    ("REAL", [0.0, 1.5, -0.25, 2.0**100, math.inf, -math.inf]),
    ("DOUBLE PRECISION", [0.1, -1e308, 5e-324, math.inf, -math.inf]),
    ("DECIMAL(38,0)", [D(10**38 - 1), D(-(10**38) + 1), D(0)]),
    ("DECIMAL(10,2)", [D("12345678.90"), D("-0.01"), D("0.00")]),
    ("DECIMAL(38,38)", [D("0." + "9" * 38)]),
    ("TEXT", ["", "a", "it's", "ümläut 漢字 🎈", "line\nbreak", "x" * 100_000]),
    ("VARCHAR(5)", ["", "abcde", "äöüß€"]),
    ("BYTEA", [b"", b"\x00\xff", bytes(range(256))]),
    ("DATE", [datetime.date(1970, 1, 1), datetime.date.min, datetime.date.max, datetime.date(2024, 2, 29)]),
    (
        "TIMESTAMP",
        [
            datetime.datetime(1970, 1, 1),
            datetime.datetime.min,
            datetime.datetime.max,
            datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        ],
    ),
    (
        "TIMESTAMP WITH TIME ZONE",
        [datetime.datetime(2024, 2, 29, 12, 30, 0, 1, tzinfo=UTC), datetime.datetime.min.replace(tzinfo=UTC)],
    ),
]


class Types(unittest.TestCase):
    def setUp(self):
        self.connection = quire.connect(autocommit=True)
        self.addCleanup(self.connection.close)

    def one(self, sql, *parameters):
        return self.connection.execute(sql, parameters).fetchone()[0]

    def test_values_come_back_from_both_kinds_of_tables(self):
        for storage in ("row", "column"):
            for sql_type, values in VALUES:
                with self.subTest(storage=storage, type=sql_type):
                    values = [*values, None]
                    self.connection.execute(f"CREATE TABLE t (n INTEGER, v {sql_type}) USING {storage}")
                    self.connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate(values))
                    found = [row[0] for row in self.connection.execute("SELECT v FROM t ORDER BY n")]
                    self.assertEqual(found, values)
                    self.assertEqual([type(value) for value in found], [type(value) for value in values])
                    for number, value in enumerate(values[:-1]):
                        sql = "SELECT count(*) FROM t WHERE v = ? AND n = ?"
                        self.assertEqual(self.one(sql, value, number), 1, value)
                    self.connection.execute("DROP TABLE t")

    def test_nan_is_not_a_number(self):
        self.connection.execute("CREATE TABLE t (v DOUBLE PRECISION)")
        self.connection.execute("INSERT INTO t VALUES (?)", (math.nan,))
        self.assertTrue(math.isnan(self.one("SELECT v FROM t")))

    def test_parameters_without_a_column_have_their_own_type(self):
        for value in (
            True,
            7,
            -(2**63),
            10**37,
            0.5,
            "text",
            b"\x00",
            D("1.50"),
            datetime.date(2024, 2, 29),
            datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
            None,
        ):
            found = self.one("SELECT ?", value)
            self.assertEqual(found, value)
        aware = datetime.datetime(2024, 2, 29, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
        self.assertEqual(self.one("SELECT ?", aware), aware)

    def test_a_time_zone_is_taken_into_account(self):
        self.connection.execute("CREATE TABLE t (v TIMESTAMP WITH TIME ZONE)")
        zone = datetime.timezone(datetime.timedelta(hours=-5, minutes=-30))
        self.connection.execute("INSERT INTO t VALUES (?)", (datetime.datetime(2024, 1, 1, 20, tzinfo=zone),))
        self.assertEqual(self.one("SELECT v FROM t"), datetime.datetime(2024, 1, 2, 1, 30, tzinfo=UTC))

    def test_decimals_are_rounded_to_their_column(self):
        self.connection.execute("CREATE TABLE t (v DECIMAL(10,2))")
        for given, kept in ((D("1.5"), "1.50"), (D("1E+3"), "1000.00"), (3, "3.00"), (D("2.346"), "2.35")):
            self.connection.execute("DELETE FROM t")
            self.connection.execute("INSERT INTO t VALUES (?)", (given,))
            self.assertEqual(str(self.one("SELECT v FROM t")), kept)
        with self.assertRaises(quire.DataError):
            self.connection.execute("INSERT INTO t VALUES (?)", (10**9,))

    def test_times_and_intervals(self):
        for time in (datetime.time(), datetime.time(23, 59, 59, 999_999)):
            self.assertEqual(self.one("SELECT CAST(? AS TIME)", time), time)
        for span in (
            datetime.timedelta(days=1),
            datetime.timedelta(days=-3, seconds=5, microseconds=7),
            datetime.timedelta(0),
        ):
            self.assertEqual(self.one("SELECT CAST(? AS INTERVAL)", span), span)
        day = self.one("SELECT DATE '2024-01-31' + CAST(? AS INTERVAL)", datetime.timedelta(days=1))
        self.assertEqual((day.month, day.day), (2, 1))

    def test_a_uuid_is_its_text(self):
        self.connection.execute("CREATE TABLE t (id TEXT PRIMARY KEY)")
        one = uuid.UUID("12345678-1234-5678-1234-567812345678")
        self.connection.execute("INSERT INTO t VALUES (?)", (one,))
        self.assertEqual(uuid.UUID(self.one("SELECT id FROM t WHERE id = ?", one)), one)

    def test_arrays(self):
        self.assertEqual(self.one("SELECT ARRAY[1, NULL, 3]"), [1, None, 3])
        self.assertEqual(self.one("SELECT ARRAY['a', 'b,\"c']"), ["a", 'b,"c'])
        for array in ([3, 1, None], [0.5], ["a", None, 'quote " and \\ and , and {}'], [True, False]):
            self.assertEqual(self.one("SELECT ?", array), array)
        self.connection.execute("CREATE TABLE t (a INTEGER)")
        self.connection.execute("INSERT INTO t VALUES (1), (2), (3)")
        found = self.connection.execute("SELECT a FROM t WHERE a = ANY(?) ORDER BY a", ([3, 1, 7],)).fetchall()
        self.assertEqual(found, [(1,), (3,)])

    def test_values_of_numpy_and_pandas(self):
        self.assertEqual(self.one("SELECT ?", numpy.int32(7)), 7)
        self.assertEqual(self.one("SELECT ?", numpy.float32(0.5)), 0.5)
        self.assertEqual(self.one("SELECT ?", numpy.bool_(True)), True)
        self.assertIsNone(self.one("SELECT ?", pandas.NA))
        self.assertIsNone(self.one("SELECT ?", pandas.NaT))
        stamp = pandas.Timestamp("2024-02-29 12:00:00.000001")
        self.assertEqual(self.one("SELECT ?", stamp), stamp.to_pydatetime())
        self.assertEqual(self.one("SELECT ?", memoryview(b"ab")), b"ab")
        self.assertEqual(self.one("SELECT ?", bytearray(b"ab")), b"ab")

    def test_what_python_does_not_have_is_said(self):
        day = "INTERVAL '1 day'"
        for sql in (f"SELECT DATE '9999-12-31' + {day} AS far", f"SELECT TIMESTAMP '9999-12-31 01:02:03' + {day} AS far"):
            with self.assertRaises(quire.DataError) as caught:
                self.one(sql)
            self.assertIn("far", str(caught.exception))
            self.assertIn("10000-01-01", str(caught.exception))
            self.assertIn("TEXT", caught.exception.hint)

    def test_what_sql_does_not_have_is_said(self):
        with self.assertRaises(quire.ProgrammingError) as caught:
            self.one("SELECT ?", object())
        self.assertIn("object", str(caught.exception))
        self.assertRaises(quire.DataError, self.one, "SELECT ?", 10**40)

    def test_constructors_of_the_standard(self):
        self.assertEqual(quire.Date(2024, 2, 29), datetime.date(2024, 2, 29))
        self.assertEqual(quire.Time(1, 2, 3), datetime.time(1, 2, 3))
        self.assertEqual(quire.Timestamp(2024, 2, 29, 1, 2, 3), datetime.datetime(2024, 2, 29, 1, 2, 3))
        self.assertEqual(quire.Binary(b"a"), b"a")


if __name__ == "__main__":
    unittest.main()
