"""The laboratory's databases on drives that compress: every scenario of figure 11 is measured, and its ratio is the quotient of the sizes."""

import csv
import subprocess
import unittest

import quire_shell

ROWS = "4000"
LAB_SECONDS_MAX = 300
SCENARIOS = ("rows", "r2c", "rlt", "clt", "xor", "xor_rlt", "packed", "compressed tuples, packed")
DRIVES = ("LZ4 drive", "zlib drive")
IMAGES = ("Quire's images, LZ4", "Quire's images, zlib")
IN_ORDER = "zlib drive, leaves built in order"
PAGE_COMPRESSION = ("page compression, LZ4", "page compression, zlib")


def lab(*options):
    command = [quire_shell.QUIRE, "lab", "dual-format-system", "--rows", ROWS, "--seconds", "0", *options]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=LAB_SECONDS_MAX
    )


class DualFormatSystem(quire_shell.WorkFolderTest):
    def values(self, stem):
        """Measured values by series and scenario."""
        path = self.folder / "figures" / f"paper-3-figure-11-system{stem}.csv"
        with open(path, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["origin"] == "measured" and row["value"]]
        return {(row["series"], row["x"]): float(row["value"]) for row in rows}

    def test_ratios_are_quotients_of_sizes(self):
        work = self.folder / "work"
        done = lab("--work", work, "--out", self.folder / "figures")
        self.assertEqual(done.returncode, 0, done.stderr)
        ratios, stored, files, fill = (self.values(stem) for stem in ("", "-stored", "-files", "-fill"))
        for drive in DRIVES:
            self.assertLessEqual({(drive, scenario) for scenario in SCENARIOS}, set(ratios))
        for storage in IMAGES:
            for scenario in (SCENARIOS[0], SCENARIOS[-1]):
                self.assertIn((storage, scenario), ratios)
        used = ratios["zlib drive", "rows"] * stored["zlib drive", "rows"]
        for place, megabytes in stored.items():
            with self.subTest(place=place):
                # Leaves that are built in order are fewer, and their ratio is the drive's own.
                if place[0] != IN_ORDER:
                    self.assertAlmostEqual(ratios[place] * megabytes / used, 1, delta=0.01)
                self.assertGreaterEqual(files[place], megabytes)
                self.assertTrue(40 < fill[place] <= 100)
        self.assertGreater(fill[IN_ORDER, "rows"], fill["zlib drive", "rows"])
        self.assertLess(ratios[IN_ORDER, "rows"], ratios["zlib drive", "rows"])
        for series in PAGE_COMPRESSION:
            self.assertIn((series, "rows"), ratios)
        # Every file is one of the databases, kept because its folder was named.
        lengths = sorted(path.stat().st_size / 1e6 for path in work.glob("*.quire"))
        for length, figure in zip(lengths, sorted(files.values()), strict=True):
            self.assertAlmostEqual(length, figure, delta=0.01)

    def test_the_figures_say_what_holds_and_how_it_was_measured(self):
        done = lab("--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("CLT compresses best", "page compression with hole punching", "1.6 times less", "% full", "csd:zlib"):
            self.assertIn(words, done.stdout)
        self.assertIn("2.08", done.stdout)


if __name__ == "__main__":
    unittest.main()
