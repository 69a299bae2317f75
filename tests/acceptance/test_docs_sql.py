"""docs/sql.md: its statements run, what it says is refused is, and its settings and catalogs are those of the engine."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import quire_shell
from test_docs import DOCS

PAGE = DOCS / "sql.md"
STATEMENT = re.compile(r"^\| [^|]*\| `([^`]+)` \|$", re.MULTILINE)
REFUSED = re.compile(r"^\| `([^`]+)` \| .*\|$", re.MULTILINE)
SETTING = re.compile(r"^\| `([a-z_.]+)` \| (?:`(.*?)`|([^`|]+)) \|", re.MULTILINE)
# Correct elsewhere and refused here, not known to the parser, or names of what there is not.
REFUSALS = {"0A000", "42601", "42704", "22023"}


def section(name):
    return re.split(rf"^## {name}$", PAGE.read_text(), flags=re.MULTILINE)[1].partition("\n## ")[0]


def shell(script, folder):
    return subprocess.run(
        [str(quire_shell.QUIRE), "page.quire"],
        input="\n".join(script),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=quire_shell.STATEMENT_SECONDS_MAX,
    )


def first_words(sql):
    """What a statement is: its first word, and its second if that says what it defines."""
    words = re.findall(r"[A-Za-z]+", sql.upper().replace("OR REPLACE ", "").replace("UNIQUE ", ""))
    return " ".join(words[: 2 if words[0] in {"CREATE", "ALTER", "DROP"} else 1])


class Sql(unittest.TestCase):
    maxDiff = None

    def test_every_statement_of_the_list_runs(self):
        statements = STATEMENT.findall(section("Statements"))
        self.assertGreater(len(statements), 60)
        with tempfile.TemporaryDirectory() as folder:
            done = shell([".bail on"] + [f"{sql};" for sql in statements], folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_statements_of_our_own_tests_are_on_the_list(self):
        listed = {first_words(sql) for sql in STATEMENT.findall(section("Statements"))} | {"CALIBRATE"}
        used = {}
        for file in sorted((quire_shell.ROOT / "tests" / "slt").glob("*.slt")):
            for block in re.split(r"\n\s*\n", file.read_text()):
                lines = [line for line in block.splitlines() if not line.startswith("#")]
                if len(lines) > 1 and lines[0].startswith(("query ", "statement ok")):
                    used.setdefault(first_words(lines[1]), file.name)
        self.assertGreater(len(used), 20)
        self.assertEqual({what: file for what, file in used.items() if what not in listed}, {})

    def test_what_is_not_supported_is_refused(self):
        statements = REFUSED.findall(section("Not supported"))
        self.assertGreater(len(statements), 30)
        with tempfile.TemporaryDirectory() as folder:
            create = "CREATE TABLE item (id SERIAL PRIMARY KEY, name TEXT);"
            done = shell([".bail off", create] + [f"{sql};" for sql in statements], folder)
        given = dict(re.findall(r"^<stdin>:(\d+): ERROR:  ([0-9A-Z]{5}):", done.stderr, re.MULTILINE))
        accepted = [sql for line, sql in enumerate(statements, 3) if given.get(str(line)) not in REFUSALS]
        self.assertEqual(accepted, [], done.stderr)

    def test_every_type_can_be_a_column(self):
        names = []
        for row in re.findall(r"^\| `[A-Z].*$", section("Types"), re.MULTILINE):
            main, others = row.split("|")[1:3]
            names += re.findall(r"`([^`]+)`", main + others)
        self.assertGreater(len(names), 30)
        filled = [name.replace("(p, s)", "(9, 2)").replace("(n)", "(5)") for name in names]
        with tempfile.TemporaryDirectory() as folder:
            done = shell([".bail on"] + [f"CREATE TABLE t{number} (c {name});" for number, name in enumerate(filled)], folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_settings_are_those_of_the_engine(self):
        rows, _, kept = section("Settings").partition("Settings of PostgreSQL's planner are kept")
        listed = {name: value for name, value, _ in SETTING.findall(rows)} | dict.fromkeys(re.findall("`([a-z_]+)`", kept))
        with tempfile.TemporaryDirectory() as folder:
            settings = dict(quire_shell.query(pathlib.Path(folder) / "t.quire", "SHOW ALL"))
        self.assertEqual(sorted(listed), sorted(settings), "docs/sql.md#settings")
        fixed = {name: value for name, value in listed.items() if value}
        self.assertEqual(fixed, {name: settings[name] or '""' for name in fixed} | self.quoted(settings, fixed))

    def quoted(self, settings, fixed):
        """The page has empty values and those with commas in quotes, as the shell writes them."""
        return {name: f'"{settings[name]}"' for name in fixed if "," in settings[name] or not settings[name]}

    def test_the_information_schema_is_that_of_the_engine(self):
        listed = re.findall(r"`([a-z_]+)`", section("Catalogs").partition("`pg_catalog`")[0])
        with tempfile.TemporaryDirectory() as folder:
            tables = quire_shell.query(
                pathlib.Path(folder) / "t.quire",
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'information_schema' ORDER BY 1",
            )
        self.assertEqual(listed[1:], [name for (name,) in tables])


if __name__ == "__main__":
    unittest.main()
