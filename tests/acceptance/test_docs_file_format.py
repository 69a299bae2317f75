"""docs/file-format.md says what FORMAT.md says, and its reader reads a file."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import quire_shell
from test_docs import DOCS, outputs

PAGE = DOCS / "file-format.md"
FORMAT = quire_shell.ROOT / "crates" / "quire-format" / "FORMAT.md"
# A link to a section of FORMAT.md with the length that the page gives.
STRUCTURE = re.compile(r"^\| \[([^\]]+)\]\([^)#]*FORMAT\.md#([^)]+)\) \| ([0-9]*) ?\|", re.MULTILINE)
READER = re.compile(r"^```python\n(.*?)^```\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def anchor(heading):
    """The name GitHub gives a heading."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def sections():
    """Name and text of each section of FORMAT.md, by its anchor."""
    parts = re.split(r"^## (.+)$", FORMAT.read_text(), flags=re.MULTILINE)[1:]
    return {anchor(name): (name.partition(" (")[0], text) for name, text in zip(parts[::2], parts[1::2])}


class FileFormat(unittest.TestCase):
    maxDiff = None

    def test_every_structure_is_listed_with_its_length(self):
        rows = {target: (name, length) for name, target, length in STRUCTURE.findall(PAGE.read_text())}
        expected = {}
        for target, (name, text) in sections().items():
            length = re.search(r"^([0-9]+) bytes\.$", text, re.MULTILINE)
            expected[target] = (name, length[1] if length else "")
        self.assertGreater(len(expected), 20)
        self.assertEqual(rows, expected)

    def test_kinds_of_images_are_those_of_the_format(self):
        kinds = re.search(r"^\| 2 \| 1 \| `kind` \| (.+) \|$", sections()["image-header"][1], re.MULTILINE)[1]
        listed = re.findall(r"^\| ([0-9]+) \| ([a-z ]+) \|$", PAGE.read_text(), re.MULTILINE)
        self.assertEqual(listed, re.findall(r"([0-9]+) ([a-z][a-z ]*)", kinds))

    def test_the_version_is_that_of_the_format(self):
        version = re.search(r"`version` \| format version, ([0-9]+) \|", sections()["superblock"][1])[1]
        self.assertIn(f"The format's version is {version};", " ".join(PAGE.read_text().split()))

    def test_the_reader_reads_a_file(self):
        [(code, shown)] = READER.findall(PAGE.read_text())
        with tempfile.TemporaryDirectory() as folder:
            outputs(PAGE, pathlib.Path(folder))
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=quire_shell.STATEMENT_SECONDS_MAX
            )
            self.assertEqual((done.stdout, done.stderr), (shown, ""))


if __name__ == "__main__":
    unittest.main()
