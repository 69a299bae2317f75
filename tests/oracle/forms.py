"""Pairs of statements that must give the same rows, whatever the rows are: what finds mistakes without another database.

Each form makes both of one tree, so that a smaller tree is a smaller pair. Ternary logic partitioning (TLP), NoREC and pivoted query synthesis
(PQS) are those of M. Rigger and Z. Su (OOPSLA 2020, ESEC/FSE 2020, OSDI 2020); the others exchange a construct for an equal one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from oracle import kinds
from oracle.kinds import BOOL
from oracle.places import Atom, Maker, Place
from oracle.queries import query
from oracle.sources import sources
from oracle.tree import Node, clause, listing, replaced
from oracle.trials import Asked, Trial

Form = Callable[[Maker], Trial | None]


def tail(parts: list[Node | str]) -> str:
    return "".join(part if isinstance(part, str) else part.sql() for part in parts)


def core(make: Maker, depth: int = 2) -> tuple[Node, Node, Node, Place]:
    """Items, sources, a condition, and their place."""
    node, place = sources(make, None, depth)
    items = listing("", [make.expression(kind, place, 1) for kind in make.kinds(place, make.rng.randint(1, 3))])
    return items, node, make.expression(BOOL, place, 3), place


def partitioning(make: Maker) -> Trial:
    """TLP: every row is where the condition is true, false or unknown."""
    items, source, condition, _ = core(make)

    def pair(root: Node) -> list[Asked]:
        items, source, condition = (tail([part]) for part in root.parts)
        parts = [f"SELECT {items} FROM {source} WHERE {test.format(condition)}" for test in ("{}", "NOT ({})", "({}) IS NULL")]
        return [Asked(f"SELECT {items} FROM {source}"), Asked(" UNION ALL ".join(parts))]

    return Trial(Node("partitioning", [items, source, condition]), "TLP", pair=pair)


def partitioned_groups(make: Maker) -> Trial:
    """TLP over an aggregate: what is counted in three parts is what is counted at once."""
    items, source, condition, _ = core(make)

    def pair(root: Node) -> list[Asked]:
        _, source, condition = (tail([part]) for part in root.parts)
        parts = [f"SELECT count(*) AS n FROM {source} WHERE {test.format(condition)}" for test in ("{}", "NOT ({})", "({}) IS UNKNOWN")]
        return [Asked(f"SELECT count(*) FROM {source}"), Asked(f"SELECT sum(n) FROM ({' UNION ALL '.join(parts)}) AS parts")]

    return Trial(Node("partitioned_groups", [items, source, condition]), "TLP", pair=pair)


def without_optimization(make: Maker) -> Trial:
    """NoREC: rows that a filter leaves are those for which its condition, as a value, is true."""
    items, source, condition, _ = core(make)

    def pair(root: Node) -> list[Asked]:
        _, source, condition = (tail([part]) for part in root.parts)
        return [
            Asked(f"SELECT count(*) FROM {source} WHERE {condition}"),
            Asked(f"SELECT coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0) FROM {source}"),
        ]

    return Trial(Node("without_optimization", [items, source, condition]), "NoREC", pair=pair)


def pivot(make: Maker) -> Trial | None:
    """PQS: a condition about one row is what it is about the same row, alone and written out."""
    tables = [table for table in make.scenario.tables if table.rows]
    if not tables:
        return None
    table = make.rng.choice(tables)
    row = make.rng.choice(table.rows)
    place = Place([Atom(f"p.{column.name}", column.kind, column.is_tame) for column in table.columns], has_subqueries=make.chance(0.3))
    condition = make.expression(BOOL, place, 3)
    # As the column has it: rounded, and of its type.
    values = ", ".join(f"CAST({value} AS {column.declared}) AS {column.name}" for column, value in zip(table.columns, row))
    same = " AND ".join(f"p.{column.name} IS NOT DISTINCT FROM CAST({value} AS {column.declared})" for column, value in zip(table.columns, row))

    def pair(root: Node) -> list[Asked]:
        condition = root.sql()
        return [
            Asked(f"SELECT ({condition}) IS TRUE FROM (SELECT {values}) AS p"),
            Asked(f"SELECT count(*) > 0 FROM {table.name} AS p WHERE ({condition}) AND {same}"),
        ]

    return Trial(Node("pivot", [condition]), "PQS", pair=pair)


def membership(make: Maker) -> Trial:
    """IN, EXISTS and a join with distinct rows leave the same rows."""
    node, place = sources(make, None, 1)
    kind = make.kind(place)
    items = listing("", [make.expression(each, place, 0) for each in make.kinds(place, 2)])
    tested = make.expression(kind, place, 1)
    inner, _ = query(make, None, 1, [kind], make.may("values_in_condition"))
    is_negated, is_join = make.chance(0.4), make.chance(0.5)

    def pair(root: Node) -> list[Asked]:
        items, source, tested, inner = (tail([part]) for part in root.parts)
        head = f"SELECT {items} FROM {source} "
        if is_negated:
            return [
                Asked(f"{head}WHERE {tested} NOT IN ({inner})"),
                Asked(f"{head}WHERE NOT EXISTS (SELECT 1 FROM ({inner}) AS z(c) WHERE (z.c = {tested}) IS NOT FALSE)"),
            ]
        if is_join:
            joined = f"SELECT {items} FROM ({source}) JOIN (SELECT DISTINCT z.c FROM ({inner}) AS z(c)) AS y(c) ON y.c = {tested}"
            joined = joined if "JOIN" in source and "," not in source else f"{head.rstrip()} CROSS JOIN (SELECT DISTINCT z.c FROM ({inner}) AS z(c)) AS y(c) WHERE y.c = {tested}"
            return [Asked(f"{head}WHERE {tested} IN ({inner})"), Asked(joined)]
        return [Asked(f"{head}WHERE {tested} IN ({inner})"), Asked(f"{head}WHERE EXISTS (SELECT 1 FROM ({inner}) AS z(c) WHERE z.c = {tested})")]

    return Trial(Node("membership", [items, node, tested, inner]), "IN, EXISTS and JOIN", pair=pair)


def common_or_inline(make: Maker) -> Trial:
    """WITH, a view, and a subquery in FROM are the same."""
    inner, outputs = query(make, None, 2, make.rng.randint(1, 3))
    names = ", ".join(f"c{at}" for at in range(1, len(outputs) + 1))
    place = Place([Atom(f"w.c{at}", output.kind, output.is_tame) for at, output in enumerate(outputs, 1)], has_subqueries=False)
    items = listing("", [make.expression(kind, place, 2) for kind in make.kinds(place, 2)])
    filtered = clause("where", " WHERE ", make.expression(BOOL, place, 2))
    is_view = make.chance(0.3)

    def pair(root: Node) -> list[Asked]:
        inner, items, filtered = (tail([part]) for part in root.parts)
        inline = Asked(f"SELECT {items} FROM ({inner}) AS w({names}){filtered}")
        if is_view:
            return [inline, Asked(f"SELECT {items} FROM w{filtered}", before=("BEGIN", f"CREATE VIEW w({names}) AS {inner}"), after=("ROLLBACK",))]
        return [inline, Asked(f"WITH w({names}) AS ({inner}) SELECT {items} FROM w{filtered}")]

    return Trial(Node("common_or_inline", [inner, items, filtered]), "WITH, view and subquery", pair=pair)


def literals(root: Node) -> list[Node]:
    return [node for node in root.walk() if node.production == "literal" and node.category in kinds_by_name]


kinds_by_name = {kind.name: kind for kind in kinds.ALL}


def constant_or_column(make: Maker) -> Trial:
    """A constant is what the same value in a table of one row is."""
    items, source, condition, _ = core(make, 1)

    def pair(root: Node) -> list[Asked]:
        items, source, condition = (tail([part]) for part in root.parts)
        found = literals(root.parts[2]) if isinstance(root.parts[2], Node) else []
        written = Asked(f"SELECT {items} FROM {source} WHERE {condition}")
        if not found or not isinstance(root.parts[2], Node):
            return [written, written]
        kind = kinds_by_name[found[0].category]
        changed = replaced(root.parts[2], found[0], Node("", ["one.c"])).sql()
        return [written, Asked(f"SELECT {items} FROM {source}, (VALUES (CAST({found[0].sql()} AS {kind.sql}))) AS one(c) WHERE {changed}")]

    return Trial(Node("constant_or_column", [items, source, condition]), "constant and column", pair=pair)


VALUE = re.compile(r"'((?:[^']|'')*)'|(-?\d+(?:\.\d+)?(?:e-?\d+)?)")


def parameters(make: Maker) -> Trial:
    """A prepared statement with values is what it is with literals."""
    items, source, condition, _ = core(make, 1)

    def pair(root: Node) -> list[Asked]:
        changed, values = root, list[bytes]()
        for node in literals(root):
            found = VALUE.search(node.sql())
            if found is None or node.category == kinds.NUMERIC.name or found[0] not in node.sql().removeprefix("CAST("):
                continue
            values.append((found[1].replace("''", "'") if found[1] is not None else found[2]).encode())
            changed = replaced(changed, node, Node("", [f"CAST(${len(values)} AS {kinds_by_name[node.category].sql})"]))
        form = "SELECT {} FROM {} WHERE {}"
        return [Asked(form.format(*(tail([part]) for part in root.parts))), Asked(form.format(*(tail([part]) for part in changed.parts)), values=tuple(values))]

    return Trial(Node("parameters", [items, source, condition]), "parameters and literals", pair=pair)


FORMS: tuple[Form, ...] = (
    partitioning, partitioning, partitioned_groups, without_optimization, pivot, pivot, membership, membership, common_or_inline, constant_or_column, parameters,
    parameters,
)


def form(make: Maker) -> Trial:
    """A pair of one of the forms."""
    make.sources_left, make.subqueries_left = make.rng.choice([2, 3, 4]), make.rng.choice([0, 1, 2])
    made: Trial | None = None
    while made is None:
        chosen = make.rng.choice(FORMS)
        made = chosen(make) if make.may(chosen.__name__) else None
    return made
