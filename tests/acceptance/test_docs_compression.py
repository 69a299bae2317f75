"""docs/compression.md: its codecs and options are those of the engine, and each value can be asked for."""

import re
import unittest

import quire_shell
from test_docs import DOCS

PAGE = DOCS / "compression.md"
CODEC = re.compile(r"^\| `([a-z0-9_]+)` \| (all|numbers|floats|text|numbers, text) \|", re.MULTILINE)
OPTION = re.compile(r"^\| `([a-z_]+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
TYPES = {"all": "TEXT", "numbers": "BIGINT", "floats": "DOUBLE PRECISION", "text": "TEXT", "numbers, text": "TEXT"}


def hint_of(database, sql):
    """The words of the hint that a refused statement ends with."""
    hint = quire_shell.run(database, sql).stderr.partition("HINT:")[2].partition("are ")[2]
    return re.findall(r"[a-z0-9_]+", hint.replace(" and ", ", "))


class Compression(quire_shell.WorkFolderTest):
    def test_codecs_are_those_of_the_engine(self):
        of_columns, _, of_rows = PAGE.read_text().partition("\n## Row tables")
        listed = CODEC.findall(of_columns)
        only_of_rows = sorted({name for name, _ in CODEC.findall(of_rows)} - {name for name, _ in listed})
        known = hint_of(self.database, "CREATE TABLE t (id INTEGER COMPRESSION none_such)")
        self.assertEqual(sorted([name for name, _ in listed] + only_of_rows), sorted(known))
        for name in only_of_rows:
            with self.subTest(codec=name):
                quire_shell.execute(self.database, f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, c TEXT COMPRESSION {name})")
        for name, kind in listed:
            with self.subTest(codec=name):
                quire_shell.execute(self.database, f"CREATE TABLE {name} (c {TYPES[kind]} COMPRESSION {name})")

    def test_options_are_those_of_the_engine(self):
        section = PAGE.read_text().partition("\n## Row tables")[2].partition("\n### ")[0]
        listed = dict(OPTION.findall(section))
        known = hint_of(self.database, "CREATE TABLE t (id INTEGER PRIMARY KEY) WITH (none_such = 1)")
        self.assertEqual(sorted(listed), sorted(known))
        number = 0
        for name, values in listed.items():
            targets = "`0`, `1024`, `2048`, `4096`, `8192`"
            spelled = {"page_target_bytes": targets, "page_codec_level": "`3`", "page_size": "`4096`, `8192`, `16384`, `32768`, `65536`"}.get(name, values)
            for value in re.findall(r"[a-z0-9_]+", spelled):
                number += 1
                needs = {"page_codec_level": "page_codec = zstd, ", "page_padding": "page_target_bytes = 8192, "}
                needs["page_split"] = needs["page_padding"]
                needs["device_codec"] = "page_codec = none, "
                options = f"{needs.get(name, '')}{name} = {value}"
                with self.subTest(options=options):
                    quire_shell.execute(self.database, f"CREATE TABLE o{number} (id INTEGER PRIMARY KEY) WITH ({options})")
        self.assertGreater(number, 25)

    def test_measured_options_can_be_asked_for(self):
        rows = re.findall(r"^\| `([a-z_]+ = [^`]+)`[^|]* \|(?: [0-9.]+ \|){4}$", PAGE.read_text(), re.MULTILINE)
        self.assertGreater(len(rows), 20)
        statements = [f"CREATE TABLE m{at} (id INTEGER PRIMARY KEY) WITH ({row})" for at, row in enumerate(rows)]
        quire_shell.execute(self.database, *statements)


if __name__ == "__main__":
    unittest.main()
