"""A mount that is killed at any moment, below a program that writes: what the program has reported as committed is there afterwards.

QUIRE_KILLED_MOUNTS=1000 is the campaign of `make nightly`.
"""

import contextlib
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import unittest

import mount_case
import mounts
import peer_servers
from mount_case import run
from mounts import mounted

KILLED_MOUNTS = int(os.environ.get("QUIRE_KILLED_MOUNTS", "5"))
SEED = int(os.environ.get("QUIRE_SEED", "20261130"))
# All tables and indexes are read after so many kills, and after the last.
KILLS_BETWEEN_CHECKS = 10
KILLS_OF_A_DATABASE = 50
# Inserts a row for each commit and prints its number once that is durable. A commit in the mode DELETE is the removal of the journal, which SQLite
# syncs only with EXTRA, and not if it cannot open the directory because the mount has just ended: so the writer syncs it.
SQLITE_WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA synchronous = EXTRA")
connection.execute(f"PRAGMA journal_mode = {sys.argv[2]}")
connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, text TEXT)")
number = connection.execute("SELECT coalesce(max(id), 0) FROM t").fetchone()[0]
while True:
    number += 1
    connection.execute("INSERT INTO t VALUES (?, ?)", (number, str(number) * 200))
    if sys.argv[2] == "DELETE":
        directory = os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
    print(number, flush=True)
"""
# The same through a connection to PostgreSQL, changing a row of its own besides, so that pages have old versions.
POSTGRESQL_WRITER = """
import psycopg, sys
port, user, writer = sys.argv[1:]
connection = psycopg.connect(host="127.0.0.1", port=port, user=user, dbname="postgres", autocommit=True)
(number,) = connection.execute("SELECT coalesce(max(number), 0) FROM written WHERE writer = %s", [writer]).fetchone()
while True:
    number += 1
    with connection.transaction():
        connection.execute("INSERT INTO written VALUES (%s, %s, repeat(%s, 100))", [writer, number, str(number)])
        connection.execute("UPDATE last_written SET number = %s WHERE writer = %s", [number, writer])
    print(number, flush=True)
"""
WRITERS = ("1", "2")


def printed_numbers(text):
    """The numbers of the whole lines: a killed writer may leave a part of one."""
    return [int(line) for line in text[: text.rfind("\n") + 1].split()]


def waited(process, seconds):
    """Lets a process go on for a while."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


