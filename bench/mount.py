"""Speed on file systems in turn: servers with their data on them, files, and names.

    bench/mount.py [--work FOLDER] [--seconds S] [--rounds R] [--only NAME,...] [--group MIB] [--quick]

Needs root, sysbench, pgbench, fio, mariadb-server, postgresql, btrfs-progs and zfs-fuse (`make bench-mount` installs them). Each file system is made,
filled and removed in its turn. sysbench's read_write runs on InnoDB and pgbench on PostgreSQL, both with fsync, with the buffer pool given; then fio
writes and reads a file with half-compressible bytes, and files are made and removed. With `--group` the servers, and what serves the file system,
have been started anew after the data was made: in a control group of that memory on the SATA SSD of `quire_store::DeviceProfile`. The data should
be four times as large: `--group 512 --rows 2400000 --only ext4,lz4,zstd-3 --workloads postgresql,mariadb`.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time

import control_group
# Before peer_servers: it finds the modules of the acceptance tests.
from file_systems import Btrfs, Ext4, QuireMount, ZfsFuse, drop_caches, run
from peer_servers import PROGRAMS, MariaDb, PostgreSql, program

IMAGE_BYTES = 8 << 30
RECORD_BYTES = {"mariadb": 16_384, "postgresql": 8_192, "files": 131_072}
NAME_COUNT = 5_000
Given = collections.namedtuple("Given", "pool_mib")


@contextlib.contextmanager
def confined(side, given):
    """Both the servers that are started inside and what serves the file system are in a control group, if one is wanted."""
    if not given.group:
        yield
        return
    drop_caches()
    device = control_group.Device(
        side.work, control_group.SATA_READ_BYTES, control_group.SATA_READ_REQUESTS, control_group.SATA_WRITE_BYTES
    )
    with control_group.group_of(given.group, device) as group:
        for pid in side.servers():
            group.add(pid)
        try:
            with group.entered():
                yield
        finally:
            for pid in side.servers():
                group.release(pid)


def mariadb_tps(side, given):
    """Transactions a second of sysbench's read_write on InnoDB."""
    server = MariaDb("mariadb", "plain", side.folder, Given(given.pool_mib), "innodb")
    server.create()
    with server.running():
        run(*sysbench(server, given), "prepare")
    with confined(side, given), server.running():
        printed = run(*sysbench(server, given), f"--time={given.seconds}", "run")
    return {"InnoDB read_write tps": float(re.search(r"transactions:.*\(([0-9.]+) per sec", printed)[1])}


def sysbench(server, given):
    return ["sysbench", "oltp_read_write", *server.client(), "--tables=4", f"--table-size={given.rows}", "--threads=8"]


