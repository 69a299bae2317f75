"""Productions of numbers. Calculation is on tame operands, so that its errors do not depend on the order of evaluation."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import FLOAT4, FLOAT8, INT2, INT4, INT8, NUMERIC, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node

CALCULATED = (INT4, INT8, NUMERIC, FLOAT4, FLOAT8)
DEEPEST = 2


@gives(*CALCULATED, weight=3)
def sum_or_product(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    depth = min(depth, DEEPEST - 1)
    left, right = (make.expression(kind, place, depth, True) for _ in range(2))
    return joined("(", left, f" {make.rng.choice(['+', '-', '+', '-', '*'])} ", right, ")")


@gives(INT4, INT8, FLOAT8, FLOAT4, weight=0.7)
def quotient(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    depth = min(depth, DEEPEST - 1)
    dividend, divisor = make.expression(kind, place, depth, True), make.expression(kind, place, depth, True)
    if is_tame and kind in (FLOAT4, FLOAT8):
        # A total of quotients that are not exact depends on the order of the rows.
        return joined("(", dividend, f" / {kinds.cast('4', kind)})")
    return joined("(", dividend, " / nullif(", divisor, f", {kinds.cast('0', kind)}))")


@gives(INT4, INT8, NUMERIC, weight=0.7)
def remainder(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    divisor = make.rng.choice(["2", "3", "7"])
    divisor = kinds.cast(divisor, kind) if kind is not INT4 else divisor
    return joined("(", make.expression(kind, place, min(depth, DEEPEST - 1), True), f" % {divisor})")


@gives(*CALCULATED, weight=0.7)
def negative(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("(- ", make.expression(kind, place, min(depth, DEEPEST - 1), True), ")")


@gives(*CALCULATED, weight=0.7)
def absolute(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("abs(", make.expression(kind, place, min(depth, DEEPEST - 1), True), ")")


@gives(FLOAT8, weight=0.6)
def rounded(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    function = make.rng.choice(["floor", "ceil", "round", "trunc", "sign"])
    return joined(f"{function}(", make.expression(FLOAT8, place, min(depth, DEEPEST - 1), True), ")")


@gives(NUMERIC, weight=0.6)
def rounded_exactly(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    function = make.rng.choice(["floor({})", "ceil({})", "round({}, 1)", "round({})", "trunc({}, 1)", "sign({})"])
    before, after = function.split("{}")
    return joined(before, make.expression(NUMERIC, place, min(depth, DEEPEST - 1), True), after)


@gives(FLOAT8, weight=0.3)
def square_root(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    # Its last digit decides sums by the order in which rows come.
    if is_tame:
        return None
    return joined("sqrt(abs(", make.expression(FLOAT8, place, min(depth, 1), True), "))")


@gives(*kinds.NUMBERS, weight=1.2)
def cast_of_number(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if is_tame and kind is INT2:
        return None
    source = make.rng.choice([other for other in kinds.NUMBERS if other is not kind])
    is_widening = (source, kind) in WIDENING
    inner = make.expression(source, place, min(depth, 0 if kind is INT2 else DEEPEST - 1), is_tame or not is_widening)
    if make.chance(0.5):
        return joined("CAST(", inner, f" AS {kind.sql})")
    return joined("(", inner, f")::{kind.sql}")


# Casts that take every value.
WIDENING = {(INT2, INT4), (INT2, INT8), (INT4, INT8), (INT2, FLOAT8), (INT4, FLOAT8), (INT8, FLOAT8), (FLOAT4, FLOAT8), (INT2, FLOAT4), (INT4, FLOAT4)}


@gives(INT4, weight=0.5)
def cast_of_condition(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("CAST(", make.expression(kinds.BOOL, place, depth), " AS INTEGER)")


@gives(INT4, weight=0.3)
def cast_of_written_number(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(f"CAST('{make.rng.randint(-9, 99)}' AS INTEGER)")


@gives(INT4, weight=0.8)
def length_of_text(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    function = make.rng.choice(["length", "char_length", "octet_length", "ascii"])
    return joined(f"{function}(", make.expression(kinds.TEXT, place, depth), ")")


@gives(INT4, weight=0.4)
def position_in_text(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("strpos(", make.expression(kinds.TEXT, place, depth), f", '{make.rng.choice(['a', 'b', 'bc', ''])}')")


@gives(INT4, weight=0.3)
def length_of_bytes(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("length(", make.expression(kinds.BYTES, place, depth), ")")


@gives(INT4, weight=0.6)
def field_of_time(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.rng.choice(kinds.TIMES)
    fields = ["YEAR", "MONTH", "DAY", "DOW", "ISODOW", "DOY", "QUARTER", "WEEK"]
    if of is not kinds.DATE:
        fields += ["HOUR", "MINUTE"]
    return joined(f"CAST(extract({make.rng.choice(fields)} FROM ", make.expression(of, place, depth, True), ") AS INTEGER)")


@gives(INT4, weight=0.6)
def days_between(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if is_tame:
        return None
    return joined("(", make.expression(kinds.DATE, place, depth), " - ", make.expression(kinds.DATE, place, depth), ")")


@gives(INT4, INT8, weight=0.3)
def bits(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    left, right = (make.expression(kind, place, min(depth, 1), True) for _ in range(2))
    return joined("(", left, f" {make.rng.choice(['&', '|', '#'])} ", right, ")")
