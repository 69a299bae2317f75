"""Queries whose data is on disk, beside DuckDB: each engine is started anew for each query, and the file is out of the system's cache.

A line for each query: seconds of both in turn, the bytes that each read, its bandwidth as a share of what one thread gets that reads the file from its
beginning to its end, and how busy the processors were. A query that is neither near the disk's bandwidth nor keeps the processors busy waits for something else.
"""

import argparse
import collections
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import engines  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402

SUM_BAR, QUERY_BAR, BUSY_BAR = 0.6, 1.0, 0.85
TICKS = os.sysconf("SC_CLK_TCK")

Measured = collections.namedtuple("Measured", "seconds read_bytes processor_seconds")


def forget(path):
    """Has the system drop the file from its cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def sequential_bandwidth(path):
    """Bytes a second of one thread that reads the file, which is not in the system's cache."""
    forget(path)
    buffer = bytearray(1 << 20)
    total, started = 0, time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            total += count
    return total / (time.perf_counter() - started)


def work_of(pid):
    """Bytes that the process has read from disks, and seconds of processors."""
    counters = dict(line.split(": ") for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines())
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(counters["read_bytes"]), (int(fields[11]) + int(fields[12])) / TICKS


class Cold:
    """An engine that is started anew for each statement."""

    def __init__(self, path, start, before=()):
        self.path, self.start, self.before = path, start, before
        self.measured = []

    def run(self, sql, with_rows=False):
        engine = self.start()
        try:
            for statement in self.before:
                engine.run(statement)
            forget(self.path)
            bytes_before, processor_before = work_of(engine.process.pid)
            answer = engine.run(sql)
            bytes_after, processor_after = work_of(engine.process.pid)
            if answer.error is None:
                self.measured.append(Measured(answer.seconds, bytes_after - bytes_before, processor_after - processor_before))
            if with_rows and answer.error is None:
                answer = answer._replace(rows=engine.run(sql, with_rows=True).rows)
            return answer
        finally:
            engine.close()

    def close(self):
        pass


def median_of(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def ask(sides, statements, rounds):
    """Each statement on each engine in turn, and what that took of disk and processors."""
    found = turns.Comparison(sides, statements)
    work = collections.defaultdict(list)
    for number in range(rounds):
        for name, sql in statements.items():
            for label, side in sides.items():
                if label in found.errors[name]:
                    continue
                found.take(name, label, side.run(sql, with_rows=number == 0), is_counted=True)
                work[name, label] += side.measured
                side.measured = []
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return found, work


def print_work(found, work, bandwidth):
    print(f"\n{'query':<7} {'ours ms':>9} {'DuckDB ms':>10} {'ratio':>6}"
          + "".join(f" {label + ' MB':>10} {'MB/s':>7} {'of disk':>8} {'busy':>6}" for label in found.engines))
    busy_enough = 0
    for name in found.statements:
        cells, is_enough = "", False
        for label in found.engines:
            runs = work[name, label]
            if not runs:
                cells += f" {'fails':>10} {'':>7} {'':>8} {'':>6}"
                continue
            seconds, read_bytes = median_of(runs, "seconds"), median_of(runs, "read_bytes")
            share = read_bytes / seconds / bandwidth
            busy = median_of(runs, "processor_seconds") / seconds / engines.THREADS
            cells += f" {read_bytes / 1e6:>10.1f} {read_bytes / seconds / 1e6:>7.0f} {share:>8.2f} {busy:>6.2f}"
            is_enough |= label == "Quire" and max(share, busy) >= BUSY_BAR
        busy_enough += is_enough
        print(f"{name:<7} {turns.milliseconds(found.median('Quire', name)):>9} {turns.milliseconds(found.median('DuckDB', name)):>10} "
              f"{turns.number(found.ratio('Quire', 'DuckDB', name)):>6}{cells}")
    print(f"Quire has {BUSY_BAR:.0%} of the disk's sequential bandwidth or keeps both processors busy in {busy_enough} of {len(found.statements)}")


def print_bars(found):
    turns.print_sum(found, "Quire", "DuckDB", SUM_BAR)
    ratios = {name: found.ratio("Quire", "DuckDB", name) for name in found.statements}
    above = [name for name, ratio in ratios.items() if ratio is None or ratio > QUERY_BAR]
    print(f"above {QUERY_BAR} x DuckDB: {', '.join(above) or 'none'} (bar: none, {'missed' if above else 'kept'})")
    turns.print_failures(found)
    turns.print_differing(found, "Quire", ["DuckDB"])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", default="", help="names such as Q1,Q6; all 22 without")
    parser.add_argument("--cache", default="512MiB", help="Quire's cache")
    parser.add_argument("--memory", help="a limit of memory for both")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of Quire's, such as quire.read_ahead_bytes=0")
    return parser.parse_args()


def main():
    given = parse_arguments()
    ours, theirs = tpch_files.loaded(given.scale)
    statements = tpch_files.queries(given.scale)
    wanted = [name for name in given.queries.split(",") if name]
    statements = {name: sql for name, sql in statements.items() if not wanted or name in wanted}
    settings = [f"SET {one.replace('=', ' = ', 1)}" for one in given.set]
    sides = {
        "Quire": Cold(ours, lambda: engines.Quire(ours, memory=given.memory, cache=given.cache), settings),
        "DuckDB": Cold(theirs, lambda: engines.DuckDb(theirs, memory=given.memory)),
    }
    bandwidth = sequential_bandwidth(theirs)
    print(f"scale {given.scale}: Quire's file {ours.stat().st_size:,} bytes, DuckDB's {theirs.stat().st_size:,}; "
          f"one thread reads {bandwidth / 1e6:,.0f} MB/s from the disk")
    found, work = ask(sides, statements, given.rounds)
    print_work(found, work, bandwidth)
    print_bars(found)


if __name__ == "__main__":
    main()
