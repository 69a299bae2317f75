"""`quire inspect`: what it says adds up to the file, and a browser shows it."""

import colorsys
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

import quire_shell

# One name that is markup where it is not escaped.
STATEMENTS = (
    "CREATE TABLE \"<b>&amp;\" (id INTEGER PRIMARY KEY, v TEXT)",
    "INSERT INTO \"<b>&amp;\" SELECT i, 'text ' || (i * i % 1000) FROM generate_series(1, 20000) AS g(i)",
    "CREATE INDEX by_text ON \"<b>&amp;\" (v)",
    "CREATE TABLE columns AS SELECT i AS id, (i * 7919 % 65536) * 65537 % 1000003 AS noise FROM generate_series(1, 50000) AS g(i)",
    "VACUUM",
)
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def bytes_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def browser():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def pixels(png):
    """The colours of a picture of 8 bits a channel, by how often they occur: PNG specification, sections 5, 9 and 10."""
    data, at, header = b"", 8, None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    width, height, depth, colour, _, _, interlace = header
    channels = {2: 3, 6: 4}[colour]
    assert depth == 8 and interlace == 0
    raw, stride, counts = zlib.decompress(data), width * channels, {}
    before = bytearray(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for x in range(stride):
            left = line[x - channels] if x >= channels else 0
            up, corner = before[x], before[x - channels] if x >= channels else 0
            if kind == 1:
                line[x] = (line[x] + left) & 255
            elif kind == 2:
                line[x] = (line[x] + up) & 255
            elif kind == 3:
                line[x] = (line[x] + (left + up) // 2) & 255
            elif kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
                line[x] = (line[x] + near[2]) & 255
        for x in range(0, stride, channels):
            pixel = bytes(line[x : x + 3])
            counts[pixel] = counts.get(pixel, 0) + 1
        before = line
    return counts


class Inspect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.file = pathlib.Path(cls.folder.name) / "shop.quire"
        quire_shell.execute(cls.file, *STATEMENTS)
        cls.page = cls.file.with_suffix(".html")
        cls.inspect("--html", str(cls.page))

    @classmethod
    def inspect(cls, *options):
        command = [str(quire_shell.QUIRE), "inspect", str(cls.file), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def test_parts_add_up_to_the_file(self):
        parts, _ = self.inspect().split("\n\n")
        lines = [re.match(r"( *)(.*?)  +([\d.]+ [kMG]?B)  +([\d.]+)%", line) for line in parts.splitlines()[1:]]
        sizes = [(len(line[1]) // 2, line[2], bytes_of(line[3])) for line in lines]
        whole = sizes[0][2]
        self.assertAlmostEqual(whole, self.file.stat().st_size, delta=0.01 * whole)
        for place, (depth, name, size) in enumerate(sizes):
            below = []
            for other_depth, _, other in sizes[place + 1 :]:
                if other_depth <= depth:
                    break
                if other_depth == depth + 1:
                    below.append(other)
            if below:
                # Three digits are shown of each.
                self.assertAlmostEqual(sum(below), size, delta=0.01 * size + len(below), msg=name)
        names = " ".join(name for _, name, _ in sizes)
        for name in ("<b>&amp; (row)", "by_text (lz4)", "columns (column)", "noise (column)"):
            self.assertIn(name, names)

    def test_sizes_are_those_of_the_system_tables(self):
        rows = quire_shell.query(self.file, "SELECT table_name, encoded_bytes FROM quire_tables()")
        page = xml.etree.ElementTree.fromstring(self.page.read_text().split("\n", 1)[1])
        told = [title.text for title in page.iter("title")]
        for name, encoded_bytes in rows:
            line = next(text for text in told if text.startswith(f"{name} ("))
            size = bytes_of(re.search(r"\): ([\d.]+ [kMG]?B),", line)[1])
            self.assertAlmostEqual(size, int(encoded_bytes), delta=0.01 * int(encoded_bytes) + 1)

    def test_the_page_is_whole_in_itself(self):
        text = self.page.read_text()
        self.assertNotRegex(text, r"(?i)\b(src|href)=|url\(|@import|<script")
        xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])

    @unittest.skipUnless(browser(), "no Chromium")
    def test_a_browser_paints_areas_that_are_shares(self):
        picture = self.file.with_suffix(".png")
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
        command += [f"--user-data-dir={self.folder.name}/profile", f"--screenshot={picture}", "--window-size=1240,800"]
        done = subprocess.run([*command, self.page.as_uri()], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        counts = pixels(picture.read_bytes())
        areas = {}
        for rect in xml.etree.ElementTree.fromstring(self.page.read_text().split("\n", 1)[1]).iter("rect"):
            areas.setdefault(rect.get("fill"), []).append(float(rect.get("width")) * float(rect.get("height")))
        # Each of the two largest rectangles that are alone in their colour.
        alone = sorted(((area[0], fill) for fill, area in areas.items() if len(area) == 1 and "hsl" in fill and "72%" in fill), reverse=True)[:2]
        self.assertEqual(len(alone), 2, areas)
        painted = []
        for _, fill in alone:
            hue, saturation, lightness = map(float, re.findall(r"[\d.]+", fill))
            rgb = colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
            near = [count for pixel, count in counts.items() if all(abs(a - 255 * b) < 2 for a, b in zip(pixel, rgb))]
            painted.append(sum(near))
        self.assertGreater(painted[1], 1000)
        expected = alone[0][0] / alone[1][0]
        self.assertAlmostEqual(painted[0] / painted[1], expected, delta=0.15 * expected)


if __name__ == "__main__":
    unittest.main()
