"""The processes of a run: each has servers of its own, and takes sets of tables until there are no more."""

from __future__ import annotations

import argparse
import multiprocessing
import pathlib
import queue
import sys
import time
import traceback
from multiprocessing.queues import Queue

from oracle import known
from oracle.sides import Sides
from oracle.worker import STATEMENTS_OF_SCENARIO, Report, Worker

Task = tuple[int, range]
# How often a worker that waits looks whether its parent is there.
PARENT_SECONDS = 2.0


def tasks(seed: str, count: int) -> list[Task]:
    tables, _, number = seed.partition(":")
    if number:
        return [(int(tables), range(int(number), int(number) + count))]
    step = STATEMENTS_OF_SCENARIO
    return [(int(tables) + at // step, range(min(step, count - at))) for at in range(0, count, step)]


def work(number: int, peer: str, folder: str, may_reduce: bool, avoided: frozenset[str], is_thorough: bool, given: Queue[Task | None], taken: Queue[Report | str]) -> None:
    """A worker's life. What it says last is nothing, or how it failed."""
    try:
        place = pathlib.Path(folder) / f"worker{number}"
        place.mkdir()
        sides = Sides(peer, place, number)
        try:
            worker = Worker(sides, may_reduce, avoided, is_thorough)
            while (task := next_task(given)) is not None:
                taken.put(worker.scenario(*task))
        finally:
            sides.stop()
        taken.put("")
    except BaseException:
        taken.put(traceback.format_exc())


def next_task(given: Queue[Task | None]) -> Task | None:
    """Nothing if there is no more, or nobody to work for: an interrupted run leaves no servers behind."""
    parent = multiprocessing.parent_process()
    while True:
        try:
            return given.get(timeout=PARENT_SECONDS)
        except queue.Empty:
            if parent is None or not parent.is_alive():
                return None


def run(options: argparse.Namespace, peer: str, folder: str) -> tuple[Report, str]:
    context = multiprocessing.get_context("spawn")
    given: Queue[Task | None] = context.Queue()
    taken: Queue[Report | str] = context.Queue()
    started, report, failures = time.monotonic(), Report(), ""
    waiting = tasks(options.seed, options.count)
    workers = min(options.workers, len(waiting))
    # One each: what waits in the queue would still be done when the time is up.
    for task in [waiting.pop(0) for _ in range(workers)]:
        given.put(task)
    avoided = known.avoided() if options.avoid else frozenset[str]()
    arguments = [(number, peer, folder, not options.no_reduce, avoided, options.every_engine, given, taken) for number in range(workers)]
    processes = [context.Process(target=work, args=each) for each in arguments]
    for process in processes:
        process.start()
    ended = told = 0
    while ended < workers:
        said = taken.get()
        if isinstance(said, str):
            ended += 1
            failures += said
            continue
        report.add(said)
        show_progress(said, report, started)
        if waiting and not (options.seconds and time.monotonic() - started > options.seconds):
            given.put(waiting.pop(0))
        elif told < workers:
            waiting.clear()
            for _ in range(workers - told):
                given.put(None)
            told = workers
    for process in processes:
        process.join()
    return report, failures


def show_progress(said: Report, report: Report, started: float) -> None:
    if said.findings:
        for finding in said.findings:
            if not finding.known_cause:
                print(finding.script, flush=True)
    seconds = time.monotonic() - started
    print(f"{report.statements} statements, {seconds:.0f} s, {report.statements / seconds:.0f}/s, {len(report.findings)} findings", file=sys.stderr, flush=True)
