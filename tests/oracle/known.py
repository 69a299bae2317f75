"""Differences that are known and not repaired yet: known.txt, which only gets shorter."""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass

from oracle.trials import Verdict

AVOIDED = "avoid"
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
    for issue, cause, what, sql in lines(path):
        if what != AVOIDED:
            found.append(Known(issue, cause, re.compile(what), re.compile(sql, re.DOTALL)))
    return found


def avoided(path: pathlib.Path = PATH) -> frozenset[str]:
    """Productions that the short run does not make, because too many of their statements would differ: `avoid` and their name."""
    return frozenset(name for _, _, what, name in lines(path) if what == AVOIDED)


def lines(path: pathlib.Path) -> list[tuple[str, str, str, str]]:
    found = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            issue, cause, what, sql = line.split("\t")
            found.append((issue, cause, what, sql))
    return found


def cause_of(known: list[Known], verdict: Verdict, sql: str) -> str:
    return next((f"issue {each.issue}: {each.cause}" for each in known if each.covers(verdict, sql)), "")
