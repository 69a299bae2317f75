"""Productions of window functions. Where the order of rows shows, it is by all columns, so that only equal rows are tied."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import FLOAT8, INT4, INT8, NUMERIC, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node, clause, text

OFFSET_FRAMES = ["UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"]


def order_of_all(place: Place) -> str:
    return ", ".join(atom.sql for atom in place.atoms)


def sort_key(make: Maker, place: Place) -> str:
    item = make.expression(make.kind(place, kinds.STORED), flat(place), make.rng.choice([0, 0, 1])).sql()
    # A number that is written alone would be a column's position.
    item = f"({item})" if not item.startswith("(") else item
    return item + make.rng.choice(["", "", " DESC", " ASC", " NULLS FIRST", " DESC NULLS LAST"])


def flat(place: Place) -> Place:
    """No windows within windows, no subqueries."""
    return Place(place.atoms, place.outer, place.arguments, False, False)


def typed(make: Maker, kind: Kind, place: Place, is_tame: bool) -> Node | str:
    """A text that is written out has no type by itself."""
    made = make.expression(kind, flat(place), 0, is_tame)
    return kinds.cast(made.sql(), kind) if made.production == "literal" else made


def partition(make: Maker, place: Place) -> Node | str:
    if not make.chance(0.6):
        return ""
    items = [make.expression(make.kind(place, kinds.STORED), flat(place), 0 if make.chance(0.8) else 1) for _ in range(make.rng.choice([1, 1, 2]))]
    return clause("partition_by", "PARTITION BY ", Node("", list(items), separator=", "), " ")


def numbers_rows(place: Place) -> bool:
    """Takes the place's one window in which the order of equal rows shows."""
    is_first, place.has_numbered_rows = not place.has_numbered_rows, True
    return is_first


def over(make: Maker, place: Place, is_total: bool, frame: Node | str = "") -> Node:
    keys = [sort_key(make, place) for _ in range(make.rng.choice([0, 1, 1, 2]))]
    if is_total:
        keys.append(order_of_all(place))
    order = f"ORDER BY {', '.join(key for key in keys if key)}" if any(keys) else ""
    return joined(" OVER (", partition(make, place), order, frame, ")")


def frame_of_rows(make: Maker) -> Node | str:
    if not make.chance(0.6):
        return ""
    first, last = sorted(make.rng.sample(range(len(OFFSET_FRAMES)), 2))
    if OFFSET_FRAMES[first] == "UNBOUNDED FOLLOWING" or OFFSET_FRAMES[last] == "UNBOUNDED PRECEDING":
        return ""
    return clause("frame_of_rows", f" ROWS BETWEEN {OFFSET_FRAMES[first]} AND {OFFSET_FRAMES[last]}")


def over_range(make: Maker, place: Place) -> Node | None:
    """RANGE with offsets needs one key that can be added to; GROUPS any order."""
    first, last = sorted(make.rng.sample(range(len(OFFSET_FRAMES)), 2))
    between = f"BETWEEN {OFFSET_FRAMES[first]} AND {OFFSET_FRAMES[last]}"
    if make.chance(0.4):
        return Node("frame_of_groups", [" OVER (", partition(make, place), f"ORDER BY {sort_key(make, place)} GROUPS {between})"])
    keys = [atom.sql for atom in place.atoms if atom.kind in (INT4, INT8, NUMERIC, FLOAT8) and atom.is_tame]
    if not keys:
        return None
    order = f"ORDER BY {make.rng.choice(keys)}{make.rng.choice(['', ' DESC'])}"
    return Node("frame_of_range", [" OVER (", partition(make, place), f"{order} RANGE {between})"])


@gives(INT8, weight=5, needs="windows")
def row_number(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if not numbers_rows(place):
        return None
    return joined("row_number()", over(make, place, True))


@gives(INT8, weight=4, needs="windows")
def rank(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(make.rng.choice(["rank()", "dense_rank()"]), over(make, place, False))


@gives(FLOAT8, weight=3, needs="windows")
def relative_rank(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(make.rng.choice(["percent_rank()", "cume_dist()"]), over(make, place, False))


@gives(INT4, weight=1, needs="windows")
def ntile(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if not numbers_rows(place):
        return None
    return joined(f"ntile({make.rng.randint(1, 4)})", over(make, place, True))


@gives(*kinds.STORED, weight=2, needs="windows")
def neighbour(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if not numbers_rows(place):
        return None
    function = make.rng.choice(["lag({})", "lead({})", "lag({}, 2)", "lead({}, 0)"])
    before, after = function.split("{}")
    return joined(before, typed(make, kind, place, is_tame), after, over(make, place, True))


@gives(*kinds.STORED, weight=2, needs="windows")
def value_of_frame(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if not numbers_rows(place):
        return None
    function = make.rng.choice(["first_value({})", "last_value({})", "nth_value({}, 2)"])
    before, after = function.split("{}")
    return joined(before, typed(make, kind, place, is_tame), after, over(make, place, True, frame_of_rows(make)))


@gives(INT8, INT4, NUMERIC, FLOAT8, kinds.TEXT, kinds.DATE, weight=3, needs="windows")
def aggregate_over_window(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    call = aggregate_call(make, kind, place)
    if make.chance(0.3):
        framed = over_range(make, place)
        return None if framed is None else joined(call, framed)
    if make.chance(0.5) or not numbers_rows(place):
        return joined(call, over(make, place, False))
    return joined(call, over(make, place, True, frame_of_rows(make)))


def aggregate_call(make: Maker, kind: Kind, place: Place) -> Node:
    inner = flat(place)
    narrowed: Node | str = ""
    if make.chance(0.1):
        rows = Place(place.atoms, None, has_subqueries=False)
        narrowed = clause("filter_of_window", " FILTER (WHERE ", make.expression(kinds.BOOL, rows, 1), ")")
    if kind is INT8:
        if make.chance(0.4):
            return joined(text("count(*)"), narrowed)
        return joined(make.rng.choice(["sum(CAST(", "count(CAST("]), make.expression(INT4, inner, 1, True), " AS INTEGER))", narrowed)
    if kind in (NUMERIC, FLOAT8) and make.chance(0.5):
        return joined("sum(", make.expression(kind, inner, 1, True), ")", narrowed)
    return joined(make.rng.choice(["min(", "max("]), make.expression(kind, inner, 1), ")", narrowed)
