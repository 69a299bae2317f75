"""Sizes, load times and query times of Quire beside DuckDB, Hyper, Parquet and DataFusion, all in the same run."""

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

import engines  # noqa: E402
import quire_shell  # noqa: E402
import shuffled_csv  # noqa: E402
import tpch_data  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402

# Of the other's time in sum; and on how many of the 22 to be ahead.
BAR, SHUFFLED_BAR, AHEAD_BAR = 0.60, 0.75, 20
CACHE_MIB = 512
BESIDE_DATAFUSION = "Quire beside DataFusion"
BESIDE_PROGRAM = quire_shell.TARGET / "release" / "quire-bench"
# pyarrow's own choice.
GROUP_ROWS = 1 << 20
ARROW_TYPES = {"INTEGER": pyarrow.int32(), "BIGINT": pyarrow.int64(), "TEXT": pyarrow.string(),
               "DATE": pyarrow.date32(), "DECIMAL(15,2)": pyarrow.decimal128(15, 2)}


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
    tpch_files.remove(path)
    command = [str(quire_shell.QUIRE), str(path)]
    for statement in tpch_data.schema():
        command += ["-c", statement]
    for table in tpch_data.TABLES:
        command += ["-c", f"COPY {table} FROM {quire_shell.literal(folder / (table + '.csv'))}"]
    return run_measured(command)


def load_duckdb(folder, path):
    tpch_files.remove(path)
    seconds, memory = run_measured([sys.executable, __file__, "--load-duckdb", str(folder), str(path)])
    start_seconds, _ = run_measured([sys.executable, __file__, "--load-nothing"])
    return seconds - start_seconds, memory


def table_sizes_of_quire(path):
    sizes = {}
    for table in tpch_data.TABLES:
        rows = quire_shell.query(path, f"SELECT sum(encoded_bytes) FROM quire_storage('{table}')")
        sizes[table] = int(rows[0][0])
    return sizes


