"""The 22 queries of TPC-H over row tables by each machine: batches, tuples, and whichever the costs choose.

    python3 bench/machines.py --data FOLDER [--work FOLDER] [--rounds 3] [--threads 2] [--costs COSTS]

FOLDER has the CSV files of one scale. It needs the Python package (`make python`). The machines take turns in one process, over one file
in memory; a time is the median of rounds, of the clock and of the processor (all threads). The last column says what `auto` took, and
how much longer that was than the better of the two.
"""

import argparse
import pathlib
import statistics
import tempfile
import time

import quire

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUERIES = ROOT / "tests" / "tpch" / "queries"
SCHEMA = ROOT / "tests" / "tpch" / "row_schema.sql"
MACHINES = ("batch", "tuple", "auto")


def load(connection, data):
    for statement in SCHEMA.read_text().split(";\n"):
        if "CREATE TABLE" in statement:
            name = statement.split("CREATE TABLE ")[1].split()[0]
            connection.execute(statement[statement.index("CREATE") :] + " USING row")
            connection.execute(f"COPY {name} FROM '{data / name}.csv' (FORMAT csv, HEADER)")
            print(f"loaded {name}", flush=True)
    connection.execute("ANALYZE")


def timed(connection, machine, query):
    connection.execute(f"SET engine = '{machine}'")
    clock, processor = time.perf_counter(), time.process_time()
    rows = connection.execute(query).fetchall()
    return time.perf_counter() - clock, time.process_time() - processor, rows


def chosen(connection, query):
    connection.execute("SET engine = 'auto'")
    lines = [row[-1] for row in connection.execute("EXPLAIN " + query).fetchall()]
    found = [line for text in lines for line in text.split("\n") if "batches" in line]
    return found[0].strip() if found else "?"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--data", type=pathlib.Path, required=True)
    arguments.add_argument("--work", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--costs", help="what SET costs is given, such as 'measured' or 'batch_row = 40'")
    given = arguments.parse_args()
    work = given.work or pathlib.Path(tempfile.mkdtemp())
    path = work / "machines.quire"
    is_new = not path.exists()
    connection = quire.connect(path, autocommit=True, threads=given.threads, cache_bytes=4 << 30, memory_bytes=4 << 30)
    if is_new:
        load(connection, given.data)
    if given.costs:
        connection.execute(f"SET costs = '{given.costs}'")
    print("query    batch s (cpu)    tuple s (cpu)     auto s (cpu)   auto / better")
    sums = dict.fromkeys((*MACHINES, "better"), 0.0)
    for file in sorted(QUERIES.glob("q*.sql")):
        query = file.read_text().strip().rstrip(";")
        times = {machine: [] for machine in MACHINES}
        for _ in range(given.rounds):
            for machine in MACHINES:
                times[machine].append(timed(connection, machine, query)[:2])
        medians = {
            machine: [statistics.median(run[at] for run in runs) for at in (0, 1)] for machine, runs in times.items()
        }
        better = min(medians["batch"][0], medians["tuple"][0])
        for machine in MACHINES:
            sums[machine] += medians[machine][0]
        sums["better"] += better
        columns = "  ".join(f"{medians[machine][0]:7.3f} ({medians[machine][1]:6.3f})" for machine in MACHINES)
        print(f"{file.stem}  {columns}  {medians['auto'][0] / better:6.2f}  {chosen(connection, query)}", flush=True)
    print("sums", {name: round(value, 2) for name, value in sums.items()})


if __name__ == "__main__":
    main()
