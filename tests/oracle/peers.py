"""A second opinion about a wrong answer: what DuckDB and SQLite say, where they understand the statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import duckdb

from oracle.schema import Scenario

ROWS_SHOWN = 12
Fetch = Callable[[str], list[tuple[Any, ...]]]


def opinions(scenario: Scenario, sql: str) -> list[str]:
    """Comments for a script; nothing of those who refuse the tables or the statement."""
    lines: list[str] = []
    for name, ask in (("DuckDB", duckdb_rows), ("SQLite", sqlite_rows)):
        try:
            rows = ask(scenario, sql)
        except (duckdb.Error, sqlite3.Error):
            continue
        lines.append(f"-- {name}:")
        lines += ["--   " + " | ".join("NULL" if value is None else str(value) for value in row) for row in rows[:ROWS_SHOWN]] or ["--   no rows"]
    return lines


def duckdb_rows(scenario: Scenario, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        for statement in scenario.statements(""):
            if not statement.startswith("CREATE INDEX"):
                connection.execute(statement)
        return connection.execute(sql).fetchall()


def sqlite_rows(scenario: Scenario, sql: str) -> list[tuple[Any, ...]]:
    """SQLite has no types to speak of: what needs one, it mostly refuses."""
    connection = sqlite3.connect(":memory:")
    try:
        for statement in scenario.statements(""):
            if not statement.startswith("CREATE INDEX"):
                connection.execute(statement)
        return connection.execute(sql).fetchall()
    finally:
        connection.close()
