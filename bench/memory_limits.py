"""What queries that need much memory take of it, under limits, beside DuckDB under the same limits.

    python bench/memory_limits.py --quire PATH [--work FOLDER] [--scale 1] [--threads 2] [--only sort,join] [--no-duckdb] [--json FILE]

The eight tables of TPC-H as column tables. Each query runs in a process of its own, of which the kernel says how much memory it had at its
peak (`ru_maxrss` of wait4). A query keeps its limit if that is at most memory + cache + 64 MiB, the last for the program itself. DuckDB's
limit is memory + cache; Python and the library, which its process has besides, are measured by a query of nothing and taken off.

With the right to make control groups, every query also runs with default flags in groups of 256 and 512 MiB, where the kernel kills what
takes more.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

from control_group import MIB, group_of, may_make_groups  # noqa: E402

UNCOUNTED_MIB = 64
# (what the machine would have, memory, cache), in MiB.
BUDGETS = ((256, 85, 42), (512, 170, 85), (1024, 341, 170))
GROUPS_MIB = (256, 512)
SECONDS_MAX = 900

QUERIES = {
    "sort": "SELECT count(*), sum(r % 7), max(l_comment), min(l_shipinstruct) FROM (SELECT l_comment, l_shipinstruct, row_number() OVER"
            " (ORDER BY l_extendedprice, l_comment, l_orderkey, l_linenumber) AS r FROM lineitem) AS s",
    "group": "SELECT count(*), max(q) FROM (SELECT l_orderkey, l_linenumber, sum(l_quantity) AS q FROM lineitem"
             " GROUP BY l_orderkey, l_linenumber) AS g",
    "group_text": "SELECT count(*), max(n) FROM (SELECT l_comment, count(*) AS n FROM lineitem GROUP BY l_comment) AS g",
    "union": "SELECT count(*) FROM (SELECT l_comment FROM lineitem UNION SELECT o_comment FROM orders) AS u",
    "distinct": "SELECT count(DISTINCT l_comment) FROM lineitem",
    "rank": "SELECT sum(r) FROM (SELECT rank() OVER (PARTITION BY l_suppkey ORDER BY l_extendedprice) AS r FROM lineitem) AS s",
    "window": "SELECT count(*), max(s) FROM (SELECT sum(l_quantity) OVER (PARTITION BY l_suppkey) AS s, l_comment FROM lineitem) AS w",
    "window_all": "SELECT count(*), max(s) FROM (SELECT sum(l_quantity) OVER () AS s, l_comment FROM lineitem) AS w",
    "join": "SELECT count(*), max(a.l_comment), max(b.l_shipmode) FROM lineitem AS a JOIN lineitem AS b ON a.l_orderkey = b.l_orderkey",
    "left_join": "SELECT count(*), count(b.l_orderkey), max(b.l_comment) FROM lineitem AS a LEFT JOIN lineitem AS b"
                 " ON a.l_orderkey = b.l_orderkey + 1 AND a.l_linenumber = b.l_linenumber",
    "full_join": "SELECT count(*), count(a.l_orderkey), count(b.l_orderkey), max(b.l_comment) FROM lineitem AS a FULL JOIN lineitem AS b"
                 " ON a.l_orderkey = b.l_orderkey + 1 AND a.l_linenumber = b.l_linenumber",
    "semi_join": "SELECT count(*) FROM lineitem AS a WHERE EXISTS"
                 " (SELECT 1 FROM lineitem AS b WHERE a.l_comment = b.l_comment AND a.l_orderkey <> b.l_orderkey)",
    "anti_join": "SELECT count(*) FROM lineitem AS a WHERE NOT EXISTS"
                 " (SELECT 1 FROM lineitem AS b WHERE a.l_comment = b.l_comment AND a.l_orderkey <> b.l_orderkey)",
    "not_in": "SELECT count(*) FROM orders WHERE o_comment NOT IN (SELECT l_comment FROM lineitem)",
    "offset": "SELECT l_orderkey, l_linenumber, l_comment FROM lineitem ORDER BY l_comment, l_orderkey, l_linenumber LIMIT 3 OFFSET 6000000",
    "string_agg": "SELECT length(string_agg(l_comment, ',')) FROM lineitem",
    "array_agg": "SELECT cardinality(array_agg(l_comment)) FROM lineitem",
}
DUCKDB_WORDS = {"cardinality(": "len("}


class Outcome:
    """How a process ended: seconds, peak bytes, and a word."""

    def __init__(self, seconds, peak_bytes, word, answer=""):
        self.seconds, self.peak_bytes, self.word, self.answer = seconds, peak_bytes, word, answer

    def text(self, limit_mib=None):
        over = "" if limit_mib is None or self.peak_bytes <= limit_mib * MIB else " OVER"
        return f"{self.word} {self.seconds:.1f} s {self.peak_bytes / MIB:.0f} MiB{over}"


def run_measured(command, group=None):
    """Runs a command, in a control group if there is one."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, preexec_fn=group and group.enter
        )
        seconds_left = lambda: SECONDS_MAX - (time.perf_counter() - started)  # noqa: E731
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if seconds_left() < 0:
                process.kill()
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        out.seek(0)
        errors.seek(0)
        answer, message = out.read().decode(), errors.read().decode()
    word = "ok"
    if process.returncode < 0:
        word = "killed" if seconds < SECONDS_MAX else "late"
    elif process.returncode != 0:
        word = "53200" if "53200" in message or "Out of Memory" in message else message.strip().splitlines()[-1]
    return Outcome(seconds, usage.ru_maxrss * 1024, word, answer)


