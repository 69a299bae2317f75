"""The 22 queries of TPC-H on a database larger than the memory: in a control group of 512 MiB on a SATA SSD, beside DuckDB in one like it.

    bench/small_machine.py [--scale 10] [--rounds 3] [--queries Q1,Q6] [--group 512]

Each engine is started anew for each query, and its file is out of the system's cache. Then its process is moved into the control group: from there on
the kernel counts its memory, with what the system caches of the file, and lets it read from the disk no more bytes and requests a second than the
SATA SSD of `quire_store::DeviceProfile` does. Three quarters of the group are DuckDB's `memory_limit`; ours are half of the group for statements and
a quarter for the cache of pages, because DuckDB counts both in one. A query that the kernel kills fails.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import cold  # noqa: E402
import control_group  # noqa: E402
import engines  # noqa: E402
import tpch_files  # noqa: E402
import turns  # noqa: E402
from control_group import SATA_READ_BYTES, SATA_READ_REQUESTS  # noqa: E402

# At least twice as fast as DuckDB.
SUM_BAR = 0.5


class Confined(cold.Cold):
    """An engine that is started anew for each statement and then moved into a control group."""

    def __init__(self, path, start, group):
        super().__init__(path, lambda: self.moved(start()))
        self.group = group

    def moved(self, engine):
        self.group.add(engine.process.pid)
        return engine

    def run(self, sql, with_rows=False):
        try:
            return super().run(sql, with_rows)
        except (EOFError, OSError) as error:
            return engines.Answer(None, error=f"the process has ended: {type(error).__name__}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="10")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", default="", help="names such as Q1,Q6; all 22 without")
    parser.add_argument("--group", type=int, default=512, help="memory of the control group, in MiB")
    return parser.parse_args()


def main():
    given = parse_arguments()
    if not control_group.may_make_groups():
        sys.exit("this machine gives no control groups to this user")
    ours, theirs = tpch_files.loaded(given.scale)
    wanted = [name for name in given.queries.split(",") if name]
    statements = {name: sql for name, sql in tpch_files.queries(given.scale).items() if not wanted or name in wanted}
    device = control_group.Device(ours, SATA_READ_BYTES, SATA_READ_REQUESTS)
    memory, cache, whole = (f"{given.group * quarters // 4}MiB" for quarters in (2, 1, 3))
    with control_group.group_of(given.group, device) as group:
        sides = {
            "Quire": Confined(ours, lambda: engines.Quire(ours, memory=memory, cache=cache), group),
            "DuckDB": Confined(theirs, lambda: engines.DuckDb(theirs, memory=whole), group),
        }
        print(f"scale {given.scale}: Quire's file {ours.stat().st_size:,} bytes, DuckDB's {theirs.stat().st_size:,}; "
              f"{given.group} MiB, {SATA_READ_BYTES / 1e6:.0f} MB/s")
        found, work = cold.ask(sides, statements, given.rounds)
    cold.print_work(found, work, SATA_READ_BYTES)
    turns.print_sum(found, "Quire", "DuckDB", SUM_BAR)
    turns.print_failures(found)
    turns.print_differing(found, "Quire", ["DuckDB"])


if __name__ == "__main__":
    main()