def write_groups(source, types, path):
    """A CSV file as Parquet, a row group at a time: all rows of a large scale do not fit memory."""
    reader = pyarrow.csv.open_csv(
        source, read_options=pyarrow.csv.ReadOptions(block_size=16 << 20), convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    with pyarrow.parquet.ParquetWriter(path, reader.schema, compression="zstd", compression_level=3) as writer:
        waiting = reader.schema.empty_table()
        for batch in reader:
            waiting = pyarrow.concat_tables([waiting, pyarrow.Table.from_batches([batch])])
            while waiting.num_rows >= GROUP_ROWS:
                writer.write_table(waiting.slice(0, GROUP_ROWS), row_group_size=GROUP_ROWS)
                waiting = waiting.slice(GROUP_ROWS)
        if waiting.num_rows:
            writer.write_table(waiting, row_group_size=GROUP_ROWS)


def write_parquet(folder, output):
    """The same tables as Parquet with zstd(3) and the types of the schema; returns bytes per table."""
    output.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for statement in tpch_data.schema():
        table = statement.split()[2]
        lines = [line.strip().rstrip(",") for line in statement.split("(", 1)[1].rsplit(")", 1)[0].splitlines()]
        columns = [line.split() for line in lines if line]
        types = {words[0]: ARROW_TYPES[words[1]] for words in columns}
        path = output / f"{table}.parquet"
        write_groups(folder / f"{table}.csv", types, path)
        sizes[table] = path.stat().st_size
    return sizes


def ask_datafusion(quire_file, statements, runs, work, found):
    """A round of DataFusion over Arrow arrays, and of Quire beside it in the same process."""
    queries = work / "queries"
    queries.mkdir(exist_ok=True)
    for name, sql in statements.items():
        (queries / f"{name}.sql").write_text(sql)
    done = subprocess.run([BESIDE_PROGRAM, quire_file, queries, str(runs)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    for line in done.stdout.splitlines():
        name, engine, *seconds = line.split()
        label = {"quire": BESIDE_DATAFUSION, "datafusion": "DataFusion"}[engine]
        found.times[label][name] += [float(second) for second in seconds]


def query_rounds(files, given, work):
    """The 22 queries on each engine in turn, over several rounds; and the most memory that our process had."""
    ours = engines.Quire(files["Quire"], cache=f"{CACHE_MIB}MiB")
    sides = {"Quire": ours, "DuckDB": engines.DuckDb(files["DuckDB"])}
    if "Hyper" in files:
        sides["Hyper"] = engines.Hyper(files["Hyper"])
    found = turns.Comparison(sides, tpch_files.queries(given.scale))
    for _ in range(given.rounds):
        found.go_round(given.runs)
        if given.datafusion:
            ask_datafusion(files["Quire"], found.statements, given.runs, work, found)
    peak_bytes = ours.peak_bytes()
    found.close()
    return found, peak_bytes


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


def print_queries(found, given):
    peers = [peer for peer in ("DuckDB", "Hyper") if peer in found.engines]
    pairs = [("Quire", peer) for peer in peers] + ([(BESIDE_DATAFUSION, "DataFusion")] if given.datafusion else [])
    turns.print_times(found, "Quire", pairs)
    for peer in peers:
        turns.print_sum(found, "Quire", peer, SHUFFLED_BAR if given.shuffled else BAR)
        turns.print_ahead(found, "Quire", peer, AHEAD_BAR)
    if given.datafusion:
        turns.print_sum(found, BESIDE_DATAFUSION, "DataFusion", None)
    turns.print_failures(found)
    turns.print_differing(found, "Quire", peers)
    if "Hyper" in peers:
        turns.print_differing(found, "Hyper", ["DuckDB"])


def print_memory(peak_bytes):
    bar = 1e9 + CACHE_MIB * (1 << 20)
    print(f"peak memory of Quire's process over the queries {peak_bytes / 1e6:,.0f} MB; bar: 1 GB and the cache of {CACHE_MIB} MiB, "
          f"{bar / 1e6:,.0f} MB, {'kept' if peak_bytes <= bar else 'missed'}")


def print_growth(found, given):
    """How much longer a hot run of the 22 takes than at scale 1, where that has been measured."""
    small = tpch_files.work_folder(folder_name("1", given.shuffled)) / "results.json"
    if float(given.scale) == 1 or not small.is_file():
        return
    before = json.loads(small.read_text())["queries"]
    for label in found.engines:
        if label in before:
            sums = [sum(statistics.median(runs) for runs in times.values() if runs) for times in (found.times[label], before[label])]
            print(f"a hot run of the 22 on {label} takes {sums[0] / sums[1]:.2f} times as long as at scale 1 ({sums[0]:.2f} s, {sums[1]:.2f} s)")


def folder_name(scale, is_shuffled):
    return f"sf{scale}" + ("-shuffled" if is_shuffled else "")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--shuffled", action="store_true", help="the rows of all tables in an order of chance, the same for all engines")
    parser.add_argument("--loads", type=int, default=3, help="times each engine loads")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of queries")
    parser.add_argument("--runs", type=int, default=3, help="runs of a query in a round")
    parser.add_argument("--no-datafusion", dest="datafusion", action="store_false", help="without DataFusion, which has all tables in memory")
    return parser.parse_args()


def load_all(folder, given, work):
    """Loads and weighs the files; returns them by engine, and what goes into results.json."""
    files = {"Quire": work / "tpch.quire", "DuckDB": work / "tpch.duckdb"}
    loads = {"quire": [], "duckdb": []}
    for _ in range(given.loads):
        loads["quire"].append(load_quire(folder, files["Quire"]))
        loads["duckdb"].append(load_duckdb(folder, files["DuckDB"]))
    if engines.Hyper.is_installed():
        files["Hyper"] = work / "tpch.hyper"
        engines.Hyper.load(folder, files["Hyper"])
    else:
        print("Hyper is left out: tableauhyperapi is not installed")
    csv_sizes = {table: (folder / f"{table}.csv").stat().st_size for table in tpch_data.TABLES}
    quire_sizes = table_sizes_of_quire(files["Quire"])
    parquet_sizes = write_parquet(folder, work / "parquet")
    quire_bytes, duckdb_bytes = files["Quire"].stat().st_size, files["DuckDB"].stat().st_size
    print_loads(loads)
    print_sizes(csv_sizes, quire_sizes, parquet_sizes, quire_bytes, duckdb_bytes)
    return files, {"loads": loads, "csv": csv_sizes, "quire": quire_sizes, "parquet": parquet_sizes,
                   "quire_file": quire_bytes, "duckdb_file": duckdb_bytes}


def main():
    if sys.argv[1:2] == ["--load-nothing"]:
        duckdb.connect().close()
        return
    if sys.argv[1:2] == ["--load-duckdb"]:
        tpch_data.load_duckdb(pathlib.Path(sys.argv[2]), sys.argv[3], engines.THREADS).close()
        return
    given = parse_arguments()
    folder = (shuffled_csv if given.shuffled else tpch_data).csv_files(given.scale)
    work = tpch_files.work_folder(folder_name(given.scale, given.shuffled))
    print(f"TPC-H scale {given.scale}{', shuffled' if given.shuffled else ''}, {engines.THREADS} threads, DuckDB {duckdb.__version__}, "
          f"pyarrow {pyarrow.__version__}")
    if given.datafusion and not BESIDE_PROGRAM.is_file():
        print(f"DataFusion is left out: {BESIDE_PROGRAM} is not there")
        given.datafusion = False
    files, results = load_all(folder, given, work)
    found, peak_bytes = query_rounds(files, given, work)
    print_queries(found, given)
    print_memory(peak_bytes)
    print_growth(found, given)
    results |= {"queries": found.times, "peak_bytes": peak_bytes}
    (work / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
