"""Productions of aggregates, where there are groups."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BOOL, FLOAT4, FLOAT8, INT2, INT4, INT8, INTERVAL, NUMERIC, TEXT, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node, clause, text

ORDERED = (INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8, TEXT, *kinds.TIMES, INTERVAL)


def argument(make: Maker, kind: Kind, place: Place, is_tame: bool = False) -> Node:
    """With a column of its own query: an aggregate of outer columns alone would be one of the outer query."""
    assert place.arguments is not None
    depth = make.rng.choice([0, 0, 1, 2])
    made = make.expression(kind, place.arguments, depth, is_tame)
    own = {atom.sql for atom in place.arguments.atoms}
    columns = [part.sql() for part in made.walk() if part.production == "column"]
    if columns and not own.intersection(columns):
        return make.expression(kind, Place(place.arguments.atoms, None, has_subqueries=False), depth, is_tame)
    return made


def filtered(make: Maker, place: Place) -> Node | str:
    if place.arguments is None or not make.chance(0.15):
        return ""
    return clause("filter", " FILTER (WHERE ", make.expression(BOOL, Place(place.arguments.atoms, None, has_subqueries=False), 1), ")")


def distinct(make: Maker) -> Node | str:
    return clause("distinct_in_aggregate", "DISTINCT ") if make.chance(0.15) else ""


@gives(*ORDERED, weight=2, needs="aggregates")
def least_or_most(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(make.rng.choice(["min(", "max("]), distinct(make), argument(make, kind, place, is_tame), ")", filtered(make, place))


@gives(INT8, weight=4, needs="aggregates")
def count(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    if make.chance(0.4):
        return joined("count(*)", filtered(make, place))
    return joined("count(", distinct(make), argument(make, make.kind(place, kinds.STORED), place), ")", filtered(make, place))


@gives(INT8, weight=3, needs="aggregates")
def sum_of_integers(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    item: Node | str = argument(make, make.rng.choice([INT2, INT4]), place, True)
    if isinstance(item, Node) and item.production != "column":
        # Numbers that are written out are BIGINT, whose sum is another type.
        item = f"CAST({item.sql()} AS INTEGER)"
    return joined("sum(", distinct(make), item, ")", filtered(make, place))


@gives(NUMERIC, weight=3, needs="aggregates")
def sum_exactly(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.rng.choice([INT8, NUMERIC])
    return joined("sum(", distinct(make), argument(make, of, place, is_tame or of is NUMERIC), ")", filtered(make, place))


@gives(FLOAT8, FLOAT4, weight=3, needs="aggregates")
def sum_of_floats(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("sum(", distinct(make), argument(make, kind, place, True), ")", filtered(make, place))


@gives(BOOL, weight=1.5, needs="aggregates")
def all_or_any(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(make.rng.choice(["bool_and(", "bool_or(", "every("]), argument(make, BOOL, place), ")", filtered(make, place))


@gives(INT4, INT8, weight=0.5, needs="aggregates")
def bits_of_all(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(make.rng.choice(["bit_and(", "bit_or("]), argument(make, kind, place, True), ")")


@gives(TEXT, weight=1.5, needs="aggregates")
def texts_together(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    made = argument(make, TEXT, place)
    item = made.sql()
    # What is written out is not recognized as the argument again.
    first = make.rng.choice(["", "", "DISTINCT "]) if made.production == "column" else ""
    return joined(text(f"string_agg({first}{item}, ',' ORDER BY {item}{make.rng.choice(['', ' DESC'])})"), filtered(make, place))


@gives(TEXT, weight=0.5, needs="aggregates")
def array_together(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    item = argument(make, INT4, place).sql()
    return text(f"array_to_string(array_agg({item} ORDER BY {item}), ',')")


@gives(INT4, weight=0.7, needs="aggregates")
def percentile_of_values(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    share = make.rng.choice(["0", "0.25", "0.5", "1"])
    return joined(f"percentile_disc({share}) WITHIN GROUP (ORDER BY ", argument(make, INT4, place), ")")


def varying(make: Maker, place: Place) -> Node:
    """A float of the rows. What a constant correlates with are the rounding errors of the order in which the rows come."""
    assert place.arguments is not None
    made = argument(make, FLOAT8, place, True)
    own = {atom.sql for atom in place.arguments.atoms}
    if own.intersection(part.sql() for part in made.walk() if part.production == "column"):
        return made
    tame = [atom for atom in place.arguments.atoms if atom.is_tame]
    columns = [atom.sql for atom in tame if atom.kind is FLOAT8]
    # Of squares that overflow beside NaN, the order of the rows decides which it is.
    columns = columns or [kinds.cast(atom.sql, FLOAT8) for atom in tame if atom.kind in kinds.INTEGERS]
    return text(make.rng.choice(columns)) if columns else made


def approximate(make: Maker, place: Place) -> Node:
    """A computed aggregate whose last digits are not the same everywhere; only rows of the whole statement show it."""
    name = make.rng.choice([
        "avg", "avg", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "corr", "covar_pop", "regr_slope", "regr_r2", "percentile_cont",
    ])
    if name in ("corr", "covar_pop", "regr_slope", "regr_r2"):
        items: list[Node | str] = [f"{name}(", varying(make, place), ", ", varying(make, place), ")"]
    elif name == "percentile_cont":
        items = ["percentile_cont(0.5) WITHIN GROUP (ORDER BY ", argument(make, FLOAT8, place, True), ")"]
    else:
        of = make.rng.choice([INT4, INT8, NUMERIC, FLOAT8] if name == "avg" else [INT4, FLOAT8])
        items = [f"{name}(", distinct(make), argument(make, of, place, True), ")"]
    return Node(name, [*items, filtered(make, place)], "approximate")
