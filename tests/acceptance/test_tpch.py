"""All 22 answers of TPC-H equal those of DuckDB on the same files, at every scale asked for."""

import decimal
import functools
import os
import tempfile
import unittest
from pathlib import Path

import quire_shell
import tpch_answers
import tpch_data
from tpch_answers import is_same, order_columns

SCALES = os.environ.get("QUIRE_TPCH_SCALES", "0.01 1").split()
# Row tables with tuples as they are and compressed; memory that holds a part of them and little of a sort or join, and memory that
# holds all.
TUPLES = {"plain": "compression = none, page_codec = none", "compressed": "compression = auto"}
MEMORY = (("--cache", "24MiB", "--memory", "1MiB"), ("--cache", "1GiB"))


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
        tpch_answers.check(self, sql, run(sql), duckdb)

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
