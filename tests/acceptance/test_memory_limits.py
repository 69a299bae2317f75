"""The process keeps to its limits: what it has had at its peak is at most memory + cache + 64 MiB."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import quire_shell

MIB = 1 << 20
MEMORY_MIB, CACHE_MIB, ITSELF_MIB = 96, 32, 64
ROWS = 1_200_000
# About 130 MB in memory, with numbers that no order was made by.
TABLE = (
    "CREATE TABLE big AS SELECT i AS id, i * 7919 % 1200007 AS mixed,"
    f" 'a text of some length ' || i * 104729 % 1200007 AS body FROM generate_series(1, {ROWS}) AS g(i)"
)
QUERIES = {
    "sort": (
        "SELECT count(*), max(n), max(body) FROM"
        " (SELECT body, row_number() OVER (ORDER BY body, id) AS n FROM big) AS s",
        f"{ROWS},{ROWS},a text of some length 999999",
    ),
    "group": ("SELECT count(*), max(n) FROM (SELECT mixed, count(*) AS n FROM big GROUP BY mixed) AS g", f"{ROWS},1"),
    "distinct": ("SELECT count(DISTINCT body) FROM big", f"{ROWS}"),
    "join": (
        "SELECT count(*), max(a.body), max(b.body) FROM big AS a JOIN big AS b ON a.id = b.mixed",
        f"{ROWS - 6},a text of some length 999999,a text of some length 999999",
    ),
    "offset": (f"SELECT id FROM big ORDER BY body DESC, id OFFSET {ROWS - 1}", None),
}


# What the kernel calls a process's peak includes that of the process that started it, and this one may be large. A small one starts
# the shell and prints the peak of its only child.
STARTER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL)
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""


def measured(database, sql):
    """Runs a query in a shell of its own; returns exit code, output, messages and peak bytes."""
    command = [str(quire_shell.QUIRE), "--memory", f"{MEMORY_MIB}MiB", "--cache", f"{CACHE_MIB}MiB", "--threads", "2"]
    command += [str(database), "-c", ".mode csv", "-c", ".headers off", "-c", sql]
    with tempfile.NamedTemporaryFile("r") as peak:
        starter = [sys.executable, "-I", "-S", "-c", STARTER, peak.name]
        done = subprocess.run([*starter, *command], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr, int(peak.read())


class MemoryLimits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.database = pathlib.Path(cls.folder.name) / "big.quire"
        quire_shell.execute(cls.database, TABLE)

    def test_queries_larger_than_memory_keep_the_limit(self):
        for name, (sql, expected) in QUERIES.items():
            with self.subTest(name):
                code, output, errors, peak_bytes = measured(self.database, sql)
                self.assertEqual(code, 0, errors)
                if expected is not None:
                    self.assertEqual(output.splitlines()[-1], expected)
                self.assertLessEqual(peak_bytes / MIB, MEMORY_MIB + CACHE_MIB + ITSELF_MIB)

    def test_what_cannot_spill_fails_within_the_limit(self):
        sql = "SELECT length(string_agg(body || body || body || body, ',')) FROM big"
        code, _, errors, peak_bytes = measured(self.database, sql)
        self.assertIn("53200", errors)
        self.assertNotEqual(code, 0)
        self.assertLessEqual(peak_bytes / MIB, MEMORY_MIB + CACHE_MIB + ITSELF_MIB)


if __name__ == "__main__":
    unittest.main()
