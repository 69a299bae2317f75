"""A group by, a sort and a join of all of lineitem beside DuckDB in turn: in memory, and with memory that none of them fits.

    bench/large_statements.py [--scale 1] [--rounds 3] [--only group,sort,join] [--limits all,512,256]

The group by has a group for each row. The sort carries all columns; only the last rows are taken, so that printing is not what is measured, and
no engine may know that it needs few: there is an OFFSET and no LIMIT. The join is of lineitem with itself on the key of the order, 30 million rows
at scale 1. A limit, in MiB, is DuckDB's `memory_limit`; our `--memory` is three quarters of it and `--cache` one, because DuckDB counts the pages of
the file that it keeps. Answers are compared with DuckDB's and, under a limit, with our own without one.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import engines  # noqa: E402
import memory_limits  # noqa: E402
import quire_shell  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402

BAR = 1.0
LAST_ROWS = 5
SORT = "SELECT * FROM lineitem ORDER BY l_extendedprice, l_comment, l_orderkey, l_linenumber OFFSET {}"


def statements(quire_file, names):
    row_count = int(quire_shell.query(quire_file, "SELECT count(*) FROM lineitem")[0][0])
    texts = {
        "group": memory_limits.QUERIES["group"],
        "sort": SORT.format(row_count - LAST_ROWS),
        "join": memory_limits.QUERIES["join"],
    }
    return {name: texts[name] for name in names}


def sides(files, limit_mib):
    """Quire and DuckDB with as many bytes each; all of the machine's without a limit."""
    ours, theirs = files
    if limit_mib is None:
        return {"Quire": engines.Quire(ours), "DuckDB": engines.DuckDb(theirs)}
    limits = {"memory": f"{limit_mib * 3 // 4}MiB", "cache": f"{limit_mib // 4}MiB"}
    return {"Quire": engines.Quire(ours, **limits), "DuckDB": engines.DuckDb(theirs, memory=f"{limit_mib}MiB")}


def measure(files, limit_mib, texts, rounds):
    found = turns.Comparison(sides(files, limit_mib), texts)
    try:
        for _ in range(rounds):
            found.go_round(1, warm_up=False)
    finally:
        found.close()
    return found


def report(found, limit_mib, unlimited):
    print(f"\n{'all memory' if limit_mib is None else f'{limit_mib} MiB'}; bar {BAR} each", end="")
    turns.print_times(found, "Quire", [("Quire", "DuckDB")])
    turns.print_ahead(found, "Quire", "DuckDB", len(found.statements))
    turns.print_failures(found)
    turns.print_differing(found, "Quire", ["DuckDB"])
    if unlimited is not None:
        found.keep_rows("Quire without a limit", unlimited, "Quire")
        turns.print_differing(found, "Quire", ["Quire without a limit"])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each statement on each side that count")
    parser.add_argument("--only", default="group,sort,join")
    parser.add_argument("--limits", default="all,512,256", help="MiB, or all for no limit")
    return parser.parse_args()


def main():
    given = parse_arguments()
    files = tpch_files.loaded(given.scale)
    texts = statements(files[0], given.only.split(","))
    print(f"large statements over TPC-H scale {given.scale}, {engines.THREADS} threads")
    unlimited = None
    for limit in given.limits.split(","):
        limit_mib = None if limit == "all" else int(limit)
        found = measure(files, limit_mib, texts, given.rounds)
        report(found, limit_mib, unlimited)
        unlimited = unlimited or found if limit_mib is None else unlimited


if __name__ == "__main__":
    main()
