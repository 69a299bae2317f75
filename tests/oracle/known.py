"""Differences that are known and not repaired yet: known.txt, which only gets shorter."""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass

from oracle.trials import Verdict

PATH = pathlib.Path(__file__).with_name("known.txt")


@dataclass(frozen=True, slots=True)
class Known:
    """`what` is looked for in the outcome with its message, `sql` in the statement after reduction."""

    issue: str
    cause: str
    what: re.Pattern[str]
    sql: re.Pattern[str]

    def covers(self, verdict: Verdict, sql: str) -> bool:
        said = f"{verdict.outcome}: {verdict.what}"
        return self.what.search(said) is not None and self.sql.search(sql) is not None


def read(path: pathlib.Path = PATH) -> list[Known]:
    """Lines of four fields between tabs: the issue, the cause, and two regular expressions."""
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            issue, cause, what, sql = line.split("\t")
            found.append(Known(issue, cause, re.compile(what), re.compile(sql, re.DOTALL)))
    return found


def cause_of(known: list[Known], verdict: Verdict, sql: str) -> str:
    return next((f"issue {each.issue}: {each.cause}" for each in known if each.covers(verdict, sql)), "")
