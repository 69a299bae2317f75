"""The CSV files of TPC-H with their rows in an order of chance, the same with each seed, for tables that no order helps to compress or skip."""

import contextlib
import math
import pathlib

import numpy

import tpch_data

SEED = 20_261_127
# Of text that is in memory at a time.
PART_BYTES = 64 << 20


def parts_of(file, count, random, folder):
    """Deals the lines of a file to as many files by chance; returns their paths."""
    paths = [folder / f"part-{number}.unfinished" for number in range(count)]
    with contextlib.ExitStack() as stack:
        parts = [stack.enter_context(open(path, "wb")) for path in paths]
        while lines := file.readlines(PART_BYTES):
            for line, part in zip(lines, random.integers(count, size=len(lines)).tolist(), strict=True):
                parts[part].write(line)
    return paths


def shuffle(source, target, random):
    """Every order is equally likely: a row's part is chance, and so is its place in the part."""
    unfinished = target.with_suffix(".unfinished")
    with open(source, "rb") as file, open(unfinished, "wb") as output:
        output.write(file.readline())
        count = max(1, math.ceil(source.stat().st_size / PART_BYTES))
        for part in parts_of(file, count, random, target.parent):
            lines = part.read_bytes().splitlines(keepends=True)
            output.writelines(lines[at] for at in random.permutation(len(lines)).tolist())
            part.unlink()
    unfinished.rename(target)


def csv_files(scale):
    """The folder with the shuffled files of a scale; writes them once. No field of TPC-H has a line end in it."""
    source = tpch_data.csv_files(scale)
    folder = pathlib.Path(f"{source}-shuffled-{SEED}")
    folder.mkdir(exist_ok=True)
    for place, table in enumerate(tpch_data.TABLES):
        target = folder / f"{table}.csv"
        if not target.is_file():
            shuffle(source / f"{table}.csv", target, numpy.random.default_rng([SEED, place]))
    return folder
