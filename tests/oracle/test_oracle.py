"""The oracle's own judgement: what it takes for equal, how it makes a finding small, that a seed is a statement."""

import pathlib
import random
import tempfile
import unittest

from oracle import known
from oracle.compare import Expectation, difference
from oracle.nights import FIRST_SEED, Nights
from oracle.schema import random_scenario
from oracle.tree import QUERY, Node, clause, listing, reduced, text
from oracle.wire import Answer
from oracle.worker import Report, trial_of

INT4, NUMERIC, FLOAT8, TEXT = 23, 1700, 701, 25


def answer(types: list[int], *rows: tuple[bytes | None, ...]) -> Answer:
    return Answer(types=types, rows=list(rows))


class Compare(unittest.TestCase):
    def test_rows_are_a_multiset_unless_they_are_ordered(self) -> None:
        one, other = answer([INT4], (b"1",), (b"2",)), answer([INT4], (b"2",), (b"1",))
        self.assertEqual(difference(one, other, Expectation()), "")
        self.assertNotEqual(difference(one, other, Expectation((0,), True)), "")
        self.assertNotEqual(difference(one, answer([INT4], (b"1",), (b"1",)), Expectation()), "")

    def test_numbers_are_equal_by_value_and_null_is_nothing_else(self) -> None:
        self.assertEqual(difference(answer([NUMERIC], (b"3.50",)), answer([FLOAT8], (b"3.5",)), Expectation()), "")
        self.assertEqual(difference(answer([FLOAT8], (b"-0",), (b"NaN",)), answer([FLOAT8], (b"0",), (b"NaN",)), Expectation()), "")
        self.assertNotEqual(difference(answer([TEXT], (b"",)), answer([TEXT], (None,)), Expectation()), "")

    def test_only_computed_aggregates_have_a_tolerance(self) -> None:
        one, other = answer([FLOAT8], (b"1.0000000000000002",)), answer([FLOAT8], (b"1",))
        self.assertNotEqual(difference(one, other, Expectation()), "")
        self.assertEqual(difference(one, other, Expectation(approximate=frozenset({0}))), "")

    def test_averages_of_decimals_are_rounded_to_their_digits(self) -> None:
        expected, approximate = answer([NUMERIC], (b"5.6583333333333333",)), Expectation(approximate=frozenset({0}))
        self.assertEqual(difference(expected, answer([NUMERIC], (b"5.658333",)), approximate), "")
        self.assertNotEqual(difference(expected, answer([NUMERIC], (b"5.658334",)), approximate), "")
        self.assertNotEqual(difference(expected, answer([NUMERIC], (b"5.658333",)), Expectation()), "")


class Reduce(unittest.TestCase):
    def test_what_is_not_needed_goes(self) -> None:
        items = listing("", [text("a"), text("b"), text("c")])
        inner = Node("inner", ["SELECT x"], QUERY)
        root = Node("outer", ["SELECT ", items, clause("where", " WHERE d"), " FROM (", inner, ")"], QUERY)
        self.assertEqual(reduced(root, lambda node: "b" in node.sql()).sql(), "SELECT b FROM (SELECT x)")
        self.assertEqual(reduced(root, lambda node: "x" in node.sql()).sql(), "SELECT x")


class Seeds(unittest.TestCase):
    def test_a_seed_is_a_statement(self) -> None:
        first, second = (random_scenario(random.Random("7")) for _ in range(2))
        self.assertEqual(first, second)
        for number in range(50):
            self.assertEqual(trial_of(f"7:{number}", first).statements(), trial_of(f"7:{number}", second).statements())

    def test_nights_go_on_where_the_last_one_ended(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new" / "nights.json"
            first = Nights.read(path)
            first.add(Report(statements=1_200), 60)
            first.write(path)
            second = Nights.read(path)
            self.assertEqual(second.next_seed, FIRST_SEED + 3)
            second.add(Report(statements=500), 30)
            self.assertEqual((second.runs, second.statements, second.seconds, second.next_seed), (2, 1_700, 90, FIRST_SEED + 4))

    def test_known_differences_have_four_fields(self) -> None:
        self.assertTrue(all(issue.isdigit() and cause and what for issue, cause, what, _ in known.lines(known.PATH)))


if __name__ == "__main__":
    unittest.main()
