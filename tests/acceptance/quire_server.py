"""A server of its own for each class of tests, and clients that are not ours."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from quire_shell import QUIRE

USER, NAME = "ada", "shop"
START_SECONDS_MAX = 60
CLIENT_SECONDS_MAX = 300


class ServerTest(unittest.TestCase):
    """`quire serve` on a free port of this machine, for all tests of the class."""

    options = ()
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="quire-server-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.database = cls.folder / "test.quire"
        cls.log = cls.folder / "log"
        cls.server, cls.port = start(cls.database, *cls.options, log=cls.log)
        cls.addClassCleanup(stop, cls.server)

    @classmethod
    def environment(cls, **more):
        """What programs that use libpq read."""
        known = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        return {**known, "PGHOST": "127.0.0.1", "PGPORT": str(cls.port), "PGUSER": USER, "PGDATABASE": NAME, **more}

    @classmethod
    def conninfo(cls, **more):
        words = {"host": "127.0.0.1", "port": cls.port, "user": USER, "dbname": NAME, **more}
        return " ".join(f"{key}={value}" for key, value in words.items())

    def run_client(self, *command, stdin="", **environment):
        """Runs a client's program, which must succeed; returns what it printed."""
        done = subprocess.run(
            [str(word) for word in command], input=stdin, capture_output=True, text=True,
            env=self.environment(**environment), timeout=CLIENT_SECONDS_MAX,
        )
        if done.returncode != 0:
            raise AssertionError(f"{command}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def psql(self, *commands, is_whole=False):
        """What psql prints of commands, unaligned, without what only decorates unless the whole is wanted."""
        words = ["psql", "--no-psqlrc", "--quiet", "--no-align", "--set=ON_ERROR_STOP=1"]
        if not is_whole:
            words.append("--tuples-only")
        for command in commands:
            words += ["--command", command]
        return self.run_client(*words)


def start(database, *options, log=None):
    """A server and the port it has taken; what it logs goes to a file, if one is given."""
    with contextlib.ExitStack() as stack:
        server = subprocess.Popen(
            [str(QUIRE), "serve", str(database), "--listen", "127.0.0.1:0", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stack.enter_context(log.open("ab")) if log else None, text=True,
        )
    line = server.stdout.readline()
    found = re.fullmatch(r"listening on .*:(\d+)\n", line)
    if not found:
        stop(server)
        raise AssertionError(f"the server said {line!r} and ended with {server.returncode}")
    return server, int(found[1])


def stop(server):
    server.terminate()
    server.communicate(timeout=START_SECONDS_MAX)


def resident_bytes(server):
    """Memory that the server holds."""
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024
