"""One thing that is asked of all sides, and the verdict over what they say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from oracle import deviations
from oracle.compare import Expectation, difference
from oracle.sides import Side, Sides
from oracle.tree import Node
from oracle.wire import LOST, TIMED_OUT, Answer

INTERNAL = "XX000"
COLUMNS_MAX = 64
# How our refusals of subqueries for their form begin.
SUBQUERY_FORM = re.compile("subquer|correlat|LATERAL", re.IGNORECASE)

AGREES, REFUSED_BY_ALL, TIMEOUT, DEVIATION = "agrees", "refused by all", "timeout", "deviation"
WRONG, INTERNAL_ERROR, REFUSED, REFUSED_FORM, ACCEPTED, DIED = "wrong answer", "internal error", "refused", "refused form", "accepted", "died"
FINDINGS = (WRONG, INTERNAL_ERROR, REFUSED, REFUSED_FORM, ACCEPTED, DIED)


@dataclass(slots=True)
class Verdict:
    """`side` is the first that is wrong, and `at` the statement. `sides` names all that are."""

    outcome: str
    what: str = ""
    at: int = 0
    side: str = ""
    sides: tuple[str, ...] = ()
    expected: Answer = field(default_factory=Answer)
    got: Answer = field(default_factory=Answer)

    @property
    def is_finding(self) -> bool:
        return self.outcome in FINDINGS

    def signature(self) -> str:
        """What findings of one cause are likely to have in common."""
        message = re.sub(r"\"[^\"]*\"|'[^']*'|[0-9]+|\b[a-z]+[0-9]+(\.[a-z0-9]+)?\b", "_", self.got.message or self.expected.message)
        return f"{self.outcome}|{self.got.state or self.expected.state}|{message[:60]}|{','.join(self.sides) if self.outcome == WRONG else ''}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement with its parameters, and what it stands between."""

    sql: str
    values: tuple[bytes, ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def script(self) -> list[str]:
        given = f" -- with {', '.join(value.decode() for value in self.values)}" if self.values else ""
        return [*self.before, self.sql + given, *self.after]


@dataclass(frozen=True, slots=True)
class Trial:
    """A statement as a tree, what stands around it, and what is known of its rows.

    A change is asked within a transaction that is rolled back, with the table's rows after it; sides without keys are left out if it needs one.
    A pair is two statements, made of the tree, that must give the same rows on each side by itself."""

    node: Node
    kind: str = "query"
    expectation: Expectation = Expectation()
    changed_table: str = ""
    needs_key: bool = False
    pair: Callable[[Node], list[Asked]] | None = None

    def statements(self) -> list[str]:
        if self.pair is not None:
            return [sql for asked in self.pair(self.node) for sql in asked.script()]
        if self.changed_table:
            return ["BEGIN", self.node.sql(), f"SELECT * FROM {self.changed_table}", "ROLLBACK"]
        return [self.node.sql()]

    def with_node(self, node: Node) -> Trial:
        return replace(self, node=node, expectation=weaker_if_changed(self, node))


def weaker_if_changed(trial: Trial, node: Node) -> Expectation:
    """A smaller statement may have lost its order, or columns: then any of them may be the inexact one."""
    before, after = (sorted_by(each) for each in (trial.node, node))
    if before == after:
        return trial.expectation
    return Expectation(approximate=frozenset(range(COLUMNS_MAX)) if trial.expectation.approximate else frozenset())


def sorted_by(node: Node) -> str:
    order = node.sql().rpartition(" ORDER BY ")[2]
    return order + str(len(next((part.parts for part in node.walk() if part.separator == ", "), [])))


def run(trial: Trial, sides: Sides) -> Verdict:
    if trial.changed_table:
        return run_change(trial, sides)
    if trial.pair is not None:
        return run_pair(trial, trial.pair(trial.node), sides)
    answers = sides.ask_all(trial.node.sql())
    verdict = judge(trial, answers[0], list(zip(sides.ours, answers[1:])), 0)
    return confirmed(verdict, trial.node.sql(), sides)


def confirmed(verdict: Verdict, sql: str, sides: Sides) -> Verdict:
    """The verdict, unless it forgives an error of a constant which PostgreSQL found in a row."""
    is_forgiven = verdict.what == deviations.is_error_of_a_constant.__name__
    if not is_forgiven or deviations.fails_in_planning(sides.all[0].wire, sql, verdict.expected):
        return verdict
    return replace(verdict, outcome=ACCEPTED, what=f"{verdict.expected.state} {verdict.expected.message}")


def run_change(trial: Trial, sides: Sides) -> Verdict:
    """Sides of one storage have the same tables, so they change them one after the other."""
    statements = trial.statements()
    asked = [side for side in sides.active if not (trial.needs_key and side.storage == "column")]
    answers = [[side.wire.ask(sql) for sql in statements] for side in asked]
    for at in range(1, len(statements) - 1):
        ours = [(side, answers[number][at]) for number, side in enumerate(asked) if number]
        verdict = confirmed(judge(trial, answers[0][at], ours, at), statements[at], sides)
        if verdict.outcome != AGREES:
            return verdict
    return Verdict(AGREES)


def run_pair(trial: Trial, pair: list[Asked], sides: Sides) -> Verdict:
    """Each side beside itself. PostgreSQL is asked only where a side differs: a pair that it finds unequal, too, is no finding."""
    for side in sides.ours:
        one, other = (ask(asked, side) for asked in pair)
        if one.is_error and not other.is_error:
            one, other = other, one
        verdict = judge(trial, one, [(side, other)], 0)
        if verdict.is_finding and not (one.is_error and other.is_error and one.state != INTERNAL != other.state):
            one, other = (ask(asked, sides.all[0]) for asked in pair)
            if one.is_error or other.is_error or difference(one, other, trial.expectation):
                return Verdict(REFUSED_BY_ALL)
            return verdict
        if verdict.outcome != AGREES:
            return Verdict(verdict.outcome)
    return Verdict(AGREES)


def ask(asked: Asked, side: Side) -> Answer:
    for sql in asked.before:
        side.wire.ask(sql)
    if asked.values:
        side.wire.send_values(asked.sql, list(asked.values), [0] * len(asked.values))
    else:
        side.wire.send(asked.sql, side.is_extended)
    answer = side.wire.receive()
    for sql in asked.after:
        side.wire.ask(sql)
    return answer


def judge(trial: Trial, expected: Answer, ours: list[tuple[Side, Answer]], at: int) -> Verdict:
    """The worst of what is to be said of our sides."""
    verdicts = [(side, judge_one(trial, expected, got), got) for side, got in ours]
    for outcome in (DIED, INTERNAL_ERROR, WRONG, ACCEPTED, REFUSED, REFUSED_FORM, TIMEOUT, DEVIATION):
        found = [(side, what, got) for side, (kind, what), got in verdicts if kind == outcome]
        if found:
            side, what, got = found[0]
            return Verdict(outcome, what, at, side.name, tuple(each.name for each, _, _ in found), expected, got)
    return Verdict(REFUSED_BY_ALL if expected.is_error else AGREES, expected=expected)


def judge_one(trial: Trial, expected: Answer, got: Answer) -> tuple[str, str]:
    if got.state == LOST:
        return DIED, got.message
    if got.state == INTERNAL or "panicked" in got.message:
        return INTERNAL_ERROR, got.message
    if TIMED_OUT in (expected.state, got.state) or expected.is_too_long or got.is_too_long:
        return TIMEOUT, ""
    if expected.is_error and got.is_error:
        return REFUSED_BY_ALL, ""
    if expected.is_error:
        deviation = deviations.explain(expected, got)
        return (DEVIATION, deviation) if deviation else (ACCEPTED, f"{expected.state} {expected.message}")
    if got.is_error:
        is_form = got.state == "0A000" and SUBQUERY_FORM.search(got.message)
        return (REFUSED_FORM if is_form else REFUSED), f"{got.state} {got.message}"
    what = difference(expected, got, trial.expectation)
    return (WRONG, what) if what else (AGREES, "")


def same_finding(first: Verdict) -> Callable[[Verdict], bool]:
    """Whether a smaller trial still shows it: the same outcome, and the same error if it is one."""

    def is_same(verdict: Verdict) -> bool:
        if verdict.outcome != first.outcome or verdict.got.state != first.got.state or verdict.expected.state != first.expected.state:
            return False
        if first.outcome == WRONG:
            return True
        return verdict.signature() == first.signature()

    return is_same
