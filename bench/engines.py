"""Engines whose statements are timed one at a time, so that they can take turns: each is a process that waits for its next statement.

A time is that of a statement and of taking all its rows, within the engine's own process: start and opening are not in it. Quire's is what the
shell's `.timer` says, to a tenth of a millisecond, rows written as CSV to nowhere; DuckDB's ends with an Arrow table; Hyper's with the last row
at its client, which does nothing with them.
"""

import collections
import multiprocessing
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import quire_shell
import tpch_data

try:
    import tableauhyperapi
except ImportError:
    tableauhyperapi = None

THREADS = 2
SECONDS_MAX = 900
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0}

# Seconds, the rows if they were asked for, and why there are none.
Answer = collections.namedtuple("Answer", "seconds rows error", defaults=(None, None))


def seconds_of(text):
    """`12.3 ms`, `1.234 s` or `2 min 3.4 s` in seconds."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([\d.]+) (ms|s|min)\b", text))


class Quire:
    """A shell that reads statements from a pipe. The file is opened without the right to change it, so several may have it open."""

    def __init__(self, path, memory=None, cache=None, threads=THREADS):
        self.folder = tempfile.TemporaryDirectory(prefix="quire-bench-")
        self.rows = pathlib.Path(self.folder.name) / "rows.csv"
        limits = [word for name, value in (("--memory", memory), ("--cache", cache)) if value for word in (name, value)]
        self.command = [quire_shell.QUIRE, "--mode", "csv", "--readonly", "--threads", str(threads), *limits, path]
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.send(".bail off\n.timer on\n")

    def send(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def run(self, sql, with_rows=False):
        if self.process.poll() is not None:
            self.start()
        self.send((f".once {self.rows}\n" if with_rows else "") + sql + ";\n")
        watch = threading.Timer(SECONDS_MAX, self.process.kill)
        watch.start()
        messages = []
        for line in self.process.stderr:
            if line.startswith("Time: "):
                break
            messages.append(line)
        else:
            self.process.wait()
            messages.append(f"ERROR: the shell ended, after {SECONDS_MAX} s at most\n")
        watch.cancel()
        if any("ERROR" in line for line in messages):
            return Answer(None, error="".join(messages).strip())
        rows = quire_shell.parse_csv(self.rows.read_text())[1:] if with_rows else None
        return Answer(seconds_of(line), rows)

    def peak_bytes(self):
        """The most memory that the process has had until now."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()


def answer_in_duckdb(pipe, path, memory, threads):
    """What the process of a DuckDb does."""
    import duckdb

    connection = duckdb.connect(str(path), read_only=True)
    connection.execute(f"SET threads = {threads}; SET enable_progress_bar = false")
    with tempfile.TemporaryDirectory(prefix="duckdb-bench-") as folder:
        connection.execute(f"SET temp_directory = '{folder}'")
        if memory:
            connection.execute(f"SET memory_limit = '{memory}'")
        # The first table loads pyarrow.
        connection.sql("SELECT 1").to_arrow_table()
        pipe.send(None)
        while (asked := pipe.recv()) is not None:
            sql, with_rows = asked
            try:
                started = time.perf_counter()
                connection.sql(sql).to_arrow_table()
                seconds = time.perf_counter() - started
                pipe.send(Answer(seconds, connection.execute(sql).fetchall() if with_rows else None))
            except duckdb.Error as error:
                pipe.send(Answer(None, error=str(error)))
        connection.close()


class DuckDb:
    """DuckDB in a process of its own: two of one process would share a file, and with it the limit of memory."""

    def __init__(self, path, memory=None, threads=THREADS):
        self.arguments = (path, memory, threads)
        self.start()

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=answer_in_duckdb, args=(theirs, *self.arguments), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def run(self, sql, with_rows=False):
        if not self.process.is_alive():
            self.start()
        self.pipe.send((sql, with_rows))
        if not self.pipe.poll(SECONDS_MAX):
            self.process.kill()
            self.process.join()
            return Answer(None, error=f"no answer in {SECONDS_MAX} s")
        return self.pipe.recv()

    def close(self):
        if self.process.is_alive():
            self.pipe.send(None)
        self.process.join()


class Hyper:
    """Tableau's Hyper, from PyPI's `tableauhyperapi`; `path` is a file that load() has made."""

    def __init__(self, path, threads=THREADS, is_new=False):
        api = tableauhyperapi
        self.process = api.HyperProcess(
            api.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU,
            parameters={"log_config": "", "hard_concurrent_query_thread_limit": str(threads)},
        )
        mode = api.CreateMode.CREATE_AND_REPLACE if is_new else api.CreateMode.NONE
        self.connection = api.Connection(self.process.endpoint, path, mode)

    @staticmethod
    def is_installed():
        return tableauhyperapi is not None

    @classmethod
    def load(cls, folder, path):
        """The tables of TPC-H with the types of the schema."""
        engine = cls(path, is_new=True)
        for statement in tpch_data.schema():
            engine.connection.execute_command(statement)
        for table in tpch_data.TABLES:
            source = quire_shell.literal(pathlib.Path(folder) / f"{table}.csv")
            engine.connection.execute_command(f"COPY {table} FROM {source} WITH (FORMAT csv, HEADER true)")
        engine.close()

    def run(self, sql, with_rows=False):
        try:
            started = time.perf_counter()
            self.connection.execute_command(sql)
            seconds = time.perf_counter() - started
            return Answer(seconds, self.connection.execute_list_query(sql) if with_rows else None)
        except tableauhyperapi.HyperException as error:
            return Answer(None, error=str(error))

    def close(self):
        self.connection.close()
        self.process.close()
