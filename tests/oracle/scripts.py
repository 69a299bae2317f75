"""A finding as an SQL script that shows it by itself."""

from __future__ import annotations

from oracle.schema import Scenario
from oracle.trials import Trial, Verdict
from oracle.wire import Answer

ROWS_SHOWN = 12


def script(scenario: Scenario, trial: Trial, verdict: Verdict, seed: str) -> str:
    storage = "column" if verdict.side == "column" else "row"
    engine = verdict.side.split()[-1] if storage == "row" else "auto"
    lines = [f"-- {verdict.outcome}: {verdict.what} ({', '.join(verdict.sides)}; {trial.kind}, seed {seed})"]
    lines += [f"{sql};" for sql in scenario.statements(storage)]
    lines += [f"{sql};" for sql in scenario.settings]
    lines.append(f"SET engine = '{engine}';")
    lines += [f"{sql};" for sql in trial.statements()]
    names = ("-- one of the two:", "-- the other:") if trial.pair is not None else ("-- expected:", "-- got:")
    lines += [names[0], *shown(verdict.expected), names[1], *shown(verdict.got)]
    return "\n".join(lines) + "\n"


def shown(answer: Answer) -> list[str]:
    if answer.is_error:
        return [f"--   {answer.state} {answer.message}".replace("\n", " ")]
    rows = ["--   " + " | ".join("NULL" if value is None else repr(value.decode())[1:-1] for value in row) for row in answer.rows[:ROWS_SHOWN]]
    if len(answer.rows) > ROWS_SHOWN:
        rows.append(f"--   … {len(answer.rows)} rows")
    return rows or ["--   no rows"]
