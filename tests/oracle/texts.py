"""Productions of texts and bytes. Tame texts are ASCII without special characters."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import BYTES, CHAR, INT4, TEXT, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node, listing


@gives(TEXT, weight=2)
def concatenation(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(", make.expression(TEXT, place, depth, is_tame), " || ", make.expression(TEXT, place, depth, is_tame), ")")


@gives(TEXT, weight=0.5)
def concat(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    items = [make.expression(TEXT, place, depth, is_tame) for _ in range(make.rng.randint(1, 3))]
    return joined("concat(", listing("", items), ")")


@gives(TEXT, weight=1.5)
def changed_text(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    function = make.rng.choice([
        "upper({})", "lower({})", "trim({})", "ltrim({})", "rtrim({})", "reverse({})", "replace({}, 'a', 'xy')", "substring({} FROM 2 FOR 2)",
        "substr({}, 2)", "left({}, 2)", "right({}, 2)", "left({}, -1)", "lpad({}, 5, '*')", "rpad({}, 4, 'xy')", "split_part({}, 'b', 1)",
        "translate({}, 'ab', 'x')", "md5({})", "repeat({}, 2)", "initcap({})", "btrim({}, 'a')",
    ])
    before, after = function.split("{}")
    return joined(before, make.expression(TEXT, place, depth, True), after)


@gives(TEXT, weight=1)
def text_of_value(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.rng.choice([kinds.BOOL, INT4, kinds.INT8, kinds.INT2, kinds.DATE, CHAR, kinds.TIMESTAMP if make.may("text_of_timestamp") else INT4])
    return joined("CAST(", make.expression(of, place, depth, is_tame), " AS TEXT)")


@gives(TEXT, weight=0.3)
def part_by_position(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    start = make.expression(INT4, place, min(depth, 1), True)
    return joined("substr(", make.expression(TEXT, place, depth, is_tame), ", ", start, ")")


@gives(TEXT, weight=0.3)
def hex_of_bytes(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("encode(", make.expression(BYTES, place, depth), ", 'hex')")


@gives(BYTES, weight=1)
def concatenation_of_bytes(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(", make.expression(BYTES, place, depth), " || ", make.expression(BYTES, place, depth), ")")


@gives(CHAR, weight=1)
def cast_to_char(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("CAST(", make.expression(TEXT, place, depth, True), " AS CHAR(6))")
