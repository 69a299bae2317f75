"""The servers that are compared: a private PostgreSQL 15, and `quire serve`."""

from __future__ import annotations

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

from psycopg import pq

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
QUIRE = pathlib.Path(os.environ.get("QUIRE", TARGET / "release" / "quire"))
POSTGRES_USER = "postgres"
START_SECONDS_MAX = STOP_SECONDS_MAX = 60
# Nothing of it has to outlive the run.
SETTINGS = [
    "fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB", "jit=off", "max_connections=60", "timezone=UTC",
    "max_parallel_workers_per_gather=0", "autovacuum=off", "log_min_messages=fatal", "log_min_error_statement=panic",
]


def program(name: str) -> str | None:
    """Where a program of PostgreSQL 15 is; Debian keeps it beside the path."""
    return shutil.which(name, path="/usr/lib/postgresql/15/bin")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def as_postgres() -> list[str]:
    """What to put before a command: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam(POSTGRES_USER)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL of its own; gives what to connect to it with, without a database."""
    initdb, server = program("initdb"), program("postgres")
    if initdb is None or server is None:
        raise SystemExit("PostgreSQL 15 is missing: `make oracle` installs Debian's package `postgresql`")
    with tempfile.TemporaryDirectory(prefix="quire-oracle-postgres-") as name:
        folder = pathlib.Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, POSTGRES_USER, POSTGRES_USER)
        words = ["-D", str(folder / "data"), "-U", POSTGRES_USER, "--auth=trust", "--encoding=UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8", "--no-sync"]
        subprocess.run([*as_postgres(), initdb, *words], check=True, capture_output=True)
        port = free_port()
        settings = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", *SETTINGS]
        command = [*as_postgres(), server, "-D", str(folder / "data"), *(word for setting in settings for word in ("-c", setting))]
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            conninfo = f"host=127.0.0.1 port={port} user={POSTGRES_USER}"
            wait_for(f"{conninfo} dbname=postgres", process, folder / "log")
            yield conninfo
        finally:
            # Clients that are still there are not waited for.
            process.send_signal(signal.SIGINT)
            process.wait(timeout=STOP_SECONDS_MAX)


def wait_for(conninfo: str, process: subprocess.Popen[bytes], log: pathlib.Path) -> None:
    """A server that accepts connections may still refuse them, because it is starting."""
    end = time.monotonic() + START_SECONDS_MAX
    while True:
        connection = pq.PGconn.connect(conninfo.encode())
        is_ready = connection.status == pq.ConnStatus.OK
        connection.finish()
        if is_ready:
            return
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"PostgreSQL does not answer\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)


class Quire:
    """`quire serve` on a file of its own."""

    def __init__(self, database: pathlib.Path):
        self.database = database
        self.log = database.with_suffix(".log")
        self.start()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(QUIRE), "serve", str(self.database), "--listen", "127.0.0.1:0", "--cache", "64MiB"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"listening on .*:(\d+)\n", line)
        if not found:
            self.stop()
            raise SystemExit(f"the server said {line!r}\n{self.log.read_text(errors='replace')[-3000:]}")
        self.conninfo = f"host=127.0.0.1 port={found[1]} user=ada dbname=shop sslmode=disable"

    def stop(self) -> None:
        """It is given time to end in order, and killed after."""
        self.process.terminate()
        try:
            self.process.wait(timeout=STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
