"""A database file that is damaged, foreign, newer or in use gives an error and stays as it was."""

import pathlib
import subprocess
import time
import unittest

import quire_shell
from quire_shell import QUIRE, execute, query, run


# From FORMAT.md: a superblock is 512 bytes, its version is at byte 8, its CRC32C at byte 508.
SUPERBLOCK_OFFSETS = (0, 4096)
OPEN_SECONDS_MAX = 30


def crc32c(data):
    """CRC32C (Castagnoli), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class BadFiles(quire_shell.WorkFolderTest):
    def make_database(self):
        execute(
            self.database,
            "CREATE TABLE t AS SELECT value AS id, 'row ' || value AS name FROM generate_series(1, 50000)",
        )
        return self.database.read_bytes()

    def assert_refused(self, *words):
        before = self.database.read_bytes()
        done = run(self.database, "SELECT count(*) FROM t")
        self.assertNotEqual(done.returncode, 0)
        self.assertGreater(done.returncode, 0, "killed by a signal")
        for word in (self.database.name, *words):
            self.assertIn(word, done.stderr)
        self.assertNotIn("panicked", done.stderr)
        self.assertTrue(self.database.read_bytes() == before, "opening it changed the file")

    def test_not_a_quire_file(self):
        for content in (b"SQLite format 3\0" + bytes(8192), b"id,name\n1,x\n", bytes(65536)):
            with self.subTest(content=content[:10]):
                self.database.write_bytes(content)
                self.assert_refused("not a Quire")

    def test_from_a_newer_version(self):
        content = bytearray(self.make_database())
        newer = int.from_bytes(content[8:12], "little") + 1
        for offset in SUPERBLOCK_OFFSETS:
            content[offset + 8 : offset + 12] = newer.to_bytes(4, "little")
            block = content[offset : offset + 508]
            content[offset + 508 : offset + 512] = crc32c(block).to_bytes(4, "little")
        self.database.write_bytes(content)
        self.assert_refused(f"format version {newer}", "newer")

    def test_truncated(self):
        whole = self.make_database()
        for length in (1, 100, 4096, 5000, len(whole) // 2, len(whole) - 4096):
            with self.subTest(length=length):
                self.database.write_bytes(whole[:length])
                done = run(self.database, "SELECT count(*), sum(id), max(name) FROM t")
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertNotIn("panicked", done.stderr)

    def test_opened_twice(self):
        self.make_database()
        endless = "SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000000000) b"
        holder = subprocess.Popen([QUIRE, self.database, endless], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # The other process needs a moment to open the file; from then on nobody else can.
            while not self.is_locked() and holder.poll() is None:
                time.sleep(0.01)
            self.assertIsNone(holder.poll(), "the holder ended too early")
            done = run(self.database, "SELECT 1")
            self.assertEqual(done.returncode, 1)
            self.assertIn(self.database.name, done.stderr)
            self.assertIn("another process", done.stderr)
        finally:
            holder.kill()
            holder.wait(timeout=OPEN_SECONDS_MAX)
        self.assertEqual(query(self.database, "SELECT count(*) FROM t"), [["50000"]])

    def is_locked(self):
        """Whether any process holds a lock on the database, by the kernel's list; does not touch the file."""
        inode = f":{self.database.stat().st_ino} "
        return any(inode in line for line in pathlib.Path("/proc/locks").read_text().splitlines())

    def test_check_passes_and_finds_damage(self):
        whole = bytearray(self.make_database())
        self.assertEqual(self.check().returncode, 0)
        for offset in range(len(whole) // 3, len(whole) - 4096, len(whole) // 5):
            with self.subTest(offset=offset):
                damaged = bytearray(whole)
                damaged[offset] ^= 0x10
                self.database.write_bytes(damaged)
                done = self.check()
                answer = run(self.database, ".mode csv", "SELECT count(*), sum(id), max(name) FROM t")
                self.assertNotIn("panicked", done.stderr + answer.stderr)
                # Damage in space that no table uses changes nothing; any other is named.
                if done.returncode == 0:
                    self.assertIn("50000,1250025000,row 9999", answer.stdout)

    def test_the_checksum_of_the_test_is_right(self):
        # The check value of the CRC catalogue.
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)

    def check(self):
        return subprocess.run([QUIRE, "check", self.database], capture_output=True, text=True, timeout=60)


if __name__ == "__main__":
    unittest.main()
