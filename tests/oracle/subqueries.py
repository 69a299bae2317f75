"""Productions of expressions with subqueries, correlated or not."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BOOL, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node

COMPARISONS = ["=", "<>", "<", "<=", ">", ">="]
IN_SUBQUERIES = (*kinds.STORED, kinds.INTERVAL)


def subquery(make: Maker, place: Place, depth: int, wanted: list[Kind], is_single: bool = False) -> Node:
    from oracle.queries import query, single_row

    make.subqueries_left -= 1
    outer = place.as_outer() if make.may("correlation") else Place([])
    if is_single:
        return single_row(make, outer, depth, wanted[0])
    return query(make, outer, depth, wanted, make.may("values_in_condition"))[0]


@gives(BOOL, weight=1.5, needs="subqueries")
def in_subquery(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.kind(place, kinds.STORED)
    tested = make.expression(of, place, min(depth, 1))
    return joined("(", tested, f" {make.rng.choice(['', 'NOT '])}IN (", subquery(make, place, depth, [of]), "))")


@gives(BOOL, weight=1.5, needs="subqueries")
def exists(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    wanted = [make.rng.choice(kinds.STORED)]
    return joined(f"({make.rng.choice(['', '', 'NOT '])}EXISTS (", subquery(make, place, depth, wanted), "))")


@gives(BOOL, weight=1.2, needs="subqueries")
def quantified(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.kind(place, kinds.STORED)
    operator = f"{make.rng.choice(COMPARISONS)} {make.rng.choice(['ANY', 'ALL', 'SOME'])}"
    return joined("(", make.expression(of, place, min(depth, 1)), f" {operator} (", subquery(make, place, depth, [of]), "))")


@gives(BOOL, weight=0.5, needs="subqueries")
def row_in_subquery(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = [make.kind(place, kinds.STORED) for _ in range(2)]
    left = [make.expression(each, place, 0) for each in of]
    return joined("((", left[0], ", ", left[1], f") {make.rng.choice(['', 'NOT '])}IN (", subquery(make, place, depth, of), "))")


@gives(*kinds.ALL, weight=0.8, needs="subqueries")
def scalar_subquery(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if is_tame:
        return None
    return joined("(", subquery(make, place, depth, [kind], True), ")")
