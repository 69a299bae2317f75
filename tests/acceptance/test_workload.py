"""`quire workload`: transactions on Quire, its server and SQLite, with the data consistent afterwards, and results that can be read."""

import json
import subprocess
import unittest

import quire_shell

SECONDS_MAX = 240


def workload(*words):
    command = [quire_shell.QUIRE, "workload", *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL
    )


class Workload(quire_shell.WorkFolderTest):
    def test_results_of_several_targets_add_up(self):
        json_file, page = self.folder / "results.json", self.folder / "page.html"
        done = workload(
            "tpc-b", "--target", "embedded,quire,sqlite", "--users", 3, "--seconds", 1, "--warm-up", 0.2, "--check",
            "--directory", self.folder / "databases", "--json", json_file, "--html", page,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("conditions hold"), 6, "each target after loading and after the run")
        results = json.loads(json_file.read_text())
        self.assertEqual(len({result["target"] for result in results}), 3)
        for result in results:
            with self.subTest(target=result["target"]):
                total, kinds = result["total"], result["kinds"]
                self.assertGreater(total["finished"], 0)
                self.assertEqual(total["finished"], sum(kind["finished"] for kind in kinds))
                self.assertEqual(total["errors"], 0)
                ordered = [total[name] for name in ("latency_us_p50", "latency_us_p95", "latency_us_p99", "latency_us_max")]
                self.assertEqual(ordered, sorted(ordered))
                self.assertGreater(result["size_bytes_after"], 1_000_000)
                self.assertIn(result["target"], done.stdout)
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines()), 100)
        self.assertIn("<svg", page.read_text())
        self.assertEqual(list((self.folder / "databases").iterdir()), [], "databases are removed")

    def test_transactions_begin_at_a_rate(self):
        json_file = self.folder / "results.json"
        done = workload(
            "sysbench-point-select", "--scale", 0.05, "--rate", 200, "--arrivals", "even", "--users", 2, "--seconds", 2, "--warm-up", 0,
            "--json", json_file,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        (result,) = json.loads(json_file.read_text())
        begun = result["total"]["finished"] + result["unstarted"]
        self.assertTrue(350 <= begun <= 450, begun)

    def test_rows_are_generated_once_and_databases_can_be_kept(self):
        words = ("tpc-b", "--users", 1, "--seconds", 0.3, "--warm-up", 0, "--data", self.folder / "rows")
        kept = self.folder / "kept"
        done = workload(*words, "--directory", kept, "--keep")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = {path.name: path.stat().st_mtime_ns for path in (self.folder / "rows").glob("*.csv")}
        self.assertGreaterEqual(len(made), 3)
        database = next(kept.glob("**/*.quire"))
        rows = quire_shell.query(database, "SELECT count(*) FROM pgbench_accounts")
        self.assertEqual(rows, [["100000"]])
        again = workload(*words, "--directory", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        now = {path.name: path.stat().st_mtime_ns for path in (self.folder / "rows").glob("*.csv")}
        self.assertEqual(made, now)
        other = workload(*words, "--seed", 2, "--directory", self.folder / "other")
        self.assertEqual(other.returncode, 1)
        self.assertIn("seed", other.stderr)
        twice = workload(*words, "--directory", kept)
        self.assertEqual(twice.returncode, 1)
        self.assertIn("--directory", twice.stderr)

    def test_what_is_wrong_is_said(self):
        for words, said in [
            (("tpc-b", "--users", 501), "501"),
            (("tpc-b", "--rate", 0, "--seconds", 1), "rate"),
            (("tpc-b", "--think-time", "5", "--rate", 5), "cannot be used with"),
            (("tpc-d",), "possible values"),
            (("tpc-b", "--target", "oracle"), "possible values"),
        ]:
            with self.subTest(words=words):
                done = workload(*words)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
