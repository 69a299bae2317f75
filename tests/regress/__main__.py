"""`python -m regress`: the share of PostgreSQL's tests of queries that Quire answers as PostgreSQL does. It may only rise."""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from oracle import servers
from oracle.wire import Wire
from regress import outcomes, run, source
from regress.statements import bare, is_command, of_file

RATCHET = pathlib.Path(__file__).with_name("agreeing.txt")
SETUP = "test_setup"
CAUSES_SHOWN = 60
TESTS = (
    "boolean char varchar text name int2 int4 int8 float4 float8 numeric numerology strings date time timetz timestamp timestamptz interval horology "
    "select select_distinct select_distinct_on select_having select_implicit case join union subselect with aggregates groupingsets window limit "
    "arrays expressions insert insert_conflict update delete returning truncate transactions sequence identity constraints prepare tsrf"
).split()


NO_ANSWERS = re.compile(
    r"^explain\b|\b(random|clock_timestamp|timeofday|pg_backend_pid|txid_current|pg_current_xact_id|pg_sleep|xmin|ctid)\b", re.IGNORECASE,
)


class Tally:
    """What was said of one test."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.counts: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.examples: list[tuple[str, str, str, str]] = []


def without_names(message: str) -> str:
    """What messages of one cause have in common."""
    return re.sub(r"\"[^\"]*\"|'[^']*'|(?<=\s)\d+", "_", message)[:100]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m regress", description=__doc__)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("--write", action="store_true", help="write the ratchet file anew")
    parser.add_argument("--show", action="store_true", help="print every statement that does not agree")
    return parser.parse_args()


def asked(tests: list[str], folder: pathlib.Path) -> dict[str, list[str]]:
    """The statements of each test."""
    return {name: of_file(folder / "sql" / f"{name}.sql", folder / "data") for name in tests}


def said(side: tuple[str, pathlib.Path], tests: dict[str, list[str]]) -> dict[str, tuple[dict[int, str], float]]:
    """What one server says to all tests, one after the other, and how long each took."""
    conninfo, place = side
    answers = {}
    for name, statements in tests.items():
        started = time.monotonic()
        answers[name] = (run.outputs(conninfo, place, statements), time.monotonic() - started)
    return answers


def compare_test(statements: list[str], expected: dict[int, str], got: dict[int, str], tally: Tally) -> None:
    for number, statement in enumerate(statements):
        # Plans are not answers, and what depends on the moment or on chance is none that can be compared.
        if is_command(statement) or number not in expected or NO_ANSWERS.search(bare(statement)):
            continue
        outcome = outcomes.compare(expected[number], got.get(number, "ERROR:  08006: not reached"), statement)
        tally.counts[outcome.name] += 1
        if outcome.name in (outcomes.REFUSED, outcomes.ACCEPTED, outcomes.OTHER_ERROR):
            tally.causes[f"{outcome.name} {without_names(outcome.what)}"] += 1
        if outcome.name != outcomes.AGREES:
            tally.examples.append((outcome.name, outcome.what, bare(statement), f"-- expected:\n{expected[number]}-- got:\n{got.get(number, '')}"))


def read_ratchet() -> dict[str, int]:
    if not RATCHET.exists():
        return {}
    pairs = (line.split() for line in RATCHET.read_text().splitlines() if line and not line.startswith("#"))
    return {name: int(count) for name, count in pairs}


def write_ratchet(tallies: dict[str, Tally]) -> None:
    lines = ["# Statements of PostgreSQL's tests that agree, by test. Numbers may only rise: `python -m regress --write`."]
    lines += [f"{name} {tally.counts[outcomes.AGREES]}" for name, tally in tallies.items()]
    RATCHET.write_text("\n".join(lines) + "\n")


def main() -> int:
    options = arguments()
    # Who is asked to end stops its servers first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if servers.program("initdb") is None:
        print("skipped: PostgreSQL's regression tests need PostgreSQL 15 beside Quire: `make oracle` installs it")
        return 1 if os.environ.get("CI") == "true" else 0
    try:
        cache = source.folder()
    except source.Unavailable as why:
        print(f"skipped: PostgreSQL's regression tests cannot be had: {why}")
        # In CI only a registry that does not answer is an excuse.
        return 1 if os.environ.get("CI") == "true" and why.has_answered else 0
    started = time.monotonic()
    with servers.postgres() as peer, tempfile.TemporaryDirectory(prefix="quire-regress-") as name:
        tallies = compare_all(options, cache, peer, pathlib.Path(name))
    report(tallies, time.monotonic() - started)
    if options.show:
        for test, tally in tallies.items():
            for outcome, what, statement, texts in tally.examples:
                print(f"== {test}: {outcome} {what}\n{statement}\n{texts}")
    if options.write:
        write_ratchet(tallies)
        return 0
    return check(tallies)


def compare_all(options: argparse.Namespace, cache: pathlib.Path, peer: str, place: pathlib.Path) -> dict[str, Tally]:
    os.chmod(place, 0o755)
    quire = servers.Quire(place / "regress.quire")
    try:
        admin = Wire(f"{peer} dbname=postgres")
        admin.must("CREATE DATABASE regression TEMPLATE template0")
        admin.close()
        sides = []
        for number, conninfo in enumerate((f"{peer} dbname=regression", quire.conninfo)):
            folder = place / str(number)
            folder.mkdir()
            (folder / "data").symlink_to(cache / "data")
            (folder / "results").mkdir()
            sides.append((conninfo, folder))
        tests = asked([SETUP, *options.tests], cache)
        # Both servers answer at the same time.
        with ThreadPoolExecutor(2) as threads:
            expected, got = threads.map(lambda side: said(side, tests), sides)
        tallies: dict[str, Tally] = {}
        for test in options.tests:
            tallies[test] = Tally()
            tallies[test].seconds = got[test][1]
            compare_test(tests[test], expected[test][0], got[test][0], tallies[test])
        return tallies
    finally:
        quire.stop()


def report(tallies: dict[str, Tally], seconds: float) -> None:
    names = [outcomes.AGREES, outcomes.NAMES, outcomes.ORDER, outcomes.WRONG, outcomes.REFUSED, outcomes.ACCEPTED, outcomes.OTHER_ERROR]
    print(f"{'test':<20}{'statements':>12}" + "".join(f"{name:>15}" for name in names) + f"{'seconds':>10}")
    total: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    for test, tally in tallies.items():
        total.update(tally.counts)
        causes.update(tally.causes)
        counts = "".join(f"{tally.counts[name]:>15}" for name in names)
        print(f"{test:<20}{sum(tally.counts.values()):>12}{counts}{tally.seconds:>10.1f}")
    print(f"{'all':<20}{sum(total.values()):>12}" + "".join(f"{total[name]:>15}" for name in names))
    share = 100 * total[outcomes.AGREES] / max(1, sum(total.values()))
    print(f"regress: {share:.1f} % of {sum(total.values())} statements agree, {seconds:.0f} s")
    for cause, count in causes.most_common(CAUSES_SHOWN):
        print(f"  {count} × {cause}")


def check(tallies: dict[str, Tally]) -> int:
    ratchet = read_ratchet()
    fallen = [
        f"{name}: {tallies[name].counts[outcomes.AGREES]} statements agree, {count} did"
        for name, count in ratchet.items() if name in tallies and tallies[name].counts[outcomes.AGREES] < count
    ]
    risen = [name for name, tally in tallies.items() if tally.counts[outcomes.AGREES] > ratchet.get(name, 0)]
    if risen:
        print(f"more statements agree than agreeing.txt says: {', '.join(risen)}; `--write` raises it")
    print("\n".join(fallen))
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
