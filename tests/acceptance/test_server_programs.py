"""Programs of PostgreSQL's world against `quire serve`, unmodified: psql, pgbench, sysbench."""

import re
import unittest

from quire_server import NAME, USER, ServerTest

# Each of psql's commands about the catalog asks it in words of its own.
CATALOG_COMMANDS = r"\d \d+ \dt \dt+ \di \di+ \dv \ds \dm \df \da \do \dn \dn+ \du \du+ \dg \dp \z \db \dx \dT \dC \dD \dO \l \conninfo".split()


class PsqlCatalog(ServerTest):
    def test_tables_are_described(self):
        self.psql(
            "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, UNIQUE (name))",
            "CREATE TABLE sale (id BIGINT PRIMARY KEY, customer INTEGER REFERENCES customer (id), price NUMERIC(10,2), day DATE)",
            "CREATE INDEX sale_day ON sale (day)",
            "CREATE VIEW cheap AS SELECT id FROM sale WHERE price < 1",
        )
        self.assertEqual(
            set(self.psql(r"\d").splitlines()),
            {f"public|cheap|view|{USER}", f"public|customer|table|{USER}", f"public|sale|table|{USER}"},
        )
        described = self.psql(r"\d sale", is_whole=True)
        for line in [
            "id|bigint||not null|", "price|numeric(10,2)|||", "day|date|||",
            '"sale_day" btree (day)', "FOREIGN KEY (customer) REFERENCES customer(id)",
        ]:
            self.assertIn(line, described)
        self.assertIn("sale_day", self.psql(r"\di"))
        self.assertIn('TABLE "sale"', self.psql(r"\d customer", is_whole=True))
        self.assertTrue(self.psql(r"\l").startswith(f"{NAME}|{USER}|UTF8"))
        self.psql(*CATALOG_COMMANDS)


class PsqlScript(ServerTest):
    def test_a_script_runs_as_it_stands(self):
        script = """
            \\set ON_ERROR_STOP 1
            CREATE TABLE line (id INTEGER PRIMARY KEY, word TEXT);
            BEGIN;
            COPY line FROM STDIN WITH (FORMAT csv);
1,one
2,"two, three"
\\.
            SAVEPOINT here;
            DELETE FROM line;
            ROLLBACK TO here;
            COMMIT;
            \\copy (SELECT * FROM line ORDER BY id) TO STDOUT
            PREPARE by_id (integer) AS SELECT word FROM line WHERE id = $1;
            EXECUTE by_id (2);
            DEALLOCATE by_id;
            BEGIN;
            DECLARE c CURSOR FOR SELECT id FROM line ORDER BY id;
            FETCH 1 FROM c;
            MOVE 1 IN c;
            FETCH ALL c;
            CLOSE c;
            COMMIT;
            SELECT count(*) FROM line WHERE id = ANY ('{1,2,7}');
            \\set FETCH_COUNT 1
            SELECT id FROM line ORDER BY id;
            DISCARD ALL;
        """
        printed = self.run_client("psql", "-X", "-q", "-A", "-t", "-f", "-", stdin=script)
        self.assertEqual(
            printed.splitlines(), ["1\tone", "2\ttwo, three", "two, three", "1", "2", "1", "2"]
        )


class Pgbench(ServerTest):
    def test_the_standard_benchmark_keeps_its_sums(self):
        self.run_client("pgbench", "-i", "-s", "1", "-q")
        for mode, transactions in [("simple", 25), ("prepared", 25), ("extended", 10)]:
            printed = self.run_client("pgbench", "-n", "-c", "8", "-j", "2", "-t", transactions, "-M", mode)
            self.assertIn(f"actually processed: {8 * transactions}/{8 * transactions}", printed)
            self.assertIn("failed transactions: 0", printed)
        sums = [
            self.psql(f"SELECT coalesce(sum({column}), 0) FROM pgbench_{table}").strip()
            for table, column in [("accounts", "abalance"), ("tellers", "tbalance"), ("branches", "bbalance"), ("history", "delta")]
        ]
        self.assertEqual(len(set(sums)), 1, sums)
        self.assertEqual(self.psql("SELECT count(*) FROM pgbench_history").strip(), str(8 * 60))


class Sysbench(ServerTest):
    def test_every_workload_runs_without_errors(self):
        for workload in ["oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write"]:
            with self.subTest(workload=workload):
                self.sysbench(workload, "prepare")
                printed = self.sysbench(workload, "run")
                self.assertRegex(printed, r"transactions: +80 ")
                self.assertIsNone(re.search("FATAL|ERROR", printed), printed)
                self.assertEqual(self.psql("SELECT count(*) FROM sbtest1").strip(), "1000")
                self.sysbench(workload, "cleanup")

    def sysbench(self, workload, step):
        return self.run_client(
            "sysbench", workload, "--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={self.port}",
            f"--pgsql-user={USER}", f"--pgsql-db={NAME}", "--tables=2", "--table-size=1000", "--threads=4",
            "--events=80", "--time=0", step,
        )


if __name__ == "__main__":
    unittest.main()
