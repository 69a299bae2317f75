"""docs/operations.md: its limits are where it says, copies are backups as it says, and its tables name what the engine counts."""

import pathlib
import re
import shutil
import subprocess
import unittest

import quire_shell
from test_docs import DOCS

PAGE = DOCS / "operations.md"
LIMIT = re.compile(r"^\| (.+?) \| ([0-9]+) \| ([0-9A-Z]{5}) \|$", re.MULTILINE)


def key_of(bytes_, page_bytes):
    return (
        f"CREATE TABLE t (k TEXT PRIMARY KEY) WITH (page_size = {page_bytes}); INSERT INTO t SELECT repeat('x', {bytes_});"
    )


def columns(count):
    return ", ".join(f"c{number} INTEGER" for number in range(count))


# Statements that reach a limit, by the beginning of its row.
REACHES = {
    "columns of a table": lambda n: f"CREATE TABLE t ({columns(n)});",
    "columns of a key": lambda n: f"CREATE TABLE t ({columns(n)}, PRIMARY KEY ({', '.join(f'c{at}' for at in range(n))}));",
    "bytes of a key": lambda n: key_of(n, 4096),
    "… 16384": lambda n: key_of(n, 16384),
    "… 65536": lambda n: key_of(n, 65536),
    "bytes of a text": lambda n: f"CREATE TABLE t (v TEXT); INSERT INTO t SELECT repeat('x', {n});",
    "bytes of a name": lambda n: f"CREATE TABLE {'n' * n} (id INTEGER);",
    "digits of a decimal": lambda n: f"CREATE TABLE t (d DECIMAL({n}, 0));",
    "characters of": lambda n: f"CREATE TABLE t (v VARCHAR({n}));",
}
# Around these, what is near the limit depends on the rest of the statement; and planning takes long before it.
NEARLY = {
    "parentheses": lambda n: "SELECT " + "(" * n + "1" + ")" * n + ";",
    "operators": lambda n: "SELECT " + " + ".join(["1"] * n) + ";",
    "`UNION`": lambda n: " UNION ALL ".join(["SELECT 1"] * n) + ";",
}


def named(rows, what):
    [found] = [text for text in rows if what.startswith(text)]
    return rows[found]


class Operations(quire_shell.WorkFolderTest):
    def sqlstate(self, script):
        """The SQLSTATE a script ends with; None if it succeeds."""
        done = subprocess.run(
            [str(quire_shell.QUIRE)], input=script, capture_output=True, text=True, timeout=quire_shell.STATEMENT_SECONDS_MAX
        )
        if done.returncode == 0:
            return None
        return re.search(r"ERROR:  ([0-9A-Z]{5})", done.stderr)[1]

    def test_limits_are_where_the_page_says(self):
        rows = LIMIT.findall(PAGE.read_text())
        self.assertEqual(len(rows), len(REACHES) + len(NEARLY))
        for what, limit, sqlstate in rows:
            limit = int(limit)
            is_exact = any(what.startswith(text) for text in REACHES)
            script = named(REACHES if is_exact else NEARLY, what)
            below, beyond = (limit, limit + 1) if is_exact else (limit // 20, limit * 5 // 4)
            with self.subTest(what=what):
                self.assertIsNone(self.sqlstate(script(below)))
                self.assertEqual(self.sqlstate(script(beyond)), sqlstate)

    def test_names_are_those_of_the_engine(self):
        text = PAGE.read_text().partition("\n## Monitoring")[2]
        for function, end in (("quire_file", "`quire_pool()`,"), ("quire_pool", "`quire_costs()`")):
            listed = re.findall(r"^\| `([a-z_]+)` \|", text.partition(f"`{function}()`,")[2].partition(end)[0], re.MULTILINE)
            rows = quire_shell.query(self.database, f"SELECT name FROM {function}()")
            self.assertEqual(listed, [name for (name,) in rows])
        quire_shell.execute(self.database, "CREATE TABLE t (id INTEGER)")
        header = quire_shell.execute(self.database, ".mode csv", "SELECT * FROM quire_tables()").splitlines()[0]
        self.assertIn(", ".join(f"`{name}`" for name in header.split(",")), " ".join(text.split()))
        header = quire_shell.execute(self.database, ".mode csv", "SELECT * FROM quire_scans()").splitlines()[0]
        scans = text.partition("### What scans did")[2].partition("```sql")[0]
        self.assertEqual(re.findall(r"^\| `([a-z_]+)` \|", scans, re.MULTILINE), header.split(","))

    def test_a_copy_of_an_idle_database_is_a_backup(self):
        """With and without CHECKPOINT, of a database that is open, and of one whose process was killed."""
        shell = subprocess.Popen(
            [str(quire_shell.QUIRE), str(self.database)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(shell.stdout.close)
        self.addCleanup(shell.stdin.close)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        self.tell(shell, "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t SELECT i FROM generate_series(1, 1000) AS g(i);")
        others = [quire_shell.run(self.database, "SELECT 1", options=options) for options in ((), ("--readonly",))]
        for other in others:
            self.assertIn("55006", other.stderr)
        self.backup("open.quire")
        self.tell(shell, "DELETE FROM t WHERE id > 500; INSERT INTO t SELECT i FROM generate_series(501, 1000) AS g(i); CHECKPOINT;")
        self.backup("checkpointed.quire")
        shell.kill()
        shell.wait()
        self.backup("killed.quire")

    def tell(self, shell, statements):
        """Runs statements in a shell, and returns when they are done."""
        shell.stdin.write(f"{statements}\n.print done\n")
        shell.stdin.flush()
        self.assertEqual(shell.stdout.readline(), "done\n")

    def backup(self, name):
        copy = pathlib.Path(shutil.copy(self.database, self.folder / name))
        checked = subprocess.run([str(quire_shell.QUIRE), "check", str(copy)], capture_output=True, text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertEqual(quire_shell.query(copy, "SELECT count(*), sum(id) FROM t"), [["1000", "500500"]])


if __name__ == "__main__":
    unittest.main()
