"""Productions of conditions that have no subquery."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BOOL, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node, listing

COMPARISONS = ["=", "=", "=", "<>", "<", "<=", ">", ">="]
PATTERNS = ["a%", "%b", "_b%", "%", "", "a_c", "%a%", "abc", "a\\%b", "A%", "__", "%o w%"]
EXPRESSIONS = ["^a", "b$", "a.c", "[a-c]+", "^$", "x|z", "^[0-9-]+$"]


def compared(make: Maker) -> tuple[Kind, ...]:
    return (*kinds.STORED, kinds.INTERVAL) if make.may("interval_compared") else kinds.STORED


def operands(make: Maker, place: Place, depth: int) -> tuple[Node, Node]:
    """Two sides that can be compared, now and then of two types of numbers or times."""
    kind = make.kind(place, compared(make))
    other = kind
    if make.chance(0.2):
        for family in (kinds.NUMBERS, kinds.TIMES):
            if kind in family:
                other = make.rng.choice(family)
    return make.expression(kind, place, depth), make.expression(other, place, depth)


@gives(BOOL, weight=5)
def comparison(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    left, right = operands(make, place, depth)
    return joined("(", left, f" {make.rng.choice(COMPARISONS)} ", right, ")")


@gives(BOOL, weight=3)
def conjunction(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(", make.expression(BOOL, place, depth), make.rng.choice([" AND ", " OR "]), make.expression(BOOL, place, depth), ")")


@gives(BOOL, weight=1.5)
def negation(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(NOT ", make.expression(BOOL, place, depth), ")")


@gives(BOOL, weight=1.5)
def is_null(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    tested = make.expression(make.kind(place, compared(make)), place, depth)
    return joined("(", tested, f" IS {make.rng.choice(['', 'NOT '])}NULL)")


@gives(BOOL)
def is_truth(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    truth = make.rng.choice(["TRUE", "FALSE", "UNKNOWN"])
    return joined("(", make.expression(BOOL, place, depth), f" IS {make.rng.choice(['', 'NOT '])}{truth})")


@gives(BOOL)
def is_distinct(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    left, right = operands(make, place, depth)
    return joined("(", left, f" IS {make.rng.choice(['', 'NOT '])}DISTINCT FROM ", right, ")")


@gives(BOOL)
def between(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.kind(place, compared(make))
    tested, least, most = (make.expression(of, place, depth - 1) for _ in range(3))
    return joined("(", tested, f" {make.rng.choice(['', 'NOT '])}BETWEEN ", least, " AND ", most, ")")


@gives(BOOL, weight=1.5)
def in_list(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.kind(place, compared(make))
    items = [make.expression(of, place, min(depth - 1, 1) if make.chance(0.2) else 0) for _ in range(make.rng.randint(1, 4))]
    return joined("(", make.expression(of, place, depth - 1), f" {make.rng.choice(['', 'NOT '])}IN (", listing("list", items), "))")


@gives(BOOL)
def like(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    pattern = make.rng.choice(PATTERNS)
    operator = make.rng.choice(["LIKE", "LIKE", "ILIKE"])
    return joined("(", make.expression(kinds.TEXT, place, depth), f" {make.rng.choice(['', 'NOT '])}{operator} '{pattern}')")


@gives(BOOL, weight=0.4)
def matches(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    pattern = make.rng.choice(EXPRESSIONS)
    return joined("(", make.expression(kinds.TEXT, place, depth), f" {make.rng.choice(['~', '!~', '~*'])} '{pattern}')")


@gives(BOOL, weight=0.7)
def rows_compared(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = [make.kind(place) for _ in range(2)]
    left, right = ([make.expression(each, place, depth - 2) for each in of] for _ in range(2))
    operator = make.rng.choice(["=", "<>", "<", ">="])
    return joined("((", left[0], ", ", left[1], f") {operator} (", right[0], ", ", right[1], "))")


@gives(BOOL, weight=0.5)
def equality_of_conditions(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(", make.expression(BOOL, place, depth - 1), make.rng.choice([" = ", " <> "]), make.expression(BOOL, place, depth - 1), ")")
