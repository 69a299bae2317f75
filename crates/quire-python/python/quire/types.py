"""Type objects and constructors of PEP 249.

>>> NUMBER == "DECIMAL(10,2)", STRING == "TEXT", DATETIME == "TEXT"
(True, True, False)
>>> Date(2024, 2, 29)
datetime.date(2024, 2, 29)
"""

import datetime

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """The date of a point in time, in seconds since 1970, where the machine is.

    >>> isinstance(DateFromTicks(0), datetime.date)
    True
    """
    return datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> datetime.time:
    """The time of day of a point in time, in seconds since 1970, where the machine is.

    >>> isinstance(TimeFromTicks(0), datetime.time)
    True
    """
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """A point in time, in seconds since 1970, as clocks show it where the machine is.

    >>> isinstance(TimestampFromTicks(0), datetime.datetime)
    True
    """
    return datetime.datetime.fromtimestamp(ticks)


class TypeObject:
    """Equals the names of SQL types of one kind, as `Cursor.description` has them."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.partition("(")[0] in self.names
        return isinstance(other, TypeObject) and self.names == other.names

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"TypeObject({', '.join(sorted(self.names))})"


STRING = TypeObject("TEXT")
BINARY = TypeObject("BYTEA")
NUMBER = TypeObject("BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION", "DECIMAL")
DATETIME = TypeObject("DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "INTERVAL")
ROWID = TypeObject()
