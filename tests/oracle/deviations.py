"""Where Quire answers otherwise than PostgreSQL on purpose. Each is documented in docs/sql.md, and nothing else is forgiven.

Not here, because the comparison of numbers by value covers them: `avg` of integers is a DOUBLE PRECISION, and sums of BIGINT and divisions of
DECIMAL have other scales. `EXCEPT ALL` and `INTERSECT ALL` are not generated.
"""

from __future__ import annotations

import re

from oracle.wire import Answer, Wire


def without_padding(value: bytes | None) -> str | None:
    """CHAR(n) keeps no trailing blanks and pads none."""
    return None if value is None else value.decode().rstrip(" ")


def date_as_timestamp(value: bytes | None) -> str | None:
    """A DATE and a written INTERVAL of whole days or months give a DATE; PostgreSQL gives its midnight."""
    if value is None:
        return None
    text = value.decode()
    return text.removesuffix(" 00:00:00")


def rounding(values: list[bytes | None]) -> float:
    """How far a DECIMAL that is rounded may be from the exact one: `avg` of DECIMAL(p, s) has s + 4 digits."""
    digits = max((len(value.decode().partition(".")[2]) for value in values if value is not None), default=0)
    return 0.5000001 * 10.0**-digits


def is_wider_integer(expected: Answer, got: Answer) -> bool:
    """A number without a point is a BIGINT in expressions: where PostgreSQL's INTEGER overflows ours need not."""
    return expected.state == "22003" and re.fullmatch("(integer|smallint) out of range", expected.message) is not None and not got.is_error


def is_float_overflow(expected: Answer, got: Answer) -> bool:
    """Float overflow gives infinity, and underflow zero."""
    return expected.state == "22003" and re.fullmatch("value out of range: (over|under)flow", expected.message) is not None and not got.is_error


def is_error_of_a_constant(expected: Answer, got: Answer) -> bool:
    """An expression of constants is computed for rows; PostgreSQL computes it when it plans, and fails without a row.

    Whether PostgreSQL failed while it planned, only PostgreSQL knows: see `fails_in_planning`."""
    return expected.state in ("22003", "22008", "22012") and not got.is_error and not got.rows


def fails_in_planning(peer: Wire, sql: str, expected: Answer) -> bool:
    """Whether PostgreSQL fails in the same way without running the statement."""
    return peer.ask(f"EXPLAIN {sql}").state == expected.state


def explain(expected: Answer, got: Answer) -> str:
    """The deviation by which an error of PostgreSQL is rows of Quire, or nothing."""
    for rule in (is_wider_integer, is_float_overflow, is_error_of_a_constant):
        if rule(expected, got):
            return rule.__name__
    return ""
