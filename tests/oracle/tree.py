"""A statement as a tree: it is printed from it, counted by it, and made smaller on it.

A node has a production (what the grammar calls it) and a category. Nodes of one category can stand for one another: that is what
reduction uses. Whether a smaller statement still makes sense is PostgreSQL's to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

CLAUSE = "clause"
QUERY = "query"
SOURCE = "source"


@dataclass(slots=True)
class Node:
    """`parts` are printed one after another; between those of a list stands its separator."""

    production: str
    parts: list[Node | str]
    category: str = ""
    # A clause can be left out.
    is_optional: bool = False
    # A list can lose elements, as long as one is left.
    separator: str | None = None
    # A simplest expression that can stand here, of the same type.
    simplest: tuple[str, ...] = field(default=())
    # The numbers in it are small enough to be added and multiplied.
    is_tame: bool = True

    def sql(self) -> str:
        pieces: list[str] = []
        self._print(pieces)
        return "".join(pieces)

    def _print(self, pieces: list[str]) -> None:
        is_first = True
        for part in self.parts:
            if self.separator is not None and not is_first:
                pieces.append(self.separator)
            is_first = False
            if isinstance(part, str):
                pieces.append(part)
            else:
                part._print(pieces)

    def walk(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()

    def count(self, counter: Counter[str]) -> None:
        for node in self.walk():
            if node.production:
                counter[node.production] += 1


def text(sql: str) -> Node:
    """What is printed as it is, and never made smaller."""
    return Node("", [sql])


def clause(production: str, *parts: Node | str) -> Node:
    """What can be left out."""
    return Node(production, list(parts), CLAUSE, is_optional=True)


def listing(production: str, items: list[Node], separator: str = ", ") -> Node:
    return Node(production, list(items), separator=separator)


def nothing() -> Node:
    return Node("", [])


def size(root: Node) -> int:
    return len(root.sql())


def replaced(root: Node, old: Node, new: Node) -> Node:
    """The tree with one node exchanged; what is not on the way to it is shared."""
    if root is old:
        return new
    for at, part in enumerate(root.parts):
        if isinstance(part, Node):
            changed = replaced(part, old, new)
            if changed is not part:
                parts = list(root.parts)
                parts[at] = changed
                return Node(root.production, parts, root.category, root.is_optional, root.separator, root.simplest, root.is_tame)
    return root


def smaller(root: Node) -> Iterator[Node]:
    """Trees with one thing less, the largest steps first."""
    for node in sorted(root.walk(), key=size, reverse=True):
        yield from (replaced(root, node, less) for less in less_of(node))


def less_of(node: Node) -> Iterator[Node]:
    if node.is_optional and node.parts:
        yield Node(node.production, [], node.category, is_optional=False)
    if node.separator is not None and len(node.parts) > 1:
        for at in range(len(node.parts)):
            rest = node.parts[:at] + node.parts[at + 1:]
            yield Node(node.production, rest, node.category, node.is_optional, node.separator)
    if node.category and not node.is_optional:
        for inner in node.walk():
            if inner is not node and inner.category == node.category and not inner.is_optional:
                yield inner
    own = node.sql()
    for sql in node.simplest:
        if len(sql) < len(own):
            yield Node("literal", [sql], node.category)


def reduced(root: Node, is_still_wrong: Callable[[Node], bool]) -> Node:
    """The smallest tree that greedy steps find; the caller bounds how often it answers."""
    while True:
        for less in smaller(root):
            if is_still_wrong(less):
                root = less
                break
        else:
            return root
