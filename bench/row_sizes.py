"""Sizes of TPC-H's row tables: compressed tuples alone, compressed pages alone, and both, beside AODB's table 3.

AODB: T. Westmann et al., The Implementation and Performance of Compressed Databases (SIGMOD Record 2000), table 3, in units of
1,024 bytes. Its tables had no indexes; ours have their primary keys, and sizes are those of the images of all pages of a table.
"""

import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import quire_shell  # noqa: E402
import tpch_data  # noqa: E402

AODB_KB = {
    "lineitem": (427360, 758540), "orders": (132164, 177900), "partsupp": (112588, 124600), "part": (24120, 29680),
    "customer": (22916, 28256), "supplier": (1412, 1640), "nation": (4, 4), "region": (4, 4),
}
# Name, WITH options.
CONFIGURATIONS = [
    ("plain", "compression = none, page_codec = none, storage_format = none"),
    ("tuples", "compression = auto, page_codec = none, storage_format = none"),
    ("pages, lz4", "compression = none, page_codec = lz4"),
    ("pages, zstd", "compression = none, page_codec = zstd"),
    ("both, lz4", "compression = auto, page_codec = lz4"),
    ("both, zstd", "compression = auto, page_codec = zstd"),
]


def sizes(options, page_bytes, folder, path):
    """Bytes of each table, created with these options and loaded."""
    tpch_data.load_quire_rows(path, folder, f"{options}, page_size = {page_bytes}")
    rows = quire_shell.query(path, "SELECT table_name, encoded_bytes FROM quire_tables()")
    return {name: int(size) for name, size in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--page-bytes", type=int, default=16384)
    parser.add_argument("--data", type=pathlib.Path, help="folder with the CSV files; made if absent")
    arguments = parser.parse_args()
    folder = arguments.data or tpch_data.csv_files(arguments.scale)
    measured = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("CARGO_TARGET_DIR")) as scratch:
        for number, (name, options) in enumerate(CONFIGURATIONS):
            path = pathlib.Path(scratch) / f"{number}.quire"
            measured[name] = sizes(options, arguments.page_bytes, folder, path)
            path.unlink()
    report(measured, arguments.page_bytes)


def report(measured, page_bytes):
    names = [name for name, _ in CONFIGURATIONS]
    print(f"MB of images, pages of {page_bytes} bytes; in parentheses the share of plain")
    print(f"{'table':10}{'AODB':>8}" + "".join(f"{name:>18}" for name in names))
    totals = dict.fromkeys(names, 0)
    for table, (compressed, plain) in AODB_KB.items():
        line(table, compressed / plain, [measured[name][table] for name in names])
        for name in names:
            totals[name] += measured[name][table]
    aodb = [sum(column) for column in zip(*AODB_KB.values())]
    line("all", aodb[0] / aodb[1], [totals[name] for name in names])


def line(table, aodb_share, row):
    cells = [f"{size / 1e6:9.2f} ({size / row[0]:.2f})" for size in row]
    print(f"{table:10}{aodb_share:8.2f}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
