"""Real files load with sensible types and come back, as CSV and as Parquet, with every value unchanged."""

import csv
import datetime
import decimal
import math
import unittest

import pyarrow
import pyarrow.parquet

import quire_shell
from quire_shell import execute, literal, parse_csv

TEXT, INTEGER, NUMBER, DATE, TIMESTAMP = "text", "integer", "number", "date", "timestamp"

# What a reader of the files' documentation would call the columns.
SENSIBLE_TYPES = {
    "covid_italy_province": {
        "data": TIMESTAMP,
        "stato": TEXT,
        # A province code has leading zeros: 066 is not 66.
        "codice_provincia": TEXT,
        "sigla_provincia": TEXT,
        "lat": NUMBER,
        "long": NUMBER,
        "totale_casi": INTEGER,
    },
    "nab": {"series": TEXT, "timestamp": TIMESTAMP, "value": NUMBER},
    "data_aging_congress": {
        "congress": INTEGER,
        "start_date": DATE,
        "chamber": TEXT,
        "birthday": DATE,
        "age_years": NUMBER,
    },
    "historical_RAPTOR_by_player": {"player_name": TEXT, "season": INTEGER, "war_total": NUMBER},
    "marvel-wikia-data": {"page_id": INTEGER, "name": TEXT, "HAIR": TEXT},
    "all_data": {"person": TEXT, "eow": TEXT},
}


def kind_of(arrow_type):
    types = pyarrow.types
    if types.is_integer(arrow_type):
        return INTEGER
    if types.is_floating(arrow_type) or types.is_decimal(arrow_type):
        return NUMBER
    if types.is_timestamp(arrow_type):
        return TIMESTAMP
    if types.is_date(arrow_type):
        return DATE
    if types.is_boolean(arrow_type):
        return "boolean"
    return TEXT


def value_of(text, arrow_type):
    """What a field of a file says when it is read as the type that Quire chose."""
    kind = kind_of(arrow_type)
    if text is None or kind == TEXT:
        return text
    if kind == INTEGER:
        # The text of an integer says nothing but its value, or it was no integer.
        return int(text) if str(int(text)) == text else f"{text} lost its form"
    if kind == NUMBER and pyarrow.types.is_decimal(arrow_type):
        return decimal.Decimal(text)
    if kind == NUMBER:
        return float(text)
    if kind == DATE:
        return datetime.date.fromisoformat(text)
    if kind == TIMESTAMP:
        return datetime.datetime.fromisoformat(text)
    return {"true": True, "t": True, "false": False, "f": False}[text.lower()]


def is_same(left, right):
    """Equality in which NaN equals itself and 0.0 differs from -0.0."""
    if isinstance(left, float) and isinstance(right, float):
        return (math.isnan(left) and math.isnan(right)) or (left == right and math.copysign(1, left) == math.copysign(1, right))
    return left == right


class RealData(quire_shell.WorkFolderTest):
    def round_trip(self, source, header=None):
        """Loads a CSV file, exports it twice, and compares three ways. Names are given for a file without any."""
        self.database.unlink(missing_ok=True)
        records = parse_csv(source.read_bytes().decode("utf-8"))
        header, rows = (header, records) if header else (records[0], records[1:])
        exported_csv, exported_parquet = self.folder / "out.csv", self.folder / "out.parquet"
        execute(
            self.database,
            f"CREATE TABLE t AS SELECT * FROM {literal(source)}",
            f"COPY t TO {literal(exported_csv)}",
            f"COPY t TO {literal(exported_parquet)}",
        )
        table = pyarrow.parquet.read_table(exported_parquet)
        self.assertEqual(table.column_names, header)
        self.assertEqual(table.num_rows, len(rows))
        self.compare_columns(source.name, table, rows)
        copied = parse_csv(exported_csv.read_bytes().decode("utf-8"))
        self.assertEqual(copied[0], header)
        self.compare_texts(source.name, table.schema, rows, copied[1:])
        self.assert_parquet_loads_back(exported_parquet, exported_csv)
        return table.schema

    def compare_columns(self, name, table, rows):
        for at, field in enumerate(table.schema):
            for line, (row, value) in enumerate(zip(rows, table.column(at).to_pylist(), strict=True), start=2):
                wanted = value_of(row[at], field.type)
                if not is_same(wanted, value):
                    self.fail(f"{name} row {line} {field.name} {field.type}: file {wanted!r}, Parquet {value!r}")

    def compare_texts(self, name, schema, rows, copied):
        self.assertEqual(len(rows), len(copied))
        for line, (row, copy) in enumerate(zip(rows, copied, strict=True), start=2):
            if row == copy:
                continue
            for field, text, text_copied in zip(schema, row, copy, strict=True):
                if not is_same(value_of(text, field.type), value_of(text_copied, field.type)):
                    self.fail(f"{name} row {line} {field.name} {field.type}: file {text!r}, CSV {text_copied!r}")

    def assert_parquet_loads_back(self, parquet, expected_csv):
        again = self.folder / "again.csv"
        execute(
            self.database,
            f"CREATE TABLE u AS SELECT * FROM {literal(parquet)}",
            f"COPY u TO {literal(again)}",
        )
        self.assertTrue(again.read_bytes() == expected_csv.read_bytes(), "Parquet loaded back differs")

    def test_tables(self):
        folder = quire_shell.shared_folder("data")
        sources = sorted(folder.glob("tables/*.csv")) + [folder / "timeseries" / "nab.csv"]
        self.assertGreaterEqual(len(sources), 6)
        for source in sources:
            with self.subTest(file=source.name):
                schema = self.round_trip(source)
                found = {field.name: kind_of(field.type) for field in schema}
                wanted = SENSIBLE_TYPES.get(source.stem, {})
                self.assertEqual({name: found.get(name) for name in wanted}, wanted)

    def test_strings(self):
        sources = sorted(quire_shell.shared_folder("data").glob("strings/*"))
        self.assertGreaterEqual(len(sources), 20)
        for source in sources:
            with self.subTest(file=source.name):
                lines = source.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
                quoted = self.folder / "quoted.csv"
                with quoted.open("w", encoding="utf-8", newline="") as file:
                    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
                    writer.writerows([line] for line in lines)
                self.round_trip(quoted, header=["column1"])

    def test_lines_of_a_file_without_a_header(self):
        for source in sorted(quire_shell.shared_folder("data").glob("strings/*")):
            text = source.read_bytes().decode("utf-8")
            if '"' in text or "\r" in text or "\n\n" in text:
                continue
            with self.subTest(file=source.name):
                exported = self.folder / "out.parquet"
                self.database.unlink(missing_ok=True)
                execute(
                    self.database,
                    "CREATE TABLE t (value TEXT)",
                    f"COPY t FROM {literal(source)} (FORMAT csv, HEADER false, DELIMITER E'\\x1f')",
                    f"COPY t TO {literal(exported)}",
                )
                values = pyarrow.parquet.read_table(exported).column(0).to_pylist()
                self.assertTrue(values == text.removesuffix("\n").split("\n"), "values differ")


class Oracle(unittest.TestCase):
    def test_a_lost_zero_is_noticed(self):
        self.assertNotEqual(value_of("066", pyarrow.int64()), 66)
        self.assertFalse(is_same(0.0, -0.0))
        self.assertFalse(is_same(value_of("0.1", pyarrow.float64()), 0.10000000000000002))
        self.assertFalse(is_same(value_of(None, pyarrow.string()), ""))


if __name__ == "__main__":
    unittest.main()
