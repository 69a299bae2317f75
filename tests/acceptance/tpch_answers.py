"""Rows of an answer, as text, beside those of DuckDB."""

import datetime
import decimal
import re

# A decimal with fewer digits than this after the point is compared with a double as a double.
AVERAGE_DIGITS_MIN = 4
RELATIVE_ERROR_MAX = 1e-9


def order_columns(sql):
    """The output columns named in the last ORDER BY."""
    tail = re.split(r"\border by\b", sql)
    if len(tail) == 1 or ")" in tail[-1]:
        return []
    names = tail[-1].split("limit")[0].split(",")
    return [name.split()[0] for name in names]


def value_of(text, expected):
    """Quire's text as a value of the kind that DuckDB returned."""
    if text is None or isinstance(expected, str):
        return text
    if isinstance(expected, datetime.date):
        return datetime.date.fromisoformat(text)
    return decimal.Decimal(text)


def is_same(value, expected):
    """Whether two values are equal, with the freedom that a quotient has."""
    if value is None or expected is None or isinstance(expected, str):
        return value == expected
    if not isinstance(expected, float):
        return value == expected
    difference = abs(value - decimal.Decimal(expected))
    digits = max(0, -value.as_tuple().exponent)
    last_digit = decimal.Decimal(1).scaleb(-digits) if digits >= AVERAGE_DIGITS_MIN else 0
    return difference <= max(last_digit, abs(decimal.Decimal(expected)) * decimal.Decimal(RELATIVE_ERROR_MAX))


def check(test, sql, texts, duckdb):
    """Fails unless the rows of a query are DuckDB's."""
    cursor = duckdb.execute(sql)
    names = [column[0] for column in cursor.description]
    expected = cursor.fetchall()
    test.assertEqual(len(texts), len(expected), "number of rows")
    kinds = [next((row[at] for row in expected if row[at] is not None), None) for at in range(len(names))]
    rows = [[value_of(text, kind) for text, kind in zip(row, kinds, strict=True)] for row in texts]
    keys = [names.index(name) for name in order_columns(sql)]
    exact = [at for at, kind in enumerate(kinds) if not isinstance(kind, float) and at not in keys]

    def in_order(rows):
        # Rows with equal keys may come in any order: order them by their exact columns.
        groups, previous = [], None
        for row in rows:
            key = tuple(row[at] for at in keys)
            if not groups or key != previous:
                groups.append([])
            groups[-1].append(row)
            previous = key
        return [row for group in groups for row in sorted(group, key=lambda row: [str(row[at]) for at in exact])]

    for row, wanted in zip(in_order(rows), in_order(expected), strict=True):
        for name, value, want in zip(names, row, wanted, strict=True):
            test.assertTrue(is_same(value, want), f"{name}: {value!r}, DuckDB {want!r}\n{row}\n{wanted}")
