"""Random tables with their rows, as statements for each side."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from oracle import kinds
from oracle.kinds import Kind

BIG_ROWS = (200, 700)
INSERTED_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    declared: str
    is_tame: bool
    is_not_null: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`key` and `indexes` are of row tables only; column tables have neither."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    key: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    is_vacuumed: bool = False
    is_analyzed: bool = False
    # Its first half is vacuumed before the rest is inserted, so that a column table has row groups and a delta.
    is_in_two_parts: bool = False

    @property
    def is_big(self) -> bool:
        return len(self.rows) >= BIG_ROWS[0]

    def declaration(self, storage: str) -> str:
        columns = [f"{column.name} {column.declared}{' NOT NULL' if column.is_not_null else ''}" for column in self.columns]
        if self.key and storage != "column":
            columns.append(f"PRIMARY KEY ({', '.join(self.key)})")
        using = f" USING {storage}" if storage else ""
        return f"CREATE TABLE {self.name} ({', '.join(columns)}){using}"

    def inserts(self, rows: tuple[tuple[str, ...], ...]) -> list[str]:
        found = []
        for start in range(0, len(rows), INSERTED_AT_ONCE):
            values = ", ".join(f"({', '.join(row)})" for row in rows[start:start + INSERTED_AT_ONCE])
            found.append(f"INSERT INTO {self.name} VALUES {values}")
        return found

    def statements(self, storage: str) -> list[str]:
        """`storage` is `row`, `column`, or nothing for PostgreSQL."""
        made = [self.declaration(storage)]
        half = len(self.rows) // 2 if self.is_in_two_parts else len(self.rows)
        made += self.inserts(self.rows[:half])
        if half < len(self.rows):
            made += [f"VACUUM {self.name}"] if storage else []
            made += self.inserts(self.rows[half:])
        if storage != "column":
            made += [f"CREATE INDEX ON {self.name} ({', '.join(index)})" if not storage else
                     f"CREATE INDEX {self.name}_{'_'.join(index)} ON {self.name} ({', '.join(index)})" for index in self.indexes]
        if storage and self.is_vacuumed and not self.is_in_two_parts:
            made.append(f"VACUUM {self.name}")
        if storage and self.is_analyzed:
            made.append(f"ANALYZE {self.name}")
        return made


@dataclass(frozen=True, slots=True)
class View:
    name: str
    columns: tuple[Column, ...]
    query: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """What statements run on. `mixed` are the tables that are row tables on the side of column tables, too."""

    tables: tuple[Table, ...]
    views: tuple[View, ...] = ()
    mixed: frozenset[str] = frozenset()
    # Settings for Quire's sides that must not change an answer.
    settings: tuple[str, ...] = field(default=())
    # What has happened to the tables since they were made, by table.
    changes: tuple[tuple[str, str], ...] = ()

    def statements(self, storage: str) -> list[str]:
        made: list[str] = []
        for table in self.tables:
            made += table.statements("row" if storage == "column" and table.name in self.mixed else storage)
        made += [sql for _, sql in self.changes]
        return made + [f"CREATE VIEW {view.name} AS {view.query}" for view in self.views]

    def drops(self) -> list[str]:
        views = [f"DROP VIEW IF EXISTS {view.name}" for view in reversed(self.views)]
        return views + [f"DROP TABLE IF EXISTS {table.name}" for table in self.tables]

    def with_table(self, name: str, table: Table | None) -> Scenario:
        tables = tuple(kept for kept in (table if old.name == name else old for old in self.tables) if kept is not None)
        changes = self.changes if table is not None else tuple(change for change in self.changes if change[0] != name)
        return replace(self, tables=tables, changes=changes)

    def changed(self) -> Scenario:
        """The same after rows of each table have been updated and deleted."""
        made: list[tuple[str, str]] = []
        for table in self.tables:
            made.append((table.name, f"UPDATE {table.name} SET k = k + 1 WHERE id % 5 = 2"))
            made.append((table.name, f"DELETE FROM {table.name} WHERE id % 7 = 4"))
        return replace(self, changes=tuple(made))


SETTINGS = [
    "SET batch_rows = 17", "SET threads = 1", "SET threads = 4", "SET quire.join_order = off", "SET quire.filter_pushdown = off",
    "SET quire.native_code = off", "SET quire.zone_pruning = off", "SET quire.statement_path = off",
]


def random_scenario(rng: random.Random) -> Scenario:
    palette = rng.sample(kinds.STORED, 6)
    tables = [random_table(rng, f"t{number}", palette) for number in range(1, 5)]
    if rng.random() < 0.3:
        tables.append(random_table(rng, "big", palette, rng.randint(*BIG_ROWS)))
    mixed = frozenset(table.name for table in tables if rng.random() < 0.5) if rng.random() < 0.3 else frozenset()
    settings = tuple(rng.sample(SETTINGS, rng.randint(1, 2))) if rng.random() < 0.4 else ()
    return Scenario(tuple(tables), (), mixed, settings)


def random_table(rng: random.Random, name: str, palette: list[Kind], row_count: int | None = None) -> Table:
    """`id` and `k` have the same types in every table, for USING and NATURAL; `id` is unique where there is a key."""
    letter = name[0] if row_count else name[-1]
    columns = [Column("id", kinds.INT4, "INTEGER", True), Column("k", kinds.INT4, "INTEGER", True)]
    for number in range(rng.randint(2, 6)):
        kind = rng.choice(palette)
        columns.append(Column(f"{kind.name[0]}{letter}{number}", kind, rng.choice(kind.columns), rng.random() < 0.7, rng.random() < 0.15))
    if row_count is None:
        row_count = rng.choice([0, 1, 2, 3, 5, 6, 8, 8, 10, 12])
    has_key = rng.random() < 0.6
    null_share = rng.choice([0.0, 0.1, 0.3])
    rows = tuple(random_row(rng, columns, number, null_share, has_key) for number in range(1, row_count + 1))
    if not has_key and rows and rng.random() < 0.5:
        rows = rows + tuple(rng.choice(rows) for _ in range(rng.randint(1, 4)))
    named = [column.name for column in columns if column.kind is not kinds.BYTES]
    indexes = tuple(dict.fromkeys(tuple(rng.sample(named, rng.randint(1, min(2, len(named))))) for _ in range(rng.randint(0, 2))))
    return Table(
        name, tuple(columns), rows, ("id",) if has_key else (), indexes if has_key or rng.random() < 0.3 else (),
        rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.3,
    )


def random_row(rng: random.Random, columns: list[Column], number: int, null_share: float, has_key: bool) -> tuple[str, ...]:
    values = [str(number if has_key or rng.random() < 0.8 else rng.randint(1, 8))]
    for column in columns[1:]:
        if not column.is_not_null and rng.random() < null_share:
            values.append("NULL")
        elif column.name == "k":
            values.append(str(rng.randint(0, 6)))
        else:
            values.append(kinds.literal(column.kind, rng, not column.is_tame))
    return tuple(values)
