"""`quire mount` and `quire dataset`: programs that know nothing of Quire keep their files in a compressed volume.

PostgreSQL, MariaDB, SQLite, git and cp run unmodified on a real mount. Where nothing can be mounted the tests say why they are skipped.
"""

import os
import random
import shutil
import sqlite3
import string
import subprocess
import unittest

import mount_case
import peer_servers
import quire_shell
from mount_case import run
from mounts import dataset, mounted
from quire_shell import QUIRE


def tree(folder):
    """Everything that a copy has to preserve, by its path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        times = None if path.is_symlink() else status.st_mtime_ns
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, times, content)
    return found


class Files(mount_case.MountTest):
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

    def test_records_share_a_dictionary(self):
        chance = random.Random(5)
        names = ["".join(chance.choices(string.ascii_lowercase, k=24)) for _ in range(2_000)]
        content = "".join(f"{number},{chance.choice(names)},{chance.choice(names)}\n" for number in range(60_000))
        dataset("create", self.volume, "plain", "-o", "compression=zstd-9", "-o", "recordsize=16k")
        dataset("create", self.volume, "data", "-o", "compression=auto", "-o", "recordsize=16k")
        ratios = {}
        for name in ["plain", "data"]:
            with mounted(self.volume, self.mount_point, "--dataset", name):
                (self.mount_point / "names.csv").write_text(content)
            with mounted(self.volume, self.mount_point, "--dataset", name) as mount:
                file = self.mount_point / "names.csv"
                self.assertEqual(file.read_text(), content)
                ratios[name] = mount.compress_ratio
        with mounted(self.volume, self.mount_point, "--dataset", "data"):
            self.assertIn(b"with a dictionary", os.getxattr(file, "user.quire.compression"))
        self.assertGreater(ratios["data"], 1.2 * ratios["plain"])
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


class Servers(mount_case.MountTest):
    def test_postgresql(self):
        self.require("postgres", "initdb", "pgbench", "pg_amcheck", "psql")
        self.create("compression=auto", "recordsize=8k")
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
