"""`quire mount` and `quire dataset`: programs that know nothing of Quire keep their files in a compressed volume.

PostgreSQL, MariaDB, SQLite, git and cp run unmodified on a real mount. Where nothing can be mounted the tests say why they are skipped.
"""

import collections
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest

import mounts
import peer_servers
import quire_shell
from mounts import dataset, mounted
from quire_shell import QUIRE

CLIENT_SECONDS_MAX = 300
KILLED_MOUNTS = int(os.environ.get("QUIRE_KILLED_MOUNTS", "5"))
SEED = int(os.environ.get("QUIRE_SEED", "20261130"))
# What peer_servers asks of whoever starts a server.
Given = collections.namedtuple("Given", "pool_mib")
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


def run(*command, **options):
    """Runs a program, which must succeed; returns what it printed."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX, stdin=subprocess.DEVNULL, **options
    )
    if done.returncode != 0:
        raise AssertionError(f"{command}\nexit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def tree(folder):
    """Everything that a copy has to preserve, by its path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        times = None if path.is_symlink() else status.st_mtime_ns
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, times, content)
    return found


class MountTest(quire_shell.WorkFolderTest):
    def setUp(self):
        mounts.skip_unless_mounting(self)
        super().setUp()
        # The servers run as users of their own, who have to reach the mount.
        self.folder.chmod(0o755)
        self.volume = self.folder / "files.quire"
        self.mount_point = self.folder / "mnt"

    def check(self):
        done = subprocess.run([QUIRE, "check", self.volume], capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def create(self, *properties):
        options = [word for text in properties for word in ("-o", text)]
        dataset("create", self.volume, "data", *options)


class Files(MountTest):
    def test_copies_and_repositories(self):
        self.create("compression=auto")
        source = quire_shell.ROOT / "crates" / "quire-device"
        with mounted(self.volume, self.mount_point):
            copy = self.mount_point / "copy"
            run("cp", "-a", source, copy)
            self.assertEqual(tree(copy), tree(source))
            repository = self.mount_point / "repository"
            run("git", "init", "--quiet", repository)
            shutil.copytree(source, repository / "source")
            git = ["git", "-C", repository, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "safe.directory=*"]
            run(*git, "add", "--all")
            run(*git, "commit", "--quiet", "--message=All")
            run(*git, "gc", "--quiet")
            run(*git, "fsck", "--strict")
        with mounted(self.volume, self.mount_point) as mount:
            self.assertEqual(tree(self.mount_point / "copy"), tree(source))
            run("git", "-C", self.mount_point / "repository", "-c", "safe.directory=*", "fsck", "--strict")
            self.assertGreater(mount.compress_ratio, 2.0)
            shutil.rmtree(self.mount_point / "copy")
            self.assertEqual(os.listdir(self.mount_point), ["repository"])
        self.check()

    def test_snapshots_and_clones(self):
        self.create("compression=lz4")
        with mounted(self.volume, self.mount_point):
            (self.mount_point / "note").write_text("first")
        dataset("snapshot", self.volume, "data@monday")
        with mounted(self.volume, self.mount_point):
            (self.mount_point / "note").write_text("second")
        dataset("clone", self.volume, "data@monday", "old")
        with mounted(self.volume, self.mount_point, "--dataset", "old"):
            self.assertEqual((self.mount_point / "note").read_text(), "first")
            (self.mount_point / "note").write_text("third")
        with mounted(self.volume, self.mount_point, "--dataset", "data"):
            self.assertEqual((self.mount_point / "note").read_text(), "second")
        dataset("destroy", self.volume, "old")
        dataset("destroy", self.volume, "data@monday")
        self.assertEqual(dataset("list", self.volume).split("\n")[1].split()[0], "data")
        self.check()

    def test_what_is_refused(self):
        self.create()
        for words, reason in [
            (["dataset", "create", self.volume, "data"], "exists"),
            (["dataset", "create", self.volume, "more", "-o", "compression=best"], "compression"),
            (["dataset", "set", self.volume, "data", "recordsize=3000"], "recordsize"),
            (["dataset", "list", self.folder / "missing"], "missing"),
            (["mount", self.volume, self.folder / "nowhere"], "nowhere"),
            (["mount", self.volume, self.folder, "--dataset", "other"], "other"),
        ]:
            done = subprocess.run([QUIRE, *words], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(reason, done.stderr)
            self.assertFalse(os.path.ismount(self.folder))
        with mounted(self.volume, self.mount_point):
            done = subprocess.run([QUIRE, "dataset", "list", self.volume], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("open", done.stderr)
        done = quire_shell.run(self.volume, "SELECT 1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("data sets", done.stderr)
        self.check()


class KilledMounts(MountTest):
    def test_sqlite_keeps_what_it_has_acknowledged(self):
        self.create("compression=lz4")
        delays = random.Random(SEED)
        print(f"QUIRE_SEED={SEED}, {KILLED_MOUNTS} killed mounts", file=sys.stderr)
        acknowledged = 0
        for case in range(KILLED_MOUNTS):
            mount = mounts.Mount(self.volume, self.mount_point)
            journal = ("DELETE", "WAL")[case % 2]
            writer = subprocess.Popen(
                [sys.executable, "-c", SQLITE_WRITER, str(self.mount_point / "test.db"), journal],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            try:
                writer.stdout.readline()
                try:
                    mount.process.wait(delays.uniform(0.05, 0.6))
                except subprocess.TimeoutExpired:
                    pass
            finally:
                mount.kill()
                writer.kill()
            lines, _ = writer.communicate(timeout=60)
            # The last line may be cut.
            whole = lines[: lines.rfind("\n") + 1].split()
            acknowledged = max([acknowledged, *map(int, whole)])
            with mounted(self.volume, self.mount_point):
                connection = sqlite3.connect(self.mount_point / "test.db")
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                count, last, wrong = connection.execute(
                    "SELECT count(*), max(id), sum(text <> replace(hex(zeroblob(200)), '00', id)) FROM t"
                ).fetchone()
                connection.close()
            self.assertEqual(wrong, 0)
            self.assertEqual(count, last)
            self.assertGreaterEqual(last, acknowledged, "an acknowledged row was lost")
            self.check()
        self.assertGreater(acknowledged, KILLED_MOUNTS)


class Servers(MountTest):
    def server(self, kind, *words):
        return kind(kind.__name__, peer_servers.PLAIN, self.mount_point, Given(64), *words)

    def require(self, *programs):
        missing = [name for name in programs if not peer_servers.program(name)]
        if missing:
            mounts.skip(self, f"missing {', '.join(missing)}")

    def test_postgresql(self):
        self.require("postgres", "initdb", "pgbench", "pg_amcheck", "psql")
        self.create("compression=zstd", "recordsize=8k")
        with mounted(self.volume, self.mount_point, "--allow-other") as mount:
            server = self.server(peer_servers.PostgreSql)
            server.create()
            with server.running():
                pgbench = [peer_servers.program("pgbench"), "-h", "127.0.0.1", "-p", server.port, "-U", peer_servers.USER, "postgres"]
                run(*pgbench, "-i", "-s", "3", "-q")
                run(*pgbench, "-c", "4", "-j", "2", "-T", "5", "-n")
            with server.running():
                self.check_postgresql(server)
            self.assertGreater(mount.compress_ratio, 2.0)
        self.check()

    def check_postgresql(self, server):
        """Its own check of all tables and indexes, and sums that each transaction of pgbench keeps equal."""
        client = ["-h", "127.0.0.1", "-p", server.port, "-U", peer_servers.USER]
        psql = ["psql", "-X", "-A", "-t", *client, "-d", "postgres", "-c"]
        run(*psql, "CREATE EXTENSION IF NOT EXISTS amcheck")
        run(peer_servers.program("pg_amcheck"), *client, "--heapallindexed", "postgres")
        sums = run(
            *psql,
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches), "
            "(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)",
        )
        self.assertEqual(len(set(sums.strip().split("|"))), 1, sums)

    def test_postgresql_on_killed_mounts(self):
        self.require("postgres", "initdb", "pgbench", "pg_amcheck", "psql")
        self.create("compression=lz4", "recordsize=8k")
        delays = random.Random(SEED)
        server = self.server(peer_servers.PostgreSql)
        with mounted(self.volume, self.mount_point, "--allow-other"):
            server.create()
            with server.running():
                client = ["-h", "127.0.0.1", "-p", server.port, "-U", peer_servers.USER]
                run(peer_servers.program("pgbench"), *client, "-i", "-s", "1", "-q", "postgres")
        history = 0
        for _ in range(max(1, KILLED_MOUNTS // 2)):
            mount = mounts.Mount(self.volume, self.mount_point, "--allow-other")
            server.port = peer_servers.free_port()
            load = None
            process = subprocess.Popen(
                server.server(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
            try:
                server.wait(process)
                client = ["-h", "127.0.0.1", "-p", str(server.port), "-U", peer_servers.USER]
                load = subprocess.Popen(
                    [peer_servers.program("pgbench"), *client, "-c", "2", "-T", "60", "-n", "--log", f"--log-prefix={self.folder / 'log'}", "postgres"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
                try:
                    load.wait(delays.uniform(1.0, 2.0))
                except subprocess.TimeoutExpired:
                    pass
            finally:
                mount.kill()
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(60)
                # Its processes are groups of their own.
                subprocess.run(["pkill", "-KILL", "-f", str(server.data)], capture_output=True)
                if load:
                    load.kill()
                    load.wait(60)
            # A line for each transaction whose commit has been acknowledged; those in a buffer of pgbench are not counted.
            for log in self.folder.glob("log*"):
                history += log.read_text().count("\n")
                log.unlink()
            with mounted(self.volume, self.mount_point, "--allow-other"):
                (server.data / "postmaster.pid").unlink(missing_ok=True)
                with server.running():
                    self.check_postgresql(server)
                    count = run("psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", server.port, "-U", peer_servers.USER, "-d", "postgres",
                                "-c", "SELECT count(*) FROM pgbench_history")
                    self.assertGreaterEqual(int(count), history, "an acknowledged transaction was lost")
            self.check()

    def test_mariadb(self):
        self.require("mariadbd", "mariadb-install-db", "mariadb", "sysbench")
        self.create("compression=zstd", "recordsize=16k")
        with mounted(self.volume, self.mount_point, "--allow-other"):
            server = self.server(peer_servers.MariaDb, "innodb")
            server.create()
            with server.running():
                sysbench = ["sysbench", "oltp_read_write", *server.client(), "--tables=2", "--table-size=5000", "--threads=2"]
                run(*sysbench, "prepare")
                run(*sysbench, "--time=5", "run")
            with server.running():
                for number in (1, 2):
                    checked = run(*server.mariadb(f"CHECK TABLE {peer_servers.NAME}.sbtest{number} EXTENDED"))
                    self.assertIn("OK", checked)
        self.check()

    def test_sqlite(self):
        self.create("compression=zstd", "recordsize=16k")
        rows = [(number, f"name {number % 97}", number * 0.25) for number in range(50_000)]
        with mounted(self.volume, self.mount_point):
            for journal in ("DELETE", "WAL"):
                connection = sqlite3.connect(self.mount_point / f"{journal}.db")
                connection.execute(f"PRAGMA journal_mode = {journal}")
                connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
                connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
                connection.commit()
                connection.execute("DELETE FROM t WHERE id % 3 = 0")
                connection.execute("CREATE INDEX by_name ON t (name)")
                connection.commit()
                connection.execute("VACUUM")
                connection.close()
        with mounted(self.volume, self.mount_point):
            for journal in ("DELETE", "WAL"):
                connection = sqlite3.connect(self.mount_point / f"{journal}.db")
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                expected = [row for row in rows if row[0] % 3]
                self.assertEqual(connection.execute("SELECT * FROM t ORDER BY id").fetchall(), expected)
                connection.close()
        self.check()


if __name__ == "__main__":
    unittest.main()
