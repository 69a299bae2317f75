"""Whether two answers have the same rows: Quire's text beside the values of another engine, or text beside text."""

import datetime
import decimal
import math

# Averages and quotients of decimals have six digits behind the point in Hyper, the last one cut off.
RELATIVE, ABSOLUTE = 1e-6, 2e-6


def plain(value):
    """A number where there is one, None for NULL and for no text, text without blanks around it otherwise."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | decimal.Decimal):
        try:
            return decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            return value.strip()
    return str(value)


def exact_columns(rows):
    """Places of the columns that are equal or wrong: text, dates and integers. The others may be rounded in another way."""
    def is_exact(value):
        return value is None or isinstance(value, str | int | datetime.date)
    return [at for at in range(len(rows[0]) if rows else 0) if all(is_exact(row[at]) for row in rows)]


def in_order(rows, first):
    """Rows as plain values, ordered by the columns that are exact and then by the others to six digits."""
    def shown(value):
        return f"{float(value):.6g}" if isinstance(value, decimal.Decimal) else str(value)

    def exact(value):
        return str(value.normalize() if isinstance(value, decimal.Decimal) else value)

    def key(row):
        return [exact(row[at]) for at in first], [shown(value) for value in row]
    return sorted(([plain(value) for value in row] for row in rows), key=key)


def is_close(one, other, relative, absolute):
    if isinstance(one, decimal.Decimal) and isinstance(other, decimal.Decimal):
        return one == other or math.isclose(float(one), float(other), rel_tol=relative, abs_tol=absolute)
    return one == other


def is_same(rows, expected, relative=RELATIVE, absolute=ABSOLUTE):
    """Whether the rows are those expected, in any order; numbers within the errors, because quotients have other digits elsewhere."""
    if len(rows) != len(expected):
        return False
    first = exact_columns(expected)
    return all(
        is_close(one, other, relative, absolute)
        for row, wanted in zip(in_order(rows, first), in_order(expected, first), strict=True)
        for one, other in zip(row, wanted, strict=True)
    )
