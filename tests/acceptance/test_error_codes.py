"""The page of SQLSTATEs: it has every one that the sources give, and no other."""

import re
import unittest

import psycopg

import quire_shell

PAGE = quire_shell.ROOT / "docs" / "errors.md"
# Where errors get their SQLSTATE: the crates below have enums, which `quire-error` maps.
ROOMS = [
    "quire-error",
    "quire-files",
    "quire-functions",
    "quire-planner",
    "quire-python",
    "quire-server",
    "quire-sql",
    "quire-text",
    "quire-cli",
    "quire",
]
SQLSTATE = r"(?:[0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}"
LITERAL = re.compile(f'"({SQLSTATE})"')
ROW = re.compile(rf"^\| ({SQLSTATE}) \| ([a-z_]+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
# The standard's, which PostgreSQL does not use, and what is no error.
NOT_POSTGRESQL = {"07001", "00000"}


def source_files():
    for room in ROOMS:
        for file in sorted((quire_shell.ROOT / "crates" / room).rglob("*.rs")):
            is_test = "tests" in file.parts or "examples" in file.parts or file.name == "tests.rs"
            if not is_test and "src" in file.parts:
                yield file


def code_of(text):
    """What is before the tests of a file, without comments: examples in them are none of its errors."""
    code = text.partition("\n#[cfg(test)]\nmod ")[0]
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("//"))


class ErrorCodes(unittest.TestCase):
    maxDiff = None

    def test_the_page_has_what_the_sources_have(self):
        given = {}
        for file in source_files():
            for sqlstate in LITERAL.findall(code_of(file.read_text())):
                given.setdefault(sqlstate, file.relative_to(quire_shell.ROOT))
        self.assertGreater(len(given), 50)
        rows = [row[0] for row in ROW.findall(PAGE.read_text())]
        self.assertEqual(len(rows), len(set(rows)), "a SQLSTATE has two rows")
        missing = {sqlstate: str(file) for sqlstate, file in given.items() if sqlstate not in rows}
        self.assertEqual(missing, {}, "docs/errors.md has no row for these")
        self.assertEqual(set(rows) - set(given), set(), "docs/errors.md has rows that nothing gives")

    def test_names_are_those_of_postgresql(self):
        for sqlstate, name, _, _ in ROW.findall(PAGE.read_text()):
            if sqlstate not in NOT_POSTGRESQL:
                with self.subTest(sqlstate=sqlstate):
                    known = psycopg.errors.lookup(sqlstate).__name__
                    self.assertEqual(name.replace("_", ""), known.lower().removesuffix("_"))


if __name__ == "__main__":
    unittest.main()
