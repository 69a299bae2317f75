"""One process of the run: takes scenarios, asks their statements of its own servers, and says what it has found."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field

from oracle import known, peers
from oracle.changes import change
from oracle.compare import Expectation
from oracle.forms import form
from oracle.places import Maker
from oracle.queries import statement
from oracle.reduce import Reduction
from oracle.schema import Scenario, random_scenario
from oracle.scripts import script
from oracle.sides import Sides
from oracle.trials import AGREES, DIED, WRONG, Trial, Verdict, run
from oracle.wire import Answer

STATEMENTS_OF_SCENARIO = 500
# Findings of one signature that are made small; the others are counted.
REDUCED_PER_SIGNATURE, REDUCED_WRONG = 2, 40
# Of a hundred statements, how many plans are looked at.
PLANS_SHARE = 0.02


@dataclass(slots=True)
class Finding:
    seed: str
    outcome: str
    signature: str
    known_cause: str
    script: str
    reduced: str


@dataclass(slots=True)
class Report:
    """What a worker has counted; all of it adds up."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    productions: Counter[str] = field(default_factory=Counter)
    plan_nodes: Counter[str] = field(default_factory=Counter)
    deviations: Counter[str] = field(default_factory=Counter)
    signatures: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    statements: int = 0
    empty: int = 0
    reduction_seconds: float = 0.0

    def add(self, other: Report) -> None:
        for name in ("outcomes", "kinds", "productions", "plan_nodes", "deviations", "signatures"):
            getattr(self, name).update(getattr(other, name))
        self.findings += other.findings
        self.statements += other.statements
        self.empty += other.empty
        self.reduction_seconds += other.reduction_seconds


def trial_of(seed: str, scenario: Scenario, avoided: frozenset[str] = frozenset()) -> Trial:
    """The statement of a seed: the same for the same tables."""
    rng = random.Random(seed)
    make = Maker(rng, scenario, avoided=avoided)
    draw = rng.random()
    if draw < 0.08:
        return change(make)
    if draw < 0.2:
        return form(make)
    made = statement(make)
    approximate = frozenset(at for at, output in enumerate(made.outputs) if output.is_approximate)
    return Trial(made.node, "query", Expectation(made.order, made.is_total, approximate))


class Worker:
    def __init__(self, sides: Sides, may_reduce: bool = True, avoided: frozenset[str] = frozenset(), is_thorough: bool = False):
        self.sides, self.causes, self.may_reduce, self.avoided, self.is_thorough = sides, known.read(), may_reduce, avoided, is_thorough
        self.reduced: Counter[str] = Counter()

    def scenario(self, seed: int, numbers: range) -> Report:
        """One set of tables, and its statements with these numbers."""
        report = Report()
        scenario = random_scenario(random.Random(f"{seed}"))
        self.sides.narrow("")
        self.note(self.sides.set_up(scenario), seed, report)
        for number in numbers:
            # Half the statements meet tables as they were made, half what changes have left of them.
            if number >= STATEMENTS_OF_SCENARIO // 2 and not scenario.changes:
                scenario = scenario.changed()
                self.note(self.sides.change(scenario), seed, report)
            if not self.is_thorough:
                self.sides.take_turn(number)
            self.trial(f"{seed}:{number}", scenario, report)
        return report

    def note(self, failed: list[tuple[str, str, Answer]], seed: int, report: Report) -> None:
        for side, sql, answer in failed:
            report.signatures[f"tables|{side}|{answer.state} {answer.message}"] += 1
            report.findings.append(Finding(f"{seed}", "refused", "tables", "", f"-- {side}: {answer.state} {answer.message}\n{sql};\n", sql))

    def trial(self, seed: str, scenario: Scenario, report: Report) -> None:
        trial = trial_of(seed, scenario, self.avoided)
        trial.node.count(report.productions)
        report.statements += 1
        report.kinds[trial.kind] += 1
        verdict = run(trial, self.sides)
        report.outcomes[verdict.outcome] += 1
        if verdict.outcome == AGREES:
            report.empty += trial.kind == "query" and not verdict.expected.rows
        elif verdict.is_finding:
            self.found(seed, scenario, trial, verdict, report)
        elif verdict.what:
            report.deviations[verdict.what] += 1
        if random.Random(seed + "plan").random() < PLANS_SHARE and trial.kind == "query":
            self.look_at_plans(trial, report)

    def found(self, seed: str, scenario: Scenario, trial: Trial, verdict: Verdict, report: Report) -> None:
        signature = verdict.signature()
        cause = known.cause_of(self.causes, verdict, "; ".join(trial.statements())) if verdict.outcome != WRONG else ""
        if cause:
            report.findings.append(Finding(seed, verdict.outcome, signature, cause, "", ""))
            return
        report.signatures[signature] += 1
        self.reduced[signature] += 1
        is_enough = self.reduced[signature] > (REDUCED_WRONG if verdict.outcome == WRONG else REDUCED_PER_SIGNATURE)
        if self.may_reduce and not is_enough:
            started = time.monotonic()
            small = Reduction(self.sides, scenario, trial, verdict)
            small.run()
            report.reduction_seconds += time.monotonic() - started
            trial_small, verdict_small, scenario_small = small.trial, small.verdict, small.scenario
            self.sides.set_up(scenario)
        else:
            trial_small, verdict_small, scenario_small = trial, verdict, scenario
        if verdict.outcome == DIED:
            self.sides.renew()
        sql = "; ".join(trial_small.statements())
        cause = known.cause_of(self.causes, verdict_small, sql)
        text = script(scenario_small, trial_small, verdict_small, seed)
        if verdict.outcome == WRONG and trial.kind == "query":
            text += "\n".join([*peers.opinions(scenario_small, sql), ""])
        report.findings.append(Finding(seed, verdict.outcome, signature, cause, text, sql))

    def look_at_plans(self, trial: Trial, report: Report) -> None:
        sql = trial.node.sql()
        for side in self.sides.ours:
            if side.name in ("row tuple", "column"):
                for row in side.wire.ask(f"EXPLAIN {sql}").rows:
                    for line in (row[-1] or b"").decode().splitlines():
                        name = line.strip().split(":")[0].split(" ")[0].strip("-|+ ")
                        if name and not name[0].isdigit():
                            report.plan_nodes[f"{side.name}: {name}"] += 1
