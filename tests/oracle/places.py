"""What can be named where an expression stands, and how expressions are made there."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle import kinds
from oracle.kinds import Kind
from oracle.tree import Node

if TYPE_CHECKING:
    from oracle.schema import Scenario


@dataclass(frozen=True, slots=True)
class Atom:
    """A column, or an expression of GROUP BY, as it is written."""

    sql: str
    kind: Kind
    is_tame: bool
    is_column: bool = True
    # No two rows of its source have the same value, and none has NULL.
    is_unique: bool = False
    # PostgreSQL makes another expression of it before it looks for those that it groups by.
    is_rewritten: bool = False


@dataclass(slots=True)
class Place:
    """`outer` is the query around; `arguments` is where arguments of aggregates stand, if they are allowed here."""

    atoms: list[Atom]
    outer: Place | None = None
    arguments: Place | None = None
    has_windows: bool = False
    has_subqueries: bool = True
    # One window may number rows that are equal; of two, each could number them in its own order.
    has_numbered_rows: bool = False

    def for_arguments(self) -> Place:
        """The same names without aggregates and windows."""
        return Place(self.atoms, self.outer, None, False, self.has_subqueries)

    def as_outer(self) -> Place:
        """What a subquery that stands here can name: expressions of GROUP BY are not recognized within."""
        return Place([atom for atom in self.atoms if atom.is_column], self.outer)


Production = Callable[["Maker", Kind, Place, int, bool], Node | None]


@dataclass(slots=True)
class Rule:
    name: str
    make: Production
    weight: float
    # Whether it needs a place with aggregates, windows, subqueries.
    needs: str


RULES: dict[Kind, list[Rule]] = {kind: [] for kind in kinds.ALL}


def gives(*results: Kind, weight: float = 1.0, needs: str = "") -> Callable[[Production], Production]:
    """Registers a production of expressions; its name is its function's. `None` means that it cannot be made here."""

    def register(function: Production) -> Production:
        for kind in results:
            RULES[kind].append(Rule(function.__name__, function, weight, needs))
        return function

    return register


@dataclass(slots=True)
class Maker:
    """Makes one statement."""

    rng: random.Random
    scenario: Scenario
    names_used: int = 0
    # What can be made of subqueries and tables before the statement is too large.
    subqueries_left: int = 3
    sources_left: int = 6
    has_big_table: bool = False
    common: list[tuple[str, list[Atom]]] = field(default_factory=list)
    # Productions that are not made, because a defect of theirs is known.
    avoided: frozenset[str] = frozenset()

    def may(self, production: str) -> bool:
        return production not in self.avoided

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def name(self, prefix: str) -> str:
        self.names_used += 1
        return f"{prefix}{self.names_used}"

    def expression(self, kind: Kind, place: Place, depth: int, is_tame: bool = False) -> Node:
        """Tame: of numbers that can be calculated with, texts without special characters, times away from the ends."""
        while depth > 0 and not self.chance(0.15):
            usable = [rule for rule in RULES[kind] if is_allowed(rule, place, self)]
            if not usable:
                return self.leaf(kind, place, is_tame)
            special = [rule for rule in usable if rule.needs in ("aggregates", "windows")]
            if special and self.chance(0.5):
                usable = special
            rule = self.rng.choices(usable, [rule.weight for rule in usable])[0]
            node = rule.make(self, kind, place, depth - 1, is_tame)
            if node is not None:
                return Node(rule.name, node.parts, kind.name, separator=node.separator, simplest=kinds.simplest(kind))
            depth -= 1
        return self.leaf(kind, place, is_tame)

    def leaf(self, kind: Kind, place: Place, is_tame: bool = False) -> Node:
        found = place
        while found.outer is not None and found.outer.atoms and self.chance(0.3):
            found = found.outer
        atoms = [atom for atom in found.atoms if atom.kind is kind and (atom.is_tame or not is_tame)]
        if not atoms and found.outer is not None:
            atoms = [atom for atom in found.outer.atoms if atom.kind is kind and (atom.is_tame or not is_tame)]
        if atoms and self.chance(0.85):
            return Node("column", [self.rng.choice(atoms).sql], kind.name, simplest=kinds.simplest(kind))
        if self.chance(0.06):
            return Node("null", [kinds.null(kind)], kind.name)
        return Node("literal", [kinds.literal(kind, self.rng, not is_tame)], kind.name, simplest=kinds.simplest(kind))

    def kind(self, place: Place, choices: tuple[Kind, ...] = kinds.STORED) -> Kind:
        """A type, one that columns here have if possible."""
        present = [atom.kind for atom in place.atoms if atom.kind in choices]
        return self.rng.choice(present) if present and self.chance(0.9) else self.rng.choice(choices)

    def kinds(self, place: Place, number: int) -> list[Kind]:
        return [self.kind(place) for _ in range(number)]


def is_allowed(rule: Rule, place: Place, maker: Maker) -> bool:
    if rule.name in maker.avoided:
        return False
    if rule.needs == "aggregates":
        return place.arguments is not None
    if rule.needs == "windows":
        return place.has_windows
    if rule.needs == "subqueries":
        return place.has_subqueries and maker.subqueries_left > 0 and maker.sources_left > 0
    return True


def joined(*parts: Node | str) -> Node:
    return Node("", list(parts))
