"""TPC-DS beside DuckDB in one run: sizes, the 99 queries in turn, and whether both give the same answers.

The data and the query texts are those of DuckDB's extension, from PyPI: `duckdb-extension-tpcds`, which needs a DuckDB of its own version. It is
installed into a folder of its own, and its output is kept."""

import argparse
import csv
import io
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import answers  # noqa: E402
import quire_shell  # noqa: E402

GENERATOR = "1.5.5"
THREADS = 2
QUERIES = range(1, 100)

GENERATE = """
import glob, pathlib, sys
import duckdb, duckdb_extension_tpcds
scale, folder = sys.argv[1], pathlib.Path(sys.argv[2])
extension = glob.glob(str(pathlib.Path(duckdb_extension_tpcds.__file__).parent / "extensions/*/*.duckdb_extension"))[0]
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
connection.execute(f"INSTALL '{extension}'; LOAD tpcds; CALL dsdgen(sf={scale})")
schema = []
for (table,) in connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall():
    connection.execute(f"COPY {table} TO '{folder / table}.parquet' (FORMAT parquet)")
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position", [table]).fetchall()
    schema.append(f"CREATE TABLE {table} (" + ", ".join(f"{name} {kind}" for name, kind in columns) + ")")
for number, text in connection.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall():
    (folder / f"q{number:02}.sql").write_text(text.strip().rstrip(";"))
(folder / "schema.sql").write_text(";\\n".join(schema))
"""


def data_folder(scale):
    """Tables as Parquet, their definitions and the query texts; made once."""
    folder = quire_shell.TARGET / "tpcds" / f"generated-sf{scale}"
    if not (folder / "schema.sql").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        packages = quire_shell.TARGET / "tpcds" / "packages"
        names = [f"duckdb=={GENERATOR}", f"duckdb-extension-tpcds=={GENERATOR}"]
        if not packages.is_dir():
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", packages, *names], check=True)
        subprocess.run([sys.executable, "-c", GENERATE, scale, folder], check=True, env=os.environ | {"PYTHONPATH": str(packages)})
    return folder


def statements(folder):
    """What makes the tables."""
    schema = (folder / "schema.sql").read_text().split(";\n")
    tables = [statement.split()[2] for statement in schema]
    return schema + [f"INSERT INTO {table} SELECT * FROM '{folder / table}.parquet'" for table in tables]


def load(folder, quire_file, duckdb_file):
    for path in (quire_file, duckdb_file):
        path.unlink(missing_ok=True)
    quire_shell.execute(quire_file, *statements(folder))
    connection = duckdb.connect(str(duckdb_file))
    for statement in statements(folder):
        connection.execute(statement)
    connection.close()


def seconds_of_quire(database, sql, runs):
    """Time of one warm run: that of a process with some more runs, less that of one with the first only; and the rows."""
    def run(times):
        started = time.perf_counter()
        command = [str(quire_shell.QUIRE), "--mode", "csv", str(database)] + ["-c", f"SET threads = {THREADS}"] + ["-c", sql] * times
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"{sql}\n{done.stderr}")
        return time.perf_counter() - started, done.stdout
    first, text = run(1)
    first = min(first, run(1)[0])
    return (run(1 + runs)[0] - first) / runs, list(csv.reader(io.StringIO(text)))[1:]


def seconds_of_duckdb(connection, sql, runs):
    rows = connection.execute(sql).fetchall()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        connection.execute(sql).fetchall()
        times.append(time.perf_counter() - started)
    return statistics.median(times), rows


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", default="1")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--runs", type=int, default=3, help="runs of a query in a round")
    options = options.parse_args()
    folder = data_folder(options.scale)
    work = quire_shell.TARGET / "tpcds"
    quire_file, duckdb_file = work / f"sf{options.scale}.quire", work / f"sf{options.scale}.duckdb"
    load(folder, quire_file, duckdb_file)
    ours, theirs = quire_file.stat().st_size, duckdb_file.stat().st_size
    print(f"TPC-DS scale {options.scale}, {THREADS} threads, DuckDB {duckdb.__version__}")
    print(f"file {ours:,} bytes, DuckDB {theirs:,}, ratio {ours / theirs:.3f}")
    connection = duckdb.connect(str(duckdb_file), read_only=True)
    connection.execute(f"SET threads = {THREADS}")
    print(f"{'query':<6} {'Quire ms':>9} {'DuckDB ms':>10} {'ratio':>6}")
    times, wrong = [], []
    for number in QUERIES:
        sql = (folder / f"q{number:02}.sql").read_text()
        rounds = []
        for _ in range(options.rounds):
            duck, expected = seconds_of_duckdb(connection, sql, options.runs)
            quire, found = seconds_of_quire(quire_file, sql, options.runs)
            rounds.append((quire, duck))
        # An average of integers is a DOUBLE here and there.
        if not answers.is_same(found, expected, relative=1e-5, absolute=1e-2):
            wrong.append(number)
        quire, duck = (statistics.median(side) for side in zip(*rounds))
        times.append((quire, duck))
        print(f"Q{number:<5} {quire * 1e3:>9.1f} {duck * 1e3:>10.1f} {quire / duck:>6.2f}", flush=True)
    quire, duck = (sum(side) for side in zip(*times))
    ratios = [one / other for one, other in times]
    print(f"all    {quire * 1e3:>9.1f} {duck * 1e3:>10.1f} {quire / duck:>6.2f}")
    print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}, ahead on {sum(ratio < 1 for ratio in ratios)}, "
          f"above 3: {sum(ratio > 3 for ratio in ratios)}; bar: 1.00 in sum, none above 3")
    print(f"answers that differ: {wrong or 'none'}")


if __name__ == "__main__":
    main()
