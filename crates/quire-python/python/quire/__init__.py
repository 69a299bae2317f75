"""Quire: an embedded SQL database, one file on disk.

>>> import quire
>>> with quire.connect(":memory:") as connection:
...     _ = connection.execute("CREATE TABLE city (name TEXT PRIMARY KEY, people BIGINT)")
...     _ = connection.execute("INSERT INTO city VALUES (?, ?)", ("Oslo", 717710))
...     connection.sql("SELECT * FROM city").fetchall()
[('Oslo', 717710)]

The interface is that of PEP 249, and data frames go in and out: `Relation.df`, `Relation.pl`, `Relation.arrow`, and
variables that hold frames can be named in statements like tables.
"""

from quire._quire import Connection, Cursor, Relation, __version__, connect
from quire.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from quire.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
# Threads may share the module, connections and cursors: what they do at the same time happens one after the other.
threadsafety = 3
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "Binary",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ROWID",
    "Relation",
    "STRING",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
