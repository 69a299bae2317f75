"""Whole queries: SELECT with all its clauses, set operations, WITH, VALUES."""

from __future__ import annotations

from dataclasses import dataclass

from oracle import aggregates, kinds
from oracle import choices, conditions, numbers, subqueries, texts, times, windows  # noqa: F401  (their productions)
from oracle.kinds import BOOL, INT4, INT8, Kind
from oracle.places import RULES, Atom, Maker, Place, joined
from oracle.sources import sources
from oracle.tree import QUERY, Node, clause, listing, text

# Types for which the sides agree about DISTINCT, GROUP BY and set operations: all that are stored.
GROUPED = kinds.STORED


@dataclass(frozen=True, slots=True)
class Output:
    kind: Kind
    is_tame: bool = False
    is_approximate: bool = False


@dataclass(slots=True)
class Statement:
    """A query of its own. `order` are the positions that its rows are ordered by; `is_total` if ties are equal rows."""

    node: Node
    outputs: list[Output]
    order: tuple[int, ...] = ()
    is_total: bool = False

    def sql(self) -> str:
        return self.node.sql()


# The types of the columns, or how many there are.
Wanted = list[Kind] | int


def query(make: Maker, outer: Place | None, depth: int, wanted: Wanted, has_values: bool = True) -> tuple[Node, list[Output]]:
    """A query with these columns, without an order of its own unless it needs one."""
    draw = make.rng.random()
    if depth > 0 and make.sources_left > 1 and draw < 0.14 and (has_values or make.may("set_operation_in_condition")):
        return set_operation(make, outer, depth, wanted)
    if draw < 0.17 and has_values:
        return values(make, wanted)
    node, outputs, _ = select(make, outer, depth, wanted)
    if make.chance(0.1) and make.may("subquery_with_limit"):
        limited = joined(" ORDER BY ", ", ".join(str(at) for at in range(1, len(outputs) + 1)), limit(make))
        return Node("subquery_with_limit", [node, Node("", limited.parts, "clause", True)], QUERY), outputs
    return Node("", [node], QUERY), outputs


def values(make: Maker, wanted: Wanted) -> tuple[Node, list[Output]]:
    if isinstance(wanted, int):
        wanted = [make.rng.choice(kinds.STORED) for _ in range(wanted)]
    rows = []
    for _ in range(make.rng.randint(1, 3)):
        items = [kinds.null(kind) if make.chance(0.15) else kinds.cast(kinds.literal(kind, make.rng), kind) for kind in wanted]
        rows.append(text(f"({', '.join(items)})"))
    return Node("values", ["VALUES ", listing("", list(rows))], QUERY), [Output(kind, True) for kind in wanted]


def set_operation(make: Maker, outer: Place | None, depth: int, wanted: Wanted) -> tuple[Node, list[Output]]:
    operator = make.rng.choice(["UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"])
    left, one = query(make, outer, depth - 1, wanted)
    right, other = query(make, outer, depth - 1, [output.kind for output in one])
    outputs = [Output(a.kind, a.is_tame and b.is_tame) for a, b in zip(one, other)]
    return Node(operator.lower().replace(" ", "_"), ["(", left, f") {operator} (", right, ")"], QUERY), outputs


def single_row(make: Maker, outer: Place, depth: int, kind: Kind) -> Node:
    """A query of one column with one row at most."""
    draw = make.rng.random()
    if draw < 0.45:
        node, place = sources(make, outer, depth)
        grouped = Place([], outer, place.for_arguments(), False, place.has_subqueries)
        item = make.expression(kind, grouped, 2)
        single = "" if has_aggregate(item) else " HAVING count(*) >= 0"
        return Node("single_aggregate", ["SELECT ", item, " FROM ", node, where(make, place, depth), single], QUERY)
    if draw < 0.8:
        inner, _ = query(make, outer, depth, [kind])
        return Node("single_by_limit", ["SELECT * FROM (", inner, ") AS one(c) ORDER BY 1 LIMIT 1"], QUERY)
    item = make.expression(kind, Place([], outer), min(depth, 2))
    return Node("single_without_from", ["SELECT ", item, clause("where_without_from", " WHERE ", make.expression(BOOL, Place([], outer), 1))], QUERY)


