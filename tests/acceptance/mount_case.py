"""A test case with a volume whose data set is mounted, by itself or below a database server."""

import collections
import subprocess

import mounts
import peer_servers
import quire_shell
from quire_shell import QUIRE

CLIENT_SECONDS_MAX = 300
# What peer_servers asks of whoever starts a server.
Given = collections.namedtuple("Given", "pool_mib")


def run(*command, **options):
    """Runs a program, which must succeed; returns what it printed."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX, stdin=subprocess.DEVNULL, **options
    )
    if done.returncode != 0:
        raise AssertionError(f"{command}\nexit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


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
        mounts.dataset("create", self.volume, "data", *options)

    def server(self, kind, *words):
        return kind(kind.__name__, peer_servers.PLAIN, self.mount_point, Given(64), *words)

    def require(self, *programs):
        missing = [name for name in programs if not peer_servers.program(name)]
        if missing:
            mounts.skip(self, f"missing {', '.join(missing)}")

    def sql(self, server, statement):
        """What PostgreSQL answers: a line for each row, its values separated by `|`."""
        return run("psql", "-X", "-A", "-t", *server.connection(), "-d", "postgres", "-c", statement)

    def check_postgresql(self, server):
        """Its own check of all tables and indexes, and sums that each transaction of pgbench keeps equal."""
        self.sql(server, "CREATE EXTENSION IF NOT EXISTS amcheck")
        run(peer_servers.program("pg_amcheck"), *server.connection(), "--heapallindexed", "postgres")
        sums = self.sql(
            server,
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(bbalance) FROM pgbench_branches), "
            "(SELECT sum(tbalance) FROM pgbench_tellers), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)",
        )
        self.assertEqual(len(set(sums.strip().split("|"))), 1, sums)
