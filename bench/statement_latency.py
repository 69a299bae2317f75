"""What a small statement takes through the wire: `quire serve` beside PostgreSQL, one connection of psycopg, statements in turn.

    bench/statement_latency.py --quire PATH [--rounds R] [--executions N] [--work FOLDER] [--check]

Both servers are started here, in a new folder and on free ports, and answer one client each. A round runs each statement N times on one side and then
on the other, so that both meet the same moments of the machine. A figure is the median of all executions. psycopg prepares a statement
that it has met five times, as programs that use it do. With --check the exit code says whether every statement keeps the bar.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile
import time

import psycopg
import server_sides

BAR = 1.2
TABLES = [
    "CREATE TABLE one (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO one VALUES (1, 'Ada')",
    "CREATE TABLE ten (id INTEGER PRIMARY KEY, name TEXT, price NUMERIC(10, 2))",
    "INSERT INTO ten SELECT i, 'name ' || i, i * 1.25 FROM generate_series(1, 10) AS t(i)",
    "CREATE TABLE plain (a INTEGER, b TEXT)",
    "INSERT INTO plain VALUES (1, 'Ada')",
    "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO author SELECT i, 'author ' || i FROM generate_series(1, 100) AS t(i)",
    "CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER, title TEXT)",
    "INSERT INTO book SELECT i, i * 7 % 100 + 1, 'title ' || i FROM generate_series(1, 100) AS t(i)",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, book_id INTEGER, price NUMERIC(10, 2))",
    "INSERT INTO sale SELECT i, i * 13 % 100 + 1, i * 1.25 FROM generate_series(1, 100) AS t(i)",
    "CREATE TABLE thousand (id INTEGER PRIMARY KEY, kind INTEGER, price NUMERIC(10, 2))",
    "INSERT INTO thousand SELECT i, i % 10, i * 1.25 FROM generate_series(1, 1000) AS t(i)",
    "ANALYZE",
]
# One row, so that fetching is not what is measured.
JOIN = """SELECT count(*), sum(s.price), max(a.name), max(b.title) FROM sale AS s JOIN book AS b ON b.id = s.book_id
    JOIN author AS a ON a.id = b.author_id"""
STATEMENTS = [
    ("a constant", "SELECT 1", ()),
    ("a parameter", "SELECT %s::int", (5,)),
    ("a row by its key", "SELECT name FROM one WHERE id = %s", (1,)),
    ("count of one row", "SELECT count(*) FROM one", ()),
    ("ten rows in order", "SELECT id, name, price FROM ten ORDER BY name", ()),
    ("count without a key", "SELECT count(*) FROM plain", ()),
    ("a join of three tables of 100 rows", JOIN, ()),
    ("groups of 1,000 rows", "SELECT kind, count(*), sum(price) FROM thousand GROUP BY kind ORDER BY kind", ()),
    ("sum of 1,000 rows", "SELECT count(*), sum(price), max(id) FROM thousand", ()),
]


def connect(side, database):
    return psycopg.connect(host="127.0.0.1", port=side.port, user=server_sides.USER, dbname=database, autocommit=True)


def prepare(connection):
    for table in TABLES:
        connection.execute(table)


def take_turn(connection, statement, values, executions):
    """Nanoseconds of each execution, its rows fetched."""
    taken = []
    with connection.cursor() as cursor:
        for _ in range(executions):
            began = time.perf_counter_ns()
            cursor.execute(statement, values).fetchall()
            taken.append(time.perf_counter_ns() - began)
    return taken


def check_answers(connections, name, statement, values):
    ours, theirs = (connection.execute(statement, values).fetchall() for connection in connections)
    if ours != theirs:
        sys.exit(f"{name}: Quire answers {ours}, PostgreSQL {theirs}")


def measure(connections, given):
    """Median microseconds by statement and side. Both have to give the same rows."""
    found = {}
    for name, statement, values in STATEMENTS:
        check_answers(connections, name, statement, values)
        taken = [[] for _ in connections]
        for number in range(given.rounds + 1):
            for side, connection in zip(taken, connections, strict=True):
                nanoseconds = take_turn(connection, statement, values, given.executions)
                # The first round is for caches and prepared statements.
                if number > 0:
                    side.extend(nanoseconds)
        found[name] = [statistics.median(side) / 1000 for side in taken]
    return found


def report(found):
    """One row for each statement; whether all keep the bar."""
    print(f"| statement | Quire, µs | PostgreSQL, µs | ratio | bar {BAR} |\n|---|---|---|---|---|")
    keeps_all = True
    for name, (ours, theirs) in found.items():
        keeps = ours <= BAR * theirs
        keeps_all &= keeps
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | {'kept' if keeps else 'missed'} |")
    return keeps_all


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quire", default=os.environ.get("QUIRE"), help="the program; the variable QUIRE otherwise")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--executions", type=int, default=200, help="of each statement in a round")
    parser.add_argument("--pool-mib", type=int, default=128)
    parser.add_argument("--work", type=pathlib.Path, help="where the databases are made, in a new folder that is removed")
    parser.add_argument("--check", action="store_true", help="fail when a statement misses the bar")
    given = parser.parse_args()
    if not given.quire:
        parser.error("--quire PATH is needed, or the variable QUIRE")
    return given


def main():
    given = arguments()
    # The servers are stopped and the folder is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-bench-", dir=given.work))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        sides = [
            server_sides.Quire("Quire", folder, given, "lz4"),
            server_sides.PostgreSql("PostgreSQL", server_sides.PLAIN, folder, given),
        ]
        connections = []
        for side, database in zip(sides, (server_sides.NAME, "postgres"), strict=True):
            side.create()
            stack.enter_context(side.running())
            connections.append(stack.enter_context(connect(side, database)))
            prepare(connections[-1])
        keeps_all = report(measure(connections, given))
    if given.check and not keeps_all:
        sys.exit("a statement misses the bar")


if __name__ == "__main__":
    main()
