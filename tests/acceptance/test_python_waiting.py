"""What a program can do while a statement runs: be interrupted, and let its other threads run."""

import os
import signal
import subprocess
import sys
import threading
import unittest

import pyarrow

import quire

# The child says when its statement is about to run; the parent waits for its first batch of rows to be asked for, which is when
# the frame below is read, and sends the signal then.
CHILD = """
import sys
import pyarrow
import quire

def batches():
    print("running", flush=True)
    while True:
        yield pyarrow.record_batch({"n": [1]})

connection = quire.connect(sys.argv[1])
connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
connection.execute("INSERT INTO t VALUES (1)")
connection.commit()
reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("n", pyarrow.int64())]), batches())
try:
    {statement}
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(connection.execute("SELECT a FROM t").fetchall(), connection.in_transaction, flush=True)
connection.execute("INSERT INTO t VALUES (2)")
connection.commit()
connection.close()
print("closed", flush=True)
"""


class Interrupts(unittest.TestCase):
    def interrupted(self, statement):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD.replace("{statement}", statement), ":memory:"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            first = child.stdout.readline()
            if first == "running\n":
                os.kill(child.pid, signal.SIGINT)
            rest, errors = child.communicate(timeout=300)
        finally:
            child.kill()
            child.wait()
        self.assertEqual(first, "running\n", errors)
        return rest.splitlines(), errors

    def test_ctrl_c_ends_a_statement_and_the_connection_goes_on(self):
        lines, errors = self.interrupted('connection.execute("INSERT INTO t SELECT n FROM reader WHERE n > 5")')
        self.assertEqual(lines, ["interrupted", "[(1,)] False", "closed"], errors)

    def test_ctrl_c_ends_fetching(self):
        lines, errors = self.interrupted('connection.execute("SELECT count(*) FROM reader").fetchall()')
        self.assertEqual(lines, ["interrupted", "[(1,)] False", "closed"], errors)

    def test_another_thread_interrupts(self):
        connection = quire.connect(autocommit=True)
        self.addCleanup(connection.close)
        is_read = threading.Event()

        def batches():
            is_read.set()
            while True:
                yield pyarrow.record_batch({"n": [1]})

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("n", pyarrow.int64())]), batches())
        connection.register("endless", reader)

        def interrupt():
            is_read.wait()
            connection.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(quire.OperationalError) as caught:
            connection.execute("CREATE TABLE t AS SELECT count(*) AS n FROM endless WHERE n > 5")
        thread.join()
        self.assertEqual(caught.exception.sqlstate, "57014")
        self.assertEqual(connection.execute("SELECT 1").fetchall(), [(1,)])


class OtherThreads(unittest.TestCase):
    def test_python_goes_on_while_a_statement_runs(self):
        """The statement ends only when another thread of Python has done something meanwhile."""
        connection = quire.connect(autocommit=True)
        self.addCleanup(connection.close)
        is_running, may_end = threading.Event(), threading.Event()

        def batches():
            is_running.set()
            # Without the interpreter's lock being released, nobody could set this.
            if not may_end.wait(timeout=300):
                raise RuntimeError("no other thread of Python ran")
            yield pyarrow.record_batch({"n": [42]})

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("n", pyarrow.int64())]), batches())
        connection.register("slow", reader)

        def other():
            is_running.wait()
            may_end.set()

        thread = threading.Thread(target=other)
        thread.start()
        self.assertEqual(connection.execute("SELECT n FROM slow").fetchall(), [(42,)])
        thread.join()

    def test_waiting_for_a_connection_keeps_no_thread_from_running(self):
        connection = quire.connect(autocommit=True)
        self.addCleanup(connection.close)
        is_running, may_end = threading.Event(), threading.Event()

        def batches():
            is_running.set()
            may_end.wait(timeout=300)
            yield pyarrow.record_batch({"n": [42]})

        reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("n", pyarrow.int64())]), batches())
        connection.register("slow", reader)
        found = []

        def first():
            connection.execute("CREATE TABLE t AS SELECT n FROM slow")

        def second():
            is_running.wait()
            found.extend(connection.execute("SELECT n FROM t").fetchall())

        threads = [threading.Thread(target=first), threading.Thread(target=second)]
        for thread in threads:
            thread.start()
        is_running.wait()
        may_end.set()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [(42,)])

    def test_a_forked_child_may_not_use_the_connection(self):
        program = (
            "import os, quire\n"
            "connection = quire.connect()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    try: connection.execute('SELECT 1')\n"
            "    except quire.InterfaceError: os._exit(7)\n"
            "    os._exit(1)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), connection.execute('SELECT 1').fetchall())\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(done.stdout, "7 [(1,)]\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
