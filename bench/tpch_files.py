"""TPC-H as a file of each engine, for what is measured after loading."""

import quire_shell
import tpch_data


def work_folder(name):
    folder = quire_shell.TARGET / "bench" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove(path):
    for name in (path, path.with_name(path.name + ".wal")):
        name.unlink(missing_ok=True)


def loaded(scale):
    """Quire's file and DuckDB's. Ours is made again when the shell is newer: how it stores rows may have changed."""
    work = work_folder(f"loaded-sf{scale}")
    ours, theirs = work / "tpch.quire", work / "tpch.duckdb"
    # A file has its name once it is whole.
    partial = work / "partial"
    if not ours.exists() or ours.stat().st_mtime < quire_shell.QUIRE.stat().st_mtime:
        remove(partial)
        tpch_data.load_quire(partial, tpch_data.csv_files(scale))
        partial.rename(ours)
    if not theirs.exists():
        remove(partial)
        tpch_data.load_duckdb(tpch_data.csv_files(scale), partial).close()
        partial.rename(theirs)
    return ours, theirs


def queries(scale):
    """The 22, by name."""
    return {f"Q{number}": tpch_data.query_text(number, scale) for number in range(1, 23)}
