"""A load that is killed leaves all of it or nothing, and the file stays sound."""

import random
import signal
import subprocess
import time
import unittest

import quire_shell
import tpch_data
from quire_shell import QUIRE, execute, literal, query

SCALE = "0.1"
INTERRUPTIONS = 20
LOADS_COUNT_MAX = 100
SEED = 20261121


class KilledLoad(quire_shell.WorkFolderTest):
    def test_all_or_nothing(self):
        folder = tpch_data.csv_files(SCALE)
        statement = next(text for text in tpch_data.schema() if "lineitem" in text)
        source = literal(folder / "lineitem.csv")
        execute(self.database, statement)
        started = time.monotonic()
        execute(self.database, f"COPY lineitem FROM {source}")
        whole_seconds = time.monotonic() - started
        rows_per_load = int(query(self.database, "SELECT count(*) FROM lineitem")[0][0])
        self.assertGreater(rows_per_load, 500_000)
        sum_per_load = self.sum_of_keys()

        source_of_delays = random.Random(SEED)
        loads, interrupted = 1, 0
        for _ in range(LOADS_COUNT_MAX):
            if interrupted == INTERRUPTIONS:
                break
            load = subprocess.Popen(
                [QUIRE, self.database, "-c", ".changes on", "-c", f"COPY lineitem FROM {source}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            started = time.monotonic()
            try:
                load.wait(source_of_delays.uniform(0, 1.1 * whole_seconds))
                # So long it takes now: the machine may be quicker than it was.
                whole_seconds = time.monotonic() - started
            except subprocess.TimeoutExpired:
                load.send_signal(signal.SIGKILL)
            acknowledged = any(f"COPY {rows_per_load}" in text for text in load.communicate())
            interrupted += load.returncode == -signal.SIGKILL
            rows = int(query(self.database, "SELECT count(*) FROM lineitem")[0][0])
            self.assertIn(rows, (loads * rows_per_load, (loads + 1) * rows_per_load))
            if acknowledged:
                self.assertEqual(rows, (loads + 1) * rows_per_load, "an acknowledged load was lost")
            loads = rows // rows_per_load
            self.assertEqual(self.sum_of_keys(), loads * sum_per_load)
            done = subprocess.run([QUIRE, "check", self.database], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            if loads > 4:
                execute(self.database, "DROP TABLE lineitem", statement, f"COPY lineitem FROM {source}")
                loads = 1
        self.assertEqual(interrupted, INTERRUPTIONS, "most loads finished before they were killed: the test shows little")

    def sum_of_keys(self):
        return int(query(self.database, "SELECT sum(l_orderkey * l_linenumber) FROM lineitem")[0][0])


if __name__ == "__main__":
    unittest.main()
