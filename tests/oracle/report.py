"""What a run prints at its end: counts, coverage, causes."""

from __future__ import annotations

from collections import Counter

from oracle import places
from oracle.worker import Report


def printed(report: Report, seconds: float, is_thorough: bool) -> str:
    made = report.productions
    unused = sorted({rule.name for rules in places.RULES.values() for rule in rules} - set(made))
    causes = Counter(finding.known_cause for finding in report.findings if finding.known_cause)
    unknown = Counter(finding.outcome for finding in report.findings if not finding.known_cause)
    rate = report.statements / max(seconds - report.reduction_seconds / 2, 0.001)
    engines = "three engines" if is_thorough else "one of three engines"
    lines = [
        f"oracle: {report.statements} statements in {seconds:.0f} s ({rate:.0f}/s without reductions), each on row tables by {engines} and on column tables",
        f"kinds: {counts(report.kinds)}",
        f"outcomes: {counts(report.outcomes)}; {report.empty} answers without rows",
        f"deviations: {counts(report.deviations) or 'none'}",
        f"coverage: {len(made)} productions: {counts(made)}",
        f"not made: {', '.join(unused) or 'none'}",
        f"plan nodes seen: {len(report.plan_nodes)}: {counts(report.plan_nodes)}",
        f"refused for the form of a subquery: {report.outcomes['refused form']}",
        f"known differences: {counts(causes) or 'none'}",
        f"unknown differences: {counts(unknown) or 'none'}",
    ]
    lines += [f"  {count} × {signature}" for signature, count in report.signatures.most_common(60)]
    lines += [f"  repeat with --seed {finding.seed} --count 1" for finding in report.findings if not finding.known_cause][:40]
    return "\n".join(lines)


def counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())
