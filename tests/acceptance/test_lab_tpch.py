"""The laboratory's TPC-H over column tables: it measures all columns of table 6.1, and the answers over its four databases are DuckDB's."""

import csv
import subprocess
import unittest

import quire_shell
import tpch_answers
import tpch_data

SCALE = "0.01"
LAB_SECONDS_MAX = 300
QUERIES = (1, 3, 4, 5, 6, 7, 11, 14, 15, 18, 21)
DATABASES = ("dsm-compressed", "dsm-uncompressed", "pax-compressed", "pax-uncompressed")
# The columns of the table: of both machines, and of the Pentium4 alone.
VARIANTS = ("DSM unc.", "DSM M⇒C", "PAX unc.", "PAX M⇒C")
TO_MEMORY = "DSM M⇒M"
PROFILES = ("tpch-profile-opteron", "tpch-profile-pentium4", "tpch-profile-pentium4-pax")
PARTS = ("processing", "decompression", "I/O wait")
VERDICTS = ("(i)", "(ii)", "(iii)", "(iv)", "(v)", "(vi)", "(vii)")


def lab(*options):
    command = [quire_shell.QUIRE, "lab", "tpch", "--scale", SCALE, "--quick", *options]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=LAB_SECONDS_MAX
    )


class Table(quire_shell.WorkFolderTest):
    def measure(self, *options):
        done = lab("--work", self.folder, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def values(self, stem):
        """Values by series, origin and query."""
        with open(self.folder / "figures" / f"{stem}.csv", newline="", encoding="utf-8") as file:
            return {(row["series"], row["origin"], row["x"]): float(row["value"]) for row in csv.DictReader(file)}

    def assert_measured(self, stem, series):
        values = self.values(stem)
        for name in series:
            for number in QUERIES:
                with self.subTest(figure=stem, series=name, query=number):
                    self.assertIn((name, "measured", f"Q{number}"), values)

    def test_all_columns_of_the_table_are_measured_and_answers_are_right(self):
        self.measure("--out", self.folder / "figures")
        self.assert_measured("tpch-pentium4", (*VARIANTS, TO_MEMORY))
        self.assert_measured("tpch-opteron", VARIANTS)
        self.assert_measured("tpch-ratios", ("DSM", "PAX"))
        for stem in PROFILES:
            layout = "PAX" if stem.endswith("pax") else "DSM"
            bars = (f"{layout} {what}" for what in ("unc.", "M⇒C"))
            self.assert_measured(stem, [f"{bar}: {part}" for bar in bars for part in PARTS])
        # The paper's times are multiplied by the scale, which is a ten-thousandth of its own.
        printed = self.values("tpch-pentium4")
        self.assertAlmostEqual(printed["PAX unc.", "paper", "Q18"], 0.04199)
        duckdb = tpch_data.load_duckdb(self.folder / "csv")
        for name in DATABASES:
            database = self.folder / f"tpch-{name}.quire"
            for number in QUERIES:
                with self.subTest(database=name, query=number):
                    sql = tpch_data.query_text(number, SCALE)
                    tpch_answers.check(self, sql, quire_shell.query(database, sql), duckdb)

    def test_compression_and_layout_are_those_of_the_names(self):
        self.measure("--machine", "own")
        for name in DATABASES:
            database = self.folder / f"tpch-{name}.quire"
            sql = "SELECT DISTINCT codec FROM quire_storage('lineitem') WHERE column_name IN ('l_shipdate', 'l_discount')"
            codecs = quire_shell.query(database, sql)
            self.assertEqual(codecs == [["plain"]], name.endswith("uncompressed"), f"{name}: {codecs}")
            sql = "SELECT storage FROM quire_tables() WHERE table_name = 'lineitem'"
            storage = "pax" if name.startswith("pax") else "column"
            self.assertEqual(quire_shell.query(database, sql), [[storage]], name)

    def test_the_figures_say_what_holds_and_how_the_processor_is_modelled(self):
        figures = self.measure("--machine", "p4", "--layouts", "dsm")
        for words in (*(f"{number} " for number in VERDICTS), "processors: query 1", "in quick motion", "not measured: (i)"):
            self.assertIn(words, figures)
        self.assertNotIn("Times on the Opteron", figures)
        self.assertFalse((self.folder / "tpch-pax-compressed.quire").exists())

    def test_machines_of_another_topic_are_refused(self):
        command = [str(quire_shell.QUIRE), "lab", "tpcd", "--machine", "p4"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LAB_SECONDS_MAX)
        self.assertEqual(done.returncode, 2)
        self.assertIn("machines of tpch", done.stderr)


if __name__ == "__main__":
    unittest.main()
