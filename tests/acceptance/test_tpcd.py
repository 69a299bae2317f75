"""The laboratory's TPC-D: its answers over compressed and uncompressed row tables are DuckDB's, whether a small pool holds a part of them or
memory holds all, and its update functions leave the rows they should."""

import csv
import subprocess
import unittest

import quire_shell
import tpch_answers
import tpch_data

SCALE = "0.01"
LAB_SECONDS_MAX = 300
FOLDERS = ("compressed-pool", "uncompressed-pool", "compressed-memory", "uncompressed-memory")
TABLES = ("compressed", "uncompressed")
CLERK = quire_shell.ROOT / "crates" / "quire-experiments" / "src" / "tpcd" / "queries" / "d13.sql"
# Sums of a table that an added, lost or mixed-up row would change.
SUMS = {
    "orders": "count(*), sum(o_orderkey), sum(o_custkey), sum(o_totalprice), sum(length(o_comment))",
    "lineitem": "count(*), sum(l_orderkey), sum(l_partkey), sum(l_extendedprice), sum(length(l_comment))",
}


def queries():
    """Name and text of each."""
    for number in range(1, 23):
        name = f"H{number}" if number == 13 or number > 17 else f"Q{number}"
        yield name, tpch_data.query_text(number, SCALE)
    lines = [line for line in CLERK.read_text().splitlines() if not line.startswith("--")]
    yield "Q13", "\n".join(lines).strip().removesuffix(";")


class Benchmark(quire_shell.WorkFolderTest):
    def lab(self, *options):
        command = [quire_shell.QUIRE, "lab", "tpcd", "--scale", SCALE, "--quick", "--work", self.folder, *options]
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=LAB_SECONDS_MAX
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_updates(self, duckdb):
        """The rows after both update functions, read without and with an index, are those that DuckDB has after the same changes."""
        for table in SUMS:
            duckdb.execute(f"INSERT INTO {table} SELECT * FROM read_csv('{self.folder}/csv/new_{table}.csv', header = true)")
        duckdb.execute(f"CREATE TABLE old_orders AS SELECT * FROM read_csv('{self.folder}/csv/old_orders.csv', header = true)")
        for key in ("orders.o_orderkey", "lineitem.l_orderkey"):
            table = key.split(".")[0]
            duckdb.execute(f"DELETE FROM {table} WHERE {key} IN (SELECT old_orderkey FROM old_orders)")
        for table, sums in SUMS.items():
            column = "o_custkey" if table == "orders" else "l_partkey"
            for condition in ("", f" WHERE {column} BETWEEN 100 AND 120"):
                sql = f"SELECT {sums} FROM {table}{condition}"
                expected = [str(value) for value in duckdb.execute(sql).fetchone()]
                for name in TABLES:
                    with self.subTest(sql=sql, tables=name):
                        self.assertEqual(quire_shell.query(self.folder / f"{name}.quire", sql), [expected])

    def test_answers_and_updates(self):
        figures = self.lab("--tpch")
        self.assertIn("left to the batch engine: 0", figures)
        for words in ("compression never loses on a query", "UF1 takes about twice as long", "compressed fields take about half"):
            self.assertIn(words, figures)
        duckdb = tpch_data.load_duckdb(self.folder / "csv")
        for name, sql in queries():
            for folder in FOLDERS:
                with self.subTest(query=name, folder=folder):
                    path = self.folder / "answers" / folder / f"{name}.csv"
                    rows = quire_shell.parse_csv(path.read_text())[1:]
                    tpch_answers.check(self, sql, rows, duckdb)
        self.check_updates(duckdb)

    def test_updates_of_tables_with_keys_and_indexes(self):
        self.lab("--keys", "--compression", "auto", "--out", self.folder / "figures")
        self.check_updates(tpch_data.load_duckdb(self.folder / "csv"))
        for stem in ("tpcd-sizes", "tpcd-load", "tpcd-times", "tpcd-ratios", "tpcd-utilization", "tpcd-split", "tpcd-temporaries"):
            with open(self.folder / "figures" / f"{stem}.csv", newline="") as file:
                self.assertGreater(len(list(csv.reader(file))), 8, stem)
            self.assertTrue((self.folder / "figures" / f"{stem}.svg").is_file())


if __name__ == "__main__":
    unittest.main()
