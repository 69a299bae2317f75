"""MariaDB and PostgreSQL as processes of a test or a benchmark: how each is made, started, reached, stopped and weighed."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

PLAIN, COMPRESSED, OURS = "plain", "compressed", "ours"
PROGRAMS = ["mariadbd", "mariadb-install-db", "mariadb", "postgres", "initdb"]
START_SECONDS_MAX = STOP_SECONDS_MAX = 300
USER, NAME = "ada", "shop"


def program(name):
    """Where a program is; Debian keeps PostgreSQL's own beside the path, by version."""
    versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    places = os.pathsep.join([os.environ["PATH"], "/usr/sbin", *map(str, reversed(versions))])
    return shutil.which(name, path=places)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def allocated_bytes(path):
    """Bytes on the disk: pages that InnoDB compresses leave holes in its files."""
    return sum(file.stat().st_blocks * 512 for file in [path, *path.rglob("*")] if file.is_file())


def as_user(name):
    """What to put before a command so that it runs as that user: servers refuse to be root. It becomes that command: `runuser` would stay as
    its parent, and kill a server two seconds after asking it to end, which is too soon for one with much to write."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam(name)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]


def stop(server):
    """Asks it to end in order, and gives up the measurement if it does not: what it has written then is no size."""
    server.terminate()
    try:
        server.wait(timeout=STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
        raise SystemExit(f"{server.args[0]} did not end within {STOP_SECONDS_MAX} s") from None


class Side:
    """A server. `user` is whom it runs as."""

    user = None

    def __init__(self, name, kind, folder, given):
        self.name, self.kind, self.given = name, kind, given
        self.folder = folder / re.sub(r"\W+", "_", name)
        self.data = self.folder / "data"
        self.port = None

    def create(self):
        self.folder.mkdir()
        if self.user and os.geteuid() == 0:
            shutil.chown(self.folder, self.user, self.user)

    def command(self, *words):
        return [*(as_user(self.user) if self.user else []), *map(str, words)]

    @contextlib.contextmanager
    def running(self):
        """The server answers inside, and has ended in good order after."""
        self.port = free_port()
        with open(self.folder.parent / f"{self.folder.name}.log", "ab") as log:
            server = subprocess.Popen(self.server(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            self.wait(server)
            yield
        finally:
            stop(server)

    def wait(self, server):
        """Until the server answers a client."""
        end = time.monotonic() + START_SECONDS_MAX
        while subprocess.run(self.question(), capture_output=True).returncode != 0:
            if server.poll() is not None or time.monotonic() > end:
                log = self.folder.parent / f"{self.folder.name}.log"
                raise SystemExit(f"{self.name} does not answer\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.1)

    def finish_preparing(self, table_count):
        """What the side needs before it is weighed."""


class MariaDb(Side):
    user = "mysql"

    def __init__(self, name, kind, folder, given, engine):
        super().__init__(name, kind, folder, given)
        self.engine = engine

    def create(self):
        super().create()
        install = [
            program("mariadb-install-db"), "--no-defaults", f"--datadir={self.data}", "--skip-test-db", "--auth-root-authentication-method=normal",
        ]
        subprocess.run(self.command(*install), check=True, capture_output=True)

    def server(self):
        # The log is large enough that checkpoints are not what is measured.
        return self.command(
            program("mariadbd"), "--no-defaults", f"--datadir={self.data}", f"--port={self.port}", "--bind-address=127.0.0.1",
            f"--socket={self.folder / 'socket'}", f"--pid-file={self.folder / 'pid'}", "--skip-name-resolve",
            f"--innodb-buffer-pool-size={self.given.pool_mib}M", "--innodb-flush-log-at-trx-commit=1", "--innodb-log-file-size=1G",
        )

    def mariadb(self, sql):
        return [program("mariadb"), "--no-defaults", "--host=127.0.0.1", f"--port={self.port}", "--user=root", f"--execute={sql}"]

    def question(self):
        return self.mariadb(f"CREATE DATABASE IF NOT EXISTS {NAME}")

    def client(self):
        return [
            "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.port}", "--mysql-user=root", f"--mysql-db={NAME}",
            f"--mysql-storage-engine={self.engine}",
        ]

    def disk_bytes(self):
        return allocated_bytes(self.data / NAME)


class PostgreSql(Side):
    user = "postgres"

    def create(self):
        super().create()
        initialize = [program("initdb"), "-D", self.data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-locale"]
        subprocess.run(self.command(*initialize), check=True, capture_output=True)
        # Its three databases have a catalog each.
        self.empty_bytes = allocated_bytes(self.data / "base")

    def server(self):
        settings = [
            f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}",
            f"shared_buffers={self.given.pool_mib}MB", "synchronous_commit=on", "fsync=on",
        ]
        return self.command(program("postgres"), "-D", self.data, *(word for setting in settings for word in ("-c", setting)))

    def question(self):
        return ["psql", "-X", *self.connection(), "-d", "postgres", "-c", "SELECT 1"]

    def connection(self):
        """Where PostgreSQL's own programs find it."""
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER]

    def client(self):
        return ["--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={self.port}", f"--pgsql-user={USER}", "--pgsql-db=postgres"]

    def disk_bytes(self):
        return allocated_bytes(self.data / "base") - self.empty_bytes
