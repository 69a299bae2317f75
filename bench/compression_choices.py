"""What each choice of docs/compression.md saves and costs, on lineitem of TPC-H and on real files.

Bytes are exact. Times are processor time of the shell's process, less what a process without work takes: the least of the rounds, which
take turns, beside that of the first configuration. Reads have a pool of 8 MiB, so that pages are read and decoded again and again; the
system has the file in its cache.
"""

import argparse
import os
import pathlib
import resource
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "acceptance"))

import quire_shell  # noqa: E402
import tpch_data  # noqa: E402

POOL = "8MiB"
SCAN = "SELECT sum(l_quantity), max(l_comment) FROM lineitem"
PLAIN = "compression = none, page_codec = none, storage_format = none"
# Options of a row table; the first is what the others are compared with.
ROW_OPTIONS = [
    PLAIN,
    "compression = auto, page_codec = none, storage_format = none",
    "compression = none, page_codec = lz4, storage_format = none",
    "compression = none, page_codec = zstd, storage_format = none",
    "page_codec = zle",
    "page_codec = lzjb",
    "page_codec = lz4",
    "page_codec = lz4hc",
    "page_codec = zlib",
    "page_codec = zstd, page_codec_level = 1",
    "page_codec = zstd",
    "page_codec = zstd, page_codec_level = 9",
    "storage_format = none",
    "storage_format = r2c",
    "storage_format = rlt",
    "storage_format = clt",
    "storage_format = xor",
    "storage_format = xor_rlt",
    "storage_format = xor_clt",
    "storage_format = packed",
    "page_size = 4096",
    "page_size = 8192",
    "page_size = 32768",
    "page_size = 65536",
    "page_target_bytes = 8192",
    "page_target_bytes = 4096",
]
CODECS = "plain rle pfor pfor_delta dictionary pdict sparse alp alp_rd fsst zstd words shape phrases".split()
COLUMNS = "l_orderkey l_suppkey l_linenumber l_quantity l_extendedprice l_shipdate l_returnflag l_comment".split()


