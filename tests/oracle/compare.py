"""Whether two answers are the same: rows as multisets, in order where the statement gives one."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from oracle import deviations
from oracle.wire import Answer

Row = tuple[bytes | None, ...]
Value = str | float | None

# OIDs of PostgreSQL's catalog.
INTEGERS = frozenset({20, 21, 23})
NUMERIC, FLOAT4, FLOAT8 = 1700, 700, 701
NUMBERS = INTEGERS | {NUMERIC, FLOAT4, FLOAT8}
TEXTS = frozenset({18, 19, 25, 705, 1042, 1043})
BPCHAR, DATE, TIMESTAMP, INTERVAL = 1042, 1082, 1114, 1186



@dataclass(frozen=True, slots=True)
class Tolerance:
    """Of computed aggregates: relative to the value, or to one; and as it is."""

    relative: float = 1e-9
    absolute: float = 0.0

    def allows(self, one: float, other: float) -> bool:
        return one == other or abs(one - other) <= max(self.absolute, self.relative * max(1.0, abs(one), abs(other)))


# A total of REALs is one, and depends on the order of the rows as they are read.
OF_REALS = Tolerance(1e-5)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What is known of the rows. `order` are the columns that they are ordered by; `approximate` those with inexact values."""

    order: tuple[int, ...] = ()
    is_total: bool = False
    approximate: frozenset[int] = frozenset()


def difference(expected: Answer, got: Answer, expectation: Expectation) -> str:
    """Nothing if the rows are the same, or what differs."""
    if expected.rows == got.rows:
        return ""
    if len(expected.types) != len(got.types):
        return f"{len(got.types)} columns instead of {len(expected.types)}"
    if len(expected.rows) != len(got.rows):
        return f"{len(got.rows)} rows instead of {len(expected.rows)}"
    readers = [reader(one, other) for one, other in zip(expected.types, got.types)]
    left, right = ([tuple(read(value) for read, value in zip(readers, row)) for row in rows] for rows in (expected.rows, got.rows))
    if expectation.order:
        keys = range(len(readers)) if expectation.is_total else expectation.order
        for at, (one, other) in enumerate(zip(left, right)):
            if any(one[key] != other[key] for key in keys):
                return f"row {at + 1} differs" if expectation.is_total else f"the order differs at row {at + 1}"
        if expectation.is_total:
            return ""
    tolerances = {at: tolerance(expected, got, at) for at in expectation.approximate if at < len(readers)}
    return difference_of_sets(left, right, tolerances)


def tolerance(expected: Answer, got: Answer, at: int) -> Tolerance:
    kinds = (expected.types[at], got.types[at])
    if FLOAT4 in kinds:
        return OF_REALS
    return Tolerance(absolute=deviations.rounding([row[at] for row in got.rows])) if kinds == (NUMERIC, NUMERIC) else Tolerance()


def difference_of_sets(left: list[tuple[Value, ...]], right: list[tuple[Value, ...]], approximate: Mapping[int, Tolerance]) -> str:
    def sort_key(row: tuple[Value, ...]) -> tuple[tuple[int, str, float], ...]:
        exact = [value for at, value in enumerate(row) if at not in approximate]
        return tuple(orderable(value) for value in [*exact, *(row[at] for at in sorted(approximate) if at < len(row))])

    for one, other in zip(sorted(left, key=sort_key), sorted(right, key=sort_key)):
        for at, (value, found) in enumerate(zip(one, other)):
            if value != found and not (at in approximate and is_close(value, found, approximate[at])):
                return f"column {at + 1} differs"
    return ""


def orderable(value: Value) -> tuple[int, str, float]:
    if value is None:
        return (2, "", 0.0)
    return (0, value, 0.0) if isinstance(value, str) else (1, "", value)


def is_close(one: Value, other: Value, allowed: Tolerance) -> bool:
    if one is None or other is None:
        return False
    try:
        one, other = float(one), float(other)
    except ValueError:
        return False
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return allowed.allows(one, other)


def reader(expected: int, got: int) -> Callable[[bytes | None], Value]:
    """How values of two types are read so that equal ones are equal."""
    if expected in NUMBERS and got in NUMBERS:
        if FLOAT4 in (expected, got):
            return single
        return double if FLOAT8 in (expected, got) else exact
    if expected == BPCHAR:
        return deviations.without_padding
    if expected == TIMESTAMP and got == DATE:
        return deviations.date_as_timestamp
    return plain


def plain(value: bytes | None) -> Value:
    return None if value is None else value.decode()


def exact(value: bytes | None) -> Value:
    """Digits without a sign of zero or zeros at the end."""
    if value is None:
        return None
    text = value.decode()
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "", "-") else text


def double(value: bytes | None) -> Value:
    """NaN is equal to itself here, and zero has no sign."""
    if value is None:
        return None
    number = float(value)
    return "NaN" if math.isnan(number) else number + 0.0


def single(value: bytes | None) -> Value:
    """Both as a REAL: text of a DOUBLE PRECISION with the same value has more digits."""
    number = double(value)
    if not isinstance(number, float) or math.isinf(number):
        return number
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number
