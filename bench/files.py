"""Sizes of real files as Quire databases beside Parquet with zstd(3), written from the same values and types."""

import argparse
import csv
import pathlib
import sys
import tempfile

import pyarrow.parquet

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import quire_shell  # noqa: E402

PARQUET_LEVEL = 3


def load(database, source, folder):
    """The file as the one table of a database. A file without an extension holds one text a line."""
    if source.suffix:
        quire_shell.execute(database, f"CREATE TABLE t AS SELECT * FROM {quire_shell.literal(source)}")
        return
    quoted = folder / "quoted.csv"
    lines = source.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    with quoted.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([line] for line in lines)
    quire_shell.execute(
        database,
        "CREATE TABLE t (value TEXT)",
        f"COPY t FROM {quire_shell.literal(quoted)} (FORMAT csv, HEADER false)",
    )


def parquet_bytes(database, folder):
    """The same table as pyarrow writes it by default, but for the codec: dictionaries where they pay."""
    exported, written = folder / "exported.parquet", folder / "written.parquet"
    quire_shell.execute(database, f"COPY t TO {quire_shell.literal(exported)}")
    table = pyarrow.parquet.read_table(exported)
    pyarrow.parquet.write_table(table, written, compression="zstd", compression_level=PARQUET_LEVEL)
    return written.stat().st_size


def sizes(source):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        database = folder / "file.quire"
        load(database, source, folder)
        return database.stat().st_size, parquet_bytes(database, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="default: all files of the shared data folder")
    files = parser.parse_args().files
    if not files:
        data = quire_shell.SHARED / "data"
        files = sorted(path for kind in ("tables/*.csv", "timeseries/*.csv", "strings/*") for path in data.glob(kind))
    if not files:
        raise SystemExit("no files: name some, or say with QUIRE_SHARED where the data lies")
    print(f"{'file':<32} {'bytes':>12} {'Quire':>12} {'Parquet':>12} {'ratio':>7}")
    rows = []
    for source in files:
        rows.append((source.name, source.stat().st_size, *sizes(source)))
        print("{:<32} {:>12,} {:>12,} {:>12,} {:>7.3f}".format(*rows[-1], rows[-1][2] / rows[-1][3]), flush=True)
    total = [sum(row[at] for row in rows) for at in (1, 2, 3)]
    print("{:<32} {:>12,} {:>12,} {:>12,} {:>7.3f}".format("all", *total, total[1] / total[2]))


if __name__ == "__main__":
    main()
