"""How long a CSV file takes into a row table, beside `sqlite3 .import`: whole processes, in turn, in the same run.

    python3 bench/load_sqlite.py FOLDER_OF_CSV [--tables orders lineitem] [--rounds 3] [--rows N]

Both begin with an empty file and end with one that is closed and complete. SQLite has the table WITHOUT ROWID, so that it too
is ordered by its key, and the settings of a careful user: WAL, synchronous = FULL. Figures are medians: seconds, seconds of the
processors, peak memory, bytes of the file, and the ratio of rows a second.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import quire_shell  # noqa: E402

# What SQLite stores of our types. Decimals are floats there.
SQLITE_TYPES = [(r"(?:VAR)?CHAR\(\d+\)|DATE", "TEXT"), (r"DECIMAL\([\d,]+\)", "REAL")]


def schema(table):
    for statement in (ROOT / "tests" / "tpch" / "row_schema.sql").read_text().splitlines():
        if statement.startswith(f"CREATE TABLE {table} "):
            return statement
    raise SystemExit(f"no table {table} in row_schema.sql")


def sqlite_schema(table):
    statement = schema(table)
    for ours, theirs in SQLITE_TYPES:
        statement = re.sub(ours, theirs, statement)
    return statement.rstrip(";") + " WITHOUT ROWID;"


def run(command):
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command}: status {status}")
    seconds = time.perf_counter() - started
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def load_quire(table, csv, path, options):
    create = schema(table).rstrip(";") + options + ";"
    copy = f"COPY {table} FROM {quire_shell.literal(csv)}"
    return run([str(quire_shell.QUIRE), str(path), "-c", create, "-c", copy])


def load_sqlite(table, csv, path):
    script = f"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; {sqlite_schema(table)}"
    return run(["sqlite3", str(path), script, ".mode csv", f".import --skip 1 {csv} {table}",
                "PRAGMA wal_checkpoint(TRUNCATE);"])


def first_rows(csv, row_count, folder):
    """The first rows of a file as a file."""
    part = folder / csv.name
    with open(csv, encoding="utf-8") as source, open(part, "w", encoding="utf-8") as target:
        for _, line in zip(range(row_count + 1), source):
            target.write(line)
    return part


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tables", nargs="+", default=["orders", "lineitem"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="of each file, from its beginning")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="load_sqlite_") as name:
        work = pathlib.Path(name)
        for table in arguments.tables:
            csv = arguments.folder / f"{table}.csv"
            if arguments.rows:
                csv = first_rows(csv, arguments.rows, work)
            compare(table, csv, work, arguments.rounds)


def compare(table, csv, work, rounds):
    rows = sum(block.count(b"\n") for block in iter(lambda f=open(csv, "rb"): f.read(1 << 20), b"")) - 1
    kinds = {
        "quire": lambda path: load_quire(table, csv, path, ""),
        "quire, uncompressed": lambda path: load_quire(table, csv, path, " WITH (page_codec = none)"),
        "sqlite": lambda path: load_sqlite(table, csv, path),
    }
    measured = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, load in kinds.items():
            path = work / "loaded"
            figures = load(path)
            measured[kind].append((*figures, path.stat().st_size))
            for left in work.glob("loaded*"):
                left.unlink()
    medians = {kind: [statistics.median(column) for column in zip(*runs)] for kind, runs in measured.items()}
    print(f"{table}: {rows} rows, {csv.stat().st_size} bytes of CSV")
    base_seconds, base_processor, _, _ = medians["sqlite"]
    for kind, (seconds, processor, memory, size) in medians.items():
        print(f"  {kind:20} {seconds:7.2f} s, {processor:7.2f} s of processors, peak {memory / 1e6:6.0f} MB,"
              f" file {size / 1e6:6.0f} MB, {base_seconds / seconds:5.2f} x SQLite"
              f" ({base_processor / processor:4.2f} x by processor time)")


if __name__ == "__main__":
    main()
