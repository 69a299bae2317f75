"""How a file of psql is taken apart, and what counts as the same answer."""

import unittest

from regress import outcomes
from regress.statements import split


class Split(unittest.TestCase):
    def test_semicolons_in_strings_comments_and_bodies_end_nothing(self) -> None:
        file = "SELECT ';' -- ; \n;\nSELECT $x$;$x$ /* ; /* ; */ */;\n\\d t\nSELECT E'\\';', \"a;b\";\n"
        self.assertEqual(len(split(file)), 4)

    def test_data_of_copy_belongs_to_it(self) -> None:
        self.assertEqual(split("COPY t FROM stdin;\n1;\n\\.\nSELECT 1;"), ["COPY t FROM stdin;\n1;\n\\.", "SELECT 1;"])


class Outcomes(unittest.TestCase):
    def test_rows_need_an_order_only_if_the_statement_has_one(self) -> None:
        one, other = "a\n1\n2\n(2 rows)\n", "a\n2\n1\n(2 rows)\n"
        self.assertEqual(outcomes.compare(one, other, "SELECT a FROM (SELECT a FROM t ORDER BY a) s").name, outcomes.AGREES)
        self.assertEqual(outcomes.compare(one, other, "SELECT a FROM t ORDER BY a").name, outcomes.ORDER)
        self.assertEqual(outcomes.compare(one, "a\n2\n2\n(2 rows)\n", "SELECT a FROM t ORDER BY a").name, outcomes.WRONG)

    def test_errors_agree_by_class(self) -> None:
        error = "ERROR:  22003: integer out of range\n"
        self.assertEqual(outcomes.compare(error, "ERROR:  22012: division by zero\n", "").name, outcomes.AGREES)
        self.assertEqual(outcomes.compare(error, "ERROR:  42601: syntax error\n", "").name, outcomes.OTHER_ERROR)
        self.assertEqual(outcomes.compare("a\n1\n(1 row)\n", error, "").name, outcomes.REFUSED)
        self.assertEqual(outcomes.compare(error, "a\n1\n(1 row)\n", "").name, outcomes.ACCEPTED)


if __name__ == "__main__":
    unittest.main()
