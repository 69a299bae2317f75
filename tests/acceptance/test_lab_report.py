"""`quire lab --report`: one page with every figure of its topics, which a browser shows on wide and narrow screens."""

import html
import json
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import quire_shell
from test_inspect import browser

TOPICS = ("codecs", "length-decoding", "iterator-models", "page-model", "bandwidth", "buffer-pool")
SCALE = "0.001"
LAB_SECONDS_MAX = 300
WIDTHS = (1280, 400)
# A frame has the width of a screen. It is within a page of ours, since the report has no script that could look at it.
FRAME = '<iframe id="screen-{width}" width="{width}" height="900" style="border:0" srcdoc="{page}"></iframe>'
LOOK = """
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement;
    const seen = (part) => { const area = part.getBoundingClientRect(); return area.width > 0 && area.height > 0; };
    found[frame.width] = {
      width: root.scrollWidth,
      charts: [...page.querySelectorAll("article svg")].filter(seen).length,
      tables: [...page.querySelectorAll("article table")].filter(seen).length,
      titles: [...page.querySelectorAll("article h4")].filter(seen).length,
    };
  }
  document.getElementById("found").textContent = JSON.stringify(found);
});
"""


def lab(*words):
    command = [str(quire_shell.QUIRE), "lab", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LAB_SECONDS_MAX, stdin=subprocess.DEVNULL
    )


def anchor(stem):
    """The place of a figure on the page, by the name of its files."""
    return "-".join(re.findall(r"[A-Za-z0-9]+", stem)).lower()


class LabReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.page = pathlib.Path(cls.folder.name) / "report.html"
        done = lab(
            "--report", cls.page, "--quick", "--scale", SCALE, "--streams", 2, "--only", ",".join(TOPICS)
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.progress = done.stderr
        cls.text = cls.page.read_text()
        cls.tree = xml.etree.ElementTree.fromstring(cls.text.split("\n", 1)[1])

    def test_every_figure_of_the_topics_is_there(self):
        articles = {article.get("id") for article in self.tree.iter("article")}
        folder = pathlib.Path(self.folder.name) / "figures"
        expected = set()
        for topic in TOPICS[:4]:
            done = lab(topic, "--quick", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            expected |= {anchor(pathlib.Path(name).stem) for name in done.stdout.split()}
        expected |= {"bandwidth-times", "bandwidth-rates", "bandwidth-parts"}
        expected |= {"bandwidth-primitive-times", "bandwidth-primitive-rates"}
        expected |= {f"buffer-pool-{what}" for what in ("hits", "reads", "traffic", "times")}
        self.assertGreater(len(expected), 15)
        self.assertEqual(articles, expected)

    def test_every_link_leads_to_one_place(self):
        places = [part.get("id") for part in self.tree.iter() if part.get("id")]
        self.assertEqual(len(places), len(set(places)))
        links = [part.get("href") for part in self.tree.iter("a")]
        self.assertEqual([link for link in links if link[:1] != "#" or link[1:] not in places], [])
        articles = {article.get("id") for article in self.tree.iter("article")}
        contents = next(part for part in self.tree.iter("nav") if part.get("id") == "contents")
        self.assertLessEqual(articles, {link.get("href")[1:] for link in contents.iter("a")})

    def test_verdicts_are_in_the_table_of_all(self):
        rows = re.findall(r'<tr><td><a href="#([a-z0-9-]+-verdict-\d+)">(paper \d, [^<]+)</a>', self.text)
        listed = {place for place, _ in rows}
        items = {part.get("id") for part in self.tree.iter("li") if part.get("id")}
        self.assertEqual(listed, items)
        self.assertLessEqual(
            {"paper 1, section 3.3.3", "paper 1, section 4.1.1", "paper 2, figure 6.1", "paper 2, figure 6.4", "paper 2, figure 6.8", "paper 4, figure 3"},
            {paper for _, paper in rows},
        )

    def test_the_page_says_how_it_was_measured(self):
        for words in ("processors in view", "kernels run as", "quick: small samples", f"<td>{SCALE}</td>", "--only codecs,"):
            self.assertIn(words, self.text)
        for topic in TOPICS:
            self.assertIn(f"{topic}: topic", self.progress)

    def test_the_page_is_whole_in_itself(self):
        self.assertNotRegex(self.text, r"(?i)\bsrc=|url\(|@import|<script|<link|href=\"(?!#)")

    def test_a_topic_that_fails_is_on_the_page(self):
        folder = pathlib.Path(self.folder.name)
        empty, page = folder / "empty.txt", folder / "failed.html"
        empty.touch()
        done = lab("transforms", empty, "--quick", "--report", page)
        self.assertEqual(done.returncode, 2)
        self.assertIn("transforms could not be measured", done.stderr)
        tree = xml.etree.ElementTree.fromstring(page.read_text().split("\n", 1)[1])
        told = next(part for part in tree.iter("p") if part.get("id") == "failed-transforms")
        self.assertIn("the text is empty", "".join(told.itertext()))

    @unittest.skipUnless(browser(), "no Chromium")
    def test_a_browser_shows_it_on_wide_and_narrow_screens(self):
        frames = [FRAME.format(width=width, page=html.escape(self.text)) for width in WIDTHS]
        screens = pathlib.Path(self.folder.name) / "screens.html"
        screens.write_text(
            f'<!DOCTYPE html><meta charset="utf-8"><title>screens</title>{"".join(frames)}'
            f'<pre id="found"></pre><script>{LOOK}</script>'
        )
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom", "--hide-scrollbars"]
        command += [f"--user-data-dir={self.folder.name}/profile", "--window-size=1400,1000", screens.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        # What a page or its parser complains of.
        self.assertNotIn("CONSOLE", done.stderr)
        found = json.loads(re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1])
        figures = len(list(self.tree.iter("article")))
        for width in WIDTHS:
            with self.subTest(width=width):
                self.assertEqual(
                    found[str(width)], {"width": width, "charts": figures, "tables": figures, "titles": figures}
                )


if __name__ == "__main__":
    unittest.main()
