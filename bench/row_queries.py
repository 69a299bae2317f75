"""Queries 1 and 6 of TPC-H over one row table in memory, beside SQLite: python3 bench/row_queries.py --quire PATH --data FOLDER [--work FOLDER]

FOLDER has lineitem.csv with a line of names (`quire lab tpcd --scale 1 --work` leaves one in csv/). One thread on both sides. A time is processor time of a
whole process that runs a query ten times more than another process that only reads the table once before: loading, opening and the first
reading are in both. The sides take turns; medians. SQLite keeps decimals as REAL, as its users do: its sums may differ in the last digits, and its averages have more.
"""

import argparse
import csv
import os
import pathlib
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile

REPEATS = 10
ROUNDS = 5
CACHE_BYTES = 4 << 30
TYPES = (
    "BIGINT INTEGER INTEGER INTEGER DECIMAL(15,2) DECIMAL(15,2) DECIMAL(15,2) DECIMAL(15,2) CHAR(1) CHAR(1) DATE DATE DATE CHAR(25) CHAR(10) VARCHAR(44)"
).split()
SQLITE_TYPES = {"BIGINT": "INTEGER", "INTEGER": "INTEGER", "DECIMAL(15,2)": "REAL"}
QUERIES = {
    "Q1": (
        "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),"
        " sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)"
        " FROM lineitem WHERE l_shipdate <= {date}'1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"
    ),
    "Q6": (
        "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= {date}'1994-01-01' AND l_shipdate < {date}'1995-01-01'"
        " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24"
    ),
}
FIRST = "SELECT max(l_comment) FROM lineitem"


def columns(names, types):
    return ", ".join(f"{name} {kind} NOT NULL" for name, kind in zip(names, types))


class Quire:
    def __init__(self, program, path, compression):
        self.program, self.path, self.name = program, path, f"quire, {compression}"
        self.compression = compression

    def load(self, names, file):
        keys = ", PRIMARY KEY (l_orderkey, l_linenumber)"
        options = f"compression = {self.compression}, page_codec = none, storage_format = none"
        self.run([
            f"CREATE TABLE lineitem ({columns(names, TYPES)}{keys}) USING row WITH ({options})",
            f"COPY lineitem FROM '{file}'",
            "ANALYZE",
        ])

    def run(self, statements):
        command = [self.program, "--threads", "1", "--cache", str(CACHE_BYTES), "--no-header", self.path]
        statements = ["SET engine = 'tuple'", *statements]
        found = subprocess.run(command, input=";\n".join(statements) + ";\n", capture_output=True, text=True, check=True)
        return found.stdout.split("\n")

    def query(self, text):
        return text.format(date="DATE ")


class Sqlite:
    name = "SQLite " + sqlite3.sqlite_version

    def __init__(self, path):
        self.path = path

    def load(self, names, file):
        connection = sqlite3.connect(self.path)
        types = [SQLITE_TYPES.get(kind, "TEXT") for kind in TYPES]
        keys = ", PRIMARY KEY (l_orderkey, l_linenumber)) WITHOUT ROWID"
        connection.execute(f"CREATE TABLE lineitem ({columns(names, types)}{keys}")
        with open(file, newline="") as lines:
            rows = csv.reader(lines)
            next(rows)
            connection.executemany(f"INSERT INTO lineitem VALUES ({', '.join('?' * len(names))})", rows)
        connection.commit()
        connection.execute("ANALYZE")
        connection.close()

    def run(self, statements):
        program = (
            "import sqlite3, sys\n"
            "connection = sqlite3.connect(sys.argv[1])\n"
            f"connection.execute('PRAGMA cache_size = -{CACHE_BYTES >> 10}')\n"
            "for statement in sys.argv[2:]:\n"
            "    for row in connection.execute(statement): print(*row, sep=',')\n"
        )
        command = [sys.executable, "-c", program, self.path, *statements]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        return found.stdout.split("\n")

    def query(self, text):
        return text.format(date="")


def processor_seconds(side, statements):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    side.run(statements)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(sides):
    seconds = {(side.name, query): [] for side in sides for query in QUERIES}
    for _ in range(ROUNDS):
        for query, text in QUERIES.items():
            for side in sides:
                statements = [FIRST, side.query(text)]
                once = processor_seconds(side, statements)
                more = processor_seconds(side, statements + [side.query(text)] * REPEATS)
                seconds[side.name, query].append((more - once) / REPEATS)
    return {key: statistics.median(values) for key, values in seconds.items()}


def check(sides):
    """The numbers of all sides are the same but for SQLite's rounding."""
    for query, text in QUERIES.items():
        answers = [[row for row in side.run([side.query(text)]) if row] for side in sides]
        for answer in answers[1:]:
            fields = [row.split(",") for row in answer]
            expected = [row.split(",") for row in answers[0]]
            assert len(fields) == len(expected), f"{query}: {len(fields)} rows instead of {len(expected)}"
            for one, other in zip(sum(fields, []), sum(expected, [])):
                same = one == other or abs(float(one) - float(other)) <= 1e-6 + 1e-9 * abs(float(other))
                assert same, f"{query}: {one} instead of {other}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--quire", required=True)
    arguments.add_argument("--data", required=True, type=pathlib.Path)
    arguments.add_argument("--work", help="keep the databases in this folder")
    given = arguments.parse_args()
    file = given.data / "lineitem.csv"
    names = file.open().readline().strip().split(",")
    with tempfile.TemporaryDirectory() as temporary:
        work = pathlib.Path(given.work or temporary)
        sides = [Quire(given.quire, str(work / f"{kind}.quire"), kind) for kind in ("none", "auto")]
        sides.append(Sqlite(str(work / "lineitem.sqlite")))
        for side in sides:
            if not os.path.exists(side.path):
                side.load(names, file)
        check(sides)
        seconds = measure(sides)
    peer = sides[-1].name
    print("processor seconds; ratio to SQLite")
    for query in [*QUERIES, "both"]:
        parts = [query] if query in QUERIES else list(QUERIES)
        of = {side.name: sum(seconds[side.name, part] for part in parts) for side in sides}
        for side in sides:
            print(f"{query:5} {side.name:18} {of[side.name]:7.3f} {of[side.name] / of[peer]:6.2f}")


if __name__ == "__main__":
    main()
