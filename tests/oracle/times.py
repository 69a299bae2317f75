"""Productions of dates, times and intervals. Tame ones are far from the first and the last day."""

from __future__ import annotations

from oracle import kinds
from oracle.kinds import DATE, INTERVAL, TIMESTAMP, TIMESTAMPTZ, Kind
from oracle.places import Maker, Place, gives, joined
from oracle.tree import Node

FIELDS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]


@gives(DATE, weight=2)
def date_and_days(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    days = make.expression(kinds.INT4, place, min(depth, 1), True)
    return joined("(", make.expression(DATE, place, min(depth, 1), True), make.rng.choice([" + ", " - "]), days, ")")


@gives(DATE, weight=1)
def date_of_time(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    of = make.rng.choice([TIMESTAMP, TIMESTAMPTZ])
    return joined("CAST(", make.expression(of, place, depth, is_tame), " AS DATE)")


@gives(TIMESTAMP, TIMESTAMPTZ, weight=2)
def time_and_interval(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    span = make.expression(INTERVAL, place, min(depth, 1), True)
    return joined("(", make.expression(kind, place, min(depth, 1), True), make.rng.choice([" + ", " - "]), span, ")")


@gives(TIMESTAMP, weight=0.7)
def date_and_interval(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    span = make.expression(INTERVAL, place, min(depth, 1), True)
    return joined("CAST((", make.expression(DATE, place, min(depth, 1), True), make.rng.choice([" + ", " - "]), span, ") AS TIMESTAMP)")


@gives(TIMESTAMP, TIMESTAMPTZ, weight=1)
def truncated_time(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined(f"date_trunc('{make.rng.choice(FIELDS)}', ", make.expression(kind, place, depth, True), ")")


@gives(TIMESTAMP, weight=0.6)
def timestamp_of_date(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    return joined("CAST(", make.expression(DATE, place, depth, is_tame), " AS TIMESTAMP)")


@gives(TIMESTAMP, weight=0.6)
def time_at_zone(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    zone = make.rng.choice(["UTC", "America/New_York", "Asia/Kolkata"])
    return joined("(", make.expression(TIMESTAMPTZ, place, depth, True), f" AT TIME ZONE '{zone}')")


@gives(INTERVAL, weight=1.5)
def interval_between(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node | None:
    if is_tame:
        return None
    of = make.rng.choice([TIMESTAMP, TIMESTAMPTZ])
    return joined("(", make.expression(of, place, min(depth, 1), True), " - ", make.expression(of, place, min(depth, 1), True), ")")


@gives(INTERVAL, weight=0.8)
def sum_of_intervals(make: Maker, kind: Kind, place: Place, depth: int, is_tame: bool) -> Node:
    left, right = (make.expression(INTERVAL, place, min(depth, 1), is_tame) for _ in range(2))
    return joined("(", left, make.rng.choice([" + ", " - "]), right, ")")
