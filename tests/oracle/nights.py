"""What the runs of several nights have asked. Seeds go on where the last run ended, so that no night asks again what another has asked."""

from __future__ import annotations

import json
import pathlib
from dataclasses import asdict, dataclass

from oracle.worker import STATEMENTS_OF_SCENARIO, Report

FIRST_SEED = 1_000


@dataclass(slots=True)
class Nights:
    """The sums of all runs, and the first set of tables that none has asked."""

    next_seed: int = FIRST_SEED
    runs: int = 0
    statements: int = 0
    seconds: float = 0
    unknown: int = 0

    @classmethod
    def read(cls, path: pathlib.Path) -> Nights:
        return cls(**json.loads(path.read_text())) if path.exists() else cls()

    def add(self, report: Report, seconds: float) -> None:
        """A set of tables that was only begun counts as asked."""
        self.next_seed += -(-report.statements // STATEMENTS_OF_SCENARIO)
        self.runs += 1
        self.statements += report.statements
        self.seconds += seconds
        self.unknown += sum(not finding.known_cause for finding in report.findings)

    def write(self, path: pathlib.Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self)) + "\n")

    def printed(self) -> str:
        return f"all runs: {self.statements} statements in {self.runs} runs, {self.seconds:.0f} s, {self.unknown} unknown differences; the next seed is {self.next_seed}"
