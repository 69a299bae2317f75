"""docs/mount.md: its sessions run as they stand, and its tables have what there is."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import mounts
import quire_shell
from test_docs import DOCS
from test_docs_shell import SESSION, commands_of

PAGE = DOCS / "mount.md"


class MountPage(unittest.TestCase):
    maxDiff = None

    def test_sessions_do_what_they_show(self):
        mounts.skip_unless_mounting(self)
        # The mount goes before the folder does.
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            folder = pathlib.Path(folder)
            (folder / "programs").mkdir()
            (folder / "programs" / "quire").symlink_to(quire_shell.QUIRE)
            work = folder / "work"
            work.mkdir()
            stack.callback(subprocess.run, ["umount", "--lazy", work / "shop"], capture_output=True)
            environment = {**os.environ, "PATH": f"{folder / 'programs'}:{os.environ['PATH']}"}
            count = 0
            for session in SESSION.findall(PAGE.read_text()):
                for command, shown in commands_of(session):
                    # Not through a pipe: a mount that goes on in the background would keep it open.
                    with open(folder / "output", "w+") as output:
                        done = subprocess.run(
                            ["bash", "-c", command], cwd=work, env=environment, timeout=120,
                            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                        )
                        output.seek(0)
                        printed = output.read()
                    count += 1
                    with self.subTest(command=command):
                        self.assertEqual(done.returncode, 0, printed)
                        if "mount " not in command:
                            self.assertEqual(printed, shown)
            self.assertGreater(count, 12)

    def test_all_properties_are_listed(self):
        page = PAGE.read_text().partition("\n## Properties")[2].partition("\n## ")[0]
        listed = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
        with tempfile.TemporaryDirectory() as folder:
            volume = pathlib.Path(folder) / "files.quire"
            mounts.dataset("create", volume, "a")
            shown = {line.split()[0] for line in mounts.dataset("get", volume, "a").splitlines()[1:]}
        self.assertEqual(listed, shown)


if __name__ == "__main__":
    unittest.main()
