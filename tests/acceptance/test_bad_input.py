"""Bad files give an error that says where, and load nothing."""

import pathlib

import pyarrow
import pyarrow.parquet

import quire_shell
from quire_shell import execute, literal, query, run

HUGE_FIELD_BYTES = 100 << 20


class BadInput(quire_shell.WorkFolderTest):
    """Every case starts from a table of two rows, and has to end with it."""

    def setUp(self):
        super().setUp()
        execute(
            self.database,
            "CREATE TABLE t (id INTEGER NOT NULL, day DATE, price DECIMAL(6,2), name VARCHAR(5))",
            "INSERT INTO t VALUES (1, DATE '2024-01-01', 1.50, 'one'), (2, NULL, NULL, NULL)",
        )

    def assert_refused(self, sql, *words):
        done = run(self.database, sql)
        self.assertEqual(done.returncode, 1, f"exit code\n{done.stderr}")
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(str(word), done.stderr)
        self.assertNotIn("panicked", done.stderr)
        self.assertEqual(query(self.database, "SELECT count(*), sum(id) FROM t"), [["2", "3"]])
        self.assertEqual(run(self.database, "SELECT * FROM fresh").returncode, 1, "a table was left behind")

    def copy(self, name, content, *words, options="(FORMAT csv, HEADER)"):
        path = self.write(name, content)
        self.assert_refused(f"COPY t FROM {literal(path)} {options}", name, *words)

    def test_too_few_fields(self):
        self.copy("few.csv", "id,day,price,name\n3,2024-01-01,1.00,x\n4,2024-01-01\n", "line 3", "2", "4")

    def test_too_many_fields(self):
        self.copy("many.csv", "id,day,price,name\n3,2024-01-01,1.00,x,y\n", "line 2", "5", "4")

    def test_a_value_that_is_no_integer(self):
        self.copy("integer.csv", "id,day,price,name\n3,,,\ntwelve,,,\n", "line 3", "id", "twelve")

    def test_an_integer_out_of_range(self):
        self.copy("range.csv", "id,day,price,name\n3000000000,,,\n", "line 2", "id", "3000000000")

    def test_a_day_that_does_not_exist(self):
        self.copy("day.csv", "id,day,price,name\n3,2023-02-30,,\n", "line 2", "day", "2023-02-30")

    def test_a_decimal_that_does_not_fit(self):
        self.copy("decimal.csv", "id,day,price,name\n3,,12345.00,\n", "line 2", "price", "12345.00")

    def test_a_text_that_is_too_long(self):
        self.copy("long.csv", "id,day,price,name\n3,,,sixsix\n", "line 2", "name", "sixsix")

    def test_null_where_none_may_be(self):
        self.copy("null.csv", "id,day,price,name\n3,,,\n,,,x\n", "line 3", "id")

    def test_an_unterminated_quote(self):
        self.copy("quote.csv", 'id,day,price,name\n3,,,"open\n4,,,x\n', "line 2", "quote")

    def test_text_after_a_closing_quote(self):
        self.copy("after.csv", 'id,day,price,name\n3,,,"a"b\n', "line 2")

    def test_an_error_far_down_has_its_line(self):
        rows = "".join(f"{row},2024-01-01,1.00,x\n" for row in range(200_000))
        self.copy("far.csv", f"id,day,price,name\n{rows}oops,,,\n", "line 200002", "id", "oops")

    def test_lines_inside_quotes_count(self):
        self.copy("lines.csv", 'id,day,price,name\n3,,,"a\nb"\nx,,,\n', "line 4", "id")

    def test_invalid_utf8(self):
        self.copy("utf8.csv", b"id,day,price,name\n3,,,ok\n4,,,\xff\xfe\n", "line 3", "name", "UTF-8")

    def test_an_empty_file(self):
        self.copy("empty.csv", "", "empty")
        path = self.folder / "empty.csv"
        self.assert_refused(f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}", "empty.csv", "empty")

    def test_a_missing_file(self):
        path = self.folder / "missing.csv"
        self.assert_refused(f"COPY t FROM {literal(path)}", "missing.csv")
        self.assert_refused(f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}", "missing.csv")

    def test_a_folder(self):
        path = self.folder / "folder.csv"
        path.mkdir()
        self.assert_refused(f"COPY t FROM {literal(path)}", "folder.csv")

    def test_a_late_value_of_another_type_in_an_inferred_column(self):
        """Either the inference read far enough, or the error says where; never a wrong value."""
        rows = "".join(f"{row}\n" for row in range(300_000))
        path = self.write("late.csv", f"number\n{rows}oops\n")
        done = run(self.database, f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}")
        if done.returncode == 0:
            self.assertEqual(query(self.database, "SELECT max(number) FROM fresh"), [["oops"]])
        else:
            for word in ("late.csv", "line 300002", "number", "oops"):
                self.assertIn(word, done.stderr)

    def test_a_huge_field_loads_or_says_where(self):
        text = b"x" * HUGE_FIELD_BYTES
        path = self.write("huge.csv", b"id,text\n1,short\n2," + text + b"\n")
        done = run(self.database, f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}")
        if done.returncode == 0:
            self.assertEqual(query(self.database, "SELECT max(length(text)) FROM fresh"), [[str(len(text))]])
        else:
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("huge.csv", done.stderr)
            self.assertIn("line 3", done.stderr)
            self.assertLess(len(done.stderr), 2000)

    def test_parquet_that_is_cut_or_is_none(self):
        whole = self.folder / "whole.parquet"
        table = pyarrow.table({"id": list(range(10_000)), "text": [f"row {row}" for row in range(10_000)]})
        pyarrow.parquet.write_table(table, whole)
        content = whole.read_bytes()
        for name, bad in {
            "cut.parquet": content[: len(content) // 2],
            "tail.parquet": content[:-4],
            "none.parquet": b"this is no Parquet file",
            "nothing.parquet": b"",
        }.items():
            with self.subTest(file=name):
                path = self.write(name, bad)
                self.assert_refused(f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}", name)

    def test_parquet_with_a_damaged_page(self):
        whole = self.folder / "whole.parquet"
        table = pyarrow.table({"text": [f"row {row * 7919}" for row in range(10_000)]})
        pyarrow.parquet.write_table(table, whole, compression="zstd", use_dictionary=False)
        content = bytearray(whole.read_bytes())
        content[100:140] = bytes(40)
        path = self.write("damaged.parquet", bytes(content))
        self.assert_refused(f"CREATE TABLE fresh AS SELECT * FROM {literal(path)}", "damaged.parquet")

    def test_an_export_that_cannot_be_written(self):
        path = pathlib.Path(self.folder) / "absent" / "out.csv"
        self.assert_refused(f"COPY t TO {literal(path)}", "out.csv")


if __name__ == "__main__":
    import unittest

    unittest.main()
