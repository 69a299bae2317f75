"""docs/shell.md: its sessions run as they stand, and its table has the commands that there are."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import quire_shell
from test_docs import DOCS

PAGE = DOCS / "shell.md"
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (?:`(\.[^`]+)`)? *\| (?:`(\\[^`]+)`)? *\|", re.MULTILINE)


def commands_of(session):
    """Each command with what is printed below it."""
    for text in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, printed = text.partition("\n")
        yield command, printed


class Shell(unittest.TestCase):
    maxDiff = None

    def test_sessions_do_what_they_show(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = pathlib.Path(folder) / "programs"
            programs.mkdir()
            (programs / "quire").symlink_to(quire_shell.QUIRE)
            work = pathlib.Path(folder) / "work"
            work.mkdir()
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "NO_COLOR": "1"}
            count = 0
            for session in SESSION.findall(PAGE.read_text()):
                for command, shown in commands_of(session):
                    done = subprocess.run(
                        ["bash", "-c", command], cwd=work, env=environment, text=True, timeout=60,
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    )
                    count += 1
                    with self.subTest(command=command):
                        self.assertEqual(done.stdout, shown)
            self.assertGreater(count, 25)

    def test_every_command_is_listed_and_shown(self):
        page = PAGE.read_text()
        listed = ROW.findall(page.partition("\n## All commands")[2])
        names, aliases = set(), set()
        for dotted, alias in listed:
            if dotted:
                names.add(dotted.replace("\\|", "|"))
            if alias:
                aliases.add(alias)
        known = quire_shell.execute(":memory:", ".help").partition("\n\n")[0].splitlines()
        usages = [re.split(r" {2,}", line)[0] if "  " in line else line for line in known]
        dotted = {usage.split()[0] for usage in usages if usage.startswith(".")}
        self.assertEqual({name.split()[0] for name in names}, dotted)
        every = {word for usage in usages for word in usage.split() if word.startswith("\\")}
        self.assertEqual(aliases - every, set())
        for alias in {usage.split()[0] for usage in usages if usage.startswith("\\")}:
            self.assertIn(alias, aliases)
        text = "".join(SESSION.findall(page)) + page.partition("\n## All commands")[0]
        for name in dotted | {"\\copy"}:
            self.assertTrue(name in text, f"no example of {name}, and no word about it")


if __name__ == "__main__":
    unittest.main()
