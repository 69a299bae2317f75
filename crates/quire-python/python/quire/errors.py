"""The exceptions of PEP 249. Which one an error is, the class of its SQLSTATE says.

>>> error_of("23505", "duplicate key", hint="Choose another.")
IntegrityError('duplicate key')
>>> error_of("22012", "division by zero").sqlstate
'22012'
"""

from typing import Optional


class Warning(Exception):  # noqa: A001 (PEP 249 names it so)
    """Something that the database warns of."""


class Error(Exception):
    """Whatever goes wrong: `sqlstate`, `message`, and where they are known `detail`, `hint`, `line` and `column`.

    >>> error = Error("no such table", sqlstate="42P01", hint="Perhaps you meant another.")
    >>> print(error)
    no such table
    HINT: Perhaps you meant another.
    """

    def __init__(
        self,
        message: str = "",
        *,
        sqlstate: Optional[str] = None,
        detail: Optional[str] = None,
        hint: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sqlstate = sqlstate
        self.detail = detail
        self.hint = hint
        self.line = line
        self.column = column

    def __str__(self) -> str:
        text = self.message
        if self.line is not None:
            text += f" (line {self.line}, column {self.column})"
        if self.detail is not None:
            text += f"\nDETAIL: {self.detail}"
        if self.hint is not None:
            text += f"\nHINT: {self.hint}"
        return text


class InterfaceError(Error):
    """The interface was used in a way in which it cannot be, such as a connection that is closed."""


class DatabaseError(Error):
    """An error of the database."""


class DataError(DatabaseError):
    """A value that cannot be: out of range, a division by zero, a text that is no date."""


class OperationalError(DatabaseError):
    """The database cannot, although nothing is wrong with the statement: full disk, no memory, conflict, cancellation."""


class IntegrityError(DatabaseError):
    """A key, a reference or a condition would be violated."""


class InternalError(DatabaseError):
    """The database is not in the state that the statement needs, such as a transaction that has failed."""


class ProgrammingError(DatabaseError):
    """The statement is wrong: its grammar, or a name that there is not."""


class NotSupportedError(DatabaseError):
    """The database does not have that."""


# By the class of the SQLSTATE, its first two characters.
_CLASSES: dict[str, type[DatabaseError]] = {
    "07": ProgrammingError,
    "08": OperationalError,
    "0A": NotSupportedError,
    "20": ProgrammingError,
    "21": ProgrammingError,
    "22": DataError,
    "23": IntegrityError,
    "24": InternalError,
    "25": InternalError,
    "26": ProgrammingError,
    "28": OperationalError,
    "2B": InternalError,
    "2D": InternalError,
    "34": ProgrammingError,
    "3B": InternalError,
    "3D": ProgrammingError,
    "3F": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "44": IntegrityError,
    "53": OperationalError,
    "54": OperationalError,
    "55": OperationalError,
    "57": OperationalError,
    "58": OperationalError,
    "XX": InternalError,
}


def error_of(
    sqlstate: str,
    message: str,
    *,
    detail: Optional[str] = None,
    hint: Optional[str] = None,
    line: Optional[int] = None,
    column: Optional[int] = None,
) -> DatabaseError:
    """The exception for an error of the database.

    >>> type(error_of("40001", "could not serialize access")).__name__
    'OperationalError'
    """
    found = _CLASSES.get(sqlstate[:2], DatabaseError)
    return found(message, sqlstate=sqlstate, detail=detail, hint=hint, line=line, column=column)