def where(make: Maker, place: Place, depth: int) -> Node:
    if not make.chance(0.5):
        return Node("", [])
    return clause("where", " WHERE ", make.expression(BOOL, place, min(depth + 1, 3)))


def select(make: Maker, outer: Place | None, depth: int, wanted: Wanted, is_whole: bool = False) -> tuple[Node, list[Output], Place]:
    """SELECT … FROM … WHERE … GROUP BY … HAVING …; also what its items can name."""
    node, place = sources(make, outer, depth)
    if isinstance(wanted, int):
        wanted = make.kinds(place, wanted)
    filtered = where(make, place, depth)
    if make.chance(0.3):
        return grouped(make, depth, wanted, node, place, filtered, is_whole)
    place.has_windows = make.chance(0.25)
    items = [make.expression(kind, place, min(depth, 2)) for kind in wanted]
    distinct = clause("distinct", "DISTINCT ") if make.chance(0.12) else ""
    made = Node("select", ["SELECT ", distinct, listing("", items), " FROM ", node, filtered], QUERY)
    return made, [Output(kind, False) for kind in wanted], place


def grouped(
    make: Maker, depth: int, wanted: list[Kind], node: Node, place: Place, filtered: Node, is_whole: bool,
) -> tuple[Node, list[Output], Place]:
    keys = group_keys(make, place)
    group_place = Place(keys, place.outer, place.for_arguments(), make.chance(0.1), place.has_subqueries)
    items = [make.expression(kind, group_place, 2) for kind in wanted]
    outputs = [Output(kind, False) for kind in wanted]
    if is_whole and make.chance(0.3):
        items.append(aggregates.approximate(make, group_place))
        outputs.append(Output(kinds.FLOAT8, False, True))
    groups = group_by(make, keys, group_place.has_numbered_rows)
    having_place = Place(keys, place.outer, place.for_arguments(), False, place.has_subqueries)
    having = clause("having", " HAVING ", make.expression(BOOL, having_place, 2)) if make.chance(0.3) else ""
    if not keys and not having and not any(has_aggregate(item) for item in items):
        having = text(" HAVING count(*) >= 0")
    return Node("grouped_select", ["SELECT ", listing("", items), " FROM ", node, filtered, groups, having], QUERY), outputs, group_place


AGGREGATES = {rule.name for rules in RULES.values() for rule in rules if rule.needs == "aggregates"}


def has_aggregate(node: Node) -> bool:
    """Whether the query that the expression stands in is grouped by it; what is within a subquery is not looked at."""
    if node.category == QUERY:
        return False
    return node.production in AGGREGATES or node.category == "approximate" or any(has_aggregate(part) for part in node.parts if isinstance(part, Node))


def group_keys(make: Maker, place: Place) -> list[Atom]:
    keys: dict[str, Atom] = {}
    for _ in range(make.rng.choice([0, 1, 1, 1, 2, 2, 3])):
        columns = [atom for atom in place.atoms if atom.kind in GROUPED]
        if columns and make.chance(0.75):
            chosen = make.rng.choice(columns)
            keys[chosen.sql] = chosen
        else:
            kind = make.kind(place, GROUPED)
            flat = Place(place.atoms, None, None, False, False)
            made = make.expression(kind, flat, 2)
            # A constant in GROUP BY is a column's position, or refused.
            if any(part.production == "column" for part in made.walk()):
                keys[made.sql()] = Atom(made.sql(), kind, False, False, is_rewritten=is_rewritten(made))
    return list(keys.values())


def is_rewritten(made: Node) -> bool:
    """Whether PostgreSQL 15 folds a part of it to a constant, or turns a condition around. Where a grouping set leaves out such a key, it shows
    the constant, or reads columns of rows that are no more."""
    if made.category == BOOL.name and made.production != "column":
        return True
    parts = [part for part in made.walk() if part.category and part.production]
    has_constants = any(not any(inner.production == "column" for inner in part.walk()) for part in parts if part.production != "literal")
    has_truths = any(part.category == BOOL.name and part.production == "literal" for part in parts)
    return has_constants or has_truths or any(part.production in ("negation", "coalesce") for part in parts)


