"""sysbench through the wire: `quire serve` beside MariaDB's InnoDB and PostgreSQL, with the same memory and durability.

    bench/server.py --quire PATH [--quick] [--rows N] [--seconds S] [--rounds R] [--work FOLDER]

Needs sysbench, psql, mariadb-server and postgresql (`make bench-server` installs them). Each side is a server of its own with a folder of its own,
on a free port of this machine; it runs only while it is its turn, so that nothing it does in the background is charged to others.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

import server_sides

WORKLOADS = ["oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write"]
SYSBENCH_SECONDS_MAX = 3600
DEFAULTS = {"rows": 500_000, "seconds": 30, "rounds": 3}
QUICK = {"rows": 20_000, "seconds": 5, "rounds": 1}
# A line of sysbench's histogram: milliseconds, bar, events.
BUCKET = re.compile(r"^ *([0-9.]+) \|\**\s+(\d+)$", re.MULTILINE)


def sysbench(side, workload, step, given, *options):
    command = [
        "sysbench", workload, *side.client(), f"--tables={given.tables}", f"--table-size={given.rows}", *options, step,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SYSBENCH_SECONDS_MAX)
    if done.returncode != 0 or "FATAL" in done.stdout:
        raise SystemExit(f"{side.name}: {' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def percentile(buckets, share):
    """The bucket of the histogram below which so large a share of the events lies."""
    wanted = share * sum(count for _, count in buckets)
    for milliseconds, count in buckets:
        wanted -= count
        if wanted <= 0:
            return milliseconds
    raise ValueError("an empty histogram")


def figures(printed):
    """What one run of sysbench says of itself."""
    buckets = [(float(milliseconds), int(count)) for milliseconds, count in BUCKET.findall(printed)]
    return {
        "tps": float(re.search(r"transactions: +\d+ +\(([0-9.]+) per sec", printed)[1]),
        "p95": percentile(buckets, 0.95),
        "p99": percentile(buckets, 0.99),
        "max": float(re.search(r"max: +([0-9.]+)", printed)[1]),
        "ignored": int(re.search(r"ignored errors: +(\d+)", printed)[1]),
    }


def prepare(side, given):
    side.create()
    with side.running():
        sysbench(side, "oltp_read_write", "prepare", given, f"--threads={given.tables}")
        side.finish_preparing(given.tables)
    side.prepared_bytes = side.disk_bytes()
    print(f"{side.name}: prepared, {side.prepared_bytes / 1e6:.1f} MB", file=sys.stderr, flush=True)


def take_turn(side, given, results):
    """All workloads once: those that only read before those that change the tables."""
    run = (f"--threads={given.threads}", "--histogram=on")
    with side.running():
        sysbench(side, "oltp_read_only", "run", given, *run, f"--time={max(1, given.seconds // 2)}")
        for workload in WORKLOADS:
            found = figures(sysbench(side, workload, "run", given, *run, f"--time={given.seconds}"))
            results.setdefault((side.name, workload), []).append(found)
            print(f"{side.name}, {workload}: {found['tps']:.0f}/s", file=sys.stderr, flush=True)


def medians(rounds):
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def report(sides, results):
    """One table for each workload, and one of the sizes; returns everything as a dictionary."""
    found = {}
    for workload in WORKLOADS:
        rows = {side.name: medians(results[side.name, workload]) for side in sides}
        best = {
            kind: max((rows[side.name]["tps"] for side in sides if side.kind == kind), default=None)
            for kind in (server_sides.PLAIN, server_sides.COMPRESSED)
        }
        print(f"\n{workload}\n| | tps | p95 ms | p99 ms | max ms | ignored errors | of the best plain peer | of the best compressed peer |")
        print("|---|---|---|---|---|---|---|---|")
        for name, row in rows.items():
            ratios = " | ".join(f"{row['tps'] / peer:.2f}" if peer else "" for peer in best.values())
            print(f"| {name} | {row['tps']:,.0f} | {row['p95']:.2f} | {row['p99']:.2f} | {row['max']:.0f} | {row['ignored']:.0f} | {ratios} |")
        found[workload] = rows
    smallest = min((side.prepared_bytes for side in sides if side.kind == server_sides.COMPRESSED), default=None)
    print("\nsizes after prepare\n| | MB | of the smallest compressed peer |\n|---|---|---|")
    for side in sides:
        print(f"| {side.name} | {side.prepared_bytes / 1e6:.1f} | {f'{side.prepared_bytes / smallest:.2f}' if smallest else ''} |")
    found["bytes"] = {side.name: side.prepared_bytes for side in sides}
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quire", default=os.environ.get("QUIRE"), help="the program; the variable QUIRE otherwise")
    parser.add_argument("--tables", type=int, default=4)
    parser.add_argument("--rows", type=int, help="of each table")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seconds", type=int, help="of each run")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--pool-mib", type=int, default=128, help="each side's buffer pool")
    parser.add_argument("--sides", help="only those whose name contains one of these words, separated by commas")
    parser.add_argument("--quick", action="store_true", help=f"to see that it runs: {QUICK} instead of {DEFAULTS}")
    parser.add_argument("--work", type=pathlib.Path, help="where the databases are made, in a new folder that is removed; the file system matters")
    given = parser.parse_args()
    for name, value in (QUICK if given.quick else DEFAULTS).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    if not given.quire:
        parser.error("--quire PATH is needed, or the variable QUIRE")
    missing = [program for program in ["sysbench", "psql", *server_sides.PROGRAMS] if not server_sides.program(program)]
    if missing:
        parser.error(f"missing: {', '.join(missing)}; `make bench-server` installs what is needed")
    return given


def main():
    given = arguments()
    # The servers are stopped and the folder is removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-bench-", dir=given.work))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        # The peers' servers run as users of their own, who have to reach their folders.
        folder.chmod(0o755)
        words = given.sides.split(",") if given.sides else [""]
        sides = [side for side in server_sides.all_sides(folder, given) if any(word in side.name for word in words)]
        for side in sides:
            prepare(side, given)
        results = {}
        for _ in range(given.rounds):
            for side in sides:
                take_turn(side, given, results)
        print(
            f"{given.tables} tables of {given.rows:,} rows, pools of {given.pool_mib} MiB, {given.threads} threads, "
            f"{given.rounds} rounds of {given.seconds} s, medians; {os.cpu_count()} processors, load {os.getloadavg()[1]:.1f}"
        )
        print(json.dumps(report(sides, results)), file=sys.stderr)


if __name__ == "__main__":
    main()