class KilledMounts(mount_case.MountTest):
    def setUp(self):
        super().setUp()
        self.delays = random.Random(SEED)
        print(f"QUIRE_SEED={SEED}, {KILLED_MOUNTS} killed mounts", file=sys.stderr)

    def test_sqlite_keeps_what_it_has_acknowledged(self):
        self.create("compression=lz4")
        for case in range(KILLED_MOUNTS):
            # A new one now and then: it is read as a whole after each kill.
            database = self.mount_point / f"{case // KILLS_OF_A_DATABASE}.db"
            if case % KILLS_OF_A_DATABASE == 0:
                acknowledged = 0
            mount = mounts.Mount(self.volume, self.mount_point)
            journal = ("DELETE", "WAL")[case % 2]
            writer = subprocess.Popen(
                [sys.executable, "-c", SQLITE_WRITER, str(database), journal],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            try:
                first = writer.stdout.readline()
                waited(mount.process, self.delays.uniform(0.05, 0.6))
            finally:
                mount.kill()
                writer.kill()
            lines, _ = writer.communicate(timeout=60)
            acknowledged = max([acknowledged, *printed_numbers(first + lines)])
            with mounted(self.volume, self.mount_point):
                connection = sqlite3.connect(database)
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                count, last, wrong = connection.execute(
                    "SELECT count(*), max(id), sum(text <> replace(hex(zeroblob(200)), '00', id)) FROM t"
                ).fetchone()
                connection.close()
            self.assertEqual(wrong, 0)
            self.assertEqual(count, last)
            self.assertGreaterEqual(last, acknowledged, "an acknowledged row was lost")
            self.check()
            self.assertGreater(acknowledged, case % KILLS_OF_A_DATABASE)

    def test_postgresql_keeps_what_it_has_acknowledged(self):
        self.require("postgres", "initdb", "pgbench", "pg_amcheck", "psql")
        self.create("compression=lz4", "recordsize=8k")
        server = self.server(peer_servers.PostgreSql)
        with mounted(self.volume, self.mount_point, "--allow-other"):
            server.create()
            with server.running():
                run(peer_servers.program("pgbench"), *server.connection(), "-i", "-s", "1", "-q", "postgres")
                self.sql(server, "CREATE TABLE written (writer text, number int, filler text, PRIMARY KEY (writer, number))")
                self.sql(server, "CREATE TABLE last_written (writer text PRIMARY KEY, number int)")
                self.sql(server, "INSERT INTO last_written VALUES " + ", ".join(f"('{writer}', 0)" for writer in WRITERS))
        acknowledged = dict.fromkeys(WRITERS, 0)
        for case in range(KILLED_MOUNTS):
            mount = mounts.Mount(self.volume, self.mount_point, "--allow-other")
            try:
                with self.killed(server, mount):
                    self.check_acknowledged(server, acknowledged)
                    if case % KILLS_BETWEEN_CHECKS == KILLS_BETWEEN_CHECKS - 1:
                        self.check_postgresql(server)
                    written = self.write_until_killed(server, mount)
            finally:
                mount.kill()
            for writer, numbers in written.items():
                acknowledged[writer] = max([acknowledged[writer], *numbers])
            if case % KILLS_BETWEEN_CHECKS == 0:
                self.check()
        with mounted(self.volume, self.mount_point, "--allow-other"):
            (server.data / "postmaster.pid").unlink(missing_ok=True)
            with server.running():
                self.check_acknowledged(server, acknowledged)
                self.check_postgresql(server)
        self.check()
        print(f"{acknowledged} transactions of the writers", file=sys.stderr)
        self.assertGreater(min(acknowledged.values()), KILLED_MOUNTS)

    @contextlib.contextmanager
    def killed(self, server, mount):
        """The server, which has recovered and answers. It and its processes are killed in the end, the mount before them."""
        server.port = peer_servers.free_port()
        # It belongs to the server that was killed before.
        (server.data / "postmaster.pid").unlink(missing_ok=True)
        with open(self.folder / "postgresql.log", "ab") as file:
            process = subprocess.Popen(server.server(), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)
        try:
            server.wait(process)
            yield
        finally:
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            mount.process.kill()
            mount.process.wait(60)
            process.kill()
            for child in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
            process.wait(60)

    def write_until_killed(self, server, mount):
        """Writes for a while, kills the mount, and returns the numbers that each writer has reported."""
        load = [peer_servers.program("pgbench"), *server.connection(), "-c", "2", "-T", "60", "-n", "postgres"]
        pgbench = subprocess.Popen(load, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        writers = {
            writer: subprocess.Popen(
                [sys.executable, "-c", POSTGRESQL_WRITER, str(server.port), peer_servers.USER, writer],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            for writer in WRITERS
        }
        try:
            first = {writer: process.stdout.readline() for writer, process in writers.items()}
            waited(mount.process, self.delays.uniform(0.05, 0.6))
        finally:
            mount.process.kill()
            mount.process.wait(60)
            for process in [pgbench, *writers.values()]:
                process.kill()
            pgbench.wait(60)
        return {writer: printed_numbers(first[writer] + process.communicate(timeout=60)[0]) for writer, process in writers.items()}

    def check_acknowledged(self, server, acknowledged):
        """Every transaction that a writer has reported is there as a whole, and none but the last that it had not reported."""
        rows = self.sql(
            server,
            "SELECT writer, last_written.number, count(written.number), coalesce(max(written.number), 0), "
            "count(*) FILTER (WHERE filler <> repeat(written.number::text, 100)) "
            "FROM last_written LEFT JOIN written USING (writer) GROUP BY writer, last_written.number ORDER BY writer",
        )
        found = {}
        for line in rows.split():
            writer, last, count, greatest, wrong = line.split("|")
            self.assertEqual((last, count, wrong), (greatest, greatest, "0"), line)
            found[writer] = int(last)
        self.assertEqual(sorted(found), sorted(acknowledged))
        for writer, number in acknowledged.items():
            self.assertGreaterEqual(found[writer], number, "an acknowledged transaction was lost")
            # It may have committed, and been killed before its report.
            acknowledged[writer] = found[writer]


if __name__ == "__main__":
    unittest.main()