def group_by(make: Maker, atoms: list[Atom], has_numbered_rows: bool) -> Node | str:
    """Grouping sets only of keys that mean the same everywhere, and beside no window that numbers rows: keys that are left out leave ties."""
    keys = [atom.sql for atom in atoms]
    sets = grouping(make, keys)
    if keys and (has_numbered_rows or any(atom.is_rewritten for atom in atoms)):
        return Node("group_by", [" GROUP BY ", ", ".join(keys)])
    return sets


def grouping(make: Maker, keys: list[str]) -> Node | str:
    if not keys:
        return ""
    draw = make.rng.random() if make.may("grouping_sets") else 0.0
    if draw < 0.75:
        return Node("group_by", [" GROUP BY ", ", ".join(keys)])
    if draw < 0.83:
        return Node("rollup", [f" GROUP BY ROLLUP ({', '.join(keys)})"])
    if draw < 0.9:
        return Node("cube", [f" GROUP BY CUBE ({', '.join(keys)})"])
    sets = [f"({', '.join(make.rng.sample(keys, make.rng.randint(0, len(keys))))})" for _ in range(make.rng.randint(1, 3))]
    # Every key has to be in one of the sets.
    sets.append(f"({', '.join(keys)})")
    if draw < 0.96 or len(keys) < 2 or not make.may("group_by_product"):
        return Node("grouping_sets", [f" GROUP BY GROUPING SETS ({', '.join(sets)})"])
    return Node("group_by_product", [f" GROUP BY {keys[0]}, ROLLUP ({', '.join(keys[1:])})"])


def limit(make: Maker) -> Node:
    first = f" LIMIT {make.rng.choice([0, 1, 2, 3, 5, 10])}" if make.chance(0.8) else ""
    offset = f" OFFSET {make.rng.choice([0, 1, 2, 5])}" if make.chance(0.4) or not first else ""
    return Node("limit", [first, offset])


def statement(make: Maker) -> Statement:
    """A whole statement."""
    depth = make.rng.choice([1, 2, 2, 2, 3])
    make.sources_left, make.subqueries_left = make.rng.choice([2, 3, 4, 6]), make.rng.choice([0, 1, 2, 3])
    wanted = make.rng.choice([1, 2, 2, 3, 3, 4])
    heads = with_clause(make, depth)
    if make.chance(0.13):
        node, outputs = set_operation(make, None, depth, wanted)
    elif make.chance(0.05):
        if make.chance(0.5):
            return ordered_distinct_on(make, heads, depth)
        node, outputs = distinct_on(make, depth, wanted)
    else:
        node, outputs, _ = select(make, None, depth, wanted, True)
    return finished(make, heads, node, outputs)


