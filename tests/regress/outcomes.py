"""What psql printed on both sides for one statement, and whether it is the same."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

AGREES, NAMES, ORDER, WRONG = "agrees", "names differ", "another order", "wrong answer"
REFUSED, ACCEPTED, OTHER_ERROR = "refused", "accepted", "another error"
ERROR = re.compile(r"^(?:psql:\S+ )?(?:ERROR|FATAL|PANIC):  (\w{5})(?:: )?(.*)", re.MULTILINE)
NOTICE = re.compile(
    r"^(?:psql:\S+ )?(?:NOTICE|WARNING|INFO|DEBUG|LOG):.*$\n?|^(?:DETAIL|HINT|CONTEXT|LOCATION|LINE \d+):.*$\n?|^\s*\^\s*$\n?", re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    what: str = ""


def compare(expected: str, got: str, statement: str) -> Outcome:
    """An error is the same as another of its class; columns' names are told apart from rows."""
    theirs, ours = ERROR.search(expected), ERROR.search(got)
    if theirs and ours:
        return Outcome(AGREES) if theirs[1][:2] == ours[1][:2] else Outcome(OTHER_ERROR, f"{ours[1]} for {theirs[1]}")
    if ours:
        return Outcome(REFUSED, f"{ours[1]} {ours[2]}")
    if theirs:
        return Outcome(ACCEPTED, f"{theirs[1]} {theirs[2]}")
    left, right = (NOTICE.sub("", text).strip("\n").split("\n") for text in (expected, got))
    if left == right:
        return Outcome(AGREES)
    is_ordered = re.search(r"\bORDER\s+BY\b", outermost(statement), re.IGNORECASE) is not None
    if not same_rows(left[1:], right[1:], is_ordered):
        return Outcome(ORDER if is_ordered and same_rows(left[1:], right[1:], False) else WRONG)
    return Outcome(AGREES) if left[0] == right[0] else Outcome(NAMES, f"{right[0]} for {left[0]}")


def outermost(statement: str) -> str:
    """What does not stand in parentheses: the order of a subquery is not that of the rows."""
    depth, kept = 0, []
    for letter in statement:
        depth += (letter == "(") - (letter == ")")
        if depth <= 0:
            kept.append(letter)
    return "".join(kept)


def same_rows(left: list[str], right: list[str], is_ordered: bool) -> bool:
    if len(left) != len(right):
        return False
    one, other = ([tuple(reading(field) for field in line.split("|")) for line in lines] for lines in (left, right))
    if one == other:
        return True
    if not is_ordered and Counter(one) == Counter(other):
        return True
    pairs = zip(one, other) if is_ordered else zip(sorted(one, key=repr), sorted(other, key=repr))
    return all(len(a) == len(b) and all(is_close(x, y) for x, y in zip(a, b)) for a, b in pairs)


def reading(field: str) -> str:
    """Numbers by their value, texts without blanks at the end: scales differ and CHAR(n) is not padded, as the manual says."""
    field = field.rstrip(" ")
    try:
        number = Decimal(field)
    except InvalidOperation:
        return field
    return field if not number.is_finite() else format(number.normalize(), "f") if abs(number.adjusted()) < 400 else field


def is_close(one: str, other: str) -> bool:
    """Equal, or the same number to 15 digits: `avg` of integers is a DOUBLE PRECISION here."""
    if one == other:
        return True
    try:
        left, right = float(one), float(other)
    except ValueError:
        return False
    return math.isclose(left, right, rel_tol=1e-14) if math.isfinite(left) and math.isfinite(right) else False
