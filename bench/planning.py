"""What it takes to plan the 22 queries of TPC-H for the first time, beside DuckDB in turn.

    bench/planning.py [--scale 1] [--processes 15]

Each process is a new one and is asked EXPLAIN of every query once, in their order. A time is that of the statement alone: start and opening of the file are
not in it, but what the first query reads of the catalog is. EXPLAIN parses, binds, optimizes and makes the physical plan, all that comes before
running (`crates/quire/src/sql/explain.rs`); it also binds a query twice, to see which engine it belongs to, and writes the plan as text.
So it is more than planning. DuckDB's EXPLAIN does the same once. A figure is the median of the processes; the bar is for the sum of the 22.

A second figure, without a bar, has no text in it: what the cache of plans saves, which is the time of a query without that cache less its time with it, over
the small tables of scale 0.01.
"""

import argparse
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import engines  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402

BAR_MS = 25
SMALL_SCALE = "0.01"


def explain_all(files, queries, found):
    """One new process of each engine."""
    for label, make in (("Quire", engines.Quire), ("DuckDB", engines.DuckDb)):
        engine = make(files[label])
        for name, sql in queries.items():
            found.take(name, label, engine.run(f"EXPLAIN {sql}"), is_counted=True)
        engine.close()


def saved_by_cache(rounds):
    """Seconds that the 22 take less when their plans are kept."""
    path, _ = tpch_files.loaded(SMALL_SCALE)
    sides = {"planned": engines.Quire(path), "kept": engines.Quire(path)}
    sides["planned"].run("SET quire.plan_cache = false")
    found = turns.Comparison(sides, tpch_files.queries(SMALL_SCALE))
    for _ in range(rounds):
        found.go_round(1)
    found.close()
    planned, kept = found.sums("planned", "kept")
    return planned - kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--processes", type=int, default=15, help="of each engine")
    given = parser.parse_args()
    files = dict(zip(("Quire", "DuckDB"), tpch_files.loaded(given.scale), strict=True))
    queries = tpch_files.queries(given.scale)
    found = turns.Comparison({}, queries)
    for _ in range(given.processes):
        explain_all(files, queries, found)
    print(f"EXPLAIN of the 22 queries of TPC-H scale {given.scale}, medians of {given.processes} processes each", end="")
    turns.print_times(found, "Quire", [("Quire", "DuckDB")])
    turns.print_failures(found)
    for label in files:
        sums = [sum(seconds) * 1e3 for seconds in zip(*found.times[label].values(), strict=True)]
        middle = statistics.median(sums)
        bar = f" ({turns.kept(middle, BAR_MS)})" if label == "Quire" else ""
        print(f"{label}: {middle:.1f} ms for the 22, {min(sums):.1f} to {max(sums):.1f}{bar}")
    print(f"the cache of plans saves {saved_by_cache(given.processes) * 1e3:.1f} ms of the 22 at scale {SMALL_SCALE}")


if __name__ == "__main__":
    main()