def finished(make: Maker, heads: Node, node: Node, outputs: list[Output]) -> Statement:
    if not make.chance(0.4):
        return Statement(Node("statement", [heads, node], QUERY), outputs)
    sortable = [at for at, output in enumerate(outputs) if not output.is_approximate]
    is_total = len(sortable) == len(outputs) and make.chance(0.6)
    make.rng.shuffle(sortable)
    chosen = sortable if is_total else sortable[:max(1, len(sortable) // 2)]
    marks = ["", "", " DESC", " ASC", " NULLS FIRST", " DESC NULLS LAST"]
    keys = [text(f"{at + 1}{make.rng.choice(marks)}") for at in chosen]
    last: Node | str = limit(make) if is_total and make.chance(0.6) else ""
    order = Node("order_by", [" ORDER BY ", ", ".join(key.sql() for key in keys), last], "clause", True)
    return Statement(Node("statement", [heads, node, order], QUERY), outputs, tuple(chosen), is_total)


def keys_of_distinct_on(make: Maker, place: Place) -> tuple[list[Atom], list[str]]:
    """One or two columns that name the groups, and an order of the rows of one group by all the others."""
    keys = make.rng.sample(place.atoms, min(len(place.atoms), make.rng.randint(1, 2)))
    names = [key.sql for key in keys]
    return keys, [atom.sql + make.rng.choice(["", " DESC"]) for atom in place.atoms if atom.sql not in names]


def distinct_on(make: Maker, depth: int, wanted: int) -> tuple[Node, list[Output]]:
    """The first row of each group."""
    node, place = sources(make, None, depth)
    atoms, rest = keys_of_distinct_on(make, place)
    keys = [atom.sql for atom in atoms]
    flat = Place(place.atoms, None, None, False, False)
    chosen = make.kinds(place, wanted)
    items = [make.expression(kind, flat, 1) for kind in chosen]
    order = ", ".join(keys + rest)
    inner = Node("distinct_on", [
        f"SELECT DISTINCT ON ({', '.join(keys)}) ", listing("", items), " FROM ", node, where(make, place, depth), f" ORDER BY {order}",
    ], QUERY)
    return Node("", ["SELECT * FROM (", inner, ") AS first_rows"], QUERY), [Output(kind) for kind in chosen]


def ordered_distinct_on(make: Maker, heads: Node, depth: int) -> Statement:
    """The same as a whole statement, whose rows are seen in order: the keys are its first items, and each of them has one row."""
    node, place = sources(make, None, depth)
    keys, rest = keys_of_distinct_on(make, place)
    names = [key.sql for key in keys]
    kind = make.kind(place, kinds.STORED)
    item = make.expression(kind, Place(place.atoms, None, None, False, False), 1)
    order = ", ".join([name + make.rng.choice(["", " DESC", " NULLS FIRST"]) for name in names] + rest)
    made = Node("ordered_distinct_on", [
        f"SELECT DISTINCT ON ({', '.join(names)}) ", listing("", [*map(text, names), item]), " FROM ", node, where(make, place, depth),
        Node("order_by", [f" ORDER BY {order}", limit(make) if make.chance(0.4) else ""]),
    ], QUERY)
    outputs = [Output(each) for each in [*(key.kind for key in keys), kind]]
    return Statement(Node("statement", [heads, made], QUERY), outputs, tuple(range(len(keys))))


def with_clause(make: Maker, depth: int) -> Node:
    if not make.chance(0.2):
        return Node("", [])
    made: list[Node] = []
    is_recursive = make.chance(0.35)
    for _ in range(make.rng.choice([1, 1, 2])):
        name = make.name("w")
        if is_recursive and make.chance(0.7):
            made.append(recursive(make, name))
            continue
        inner, outputs = query(make, None, depth - 1, make.rng.randint(1, 3))
        columns = [Atom(f"c{at}", output.kind, output.is_tame) for at, output in enumerate(outputs, 1)]
        made.append(Node("common_table_expression", [f"{name}({', '.join(atom.sql for atom in columns)}) AS (", inner, ")"]))
        make.common.append((name, columns))
    return clause("with_recursive" if is_recursive else "with", "WITH RECURSIVE " if is_recursive else "WITH ", listing("", made), " ")


def recursive(make: Maker, name: str) -> Node:
    """Counts to a bound, and carries a value along."""
    kind = make.rng.choice([INT4, INT8, kinds.TEXT, kinds.DATE])
    steps = {INT4: "v + n", INT8: "v * 2", kinds.TEXT: "v || 'x'", kinds.DATE: "v + n"}
    start = kinds.cast(kinds.literal(kind, make.rng), kind)
    step, bound = steps[kind], make.rng.randint(0, 6)
    union = make.rng.choice(["UNION ALL", "UNION"])
    table = make.rng.choice([table for table in make.scenario.tables if not table.is_big])
    if make.chance(0.3):
        body = f"SELECT {name}.n + 1, CAST({step} AS {kind.sql}) FROM {name} JOIN {table.name} AS j ON j.k = {name}.n WHERE {name}.n < 3"
        union = "UNION"
    else:
        body = f"SELECT n + 1, CAST({step} AS {kind.sql}) FROM {name} WHERE n < {bound}"
    make.common.append((name, [Atom("n", INT4, True), Atom("v", kind, True)]))
    return Node("recursive_table", [f"{name}(n, v) AS (SELECT 1, {start} {union} {body})"])
