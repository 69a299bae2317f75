"""The examples of the manual: each page from top to end in one database; what a page shows is what comes."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import quire_shell

DOCS = quire_shell.ROOT / "docs"
# A block of SQL, and the text that may follow it.
EXAMPLE = re.compile(r"^```sql\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def outputs(page, folder):
    """What each example of a page prints; the first that fails ends it."""
    examples = EXAMPLE.findall(page.read_text())
    script = [".mode table", ".bail on"]
    for number, (sql, _) in enumerate(examples):
        script += [f".output {number}.txt", sql, ".output"]
    done = subprocess.run(
        [str(quire_shell.QUIRE), "page.quire"],
        input="\n".join(script),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=quire_shell.STATEMENT_SECONDS_MAX,
    )
    if done.returncode != 0:
        raise AssertionError(f"{page.name}: exit code {done.returncode}\n{done.stderr}")
    return [(sql, shown, (folder / f"{number}.txt").read_text()) for number, (sql, shown) in enumerate(examples)]


def anchors(file):
    """The names GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Docs(unittest.TestCase):
    maxDiff = None

    def test_examples_do_what_the_pages_say(self):
        example_count = 0
        for page in sorted(DOCS.glob("*.md")):
            with self.subTest(page=page.name), tempfile.TemporaryDirectory() as folder:
                for sql, shown, printed in outputs(page, pathlib.Path(folder)):
                    example_count += 1
                    if shown:
                        self.assertEqual(printed.rstrip(), shown.rstrip(), f"{page.name}:\n{sql}")
        self.assertGreater(example_count, 10)

    def test_links_lead_somewhere(self):
        for page in DOCS.glob("*.md"):
            for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text()):
                if "://" in target:
                    continue
                file = page.parent / target if target else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(file), f"{page.name}: {target}#{anchor}")


if __name__ == "__main__":
    unittest.main()
