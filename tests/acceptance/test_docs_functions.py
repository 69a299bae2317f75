"""docs/functions.md: every expression gives what the page says, and what our own tests and the catalog call is on it."""

import re
import subprocess
import unittest

import quire_shell
from test_docs import DOCS

PAGE = DOCS / "functions.md"
# One line of a table: an expression, and what it gives.
LINE = re.compile(r"^\| `(.+)` \| `(.*)` \|$", re.MULTILINE)
# Sections whose expressions read the table of the page.
OVER_SAMPLE = {"Aggregates", "Windows"}
# What looks like a call in a statement and is none.
NO_FUNCTIONS = set(
    "all and any array as by cast char character check column compression conflict copy cube decimal exists explain extract filter "
    "from generated group grouping in index insert intersect except union interval into is join key like limit not numeric on or order "
    "over partition primary references rollup select sets set some substring table timestamp trim unique using values varchar when "
    "where with within row position overlay then else lateral dec time foreign default text identity view recursive second".split()
)


def sections():
    parts = re.split(r"^## (.+)$", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2]))


def examples():
    """Section, expression and value of each line."""
    for name, text in sections().items():
        for expression, value in LINE.findall(text):
            yield name, expression.replace("\\|", "|"), value.replace("\\|", "|")


def values(expressions, setup):
    """What the shell gives for each: the fields of its rows, joined."""
    script = [".mode csv", ".headers off", ".nullvalue NULL", ".bail on", setup]
    for number, (section, expression, _) in enumerate(expressions):
        rows = " FROM sample" if section in OVER_SAMPLE else ""
        order = " ORDER BY x" if section == "Windows" else ""
        script += [f".print @@{number}", f"SELECT {expression}{rows}{order};"]
    done = subprocess.run(
        [str(quire_shell.QUIRE)],
        input="\n".join(script),
        capture_output=True,
        text=True,
        timeout=quire_shell.STATEMENT_SECONDS_MAX,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    printed = [part.partition("\n")[2] for part in done.stdout.split("@@")[1:]]
    return [", ".join(field or "" for row in quire_shell.parse_csv(text) for field in row) for text in printed]


class Functions(unittest.TestCase):
    maxDiff = None

    def test_every_expression_gives_what_the_page_says(self):
        lines = list(examples())
        self.assertGreater(len(lines), 200)
        setup = re.search(r"^```sql\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
        given = values(lines, setup)
        wrong = [(expression, shown, value) for (_, expression, shown), value in zip(lines, given, strict=True) if shown != value]
        self.assertEqual(wrong, [])

    def test_functions_that_our_own_tests_call_are_on_the_page(self):
        page = PAGE.read_text().lower()
        missing = set()
        for file in sorted((quire_shell.ROOT / "tests" / "slt").glob("*.slt")):
            for block in re.split(r"\n\s*\n", file.read_text()):
                kind, _, rest = block.partition("\n")
                if not kind.startswith(("query ", "statement ok")):
                    continue
                text = re.sub(r"'(?:[^']|'')*'|--[^\n]*", "", rest.partition("\n----")[0]).lower()
                # A name with a list of columns behind it, as in INSERT INTO t (a): calls have no blank here.
                for name in re.findall(r"(?<![a-z0-9_.\"])([a-z_][a-z0-9_]*)\(", text):
                    is_alias = re.search(rf"\b(?:as|into|table|with|,|on)\s+{name}\(", text) or re.search(rf"\)\s*{name}\(", text)
                    if name not in NO_FUNCTIONS and not is_alias and f"{name}(" not in page:
                        missing.add((file.name, name))
        self.assertEqual(missing, set(), "docs/functions.md has no line for these")

    def test_functions_of_the_catalog_are_those_of_the_sources(self):
        source = quire_shell.ROOT / "crates" / "quire" / "src" / "pg_catalog" / "answers.rs"
        listed = re.findall(r"`([a-z_]+)`", sections()["Functions of the catalog"])
        self.assertEqual(listed, sorted(re.findall(r'\bfunction\(\s*"([a-z_]+)"', source.read_text())))

    def test_table_functions_are_those_of_the_sources(self):
        source = quire_shell.ROOT / "crates" / "quire" / "src" / "planning" / "statement_context.rs"
        listed = set(re.findall(r"`(quire_[a-z]+)\(", sections()["Table functions"]))
        self.assertEqual(listed, set(re.findall(r'register_udtf\(\s*"(quire_[a-z]+)"', source.read_text())))


if __name__ == "__main__":
    unittest.main()
