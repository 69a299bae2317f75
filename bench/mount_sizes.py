"""What compressing file systems make of files: `quire mount` beside btrfs and zfs-fuse, the ratio of each codec for each set of files, and the rate at
which the first set is written (with fsync) and read back from the disk.

    bench/mount_sizes.py [--work FOLDER] [--record-bytes N] [--quick] [FILE ...]

Needs root, btrfs-progs and zfs-fuse (`make bench-mount` installs them). Files: the table lineitem of TPC-H as text, a DuckDB file of TPC-H, the folders
of a PostgreSQL with pgbench's tables and of a MariaDB with sysbench's, the files of the shared data. A ratio is the length of the files over what
the file system stores for them, its metadata included.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import file_systems
import tpch_data
from file_systems import Btrfs, QuireMount, ZfsFuse
from peer_servers import MariaDb, PostgreSql, program

import quire_shell

QUIRE_CODECS = ["none", "zle", "lzjb", "lz4", "lz4hc-9", "gzip-6", "zstd-3", "zstd-9", "auto"]
BTRFS_CODECS = ["none", "lzo", "zlib", "zstd"]
ZFS_CODECS = ["none", "zle", "lzjb", "gzip"]
Given = collections.namedtuple("Given", "pool_mib")
Measured = collections.namedtuple("Measured", "ratio written_per_second read_per_second")


def server_folder(side, prepare):
    """The files of a server that has been filled and stopped."""
    side.create()
    with side.running():
        subprocess.run(prepare(side), check=True, capture_output=True)
    return side.data


def sources(work, is_quick):
    """Sets of files by name."""
    scale = "0.1" if is_quick else "1"
    tables = tpch_data.csv_files(scale)
    found = {"lineitem.csv": tables / "lineitem.csv"}
    duckdb = work / "tpch.duckdb"
    tpch_data.load_duckdb(tables, duckdb).close()
    found["DuckDB file of TPC-H"] = duckdb
    servers = work / "servers"
    servers.mkdir()
    servers.chmod(0o755)
    pgbench = [program("pgbench"), "-i", "-q", "-s", "1" if is_quick else "10"]
    found["PostgreSQL, pgbench"] = server_folder(
        PostgreSql("postgresql", "plain", servers, Given(64)), lambda side: [*pgbench, *side.connection(), "postgres"]
    )
    rows = 5_000 if is_quick else 250_000
    found["InnoDB, sysbench"] = server_folder(
        MariaDb("mariadb", "plain", servers, Given(64), "innodb"),
        lambda side: ["sysbench", "oltp_read_write", *side.client(), "--tables=2", f"--table-size={rows}", "prepare"],
    )
    data = quire_shell.SHARED / "data"
    for kind in ("strings", "tables", "timeseries"):
        if (data / kind).is_dir():
            found[f"shared {kind}"] = data / kind
    return found


def copied_bytes(source, target):
    """Copies a file or a folder; returns the length of what was copied, holes included."""
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copyfile(source, target)
    return sum(file.stat().st_size for file in regular_files(target))


def regular_files(path):
    """A file, or those below a folder."""
    return [file for file in [path, *path.rglob("*")] if file.is_file() and not file.is_symlink()]


def measured(system, source):
    """Ratio, and bytes a second written and read."""
    with system.mounted():
        copy = system.folder / "copy"
        started = time.perf_counter()
        length = copied_bytes(source, copy)
        files = regular_files(copy)
        for file in files:
            with file.open("rb") as opened:
                os.fsync(opened.fileno())
        written = time.perf_counter() - started
        stored = system.stored_bytes()
        system.forget_cached()
        started = time.perf_counter()
        for file in files:
            file.read_bytes()
        return Measured(length / stored, length / written, length / (time.perf_counter() - started))


def systems(work, record_bytes, image_bytes):
    return [
        *(QuireMount(work, codec, record_bytes) for codec in QUIRE_CODECS),
        *(Btrfs(work, codec, image_bytes) for codec in BTRFS_CODECS),
        *(ZfsFuse(work, codec, record_bytes, image_bytes) for codec in ZFS_CODECS),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files or folders to measure instead")
    parser.add_argument("--work", type=pathlib.Path, help="where everything is made, in a new folder that is removed")
    # btrfs compresses at most 128 KiB at a time.
    parser.add_argument("--record-bytes", type=int, default=131_072)
    parser.add_argument("--only", help="only file systems whose name contains one of these words, separated by commas")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(tempfile.mkdtemp(prefix="quire-mount-", dir=given.work))
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        work.chmod(0o755)
        found = {path.name: path for path in given.files} or sources(work, given.quick)
        words = given.only.split(",") if given.only else [""]
        sides = [side for side in systems(work, given.record_bytes, 6 << 30) if any(word in side.name for word in words)]
        measures = {side.name: {name: measured(side, path) for name, path in found.items()} for side in sides}
    results = {side: {name: one.ratio for name, one in figures.items()} for side, figures in measures.items()}
    print(f"compression ratios, records of {given.record_bytes // 1024} KiB\n")
    print("| | " + " | ".join(found) + " |")
    print("|---" * (1 + len(found)) + "|")
    for side, ratios in results.items():
        print(f"| {side} | " + " | ".join(f"{ratios[name]:.2f}" for name in found) + " |")
    report_bars(results, list(found))
    first = next(iter(found))
    print(f"\n{first}, MB/s\n\n| | written, with fsync | read, nothing cached |\n|---|---|---|")
    for side, figures in measures.items():
        print(f"| {side} | {figures[first].written_per_second / 1e6:,.0f} | {figures[first].read_per_second / 1e6:,.0f} |")
    print(json.dumps(results), file=sys.stderr)


def report_bars(results, names):
    """Ours over btrfs with zstd: at least 1.0 with zstd, 1.15 with auto."""
    peer = results.get("btrfs zstd")
    for side, bar in (("quire zstd-3", 1.0), ("quire auto", 1.15)):
        if peer and side in results:
            shares = ", ".join(f"{name} {results[side][name] / peer[name]:.2f}" for name in names)
            print(f"{side} over btrfs zstd (bar {bar}): {shares}")


if __name__ == "__main__":
    main()
