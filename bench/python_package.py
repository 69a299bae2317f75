"""The Python package beside DuckDB's and beside sqlite3: rows fetched as Arrow, pandas and tuples, frames and tuples inserted.

Each figure is the median of several runs, ours and the peer's by turns; the ratio is our time through the peer's.
"""

import argparse
import pathlib
import sqlite3
import statistics
import tempfile
import time

import duckdb
import numpy
import pandas

import quire

THREADS = 2
COLUMNS = "l_orderkey, l_partkey, l_quantity, l_price, l_flag, l_shipdate, l_comment"


def lineitem(row_count):
    """Rows like those of TPC-H's lineitem, of a generator that is always the same."""
    random = numpy.random.default_rng(7)
    words = numpy.array(["carefully", "final", "deposits", "sleep", "blithely", "requests", "furiously", "express"])
    comments = words[random.integers(0, len(words), (row_count, 4))]
    days = numpy.datetime64("1992-01-01", "D") + random.integers(0, 2500, row_count)
    return pandas.DataFrame(
        {
            "l_orderkey": numpy.arange(row_count, dtype=numpy.int64),
            "l_partkey": random.integers(1, 200_000, row_count),
            "l_quantity": random.integers(1, 51, row_count).astype(numpy.int32),
            "l_price": random.random(row_count) * 1000,
            "l_flag": numpy.array(["A", "N", "R"])[random.integers(0, 3, row_count)],
            "l_shipdate": days.astype("datetime64[us]"),
            "l_comment": [" ".join(row) for row in comments],
        }
    )


def seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(what, ours, theirs, runs, peer):
    """Prints a line with our time, the peer's, and the ratio of the two; returns the ratio."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    own, other = (statistics.median(column) for column in zip(*times))
    print(f"{what:<44} {own:9.3f} s   {peer} {other:9.3f} s   ratio {own / other:6.2f}", flush=True)
    return own / other


def compare_fetches(mine, other, row_count, runs):
    for what, fetch_own, fetch_other in (
        ("Arrow", lambda rows: rows.arrow(), lambda rows: rows.to_arrow_table()),
        ("pandas", lambda rows: rows.df(), lambda rows: rows.df()),
        ("tuples", lambda rows: rows.fetchall(), lambda rows: rows.fetchall()),
    ):
        sql = f"SELECT {COLUMNS} FROM lineitem"
        compare(
            f"fetch {row_count:,} rows as {what}",
            lambda: fetch_own(mine.sql(sql)),
            lambda: fetch_other(other.sql(sql)),
            runs,
            "DuckDB",
        )


def compare_frames(mine, other, frame, runs):
    mine.register("frame", frame)
    other.register("frame", frame)

    def fill(connection):
        connection.execute("DROP TABLE IF EXISTS copied")
        connection.execute("CREATE TABLE copied AS SELECT * FROM frame")

    compare(
        f"insert a pandas frame of {len(frame):,} rows", lambda: fill(mine), lambda: fill(other), runs, "DuckDB"
    )


def compare_executemany(folder, row_count, runs):
    rows = [(number, number % 1000, f"comment of row {number}") for number in range(row_count)]
    table = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, s TEXT)"

    def fill(connection):
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute(table)
        connection.commit()
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.commit()

    mine = quire.connect(folder / "many.quire", threads=THREADS)
    other = sqlite3.connect(folder / "many.sqlite")
    compare(f"executemany of {row_count:,} rows with a key", lambda: fill(mine), lambda: fill(other), runs, "sqlite3")
    keys = list(range(0, row_count, max(1, row_count // 20_000)))

    def look_up(connection):
        for key in keys:
            connection.execute("SELECT s FROM t WHERE id = ?", (key,)).fetchone()

    compare(f"{len(keys):,} rows by their keys", lambda: look_up(mine), lambda: look_up(other), runs, "sqlite3")
    mine.close()
    other.close()


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--runs", type=int, default=3)
    chosen = options.parse_args()
    frame = lineitem(chosen.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mine = quire.connect(folder / "one.quire", autocommit=True, threads=THREADS)
        other = duckdb.connect(str(folder / "one.duckdb"), config={"threads": THREADS})
        for connection in (mine, other):
            connection.register("source", frame)
            connection.execute("CREATE TABLE lineitem AS SELECT * FROM source")
        compare_fetches(mine, other, chosen.rows, chosen.runs)
        compare_frames(mine, other, frame, chosen.runs)
        compare_executemany(folder, chosen.rows // 5, chosen.runs)
        mine.close()
        other.close()


if __name__ == "__main__":
    main()
