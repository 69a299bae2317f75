"""Statements that change a table: INSERT, UPDATE, DELETE, with RETURNING. What is left in the table is compared."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BOOL
from oracle.places import Atom, Maker, Place, joined
from oracle.schema import Column, Table
from oracle.tree import Node, clause, listing, text
from oracle.trials import Trial

CHANGE = "change"
FRESH = 1000


def change(make: Maker) -> Trial:
    make.sources_left, make.subqueries_left = 3, 1
    table = make.rng.choice([table for table in make.scenario.tables if not table.is_big])
    draw = make.rng.random()
    if draw < 0.4:
        node, needs_key = insert(make, table)
    else:
        node, needs_key = (update(make, table) if draw < 0.75 else delete(make, table)), False
    return Trial(node, "change", changed_table=table.name, needs_key=needs_key)


def returning(make: Maker, table: Table, name: str) -> Node | str:
    if not make.chance(0.5):
        return ""
    if make.chance(0.3):
        return clause("returning", " RETURNING *")
    place = Place(atoms_of(table, name), has_subqueries=False)
    items = [make.expression(kind, place, 1) for kind in make.kinds(place, make.rng.randint(1, 3))]
    return clause("returning", " RETURNING ", listing("", items))


def atoms_of(table: Table, name: str) -> list[Atom]:
    return [Atom(f"{name}.{column.name}", column.kind, column.is_tame) for column in table.columns]


def value(make: Maker, column: Column, place: Place, depth: int) -> Node:
    """What fits the column: tame, and as wide as it is."""
    made = make.expression(column.kind, place, depth, True)
    if column.kind is kinds.TEXT and column.declared != "TEXT":
        return joined("left(", made, ", 20)")
    if column.kind is kinds.NUMERIC:
        return joined("CAST(", made, f" AS {column.declared})")
    return made


def insert(make: Maker, table: Table) -> tuple[Node, bool]:
    """Fresh keys, unless a conflict is wanted."""
    columns = list(table.columns[:1]) + [column for column in table.columns[1:] if column.is_not_null or make.chance(0.8)]
    names = ", ".join(column.name for column in columns)
    has_conflict = bool(table.key) and make.chance(0.5)
    shift = "" if has_conflict else f" + {FRESH}"
    if make.chance(0.5):
        rows: list[Node] = []
        for number in range(1, make.rng.randint(1, 3) + 1):
            empty = Place([], has_subqueries=False)
            items = [text(f"{number}{shift}"), *(value(make, column, empty, 1) for column in columns[1:])]
            rows.append(joined("(", Node("", list(items), separator=", "), ")"))
        body = Node("insert_values", [f"INSERT INTO {table.name} ({names}) VALUES ", listing("", rows)])
    else:
        # Of a table with a key, so that the new keys are as unique as its own.
        source = make.rng.choice([other for other in make.scenario.tables if other.key and not other.is_big] or [table])
        place = Place(atoms_of(source, "s"))
        items = [text(f"s.id{shift}"), *(value(make, column, place, 1) for column in columns[1:])]
        filtered = clause("where", " WHERE ", make.expression(BOOL, place, 2)) if make.chance(0.6) else ""
        body = Node("insert_select", [f"INSERT INTO {table.name} ({names}) SELECT ", Node("", list(items), separator=", "), f" FROM {source.name} AS s", filtered])
    conflict: Node | str = on_conflict(make, table) if has_conflict else ""
    return Node("insert", [body, conflict, returning(make, table, table.name)], CHANGE), has_conflict


def on_conflict(make: Maker, table: Table) -> Node:
    if make.chance(0.4):
        return Node("conflict_do_nothing", [f" ON CONFLICT {make.rng.choice(['', '(id) '])}DO NOTHING"])
    place = Place(atoms_of(table, table.name) + atoms_of(table, "excluded"), has_subqueries=False)
    assigned = make.rng.sample(list(table.columns[1:]), make.rng.randint(1, min(2, len(table.columns) - 1)))
    items = [joined(f"{column.name} = ", value(make, column, place, 1)) for column in assigned]
    filtered = clause("conflict_where", " WHERE ", make.expression(BOOL, place, 1)) if make.chance(0.4) else ""
    return Node("conflict_do_update", [" ON CONFLICT (id) DO UPDATE SET ", listing("", items), filtered])


def other_table(make: Maker, table: Table) -> tuple[Node, list[Atom]] | None:
    """Another table of which each row of the changed one meets one row at most."""
    keyed = [other for other in make.scenario.tables if other.key and not other.is_big]
    if not keyed:
        return None
    other = make.rng.choice(keyed)
    meeting = Node("", [f"{table.name}.{make.rng.choice(['id', 'k'])} = o.id"])
    return joined(text(f"{other.name} AS o WHERE "), meeting), atoms_of(other, "o")


def update(make: Maker, table: Table) -> Node:
    other = other_table(make, table) if make.chance(0.4) else None
    place = Place(atoms_of(table, table.name) + (other[1] if other else []))
    assigned = make.rng.sample(list(table.columns[1:]), make.rng.randint(1, min(3, len(table.columns) - 1)))
    items = [joined(f"{column.name} = ", value(make, column, place, 2)) for column in assigned]
    if table.key and make.chance(0.1):
        items.append(text(f"id = {table.name}.id + {FRESH}"))
    extra = make.expression(BOOL, place, 2)
    if other:
        filtered: Node | str = joined(" FROM ", other[0], clause("", " AND ", extra))
    else:
        filtered = clause("where", " WHERE ", extra) if make.chance(0.8) else ""
    production = "update_from" if other else "update"
    return Node(production, [f"UPDATE {table.name} SET ", listing("", items), filtered, returning(make, table, table.name)], CHANGE)


def delete(make: Maker, table: Table) -> Node:
    other = other_table(make, table) if make.chance(0.4) else None
    place = Place(atoms_of(table, table.name) + (other[1] if other else []))
    extra = make.expression(BOOL, place, 2)
    if other:
        filtered: Node | str = joined(" USING ", other[0], clause("", " AND ", extra))
    else:
        filtered = clause("where", " WHERE ", extra) if make.chance(0.9) else ""
    return Node("delete_using" if other else "delete", [f"DELETE FROM {table.name}", filtered, returning(make, table, table.name)], CHANGE)
