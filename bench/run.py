"""Sizes, load times and query times of Quire beside DuckDB, Parquet and DataFusion, all in the same run."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import duckdb
import pyarrow
import pyarrow.csv
import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import quire_shell  # noqa: E402
import tpch_data  # noqa: E402

THREADS = 2
ARROW_TYPES = {"INTEGER": pyarrow.int32(), "BIGINT": pyarrow.int64(), "TEXT": pyarrow.string(),
               "DATE": pyarrow.date32(), "DECIMAL(15,2)": pyarrow.decimal128(15, 2)}


def remove(path):
    for name in (path, path.with_name(path.name + ".wal")):
        name.unlink(missing_ok=True)


def run_measured(command):
    """Runs a command; returns (seconds, peak resident bytes)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise SystemExit(f"{command}: status {status}")
    return seconds, usage.ru_maxrss * 1024


def load_quire(folder, path):
    remove(path)
    command = [str(quire_shell.QUIRE), str(path)]
    for statement in tpch_data.schema():
        command += ["-c", statement]
    for table in tpch_data.TABLES:
        command += ["-c", f"COPY {table} FROM {quire_shell.literal(folder / (table + '.csv'))}"]
    return run_measured(command)


def load_duckdb(folder, path):
    remove(path)
    seconds, memory = run_measured([sys.executable, __file__, "--load-duckdb", str(folder), str(path)])
    start_seconds, _ = run_measured([sys.executable, __file__, "--load-nothing"])
    return seconds - start_seconds, memory


def table_sizes_of_quire(path):
    sizes = {}
    for table in tpch_data.TABLES:
        rows = quire_shell.query(path, f"SELECT sum(encoded_bytes) FROM quire_storage('{table}')")
        sizes[table] = int(rows[0][0])
    return sizes


def write_parquet(folder, output):
    """The same tables as Parquet with zstd(3) and the types of the schema; returns bytes per table."""
    output.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for statement in tpch_data.schema():
        table = statement.split()[2]
        lines = [line.strip().rstrip(",") for line in statement.split("(", 1)[1].rsplit(")", 1)[0].splitlines()]
        columns = [line.split() for line in lines if line]
        types = {words[0]: ARROW_TYPES[words[1]] for words in columns}
        data = pyarrow.csv.read_csv(
            folder / f"{table}.csv", convert_options=pyarrow.csv.ConvertOptions(column_types=types)
        )
        path = output / f"{table}.parquet"
        pyarrow.parquet.write_table(data, path, compression="zstd", compression_level=3)
        sizes[table] = path.stat().st_size
    return sizes


