"""Productions that every type has: CASE, COALESCE, NULLIF, GREATEST, LEAST."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BOOL, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node, clause, listing


@gives(*kinds.ALL, weight=0.8)
def case_searched(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    arms: list[Node] = []
    for _ in range(make.rng.randint(1, 2)):
        arms.append(joined(" WHEN ", make.expression(BOOL, place, depth), " THEN ", make.expression(kind, place, depth, is_tame)))
    otherwise = clause("", " ELSE ", make.expression(kind, place, depth, is_tame)) if make.chance(0.7) else ""
    return joined("(CASE", listing("", arms, ""), otherwise, " END)")


@gives(*kinds.ALL, weight=0.4)
def case_simple(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.kind(place)
    arms = [
        joined(" WHEN ", make.expression(of, place, min(depth, 1)), " THEN ", make.expression(kind, place, depth - 1, is_tame))
        for _ in range(make.rng.randint(1, 2))
    ]
    otherwise = clause("", " ELSE ", make.expression(kind, place, depth - 1, is_tame)) if make.chance(0.7) else ""
    return joined("(CASE ", make.expression(of, place, depth - 1), listing("", arms, ""), otherwise, " END)")


@gives(*kinds.ALL, weight=0.9)
def coalesce(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    items = [make.expression(kind, place, depth - at, is_tame) for at in range(make.rng.randint(2, 3))]
    return joined("coalesce(", listing("", items), ")")


@gives(*kinds.ALL, weight=0.5)
def nullif(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("nullif(", make.expression(kind, place, depth, is_tame), ", ", make.expression(kind, place, depth - 1, is_tame), ")")


@gives(*kinds.NUMBERS, kinds.TEXT, *kinds.TIMES, weight=0.4)
def greatest(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    items = [make.expression(kind, place, depth - at, is_tame) for at in range(make.rng.randint(2, 3))]
    return joined(make.rng.choice(["greatest(", "least("]), listing("", items), ")")
