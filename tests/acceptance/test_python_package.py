"""The package as it is installed: its stubs say what is there, its examples do what they say, its page too."""

import doctest
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import quire
import quire.errors
import quire.types

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Package(unittest.TestCase):
    def test_the_stubs_say_what_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            # Not every library whose frames are given has stubs.
            settings = pathlib.Path(folder) / "mypy.ini"
            settings.write_text("[mypy]\nignore_missing_imports = True\ndisable_error_code = import-untyped\n")
            command = [sys.executable, "-m", "mypy.stubtest", "quire", "--mypy-config-file", str(settings)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_programs_can_be_checked(self):
        program = (
            "import quire\n"
            "connection = quire.connect(':memory:', autocommit=True)\n"
            "rows: list[tuple[object, ...]] = connection.execute('SELECT ?', (1,)).fetchall()\n"
            "wrong: int = connection.cursor().fetchall()\n"
            "try:\n    pass\nexcept quire.Error as error:\n    print(error.sqlstate, error.hint)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.py"
            path.write_text(program)
            command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        found = [line for line in done.stdout.splitlines() if "error:" in line]
        self.assertEqual(len(found), 1, done.stdout + done.stderr)
        self.assertIn(":4:", found[0])

    def test_the_examples_of_docstrings(self):
        finder = doctest.DocTestFinder()
        tests = [test for module in (quire.errors, quire.types) for test in finder.find(module)]
        of_classes = finder.find(quire, extraglobs={"quire": quire})
        of_classes += finder.find(quire.connect, "quire.connect", module=False, globs={})
        named = {test.name for test in of_classes if test.examples}
        for name in ("connect", "Connection", "Connection.sql", "Cursor", "Relation"):
            self.assertIn(f"quire.{name}", named)
        self.run_examples(tests + of_classes, 25)

    def test_the_examples_of_the_page(self):
        page = ROOT / "docs" / "python.md"
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
        with tempfile.TemporaryDirectory() as folder:
            test.globs["folder"] = folder
            self.run_examples([test], 25)

    def run_examples(self, tests, count_min):
        count, failures = 0, []
        # Said, because otherwise it follows the `-v` of the command.
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
        for test in tests:
            done = runner.run(test, out=failures.append)
            count += done.attempted
        self.assertEqual(failures, [], "".join(failures))
        self.assertGreaterEqual(count, count_min)


if __name__ == "__main__":
    unittest.main()
