"""Makes a finding small: its statement, then its tables, rows and columns, then the statement again."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from oracle.schema import Scenario, Table
from oracle.sides import Sides
from oracle.tree import Node, smaller
from oracle.trials import DIED, Trial, Verdict, run, same_finding

SECONDS_MAX = 12.0


@dataclass
class Reduction:
    sides: Sides
    scenario: Scenario
    trial: Trial
    verdict: Verdict
    seconds_max: float = SECONDS_MAX

    def run(self) -> None:
        """Leaves the smallest trial and scenario that still show the finding; the tables of the sides are the smallest, too."""
        if self.verdict.outcome == DIED:
            return
        self.end = time.monotonic() + self.seconds_max
        self.is_same = same_finding(self.verdict)
        names = self.verdict.sides
        self.sides.narrow(self.verdict.side)
        self.tree()
        self.tables()
        self.tree()
        self.sides.narrow("")
        self.verdict.sides = names

    def is_out_of_time(self) -> bool:
        return time.monotonic() > self.end

    def tree(self) -> None:
        root = self.trial.node
        tried: set[str] = set()
        has_changed = True
        while has_changed and not self.is_out_of_time():
            has_changed = False
            for less in smaller(root):
                sql = less.sql()
                if sql in tried or self.is_out_of_time():
                    continue
                tried.add(sql)
                if self.still_shows(less):
                    root, has_changed = less, True
                    break

    def still_shows(self, node: Node) -> bool:
        trial = self.trial.with_node(node)
        verdict = run(trial, self.sides)
        if verdict.outcome == DIED:
            self.renew()
            return False
        if self.is_same(verdict):
            self.trial, self.verdict = trial, verdict
            return True
        return False

    def tables(self) -> None:
        """Each attempt makes all tables anew, so that a finding does not depend on what was there before."""
        sql = self.trial.node.sql()
        needed = self.scenario
        for table in self.scenario.tables:
            if not re.search(rf"\b{table.name}\b", sql):
                needed = needed.with_table(table.name, None)
        self.attempt(needed)
        if not self.attempt(self.scenario):
            self.sides.set_up(self.scenario)
            return
        self.attempt(replace(self.scenario, settings=()))
        self.attempt(replace(self.scenario, mixed=frozenset()))
        for change in self.scenario.changes:
            self.attempt(replace(self.scenario, changes=tuple(other for other in self.scenario.changes if other is not change)))
        for name in [table.name for table in self.scenario.tables]:
            self.rows(name)
            self.plainer(name)
            self.columns(name)
        self.sides.set_up(self.scenario)

    def attempt(self, scenario: Scenario) -> bool:
        if self.is_out_of_time() or self.sides.set_up(scenario):
            return False
        verdict = run(self.trial, self.sides)
        if verdict.outcome == DIED:
            self.renew()
        if not self.is_same(verdict):
            return False
        self.scenario, self.verdict = scenario, verdict
        return True

    def renew(self) -> None:
        self.sides.renew()
        self.sides.narrow(self.verdict.side)

    def table(self, name: str) -> Table:
        return next(table for table in self.scenario.tables if table.name == name)

    def change(self, name: str, table: Table) -> bool:
        return self.attempt(self.scenario.with_table(name, table))

    def rows(self, name: str) -> None:
        """Halves, quarters, and so on down to single rows."""
        step = max(1, len(self.table(name).rows) // 2)
        while step >= 1:
            at = 0
            while at < len(self.table(name).rows):
                table = self.table(name)
                if not self.change(name, replace(table, rows=table.rows[:at] + table.rows[at + step:])):
                    at += step
                if self.is_out_of_time():
                    return
            step //= 2

    def plainer(self, name: str) -> None:
        for change in ({"is_in_two_parts": False}, {"indexes": ()}, {"key": ()}, {"is_vacuumed": False}, {"is_analyzed": False}):
            table = self.table(name)
            plain = replace(table, **change)
            if plain != table:
                self.change(name, plain)

    def columns(self, name: str) -> None:
        for column in self.table(name).columns:
            table = self.table(name)
            at = table.columns.index(column)
            if len(table.columns) > 1 and column.name not in table.key and not any(column.name in index for index in table.indexes):
                rows = tuple(row[:at] + row[at + 1:] for row in table.rows)
                self.change(name, replace(table, columns=table.columns[:at] + table.columns[at + 1:], rows=rows))
