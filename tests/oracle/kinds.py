"""Types, and their values as literals."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A type as the generator sees it: `sql` casts to it, `columns` are the declarations that have it."""

    name: str
    sql: str
    columns: tuple[str, ...]


BOOL = Kind("bool", "BOOLEAN", ("BOOLEAN",))
INT2 = Kind("int2", "SMALLINT", ("SMALLINT",))
INT4 = Kind("int4", "INTEGER", ("INTEGER",))
INT8 = Kind("int8", "BIGINT", ("BIGINT",))
NUMERIC = Kind("numeric", "DECIMAL(20, 4)", ("DECIMAL(12, 2)", "DECIMAL(18, 4)", "DECIMAL(38, 6)", "DECIMAL(9, 0)"))
FLOAT4 = Kind("float4", "REAL", ("REAL",))
FLOAT8 = Kind("float8", "DOUBLE PRECISION", ("DOUBLE PRECISION",))
TEXT = Kind("text", "TEXT", ("TEXT", "TEXT", "VARCHAR(20)"))
CHAR = Kind("char", "CHAR(6)", ("CHAR(6)",))
BYTES = Kind("bytea", "BYTEA", ("BYTEA",))
DATE = Kind("date", "DATE", ("DATE",))
TIMESTAMP = Kind("timestamp", "TIMESTAMP", ("TIMESTAMP",))
TIMESTAMPTZ = Kind("timestamptz", "TIMESTAMPTZ", ("TIMESTAMPTZ",))
# Not of columns.
INTERVAL = Kind("interval", "INTERVAL", ())

INTEGERS = (INT2, INT4, INT8)
FLOATS = (FLOAT4, FLOAT8)
NUMBERS = (*INTEGERS, NUMERIC, *FLOATS)
TIMES = (DATE, TIMESTAMP, TIMESTAMPTZ)
STORED = (BOOL, *NUMBERS, TEXT, CHAR, BYTES, *TIMES)
ALL = (*STORED, INTERVAL)

TAME_FLOATS = ["0", "1", "-1", "0.5", "-2.25", "3.75", "7", "-4", "42", "100"]
WILD_FLOATS = ["'NaN'", "'Infinity'", "'-Infinity'", "1e300", "-1e300", "1e-300", "0.1", "'-0.0'", "123456789.125", "16777217"]
WILD_FLOATS4 = ["'NaN'", "'Infinity'", "'-Infinity'", "3e38", "-3e38", "1e-30", "0.1", "'-0.0'", "16777217", "0.3333333"]
EXTREMES = {
    INT2: ["32767", "-32768", "255", "-1"],
    INT4: ["2147483647", "-2147483648", "65536", "1000000"],
    INT8: ["9223372036854775807", "-9223372036854775808", "4294967296", "9007199254740993"],
    NUMERIC: ["99999999.99", "-99999999.99", "0.01", "10.1", "12345.67", "-0.5"],
}
WORDS = ["", "a", "b", "ab", "abc", "abd", "B", "Abc", "xyz", "a b", " a", "10", "-3", "%", "a_c", "zebra", "hello world", "aaaaaaaaaaaa"]
WILD_WORDS = ["ä", "žluť", "🐎", "it''s", "\\", "ÄB", "a%b", "NULL", "tab\t", "line\nline", "2024-01-01", "ß"]
BLOBS = ["", "00", "ff", "6162", "616263", "00ff00", "deadbeef"]
DATES = ["2024-01-01", "2024-02-29", "2023-12-31", "2024-06-15", "1999-12-31", "2024-03-31", "2000-01-01", "1970-01-01"]
WILD_DATES = ["0001-01-01", "9999-12-31", "1969-12-31", "1900-02-28", "2400-02-29", "1582-10-15"]
HOURS = ["00:00:00", "00:00:00", "12:34:56", "23:59:59.999999", "06:00:00", "01:02:03.5"]
SPANS = [
    "1 day", "1 month", "1 hour", "90 minutes", "-1 day", "2 years", "1 week", "3 days", "24 hours", "30 days", "15 seconds", "-2 months", "0 days",
]


def literal(kind: Kind, rng: random.Random, is_wild: bool = False) -> str:
    """A literal with its type, so that every side reads the same value."""
    if kind is BOOL:
        return rng.choice(["true", "false"])
    if kind in INTEGERS:
        value = rng.choice(EXTREMES[kind]) if is_wild and rng.random() < 0.5 else str(rng.randint(-5, 12))
        return value if kind is INT4 and rng.random() < 0.9 else cast(value, kind)
    if kind is NUMERIC:
        value = rng.choice(EXTREMES[kind]) if is_wild and rng.random() < 0.5 else rng.choice(["0.5", "1.25", "-2.5", "3.00", "10.5", "0.0", "7.75"])
        return f"CAST({value} AS DECIMAL(12, 2))" if rng.random() < 0.5 else value
    if kind in FLOATS:
        wild = WILD_FLOATS4 if kind is FLOAT4 else WILD_FLOATS
        return cast(rng.choice(wild) if is_wild and rng.random() < 0.5 else rng.choice(TAME_FLOATS), kind)
    if kind in (TEXT, CHAR):
        return literal_of_text(kind, rng, is_wild)
    if kind is BYTES:
        return f"'\\x{rng.choice(BLOBS)}'::BYTEA"
    if kind is INTERVAL:
        return f"INTERVAL '{rng.choice(SPANS)}'"
    return literal_of_time(kind, rng, is_wild)


def literal_of_text(kind: Kind, rng: random.Random, is_wild: bool) -> str:
    word = rng.choice(WILD_WORDS) if is_wild and rng.random() < 0.5 else rng.choice(WORDS)
    if kind is CHAR:
        return f"'{word.rstrip()[:6] if chr(39) not in word else 'q'}'::CHAR(6)"
    return f"'{word}'"


def literal_of_time(kind: Kind, rng: random.Random, is_wild: bool) -> str:
    day = rng.choice(WILD_DATES) if is_wild and rng.random() < 0.5 else rng.choice(DATES)
    if kind is DATE:
        return f"DATE '{day}'"
    hour = rng.choice(HOURS)
    if kind is TIMESTAMP:
        return f"TIMESTAMP '{day} {hour}'"
    # The first and the last day have no other zone's midnight.
    day = day if day not in WILD_DATES[:2] else "1970-01-01"
    return f"TIMESTAMPTZ '{day} {hour}{rng.choice(['+00', '+00', '+02', '-05'])}'"


def cast(value: str, kind: Kind) -> str:
    return f"CAST({value} AS {kind.sql})"


def null(kind: Kind) -> str:
    return f"NULL::{kind.sql}"


def simplest(kind: Kind) -> tuple[str, ...]:
    """What reduction tries for an expression."""
    known = {
        BOOL: ("true", "false"), INT2: ("1::SMALLINT",), INT4: ("1", "0"), INT8: ("1::BIGINT",), NUMERIC: ("1.5",),
        FLOAT4: ("1::REAL",), FLOAT8: ("1::DOUBLE PRECISION",), TEXT: ("'a'", "''"), DATE: ("DATE '2024-01-01'",), INTERVAL: ("INTERVAL '1 day'",),
    }
    return (*known.get(kind, ()), null(kind))
