"""The 22 queries of TPC-H with little memory for statements, beside our own time with all of it and beside DuckDB with as little.

    bench/limited_memory.py [--scale 1] [--rounds 3] [--runs 2]

`--memory` is 256 and 64 MiB, the cache of pages always 512 MiB: what changes is what statements may hold. DuckDB's `memory_limit` is the same number,
and counts the pages it keeps as well. All sides take turns, query by query. The bars, for the sum and for the worst query, are 2 and 4 times our own time
with all memory. Answers are compared with our own with all memory, and these with DuckDB's.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import engines  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402

CACHE = "512MiB"
# Memory, and how many times the time without a limit is allowed.
BARS = {"256MiB": 2.0, "64MiB": 4.0}


def sides(files):
    ours, theirs = files
    found = {"Quire": engines.Quire(ours, cache=CACHE), "DuckDB": engines.DuckDb(theirs)}
    for memory in BARS:
        found[f"Quire {memory}"] = engines.Quire(ours, memory=memory, cache=CACHE)
        found[f"DuckDB {memory}"] = engines.DuckDb(theirs, memory=memory)
    return found


def print_table(found):
    """For each limit: our time, through that with all memory, and through DuckDB's."""
    print(f"\n{'query':<6} {'Quire ms':>9} {'DuckDB ms':>10}" + "".join(f" {memory + ' ms':>11} {'times':>6} {'/DuckDB':>8}" for memory in BARS))
    for name in found.statements:
        cells = ""
        for memory in BARS:
            ours = f"Quire {memory}"
            cells += (f" {turns.milliseconds(found.median(ours, name)):>11} {turns.number(found.ratio(ours, 'Quire', name)):>6}"
                      f" {turns.number(found.ratio(ours, f'DuckDB {memory}', name)):>8}")
        print(f"{name:<6} {turns.milliseconds(found.median('Quire', name)):>9} {turns.milliseconds(found.median('DuckDB', name)):>10}{cells}")


def print_worst(found, label, bar):
    ratios = {name: found.ratio(label, "Quire", name) for name in found.statements}
    # One that fails is worse than any that is slow.
    worst = max(ratios, key=lambda name: float("inf") if ratios[name] is None else ratios[name])
    ratio = ratios[worst]
    print(f"{label}, worst: {worst}, {turns.number(ratio)} ({turns.kept(float('inf') if ratio is None else ratio, bar)})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2, help="runs of a query in a round")
    given = parser.parse_args()
    found = turns.Comparison(sides(tpch_files.loaded(given.scale)), tpch_files.queries(given.scale))
    print(f"TPC-H scale {given.scale} with little memory, {engines.THREADS} threads")
    try:
        for _ in range(given.rounds):
            found.go_round(given.runs)
    finally:
        found.close()
    print_table(found)
    for memory, bar in BARS.items():
        turns.print_sum(found, f"Quire {memory}", "Quire", bar)
        print_worst(found, f"Quire {memory}", bar)
        turns.print_sum(found, f"Quire {memory}", f"DuckDB {memory}", None)
        turns.print_sum(found, f"DuckDB {memory}", "DuckDB", None)
        turns.print_differing(found, f"Quire {memory}", ["Quire"])
    turns.print_differing(found, "Quire", ["DuckDB"])
    turns.print_failures(found)


if __name__ == "__main__":
    main()