def load(options):
    """The tables, made once."""
    import tpch_data

    path = options.work / f"memory-sf{options.scale}.quire"
    if not path.exists():
        folder = tpch_data.csv_files(options.scale)
        tpch_data.load_quire(path, folder)
    duck = path.with_suffix(".duckdb")
    if options.duckdb and not duck.exists():
        # Renamed once it is whole: what an interrupted load leaves would answer for empty tables.
        partial = duck.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        tpch_data.load_duckdb(tpch_data.csv_files(options.scale), partial).close()
        partial.rename(duck)
        # The kernel counts the memory of a process that starts another one as the peak of both until it runs its own program.
        os.execv(sys.executable, [sys.executable, *sys.argv])
    return path, duck


def quire(options, path, sql, flags=(), group=None):
    command = [str(options.quire), *flags, str(path), "-c", sql]
    return run_measured(command, group)


def duckdb(options, path, sql, limit_mib):
    for ours, theirs in DUCKDB_WORDS.items():
        sql = sql.replace(ours, theirs)
    return run_measured([sys.executable, __file__, "--in-duckdb", str(path), str(limit_mib), str(options.threads), sql])


def in_duckdb(path, limit_mib, threads, sql):
    """One query in this process."""
    import duckdb as library

    connection = library.connect(path, read_only=True)
    connection.execute(f"SET memory_limit = '{limit_mib}MiB'")
    connection.execute(f"SET threads = {threads}")
    with tempfile.TemporaryDirectory() as folder:
        connection.execute(f"SET temp_directory = '{folder}'")
        print(connection.sql(sql).fetchall())


def run_query(options, name, path, duck, duck_idle_bytes):
    sql = QUERIES[name]
    row = {}
    for machine, memory, cache in BUDGETS:
        flags = ("--memory", f"{memory}MiB", "--cache", f"{cache}MiB", "--threads", str(options.threads))
        found = quire(options, path, sql, flags)
        row[f"{machine}"] = found.text(memory + cache + UNCOUNTED_MIB)
        if options.duckdb:
            theirs = duckdb(options, duck, sql, memory + cache)
            theirs.peak_bytes -= duck_idle_bytes
            row[f"{machine} DuckDB"] = theirs.text()
    for limit_mib in GROUPS_MIB if options.groups else ():
        with group_of(limit_mib) as group:
            row[f"default in {limit_mib}"] = quire(options, path, sql, group=group).text()
    return row


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quire", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default=",".join(QUERIES))
    parser.add_argument("--no-duckdb", dest="duckdb", action="store_false")
    parser.add_argument("--no-groups", dest="groups", action="store_false")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse_arguments()
    os.environ.setdefault("QUIRE", str(options.quire))
    os.environ.setdefault("CARGO_TARGET_DIR", str(options.quire.resolve().parents[1]))
    options.work = options.work or pathlib.Path(os.environ["CARGO_TARGET_DIR"]) / "tpch"
    options.work.mkdir(parents=True, exist_ok=True)
    options.groups = options.groups and may_make_groups()
    path, duck = load(options)
    idle = quire(options, path, "SELECT 1")
    duck_idle_bytes = duckdb(options, duck, "SELECT 1", 256).peak_bytes if options.duckdb else 0
    print(f"idle: {idle.peak_bytes / MIB:.0f} MiB; DuckDB in Python {duck_idle_bytes / MIB:.0f} MiB, taken off below")
    rows = {}
    for name in options.only.split(","):
        rows[name] = run_query(options, name, path, duck, duck_idle_bytes)
        print(f"{name:<11} " + " | ".join(f"{place}: {text}" for place, text in rows[name].items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-duckdb"]:
        in_duckdb(*sys.argv[2:])
    else:
        main()
