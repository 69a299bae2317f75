"""FROM: tables, views, subqueries, lists of values, joins."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import INT4, Kind
from oracle.places import Atom, Maker, Place, joined
from oracle.schema import Column
from oracle.tree import SOURCE, Node, clause, listing, text

Made = tuple[Node, list[Atom]]
# What full joins can be done by.
JOINABLE = (kinds.BOOL, *kinds.INTEGERS, kinds.NUMERIC, kinds.FLOAT8, kinds.TEXT, kinds.DATE, kinds.TIMESTAMP)


def source(make: Maker, outer: Place | None, depth: int) -> Made:
    """A table, or something that stands for one."""
    make.sources_left -= 1
    draw = make.rng.random()
    if make.common and draw < 0.25:
        return of_common(make)
    if depth > 0 and make.sources_left > 0:
        if draw < 0.37:
            return of_subquery(make, None, depth, "subquery_in_from")
        if draw < 0.42:
            return of_values(make)
        if draw < 0.46:
            return of_series(make)
    return of_table(make)


def of_table(make: Maker) -> Made:
    tables = [table for table in make.scenario.tables if not table.is_big or make.sources_left >= 2 and not make.has_big_table]
    if make.scenario.views and make.chance(0.15):
        view = make.rng.choice(make.scenario.views)
        return named(make, "view", view.name, view.columns)
    table = make.rng.choice(tables)
    make.has_big_table |= table.is_big
    return named(make, "table", table.name, table.columns, table.key)


def named(make: Maker, production: str, name: str, columns: tuple[Column, ...], key: tuple[str, ...] = ()) -> Made:
    alias = make.name("a")
    atoms = [Atom(f"{alias}.{column.name}", column.kind, column.is_tame, True, column.name in key) for column in columns]
    return Node(production, [f"{name} AS {alias}"], SOURCE), atoms


def of_common(make: Maker) -> Made:
    name, columns = make.rng.choice(make.common)
    alias = make.name("a")
    atoms = [Atom(f"{alias}.{column.sql}", column.kind, column.is_tame) for column in columns]
    return Node("common_table", [f"{name} AS {alias}"], SOURCE), atoms


def of_subquery(make: Maker, outer: Place | None, depth: int, production: str) -> Made:
    from oracle.queries import query

    inner, outputs = query(make, outer, depth - 1, make.rng.randint(1, 3))
    alias = make.name("s")
    names = [f"c{number}" for number in range(1, len(outputs) + 1)]
    atoms = [Atom(f"{alias}.{name}", output.kind, output.is_tame) for name, output in zip(names, outputs)]
    lateral = "LATERAL " if outer is not None else ""
    return Node(production, [f"{lateral}(", inner, f") AS {alias}({', '.join(names)})"], SOURCE), atoms


def of_values(make: Maker) -> Made:
    wanted = [make.rng.choice(kinds.STORED) for _ in range(make.rng.randint(1, 2))]
    rows = []
    for _ in range(make.rng.randint(1, 4)):
        items = [kinds.null(kind) if make.chance(0.1) else kinds.cast(kinds.literal(kind, make.rng), kind) for kind in wanted]
        rows.append(text(f"({', '.join(items)})"))
    alias = make.name("v")
    names = [f"c{number}" for number in range(1, len(wanted) + 1)]
    atoms = [Atom(f"{alias}.{name}", kind, True) for name, kind in zip(names, wanted)]
    return Node("values_in_from", ["(VALUES ", listing("", list(rows)), f") AS {alias}({', '.join(names)})"], SOURCE), atoms


def of_series(make: Maker) -> Made:
    alias = make.name("g")
    bounds = make.rng.choice(["1, 4", "-2, 2", "1, 0", "0, 10, 3", "5, 1, -2"])
    node = Node("series", [f"generate_series({bounds}) AS {alias}(n)"], SOURCE)
    return node, [Atom(f"{alias}.n", INT4, True)]


def sources(make: Maker, outer: Place | None, depth: int) -> tuple[Node, Place]:
    """All of FROM, and the place after it: trees of joins, with commas between. ON names what is in its tree."""
    node, atoms = source(make, outer, depth)
    trees: list[Node] = []
    before: list[Atom] = []
    while make.sources_left > 0 and make.chance(0.45 if depth > 1 else 0.3):
        draw = make.rng.random()
        if draw < 0.12 and depth > 0 and make.subqueries_left > 0 and make.may("lateral"):
            node, atoms = with_lateral(make, outer, depth, node, before, atoms)
        elif draw < 0.2:
            trees.append(node)
            before += atoms
            node, atoms = source(make, outer, depth)
        elif draw < 0.25:
            right, more = source(make, outer, depth)
            node, atoms = Node("cross_join", [node, " CROSS JOIN ", right], SOURCE), atoms + more
        else:
            node, atoms = with_join(make, outer, depth, node, atoms)
    if trees:
        node = Node("comma_join", [listing("", [*trees, node])], SOURCE)
    return node, Place(before + atoms, outer)


def with_lateral(make: Maker, outer: Place | None, depth: int, left: Node, before: list[Atom], atoms: list[Atom]) -> Made:
    make.subqueries_left -= 1
    right, more = of_subquery(make, Place(before + atoms, outer), depth, "lateral")
    form = make.rng.choice([" CROSS JOIN ", " JOIN ", " LEFT JOIN "])
    condition = "" if form == " CROSS JOIN " else " ON true"
    return Node("lateral_join", [left, form, right, condition], SOURCE), atoms + more


def with_join(make: Maker, outer: Place | None, depth: int, left: Node, atoms: list[Atom]) -> Made:
    form = make.rng.choice(["JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN" if make.may("full_join") else "JOIN", "LEFT OUTER JOIN"])
    production = form.replace("OUTER ", "").replace("INNER ", "").replace(" ", "_").lower()
    right, more = source(make, outer, depth)
    if make.chance(0.2) and left.production == right.production == "table" and make.may("join_using"):
        return by_name(make, form, left, atoms, right, more)
    if make.chance(0.12) and depth > 0 and make.sources_left > 0:
        # A join within parentheses on the right.
        third, most = source(make, outer, depth)
        inner = condition_of_join(make, None, depth, more, most, False)
        right, more = Node("nested_join", ["(", right, " JOIN ", third, " ON ", inner, ")"], SOURCE), more + most
    condition = condition_of_join(make, outer, depth, atoms, more, form == "FULL JOIN")
    return Node(production, [left, f" {form} ", right, " ON ", condition], SOURCE), atoms + more


def by_name(make: Maker, form: str, left: Node, atoms: list[Atom], right: Node, more: list[Atom]) -> Made:
    """USING and NATURAL merge `id` and `k`."""
    form = form.replace("INNER JOIN", "JOIN")
    if make.chance(0.3) and make.may("natural_join"):
        merged, node = ["id", "k"], Node("natural_join", [left, f" NATURAL {form} ", right], SOURCE)
    else:
        merged = make.rng.choice([["id"], ["k"], ["id", "k"]])
        node = Node("join_using", [left, f" {form} ", right, f" USING ({', '.join(merged)})"], SOURCE)
    plain = [Atom(name, INT4, True) for name in merged]
    # A name that is merged can be written alone only where no third table has it.
    return node, atoms + more + (plain if make.sources_left == 0 or make.chance(0.3) else [])


def condition_of_join(make: Maker, outer: Place | None, depth: int, left: list[Atom], right: list[Atom], is_full: bool) -> Node:
    place = Place(left + right, outer, has_subqueries=not is_full and make.chance(0.15))
    equality = equality_of_sides(make, left, right)
    if equality is None or (make.chance(0.15) and not is_full):
        if is_full:
            return Node("literal", ["true"], kinds.BOOL.name)
        return make.expression(kinds.BOOL, place, min(depth, 2))
    if make.chance(0.3):
        return joined("(", equality, clause("", " AND ", make.expression(kinds.BOOL, place, min(depth, 2))), ")")
    return equality


def equality_of_sides(make: Maker, left: list[Atom], right: list[Atom]) -> Node | None:
    pairs = [(one, other) for one in left for other in right if comparable(one.kind, other.kind)]
    if not pairs:
        return None
    likely = [(one, other) for one, other in pairs if is_key(one) and is_key(other)]
    if likely and make.chance(0.6):
        pairs = likely
    one, other = make.rng.choice(pairs)
    return Node("join_equality", ["(", one.sql, " = ", other.sql, ")"], kinds.BOOL.name, simplest=("true",))


def is_key(atom: Atom) -> bool:
    return atom.sql.endswith((".id", ".k", ".n"))


def comparable(one: Kind, other: Kind) -> bool:
    if one not in JOINABLE or other not in JOINABLE:
        return False
    return one is other or one in kinds.INTEGERS and other in kinds.INTEGERS
