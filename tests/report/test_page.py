"""The page: well-formed, whole without a network, escaped; it works in a browser, light and dark, wide and narrow."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser

import numpy as np
import pytest

import saddlery as sd
from saddlery.report import compare, page
from saddlery.report.axes import Axis, across, down
from saddlery.report.chart import Series, charts, shape, thinned
from saddlery.report.figures import count, digits, duration, power, small, tolerance

EVIL = "<script>alert('x')</script> & \"quoted\" <img src=http://example.org/x.png>"
VOID = {"meta", "link", "br", "img", "hr", "input"}


@pytest.fixture(scope="module")
def made():
    """Three methods and scikit-learn's on a small problem; everything that comes from outside is hostile."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 8))
    b = np.sign(X @ rng.standard_normal(8) + 0.2 * rng.standard_normal(100))
    found = compare(sd.ERM(X, b, sd.Logistic(), sd.L2(0.01)), ["auto", "sdca", "saga"], tol=1e-6, title=EVIL)
    first = dataclasses.replace(found.courses[0], name=f"evil {EVIL}", notes=(EVIL,), status=EVIL, reached=False)
    return dataclasses.replace(found, courses=(first, *found.courses[1:]))


@pytest.fixture(scope="module")
def text(made):
    return page(made)


class Tree(HTMLParser):
    """Refuses what is not closed, or closed in the wrong order; counts tags and keeps attributes and words."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words, self.ids = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute twice in {tag}"
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


def test_it_is_well_formed(text):
    tree = Tree(text)
    assert tree.open == []
    assert len(set(tree.ids)) == len(tree.ids)
    labelled = [value for name, value in tree.attributes if name == "aria-labelledby"]
    assert labelled and set(labelled) <= set(tree.ids)
    for tag in ("title", "h1", "main", "header", "footer", "table", "svg"):
        assert tag in tree.tags
    assert ("lang", "en") in tree.attributes
    assert sum(name == "role" and value == "img" for name, value in tree.attributes) == 4
    assert tree.tags.count("th") > tree.tags.count("tr"), "rows and columns have heads"


def test_it_needs_nothing_from_anywhere(text):
    tree = Tree(text)
    for name, value in tree.attributes:
        assert name not in ("src", "srcset", "action", "background", "poster", "onload", "onclick")
        if name in ("href", "xlink:href"):
            assert value == "data:,"
    style = text.partition("<style>")[2].partition("</style>")[0]
    script = text.partition("<script>")[2].partition("</script>")[0]
    assert not re.search(r"url\(|@import|@font-face|https?:|//", style)
    assert not re.search(r"https?:|fetch\(|XMLHttp|import\(|WebSocket|sendBeacon|eval\(|innerHTML", script)
    assert "default-src 'none'" in text
    assert len(text) < 600_000


def test_what_comes_from_outside_is_escaped(text):
    tree = Tree(text)
    assert tree.tags.count("script") == 1 and "img" not in tree.tags
    assert EVIL in "".join(tree.words)
    assert all(
        value is None or "<script>" not in value or name in ("data-say", "aria-label")
        for name, value in tree.attributes
    )


def test_the_numbers_are_in_tables(made, text):
    words = " ".join(Tree(text).words)
    for course in made.courses:
        assert words.count(course.name) >= 3, "legend, results, points"
        assert small(course.certificate.relative_gap) in words
    points = sum(len(course.by_passes) + len(course.by_seconds) for course in made.courses)
    assert f"All {points:,} points" in words
    assert duration(made.courses[1].seconds_to_tol) in words
    machine = made.machine
    for fact in (machine.processor, machine.python, machine.system, machine.date, f"numpy {np.__version__}"):
        assert fact in words
    assert "Compiling is not counted" in words


def test_nothing_to_draw_is_said(made):
    bare = [dataclasses.replace(course, by_passes=(), by_seconds=()) for course in made.courses]
    told = page(dataclasses.replace(made, courses=tuple(bare), highest=-np.inf))
    assert "No bound is known for this problem" in told
    assert Tree(told).open == [] and "minimum lies" not in told


def test_a_gap_of_nothing_is_drawn_on_the_edge(made):
    zero = dataclasses.replace(made.courses[1], by_passes=((0.0, 1.0), (1.0, 0.0)), by_seconds=((0.1, 0.0),))
    told = page(dataclasses.replace(made, courses=(zero,)))
    assert "nan" not in told.partition("<main>")[2].partition("<script>")[0].lower().replace("nant", "")


# ---- in a browser


def browser():
    asked = [os.environ.get("SADDLERY_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in asked if name and (found := shutil.which(name))), None)


needs_browser = pytest.mark.skipif(browser() is None, reason="no Chromium on PATH, nor in SADDLERY_CHROMIUM")


def opened(path, *more, width=1200, height=1600):
    """What Chromium prints, and what it logs. Nothing can be fetched: it has no network.

    Its own files lie in a folder of a short name: the path of a socket must not be long.
    """
    with tempfile.TemporaryDirectory(prefix="sd", ignore_cleanup_errors=True) as folder:
        return _opened(path, folder, *more, width=width, height=height)


def _opened(path, folder, *more, width, height):
    words = [
        browser(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder}/user",
        f"--window-size={width},{height}",
        "--virtual-time-budget=3000",
        *more,
        path.as_uri(),
    ]
    environment = os.environ | {"TMPDIR": folder, "HOME": folder}
    ran = subprocess.run(words, capture_output=True, text=True, timeout=90, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


PROBE = """
const all = (what, where = document) => [...where.querySelectorAll(what)];
const shown = (thing) => getComputedStyle(thing).display !== "none";
const seen = {};
seen.charts = all(".chart").filter(shown).length;
const chart = all(".chart").find(shown);
seen.lines = all(".series path", chart).filter((line) => line.getTotalLength() > 0).length;
seen.overflow = document.documentElement.scrollWidth - window.innerWidth;
seen.titles = all(".mark > title").length;
seen.rows = all("main table")[0].tBodies[0].rows.length;
seen.body = getComputedStyle(document.body).backgroundColor;
const button = all(".legend button")[1];
button.click();
seen.pressed = button.getAttribute("aria-pressed");
seen.hidden = !shown(all(`.series[data-series="${button.dataset.series}"]`, chart)[0]);
button.click();
seen.back = shown(all(`.series[data-series="${button.dataset.series}"]`, chart)[0]);
const mark = all(".mark", chart).at(-1);
const box = chart.getBoundingClientRect();
const scale = box.width / chart.viewBox.baseVal.width;
const at = { clientX: box.left + mark.dataset.x * scale, clientY: box.top + mark.dataset.y * scale, bubbles: true };
chart.dispatchEvent(new PointerEvent("pointermove", at));
const tip = all(".tip")[0];
seen.tip = tip.hidden ? "" : tip.textContent;
seen.lit = all(".series.on", chart).length;
chart.dispatchEvent(new PointerEvent("pointerleave", at));
seen.gone = tip.hidden;
seen.letters = Math.min(...all("text", chart).map((word) => word.getBoundingClientRect().height));
const place = document.createElement("output");
place.id = "probe";
place.textContent = JSON.stringify(seen);
document.body.append(place);
"""


@pytest.fixture
def probed(text, tmp_path):
    """Open the page with a script that tries everything, at a width; what it saw."""

    def look(width, *more):
        import html
        import json

        path = tmp_path / f"page-{width}.html"
        path.write_text(text.replace("</body>", f"<script>{PROBE}</script></body>"), encoding="utf-8")
        out, console = opened(path, "--dump-dom", *more, width=width)
        assert console == []
        return json.loads(html.unescape(out.partition('<output id="probe">')[2].partition("</output>")[0]))

    return look


@needs_browser
@pytest.mark.parametrize("width", [1200, 760, 500])
def test_it_works_in_a_browser(width, made, probed):
    seen = probed(width)
    assert seen["charts"] == 2
    assert seen["lines"] == len(made.courses)
    assert seen["rows"] == len(made.courses)
    assert seen["overflow"] <= 0, "nothing hangs over the edge"
    assert seen["titles"] == 0
    assert (seen["pressed"], seen["hidden"], seen["back"]) == ("false", True, True)
    assert ": gap " in seen["tip"] and seen["lit"] == 1 and seen["gone"]
    assert seen["letters"] >= 11.0, "letters in the pictures stay readable"


@needs_browser
def test_it_can_be_seen_light_and_dark(text, tmp_path):
    from PIL import Image

    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    means = {}
    for mode, number in (("dark", 0), ("light", 1)):
        picture = tmp_path / f"{mode}.png"
        setting = f"--blink-settings=preferredColorScheme={number}"
        _, console = opened(path, setting, f"--screenshot={picture}")
        assert console == []
        image = Image.open(picture).convert("RGB").resize((300, 400))
        colours = image.getcolors(300 * 400)
        assert len(colours) > 500, "something is drawn"
        means[mode] = np.asarray(image, dtype=float).mean()
    assert means["dark"] < 70.0 < 200.0 < means["light"]


# ---- numbers and places


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (power(-12), "10⁻¹²"),
        (small(3.21e-7), "3.2\u202f×\u202f10⁻⁷"),
        (small(0.25), "0.25"),
        (small(0.0), "0"),
        (small(np.inf), "∞"),
        (small(np.nan), "–"),
        (tolerance(1e-6), "10⁻⁶"),
        (tolerance(2e-6), "2.0\u202f×\u202f10⁻⁶"),
        (tolerance(0.0), "0"),
        (duration(1.5e-5), "15\u202fµs"),
        (duration(0.01234), "12.3\u202fms"),
        (duration(0.99951), "1\u202fs"),
        (duration(5.0), "5\u202fs"),
        (duration(200.0), "3\u202fmin 20\u202fs"),
        (duration(None), "–"),
        (duration(0.0), "0"),
        (count(12345), "12,345"),
        (count(2.5), "2.5"),
        (count(np.nan), "–"),
        (digits(0.123456, 0.123478)[0], "0.12346"),
    ],
)
def test_numbers_as_they_are_said(said, meant):
    assert said == meant


def test_axes():
    line = Axis(0.0, 10.0, 100.0, 200.0, False)
    assert (line.place(0.0), line.place(5.0), line.place(20.0)) == (100.0, 150.0, 200.0)
    assert line.ticks() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    log = Axis(1e-8, 1.0, 400.0, 0.0, True)
    assert log.place(1e-4) == pytest.approx(200.0) and log.place(0.0) == 400.0
    assert log.ticks(4) == pytest.approx([1e-8, 1e-6, 1e-4, 1e-2, 1.0])
    assert Axis(1.0, 30.0, 0.0, 1.0, True).ticks() == pytest.approx([1, 2, 5, 10, 20])
    assert not across([1.0, 5.0], [0.1], 0, 1).log and across([1.0, 50.0], [0.1], 0, 1).log
    assert across([], [], 0, 1).ticks()
    axis = down([1.0, 3e-9], 1e-6, 0, 1)
    assert (axis.low, axis.high) == (pytest.approx(1e-9), 1.0)
    assert down([], 0.0, 0, 1).high > down([], 0.0, 0, 1).low


@pytest.mark.parametrize("size", [1, 2, 3, 99, 100, 101, 1000])
def test_thinned_lines_keep_their_ends(size):
    points = tuple((float(k), 1.0 / (k + 1)) for k in range(size))
    kept = thinned(points, 100)
    assert kept[0] == points[0] and kept[-1] == points[-1] and len(kept) <= 101
    assert kept == sorted(set(kept))


def test_the_name_of_the_tolerance_hides_no_mark():
    """Marks where it would stand move it to another corner of its line."""
    spots = set()
    for at in (0.5, 9.5, None):
        points = ((0.0, 1.0), (5.0, 1e-3), *([] if at is None else [(at, 0.8e-6)]), (10.0, 1e-9))
        drawn = charts([Series("a", 0, False, points)], 1e-6, "seconds", duration, "")
        spots.add(re.search(r'<text class="tol" x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)"', drawn).groups())
    assert {anchor for _, anchor in spots} == {"start", "end"}


def test_shapes_tell_apart_what_shares_a_colour():
    for place in range(10):
        shapes = {shape(place + 10 * k, 0.0, 0.0) for k in range(4)}
        assert len(shapes) == 4