def processor_seconds(action):
    """Seconds of processors that the child processes of an action took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def lineitem(kind):
    rows = (tpch_data.FOLDER / "row_schema.sql").read_text().split(";")
    statements = rows if kind == "row" else tpch_data.schema()
    return next(text.strip() for text in statements if text.strip().startswith("CREATE TABLE lineitem"))


def measured_row_table(options, folder, scratch, points):
    """Bytes of pages; processor seconds of loading, of reading all rows three times, of finding 2,000 of them, and of nothing."""
    database = scratch / "row.quire"
    create, copy = f"{lineitem('row')} WITH ({options})", f"COPY lineitem FROM '{folder}/lineitem.csv'"
    pool = ("--cache", POOL)
    load, _ = processor_seconds(lambda: quire_shell.execute(database, create, copy, "CHECKPOINT"))
    [[size]] = quire_shell.query(database, "SELECT encoded_bytes FROM quire_tables()")
    scan, _ = processor_seconds(lambda: checked(quire_shell.run(database, *[SCAN] * 3, options=pool)))
    point, _ = processor_seconds(lambda: checked(quire_shell.run(database, f".read {points}", options=pool)))
    nothing, _ = processor_seconds(lambda: checked(quire_shell.run(database, "SELECT 1", options=pool)))
    database.unlink()
    return int(size), load - nothing, scan - nothing, point - nothing


def checked(done):
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def row_round(folder, scratch):
    points = scratch / "points.sql"
    source = f"SELECT l_orderkey FROM '{folder}/lineitem.csv' WHERE l_linenumber = 1 ORDER BY l_orderkey * 7919 % 10007, 1 LIMIT 2000"
    keys = quire_shell.query(":memory:", source)
    points.write_text("".join(f"SELECT l_quantity FROM lineitem WHERE l_orderkey = {key} AND l_linenumber = 1;\n" for (key,) in keys))
    return {options: measured_row_table(options, folder, scratch, points) for options in ROW_OPTIONS}


def report_rows(rounds):
    print(f"\nlineitem as a row table, beside the first line; a pool of {POOL}, {len(rounds)} rounds")
    print(f"{'options':62}{'MB':>8}{'share':>7}{'load':>7}{'scan':>7}{'points':>8}")
    least = {options: [min(one[options][at] for one in rounds) for at in range(4)] for options in ROW_OPTIONS}
    for options in ROW_OPTIONS:
        size, load, scan, point = (mine / first for mine, first in zip(least[options], least[PLAIN]))
        print(f"{options:62}{least[options][0] / 1e6:8.1f}{size:7.2f}{load:7.2f}{scan:7.2f}{point:8.2f}", flush=True)


def codec_bytes(database, table, column, sql_type, codec):
    """Bytes of one column under a codec; None if the codec cannot hold it."""
    demanded = "" if codec == "auto" else f" COMPRESSION {codec}"
    done = quire_shell.run(
        database,
        f"CREATE TABLE one ({column} {sql_type}{demanded})",
        f"INSERT INTO one SELECT {column} FROM {table}",
        ".mode csv",
        "SELECT sum(raw_bytes), sum(encoded_bytes), min(codec) FROM quire_storage('one')",
        "DROP TABLE one",
    )
    if done.returncode != 0:
        quire_shell.run(database, "DROP TABLE IF EXISTS one")
        return None
    raw, encoded, chosen = quire_shell.parse_csv(done.stdout)[-1]
    return int(raw), int(encoded), chosen


def report_codecs(folder, scratch):
    database = scratch / "columns.quire"
    quire_shell.execute(database, lineitem("column"), f"COPY lineitem FROM '{folder}/lineitem.csv'")
    columns = [("lineitem", column) for column in COLUMNS]
    series = quire_shell.SHARED / "data" / "timeseries" / "nab.csv"
    if series.exists():
        quire_shell.execute(database, f"CREATE TABLE nab AS SELECT * FROM {quire_shell.literal(series)}")
        columns += [("nab", "timestamp"), ("nab", "value")]
    print("\ncolumns alone, by codec: % of the bytes of plain arrays; auto is what is chosen")
    for table, column in columns:
        [[sql_type]] = quire_shell.query(
            database,
            f"SELECT column_type FROM (SELECT data_type AS column_type FROM information_schema.columns WHERE table_name = '{table}' "
            f"AND column_name = '{column}')",
        )
        if sql_type in ("numeric", "character", "character varying"):
            sql_type = {"numeric": "DECIMAL(15,2)"}.get(sql_type, "TEXT")
        raw, best, chosen = codec_bytes(database, table, column, sql_type, "auto")
        shown = [f"auto ({chosen}) {100 * best / raw:.2f}"]
        for codec in CODECS:
            measured = codec_bytes(database, table, column, sql_type, codec)
            if measured:
                shown.append(f"{codec} {100 * measured[1] / raw:.2f}")
        print(f"{column} {sql_type}: " + ", ".join(shown), flush=True)
    [[size]] = quire_shell.query(database, "SELECT sum(encoded_bytes) FROM quire_storage('lineitem')")
    print(f"all of lineitem by columns, with what columns know of each other: {int(size) / 1e6:.1f} MB")


def report_commits(scratch, count=2000):
    """Rows inserted one by one under each setting of synchronous_commit: elapsed time, the first is 1."""
    print(f"\n{count} INSERTs, each its own transaction: elapsed time beside synchronous_commit = on, bytes written")
    first = None
    for setting in ("on", "normal", "off"):
        database, script = scratch / f"{setting}.quire", scratch / "inserts.sql"
        quire_shell.execute(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        lines = [f"INSERT INTO t VALUES ({n}, 'value {n}');" for n in range(count)]
        script.write_text(f"SET synchronous_commit = {setting};\n" + "\n".join(lines))
        begin = time.monotonic()
        quire_shell.execute(database, f".read {script}")
        elapsed = time.monotonic() - begin
        first = first or elapsed
        print(f"{setting:8}{elapsed / first:6.2f}  file {database.stat().st_size / 1e3:.0f} KB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", default="0.1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=pathlib.Path, help="folder with the CSV files; made if absent")
    arguments = parser.parse_args()
    folder = arguments.data or tpch_data.csv_files(arguments.scale)
    with tempfile.TemporaryDirectory(dir=os.environ.get("CARGO_TARGET_DIR")) as scratch:
        scratch = pathlib.Path(scratch)
        report_codecs(folder, scratch)
        report_commits(scratch)
        report_rows([row_round(folder, scratch) for _ in range(arguments.rounds)])


if __name__ == "__main__":
    main()
