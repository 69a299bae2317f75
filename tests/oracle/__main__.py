"""`python -m oracle`: random statements on all sides, and what they do not agree about. Exit code 1 for what is not known."""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
import tempfile
import time

from oracle import servers
from oracle.nights import Nights
from oracle.pool import run
from oracle.report import printed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m oracle", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="statements")
    parser.add_argument("--seed", default="1", help="the first set of tables, or `TABLES:STATEMENT`")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--postgres", help="a running PostgreSQL 15 to use, as conninfo without a database")
    parser.add_argument("--findings", type=pathlib.Path, help="a folder for a script of each finding")
    parser.add_argument("--no-reduce", action="store_true", help="findings are not made small")
    parser.add_argument("--every-engine", action="store_true", help="row tables are asked by all three engines, not by each in turn")
    parser.add_argument("--avoid", action="store_true", help="leave out the productions that known.txt names")
    parser.add_argument("--continued", type=pathlib.Path, help="a file with the sums of earlier runs: this one begins with the first seed that they have not asked")
    parser.add_argument("--seconds", type=float, default=0, help="no new tables after that time")
    options = parser.parse_args()
    # One statement alone is asked of everything.
    options.every_engine |= ":" in options.seed
    return options


def main() -> int:
    options = arguments()
    # Who is asked to end stops its servers first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    nights = Nights.read(options.continued) if options.continued else None
    if nights:
        options.seed = str(nights.next_seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="quire-oracle-") as folder:
        if options.postgres:
            report, failures = run(options, options.postgres, folder)
        else:
            with servers.postgres() as peer:
                report, failures = run(options, peer, folder)
    print(printed(report, time.monotonic() - started, options.every_engine))
    if nights:
        nights.add(report, time.monotonic() - started)
        nights.write(options.continued)
        print(nights.printed())
    if options.findings:
        options.findings.mkdir(parents=True, exist_ok=True)
        for finding in report.findings:
            (options.findings / f"{finding.seed.replace(':', '_')}.sql").write_text(finding.script)
    if failures:
        print(failures)
    return 1 if failures or any(not finding.known_cause for finding in report.findings) else 0


if __name__ == "__main__":
    sys.exit(main())
