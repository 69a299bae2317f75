"""The laboratory's buffer pools: both sides of figure 6.1 are measured for every size, and give the numbers that their definitions demand."""

import csv
import subprocess
import unittest

import quire_shell

SCALE = "0.05"
LAB_SECONDS_MAX = 300
POOLS = ("10 %", "25 %", "50 %", "100 %")
SIDES = ("uncompressed pages", "compressed pages")
PARTS = ("stored bytes to the processor", "values to memory", "values to the processor")
VERDICTS = ("(i)", "(ii)", "(iii)")


def lab(*options):
    command = [quire_shell.QUIRE, "lab", "buffer-pool", "--scale", SCALE, "--quick", *options]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=LAB_SECONDS_MAX
    )


class BufferPool(quire_shell.WorkFolderTest):
    def values(self, stem):
        """Values by series and pool."""
        with open(self.folder / "figures" / f"{stem}.csv", newline="", encoding="utf-8") as file:
            return {(row["series"], row["x"]): float(row["value"]) for row in csv.DictReader(file)}

    def test_both_sides_are_measured_for_every_pool(self):
        done = lab("--work", self.folder, "--out", self.folder / "figures")
        self.assertEqual(done.returncode, 0, done.stderr)
        hits, reads, traffic, times = (
            self.values(f"buffer-pool-{what}") for what in ("hits", "reads", "traffic", "times")
        )
        for pool in POOLS:
            for side in SIDES:
                with self.subTest(pool=pool, side=side):
                    self.assertTrue(0 <= hits[side, pool] <= 100)
                    # Nothing comes from the disk if and only if everything is found.
                    self.assertEqual(hits[side, pool] == 100, reads[side, pool] == 0)
                    self.assertGreater(times[side, pool], 0)
                    self.assertTrue(all((f"{side}: {part}", pool) in traffic for part in PARTS))
            # The queries read the same values from every pool of uncompressed pages; of compressed ones none are written.
            self.assertEqual(
                traffic[f"{SIDES[0]}: {PARTS[2]}", pool], traffic[f"{SIDES[0]}: {PARTS[2]}", POOLS[0]]
            )
            self.assertEqual(traffic[f"{SIDES[1]}: {PARTS[1]}", pool], 0)
        # What the paper says, and CLOCK makes extreme: a quarter has room for all compressed columns of these queries, a half for
        # half of the values.
        for pool in ("25 %", "50 %"):
            self.assertLess(reads[SIDES[1], pool], reads[SIDES[0], pool])

    def test_the_figures_say_what_holds_and_how_it_was_measured(self):
        done = lab()
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (*(f"{number} " for number in VERDICTS), "figure 6.1", "Replacement is CLOCK", "traffic is calculated"):
            self.assertIn(words, done.stdout)


if __name__ == "__main__":
    unittest.main()
