"""All 22 answers of TPC-H equal those of DuckDB on the same files, at every scale asked for."""

import datetime
import decimal
import functools
import os
import re
import tempfile
import unittest
from pathlib import Path

import quire_shell
import tpch_data

SCALES = os.environ.get("QUIRE_TPCH_SCALES", "0.01 1").split()
# A decimal with fewer digits than this after the point is compared with a double as a double.
AVERAGE_DIGITS_MIN = 4
RELATIVE_ERROR_MAX = 1e-9
# Row tables with tuples as they are and compressed; memory that holds a part of them and little of a sort or join, and memory that
# holds all.
TUPLES = {"plain": "compression = none, page_codec = none", "compressed": "compression = auto"}
MEMORY = (("--cache", "24MiB", "--memory", "1MiB"), ("--cache", "1GiB"))


def order_columns(sql):
    """The output columns named in the last ORDER BY."""
    tail = re.split(r"\border by\b", sql)
    if len(tail) == 1 or ")" in tail[-1]:
        return []
    names = tail[-1].split("limit")[0].split(",")
    return [name.split()[0] for name in names]


def value_of(text, expected):
    """Quire's text as a value of the kind that DuckDB returned."""
    if text is None or isinstance(expected, str):
        return text
    if isinstance(expected, datetime.date):
        return datetime.date.fromisoformat(text)
    return decimal.Decimal(text)


def is_same(value, expected):
    """Whether two values are equal, with the freedom that a quotient has."""
    if value is None or expected is None or isinstance(expected, str):
        return value == expected
    if not isinstance(expected, float):
        return value == expected
    difference = abs(value - decimal.Decimal(expected))
    digits = max(0, -value.as_tuple().exponent)
    last_digit = decimal.Decimal(1).scaleb(-digits) if digits >= AVERAGE_DIGITS_MIN else 0
    return difference <= max(last_digit, abs(decimal.Decimal(expected)) * decimal.Decimal(RELATIVE_ERROR_MAX))


def by_tuple_engine(database, options, sql):
    """Rows of a query that the tuple engine must run."""
    left = "SELECT left_to_batches FROM quire_engine()"
    statements = (".mode csv", "SET engine = 'tuple'", sql, left)
    done = quire_shell.run(database, *statements, options=options)
    if done.returncode != 0:
        raise AssertionError(f"{sql}\nexit code {done.returncode}\n{done.stderr}")
    *rows, _, count = quire_shell.parse_csv(done.stdout)[1:]
    assert count == ["0"], f"{sql}\n{count} queries were left to the batch engine"
    return rows


class Answers(unittest.TestCase):
    def check(self, number, scale, run, duckdb):
        """Whether the rows that `run` has for a query are DuckDB's."""
        sql = tpch_data.query_text(number, scale)
        cursor = duckdb.execute(sql)
        names = [column[0] for column in cursor.description]
        expected = cursor.fetchall()
        texts = run(sql)
        self.assertEqual(len(texts), len(expected), "number of rows")
        kinds = [next((row[at] for row in expected if row[at] is not None), None) for at in range(len(names))]
        rows = [[value_of(text, kind) for text, kind in zip(row, kinds, strict=True)] for row in texts]
        keys = [names.index(name) for name in order_columns(sql)]
        exact = [at for at, kind in enumerate(kinds) if not isinstance(kind, float) and at not in keys]

        def in_order(rows):
            # Rows with equal keys may come in any order: order them by their exact columns.
            groups, previous = [], None
            for row in rows:
                key = tuple(row[at] for at in keys)
                if not groups or key != previous:
                    groups.append([])
                groups[-1].append(row)
                previous = key
            return [row for group in groups for row in sorted(group, key=lambda row: [str(row[at]) for at in exact])]

        for row, wanted in zip(in_order(rows), in_order(expected), strict=True):
            for name, value, want in zip(names, row, wanted, strict=True):
                self.assertTrue(is_same(value, want), f"{name}: {value!r}, DuckDB {want!r}\n{row}\n{wanted}")

    def test_all_answers_at_every_scale(self):
        for scale in SCALES:
            folder = tpch_data.csv_files(scale)
            with tempfile.TemporaryDirectory(prefix="quire-tpch-") as work:
                database = Path(work) / "tpch.quire"
                tpch_data.load_quire(database, folder)
                duckdb = tpch_data.load_duckdb(folder)
                for number in range(1, 23):
                    with self.subTest(query=number, scale=scale):
                        self.check(number, scale, lambda sql: quire_shell.query(database, sql), duckdb)

    def test_all_answers_of_the_tuple_engine(self):
        """On row tables, compressed or not, all of them in memory or not, without leaving a query to batches."""
        scale = os.environ.get("QUIRE_TPCH_ROWS_SCALE", "0.01")
        folder = tpch_data.csv_files(scale)
        duckdb = tpch_data.load_duckdb(folder)
        with tempfile.TemporaryDirectory(prefix="quire-tpch-") as work:
            for name, options in TUPLES.items():
                database = Path(work) / f"{name}.quire"
                tpch_data.load_quire_rows(database, folder, options)
                for memory in MEMORY:
                    run = functools.partial(by_tuple_engine, database, memory)
                    for number in range(1, 23):
                        with self.subTest(query=number, scale=scale, tuples=name, memory=memory):
                            self.check(number, scale, run, duckdb)

    def test_a_wrong_value_would_be_noticed(self):
        number = decimal.Decimal
        self.assertTrue(is_same(number("0.123457"), 0.1234567))
        self.assertFalse(is_same(number("0.123459"), 0.1234567))
        self.assertFalse(is_same(number("25.5"), 25.52))
        self.assertFalse(is_same(number("1.01"), number("1.02")))
        self.assertFalse(is_same(None, 0))
        self.assertEqual(order_columns("select a order by b desc, c limit 3"), ["b", "c"])
        self.assertEqual(order_columns("select (select 1 order by 1) a"), [])


if __name__ == "__main__":
    unittest.main()
