"""`--device`: a database on a drive or file system that compresses, inside the process."""

import subprocess
import unittest

import quire

import mounts
import quire_server
import quire_shell
from quire_shell import QUIRE, parse_csv

TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT) WITH (compression = none, page_codec = none, storage_format = none)"
FILL = "INSERT INTO t SELECT i, 'order ' || i || ' is paid' FROM generate_series(1, 20000) AS s(i)"
SUM = "SELECT count(*), sum(id), max(note) FROM t"
SUMS = ["20000", "200010000", "order 9999 is paid"]


class Device(quire_shell.WorkFolderTest):
    def run_on(self, device, *statements):
        done = quire_shell.run(self.database, ".mode csv", *statements, options=["--device", device])
        self.assertEqual(done.returncode, 0, done.stderr)
        return parse_csv(done.stdout)

    def refused(self, *options):
        done = quire_shell.run(self.database, "SELECT 1", options=options)
        self.assertNotEqual(done.returncode, 0, options)
        return done.stderr

    def check(self):
        done = subprocess.run([QUIRE, "check", self.database], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_rows_are_kept_and_the_device_says_what_they_take(self):
        for device, ratio_min in [("csd:zlib", 3), ("csd:lz4", 2), ("zfs:lzjb:128k", 2), ("zfs:zstd:16k:512", 3)]:
            with self.subTest(device=device):
                self.database.unlink(missing_ok=True)
                self.run_on(device, TABLE, FILL, "UPDATE t SET note = note WHERE id % 7 = 0")
                self.assertEqual(self.run_on(device, SUM)[-1], SUMS)
                name, *_, ratio, _ = mounts.dataset("list", self.database).splitlines()[1].split()
                self.assertEqual(name, device.split(":")[0])
                self.assertGreater(float(ratio.removesuffix("x")), ratio_min)
                self.check()

    def test_a_file_is_opened_as_what_it_is(self):
        self.run_on("csd:zlib", TABLE, FILL)
        self.assertIn("csd:zlib", self.refused("--device", "csd:lz4"))
        self.assertIn("data sets", self.refused())
        self.assertIn("csd:CODEC", self.refused("--device", "floppy"))
        self.assertEqual(self.run_on("csd:zlib", SUM)[-1], SUMS)
        self.database.unlink()
        quire_shell.execute(self.database, TABLE)
        self.assertIn("no device", self.refused("--device", "csd:zlib"))

    def test_python_and_the_server(self):
        with quire.connect(str(self.database), device="zfs:lz4:16k") as connection:
            connection.execute(TABLE)
            connection.execute(FILL)
        server, port = quire_server.start(self.database, "--device", "zfs:lz4:16k")
        try:
            done = subprocess.run(
                ["psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(port), "-U", "ada", "-d", "shop", "-c", SUM],
                capture_output=True, text=True, timeout=60,
            )
        finally:
            quire_server.stop(server)
        self.assertEqual(done.stdout.strip().split("|"), SUMS, done.stderr)
        with self.assertRaisesRegex(quire.ProgrammingError, "csd:CODEC"):
            quire.connect(str(self.database), device="tape")
        self.check()


if __name__ == "__main__":
    unittest.main()
