"""Durable commits per second in SQLite: python3 bench/commit_sqlite.py FILE [THREADS...]

The counterpart of `cargo run --release -p quire-store --example commit_speed -- FILE`: one row of 120 bytes per
transaction, WAL, synchronous=FULL, one connection per thread. FILE must not exist and is removed.
"""

import os
import sqlite3
import sys
import threading
import time

SECONDS = 3.0


def connect(path):
    connection = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def work(connection, counts, index, stop_at):
    row = b"x" * 120
    while time.perf_counter() < stop_at:
        connection.execute("INSERT INTO t (v) VALUES (?)", (row,))
        counts[index] += 1


def measure(path, thread_count):
    connections = [connect(path) for _ in range(thread_count)]
    connections[0].execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)")
    counts = [0] * thread_count
    start = time.perf_counter()
    threads = [
        threading.Thread(target=work, args=(connection, counts, index, start + SECONDS))
        for index, connection in enumerate(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    for connection in connections:
        connection.close()
    print(f"SQLite {sqlite3.sqlite_version}, {thread_count} threads: {sum(counts) / seconds:.0f} durable commits/s")


def main():
    path = sys.argv[1]
    for thread_count in [int(text) for text in sys.argv[2:]] or [1, 8]:
        if os.path.exists(path):
            sys.exit(f"{path} exists")
        try:
            measure(path, thread_count)
        finally:
            for suffix in ["", "-wal", "-shm"]:
                if os.path.exists(path + suffix):
                    os.remove(path + suffix)


main()