def query_rounds(quire_file, duckdb_file, scale, rounds, runs, work):
    """Times of each query on each engine over several rounds, engines in turn."""
    queries = work / "queries"
    queries.mkdir(exist_ok=True)
    for number in range(1, 23):
        (queries / f"q{number:02}.sql").write_text(tpch_data.query_text(number, scale))
    times = {engine: {number: [] for number in range(1, 23)} for engine in ("quire", "datafusion", "duckdb")}
    program = quire_shell.TARGET / "release" / "quire-bench"
    for _ in range(rounds):
        connection = duckdb.connect(str(duckdb_file), read_only=True)
        connection.execute(f"SET threads = {THREADS}")
        for number in range(1, 23):
            sql = tpch_data.query_text(number, scale)
            connection.sql(sql).to_arrow_table()
            for _ in range(runs):
                started = time.perf_counter()
                connection.sql(sql).to_arrow_table()
                times["duckdb"][number].append(time.perf_counter() - started)
        connection.close()
        done = subprocess.run([program, quire_file, queries, str(runs)], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        for line in done.stdout.splitlines():
            name, engine, *seconds = line.split()
            times[engine][int(name.removeprefix("q"))] += [float(second) for second in seconds]
    return times


def print_sizes(csv_sizes, quire_sizes, parquet_sizes, quire_bytes, duckdb_bytes):
    print(f"\n{'table':<10} {'CSV':>14} {'Quire':>13} {'Parquet zstd(3)':>16} {'Quire/Parquet':>14}")
    for table in tpch_data.TABLES:
        ours, theirs = quire_sizes[table], parquet_sizes[table]
        print(f"{table:<10} {csv_sizes[table]:>14,} {ours:>13,} {theirs:>16,} {ours / theirs:>14.3f}")
    total = sum(parquet_sizes.values())
    print(f"{'file(s)':<10} {sum(csv_sizes.values()):>14,} {quire_bytes:>13,} {total:>16,} {quire_bytes / total:>14.3f}")
    print(f"DuckDB file {duckdb_bytes:,} bytes; Quire/DuckDB {quire_bytes / duckdb_bytes:.3f}")


def print_loads(loads):
    medians = {engine: statistics.median(seconds for seconds, _ in runs) for engine, runs in loads.items()}
    for engine, runs in loads.items():
        peak = max(memory for _, memory in runs) / 1e6
        print(f"load {engine:<7} {medians[engine]:6.2f} s (median of {len(runs)}: "
              f"{', '.join(f'{seconds:.2f}' for seconds, _ in runs)}), peak memory {peak:.0f} MB")
    print(f"load Quire/DuckDB {medians['quire'] / medians['duckdb']:.2f}")


def print_queries(times):
    medians = {engine: {number: statistics.median(runs) for number, runs in of.items()} for engine, of in times.items()}
    print(f"\n{'query':<6} {'Quire ms':>9} {'DataFusion ms':>14} {'ratio':>6} {'DuckDB ms':>10} {'ratio':>6}")
    rows = [(f"Q{number}", *(medians[engine][number] for engine in ("quire", "datafusion", "duckdb"))) for number in range(1, 23)]
    rows.append(("all", *(sum(row[at] for row in rows) for at in (1, 2, 3))))
    for name, ours, datafusion, duck in rows:
        print(f"{name:<6} {ours * 1e3:>9.1f} {datafusion * 1e3:>14.1f} {ours / datafusion:>6.2f} {duck * 1e3:>10.1f} {ours / duck:>6.2f}")


def main():
    if sys.argv[1:2] == ["--load-nothing"]:
        duckdb.connect().close()
        return
    if sys.argv[1:2] == ["--load-duckdb"]:
        tpch_data.load_duckdb(pathlib.Path(sys.argv[2]), sys.argv[3], THREADS).close()
        return
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", default="1")
    options.add_argument("--loads", type=int, default=3, help="times each engine loads")
    options.add_argument("--rounds", type=int, default=3, help="rounds of queries")
    options.add_argument("--runs", type=int, default=3, help="runs of a query in a round")
    options = options.parse_args()

    folder = tpch_data.csv_files(options.scale)
    work = quire_shell.TARGET / "bench" / f"sf{options.scale}"
    work.mkdir(parents=True, exist_ok=True)
    quire_file, duckdb_file = work / "tpch.quire", work / "tpch.duckdb"
    print(f"TPC-H scale {options.scale}, {THREADS} threads, DuckDB {duckdb.__version__}, pyarrow {pyarrow.__version__}")

    loads = {"quire": [], "duckdb": []}
    for _ in range(options.loads):
        loads["quire"].append(load_quire(folder, quire_file))
        loads["duckdb"].append(load_duckdb(folder, duckdb_file))
    csv_sizes = {table: (folder / f"{table}.csv").stat().st_size for table in tpch_data.TABLES}
    quire_sizes = table_sizes_of_quire(quire_file)
    parquet_sizes = write_parquet(folder, work / "parquet")
    quire_bytes, duckdb_bytes = quire_file.stat().st_size, duckdb_file.stat().st_size
    print_loads(loads)
    print_sizes(csv_sizes, quire_sizes, parquet_sizes, quire_bytes, duckdb_bytes)
    times = query_rounds(quire_file, duckdb_file, options.scale, options.rounds, options.runs, work)
    print_queries(times)
    results = {"loads": loads, "csv": csv_sizes, "quire": quire_sizes, "parquet": parquet_sizes,
               "quire_file": quire_bytes, "duckdb_file": duckdb_bytes, "queries": times}
    (work / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
