"""The reader of the shell's CSV is itself under test: an oracle that is wrong proves nothing."""

import csv
import io
import random
import unittest

import quire_shell


class ParseCsv(unittest.TestCase):
    def test_null_and_empty_differ(self):
        self.assertEqual(quire_shell.parse_csv('a,b\n,""\n'), [["a", "b"], [None, ""]])

    def test_quotes_line_breaks_and_last_line(self):
        self.assertEqual(quire_shell.parse_csv('"x""y","1\r\n2"\r\nz,'), [['x"y', "1\r\n2"], ["z", None]])

    def test_agrees_with_the_standard_library(self):
        source = random.Random(7)
        for _ in range(500):
            rows = [
                ["".join(source.choices('ab",\n\r é', k=source.randint(1, 6))) for _ in range(3)]
                for _ in range(source.randint(1, 5))
            ]
            text = io.StringIO()
            csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
            self.assertEqual(quire_shell.parse_csv(text.getvalue()), rows)


if __name__ == "__main__":
    unittest.main()
