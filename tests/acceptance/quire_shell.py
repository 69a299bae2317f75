"""Runs the release shell the way a user's script does, and reads what it prints."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
QUIRE = pathlib.Path(os.environ.get("QUIRE", TARGET / "release" / "quire"))
XTASK = TARGET / "release" / "xtask"
SHARED = pathlib.Path(os.environ.get("QUIRE_SHARED", ROOT.parent / "shared"))
IS_CI = os.environ.get("CI") == "true"
STATEMENT_SECONDS_MAX = 600


def run(database, *statements, options=(), seconds_max=STATEMENT_SECONDS_MAX):
    """Runs statements in one shell; returns the finished process with its text."""
    command = [str(QUIRE), str(database), *options]
    for statement in statements:
        command += ["-c", statement]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds_max, stdin=subprocess.DEVNULL
    )


def query(database, sql):
    """Rows of one query as lists of fields: text, or None for NULL. The header is left out."""
    done = run(database, ".mode csv", sql)
    if done.returncode != 0:
        raise AssertionError(f"{sql}\nexit code {done.returncode}\n{done.stderr}")
    return parse_csv(done.stdout)[1:]


def execute(database, *statements):
    """Runs statements that must succeed."""
    done = run(database, *statements)
    if done.returncode != 0:
        raise AssertionError(f"{statements}\nexit code {done.returncode}\n{done.stderr}")
    return done.stdout


def literal(path):
    """A path as an SQL string."""
    return "'" + str(path).replace("'", "''") + "'"


def parse_csv(text):
    """Records of RFC 4180 text. A field that is empty and not quoted is None, as in PostgreSQL.

    Python's own reader does not tell an empty field from an empty string.
    """
    records, fields, at = [], [], 0
    while at < len(text):
        field, at = _field(text, at)
        fields.append(field)
        if at >= len(text) or text[at] == "\n" or text.startswith("\r\n", at):
            records.append(fields)
            fields = []
            at += 2 if text.startswith("\r\n", at) else 1
        elif text[at] == ",":
            at += 1
            if at == len(text):
                records.append(fields + [None])
        else:
            raise ValueError(f"offset {at}: {text[at]!r} after a closing quote")
    return records


UNQUOTED = re.compile(r"(?:[^,\r\n]|\r(?!\n))*")


def _field(text, at):
    if not text.startswith('"', at):
        end = UNQUOTED.match(text, at).end()
        return text[at:end] or None, end
    parts, at = [], at + 1
    while True:
        end = text.index('"', at)
        parts.append(text[at:end])
        if not text.startswith('""', end):
            return "".join(parts), end + 1
        parts.append('"')
        at = end + 2


def shared_folder(name):
    """A folder of data that is not part of the repository; without it the test is skipped, except in CI when
    the folder around it is there."""
    folder = SHARED / name
    if folder.is_dir():
        return folder
    message = f"{folder} is absent; QUIRE_SHARED says where the data lies"
    if IS_CI and SHARED.is_dir():
        raise AssertionError(message)
    raise unittest.SkipTest(message)


class WorkFolderTest(unittest.TestCase):
    """A test with an empty folder of its own."""

    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="quire-acceptance-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.database = self.folder / "test.quire"

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path