def postgresql_tps(side, given):
    """Transactions a second of pgbench."""
    server = PostgreSql("postgresql", "plain", side.folder, Given(given.pool_mib))
    server.create()
    with server.running():
        run(*pgbench(server), "-i", "-q", "-s", max(1, given.rows // 20_000), "postgres")
    with confined(side, given), server.running():
        printed = run(*pgbench(server), "-c", 8, "-j", 2, "-n", "-T", given.seconds, "postgres")
    return {"pgbench tps": float(re.search(r"tps = ([0-9.]+) \(without", printed)[1])}


def pgbench(server):
    return [program("pgbench"), *server.connection()]


def fio(folder, name, *options):
    """MB and operations a second."""
    found = json.loads(run(
        "fio", "--output-format=json", f"--directory={folder}", "--filename=fio", "--ioengine=psync", "--numjobs=1", f"--name={name}",
        "--buffer_compress_percentage=50", "--buffer_compress_chunk=4096", "--refill_buffers", "--randseed=1", "--allrandrepeat=1", *options,
    ))["jobs"][0]
    side = found["write" if "write" in name else "read"]
    return side["bw_bytes"] / 1e6, side["iops"]


def file_rates(side, given):
    """Sequential and random reads and writes of one file, and names."""
    folder = side.folder
    size = f"--size={given.file_mib}m"
    rates = {"sequential write MB/s": fio(folder, "write", size, "--rw=write", "--bs=1m", "--end_fsync=1")[0]}
    drop_caches()
    rates["sequential read MB/s"] = fio(folder, "read", size, "--rw=read", "--bs=1m")[0]
    seconds = ["--time_based", f"--runtime={max(2, given.seconds // 3)}"]
    for kib in (4, 16):
        drop_caches()
        rates[f"random read {kib} KiB /s"] = fio(folder, "read", size, "--rw=randread", f"--bs={kib}k", *seconds)[1]
        rates[f"random write and fsync {kib} KiB /s"] = fio(folder, "write", size, "--rw=randwrite", f"--bs={kib}k", "--fsync=1", *seconds)[1]
    return {**rates, **name_rates(folder)}


def name_rates(folder):
    """Files made, looked up and removed a second, by one process."""
    names = [folder / f"file{number}" for number in range(NAME_COUNT)]
    steps = {
        "creates /s": lambda path: path.write_bytes(b"x"),
        "stats /s": lambda path: path.stat(),
        "removals /s": lambda path: path.unlink(),
    }
    rates = {}
    for step, act in steps.items():
        started = time.perf_counter()
        for name in names:
            act(name)
        rates[step] = NAME_COUNT / (time.perf_counter() - started)
    return rates


WORKLOADS = {"mariadb": mariadb_tps, "postgresql": postgresql_tps, "files": file_rates}


def sides(work, workload):
    record_bytes = RECORD_BYTES[workload]
    return [
        Ext4(work),
        Btrfs(work, "none", IMAGE_BYTES),
        Btrfs(work, "zstd", IMAGE_BYTES),
        ZfsFuse(work, "lzjb", record_bytes, IMAGE_BYTES),
        *(QuireMount(work, codec, record_bytes) for codec in ("none", "lz4", "zstd-3")),
        QuireMount(work, "lz4", record_bytes, "logged"),
        QuireMount(work, "lz4", record_bytes, "logged", ["--writeback"]),
    ]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, help="where everything is made, in a new folder that is removed")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--rows", type=int, help="of each table of sysbench")
    parser.add_argument("--pool-mib", type=int, default=128)
    parser.add_argument("--file-mib", type=int)
    parser.add_argument("--group", type=int, help="memory of the control group in MiB")
    parser.add_argument("--only", help="only file systems whose name contains one of these words, separated by commas")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    quick, whole = {"seconds": 5, "rounds": 1, "rows": 20_000, "file_mib": 64}, {"seconds": 30, "rounds": 3, "rows": 200_000, "file_mib": 1024}
    for name, value in (quick if given.quick else whole).items():
        if getattr(given, name) is None:
            setattr(given, name, value)
    needed = ["sysbench", "fio", "mkfs.btrfs", "zfs-fuse", *PROGRAMS]
    missing = [name for name in needed if not (program(name) or shutil.which(name))]
    if missing or os.geteuid() != 0:
        parser.error(f"root is needed, and {', '.join(missing) or 'nothing else'}")
    return given


def take_turns(work, workload, given):
    """Medians by file system and figure."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    words = given.only.split(",") if given.only else [""]
    for _ in range(given.rounds):
        for side in sides(work, workload):
            if not any(word in side.name for word in words):
                continue
            with side.mounted():
                side.folder.chmod(0o755)
                for name, value in WORKLOADS[workload](side, given).items():
                    found[side.name][name].append(value)
    return {side: {name: statistics.median(values) for name, values in figures.items()} for side, figures in found.items()}


def report(results):
    """Each figure beside ext4's and, where it was measured, that of btrfs with zstd."""
    base, peer = results.get("ext4", {}), results.get("btrfs zstd", {})
    print("| | figure | value | of ext4 | of btrfs zstd |\n|---|---|---|---|---|")
    for side, figures in results.items():
        for name, value in figures.items():
            shares = [f"{value / other[name]:.2f}" if name in other else "" for other in (base, peer)]
            print(f"| {side} | {name} | {value:,.0f} | {shares[0]} | {shares[1]} |")


def main():
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    found = {}
    with contextlib.ExitStack() as stack:
        work = pathlib.Path(tempfile.mkdtemp(prefix="quire-mount-", dir=given.work))
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        work.chmod(0o755)
        for workload in given.workloads.split(","):
            found[workload] = take_turns(work, workload, given)
            print(f"\n{workload}: {given.rounds} rounds of {given.seconds} s, pool {given.pool_mib} MiB, group {given.group} MiB, load {os.getloadavg()[1]:.1f}")
            report(found[workload])
            sys.stdout.flush()
    print(
        "bars (tps): zstd at least 1.0 of btrfs zstd; lz4 at least 0.75 of ext4 with data in memory, more than 1.0 in a group with a fourth of the data"
    )
    print(json.dumps(found), file=sys.stderr)


if __name__ == "__main__":
    main()
