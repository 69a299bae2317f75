"""`ADVISE COMPRESSION`, and tables of SQLite files in queries."""

import pathlib
import sqlite3
import unittest

import quire_shell

BUDGET = "budget = '6 s'"


class Advice(quire_shell.WorkFolderTest):
    def setUp(self):
        super().setUp()
        self.database = self.folder / "advised.quire"
        quire_shell.execute(
            self.database,
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, page TEXT NOT NULL, seconds INTEGER) WITH (page_codec = none, compression = none)",
            "INSERT INTO visit SELECT i, 'https://example.org/page/' || i % 40, i % 300 FROM generate_series(1, 40000) AS g(i)",
            "CHECKPOINT",
        )

    def stored_bytes(self):
        """Of the table visit."""
        rows = quire_shell.query(self.database, "SELECT sum(encoded_bytes) FROM quire_storage('visit')")
        return float(rows[0][0])

    def test_the_best_choice_is_first_and_can_be_applied(self):
        rows = quire_shell.query(
            self.database, f"ADVISE COMPRESSION FOR visit WITH (size = 1, read = 0, write = 0, response = 0, {BUDGET})"
        )
        ranked = [row for row in rows if row[1] is not None]
        self.assertGreater(len(ranked), 0)
        best = ranked[0]
        self.assertEqual((best[0], best[1]), ("visit", "1"))
        sizes = [int(row[3]) for row in rows if row[3] is not None]
        self.assertEqual(int(best[3]), min(sizes), "by size alone the smallest is best")
        self.assertIn("→", best[11])
        before = self.stored_bytes()
        quire_shell.execute(
            self.database, f"ADVISE COMPRESSION FOR visit WITH (size = 1, read = 0, write = 0, response = 0, {BUDGET}) APPLY", "CHECKPOINT"
        )
        self.assertLess(self.stored_bytes(), before / 2)
        count = quire_shell.query(self.database, "SELECT count(*), sum(seconds) FROM visit WHERE page LIKE 'https%'")
        self.assertEqual(count, [["40000", str(sum(i % 300 for i in range(1, 40001)))]])

    def test_files_and_other_databases_are_advised_on(self):
        csv = self.folder / "trips.csv"
        csv.write_text("id,town\n" + "".join(f"{i},town{i % 9}\n" for i in range(30000)))
        app = self.sqlite()
        for source, tables in [(csv, {"trips"}), (app, {"artist", "track"})]:
            with self.subTest(source=source.name):
                rows = quire_shell.query(self.database, f"ADVISE COMPRESSION FOR {quire_shell.literal(source)} WITH ({BUDGET})")
                self.assertEqual({row[0] for row in rows}, tables)
                best = [row for row in rows if row[1] == "1"]
                self.assertEqual({row[0] for row in best}, tables)
                self.assertTrue(all("CREATE TABLE" in row[12] for row in best))

    def sqlite(self):
        app = self.folder / "app.sqlite"
        connection = sqlite3.connect(app)
        connection.executescript(
            """CREATE TABLE artist (artist_id INTEGER PRIMARY KEY, name TEXT);
               CREATE TABLE track (id INTEGER PRIMARY KEY, artist_id INTEGER, name TEXT, price DECIMAL(6,2), released DATE);"""
        )
        connection.executemany("INSERT INTO artist VALUES (?, ?)", [(i, f"artist {i}") for i in range(10)])
        connection.executemany(
            "INSERT INTO track VALUES (?, ?, ?, ?, ?)",
            [(i, i % 10, f"track {i}", i / 4, f"20{i % 30:02}-01-31") for i in range(3000)],
        )
        connection.commit()
        connection.close()
        return app

    def test_tables_of_sqlite_are_read_and_copied(self):
        app = quire_shell.literal(self.sqlite())
        joined = f"SELECT a.name, count(*), sum(track.price) FROM {app}.artist AS a JOIN {app}.track ON a.artist_id = track.artist_id GROUP BY a.name ORDER BY 1 LIMIT 2"
        first = [i for i in range(3000) if i % 10 == 0]
        second = [i for i in range(3000) if i % 10 == 1]
        expected = [[f"artist {number}", "300", f"{sum(i / 4 for i in members):.2f}"] for number, members in enumerate((first, second))]
        self.assertEqual(quire_shell.query(self.database, joined), expected)
        quire_shell.execute(self.database, f"CREATE TABLE track AS SELECT * FROM {app}.track")
        rows = quire_shell.query(self.database, "SELECT id, price, released FROM track WHERE id = 31")
        self.assertEqual(rows, [["31", "7.75", "2001-01-31"]])
        for sql, said in [
            (f"SELECT * FROM {app}", "artist"),
            (f"SELECT * FROM {app}.nothing", "nothing"),
            ("SELECT * FROM 'missing.sqlite'.track", "missing.sqlite"),
        ]:
            with self.subTest(sql=sql):
                done = quire_shell.run(self.database, sql)
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)

    def test_what_is_wrong_is_said(self):
        for sql, said in [
            ("ADVISE COMPRESSION FOR nothing", "nothing"),
            ("ADVISE COMPRESSION FOR visit WITH (colour = 'red')", "size, read"),
            ("ADVISE COMPRESSION FOR visit WITH (device = 'floppy')", "floppy"),
            ("ADVISE COMPRESSION FOR 'nowhere.csv'", "nowhere.csv"),
        ]:
            with self.subTest(sql=sql):
                done = quire_shell.run(self.database, sql)
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
