"""TPC-H tables as files, in Quire and in DuckDB."""

import pathlib
import subprocess

import duckdb

import quire_shell

FOLDER = quire_shell.ROOT / "tests" / "tpch"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def csv_files(scale):
    """The folder with the CSV files of a scale; generates them once."""
    folder = quire_shell.TARGET / "tpch" / f"sf{scale}"
    if not all((folder / f"{table}.csv").is_file() for table in TABLES):
        command = [quire_shell.XTASK, "tpch", "--scale", scale, "--output", folder]
        subprocess.run([str(word) for word in command], check=True)
    return folder


def schema():
    """The CREATE TABLE statements."""
    text = (FOLDER / "schema.sql").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]


def query_text(number, scale):
    """A query without its comment and semicolon, with the parameter that depends on the scale."""
    text = (FOLDER / "queries" / f"q{number:02}.sql").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    text = "\n".join(lines).strip().removesuffix(";")
    if number == 11:
        before = text
        text = text.replace("0.0001000000", f"{0.0001 / float(scale):.10f}")
        assert float(scale) == 1 or text != before, "Q11 lost its fraction"
    return text


def load_quire(database, folder):
    """Loads all tables through the shell."""
    copies = [f"COPY {table} FROM {quire_shell.literal(folder / table)[:-1]}.csv'" for table in TABLES]
    quire_shell.execute(database, *schema(), *copies)


def load_quire_rows(database, folder, options):
    """Loads all tables as row tables with these options through the shell."""
    lines = (FOLDER / "row_schema.sql").read_text().splitlines()
    creations = [line.removesuffix(";") for line in lines if line.startswith("CREATE TABLE")]
    copies = [f"COPY {table} FROM {quire_shell.literal(folder / table)[:-1]}.csv'" for table in TABLES]
    quire_shell.execute(database, *(f"{line} WITH ({options})" for line in creations), *copies, "CHECKPOINT")


def load_duckdb(folder, path=":memory:", threads=2):
    """Loads all tables into DuckDB with the same types."""
    connection = duckdb.connect(str(path))
    connection.execute(f"SET threads = {threads}")
    for statement in schema():
        connection.execute(statement)
    for table in TABLES:
        source = quire_shell.literal(pathlib.Path(folder) / f"{table}.csv")
        connection.execute(f"COPY {table} FROM {source} (HEADER, DELIMITER ',')")
    return connection
