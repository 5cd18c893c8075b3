"""A picture of gaps going down, as SVG that needs nothing from anywhere.

One line a solver: solid with full marks for ours, dashed with hollow marks for rivals. Colours are those of the page's
style sheet, by class, so that they follow its light and dark modes. Every chart is drawn twice, for wide pages and for
narrow ones, so that its letters are never small.
"""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

from saddlery.report.axes import Axis, Label, across, down
from saddlery.report.figures import power, small, tolerance

COLOURS = 10  # in the style sheet; shapes tell apart what shares one
APART = 15.0  # between marks of a line that are always seen; those between are seen when the line is chosen
NAME = (62.0, 14.0)  # what the name of the tolerance takes
POINTS = 160  # of a line, most: more cannot be seen


class Series(NamedTuple):
    """A line: its name, its place in the legend (its colour and shape), whether a rival's, its points."""

    name: str
    place: int
    rival: bool
    points: tuple[tuple[float, float], ...]


class Size(NamedTuple):
    """Of a drawing, and of its margins."""

    name: str
    width: int
    height: int
    left: int = 46
    right: int = 14
    top: int = 30
    bottom: int = 46


SIZES = (Size("wide", 560, 400), Size("narrow", 360, 340, left=42, right=10))


def charts(series: list[Series], tol: float, axis_name: str, label: Label, about: str) -> str:
    """Both drawings. `axis_name`: what goes across; `label`: how its numbers are said; `about`: for screen readers."""
    return "".join(_chart(size, series, tol, axis_name, label, about) for size in SIZES)


def _chart(size: Size, series: list[Series], tol: float, axis_name: str, label: Label, about: str) -> str:
    shown = [each for each in series if each.points]
    ends = [each.points[-1][0] for each in shown]
    starts = [x for each in shown for x, _ in each.points if x > 0.0]
    x = across(ends, starts, size.left, size.width - size.right)
    y = down([gap for each in shown for _, gap in each.points], tol, size.top, size.height - size.bottom)
    scale = "log scale" if x.log else ""
    parts = [
        _grid(size, x, y, label),
        _tolerance(size, y, tol),
        f'<text class="axis" x="{size.left}" y="14">certified relative gap</text>',
        f'<text class="axis" x="{size.width - size.right}" y="{size.height - 6}" text-anchor="end">{escape(axis_name)}'
        f"{f', {scale}' if scale else ''}</text>",
        *(_line(each, x, y, label) for each in reversed(shown)),
        _called(size, y, tol, [(x.place(a), y.place(gap)) for each in shown for a, gap in each.points]),
    ]
    return (
        f'<svg class="chart {size.name}" viewBox="0 0 {size.width} {size.height}" role="img" '
        f'aria-label="{escape(about)}" preserveAspectRatio="xMidYMid meet">{"".join(parts)}</svg>'
    )


def _grid(size: Size, x: Axis, y: Axis, label: Label) -> str:
    made = []
    low, high = size.height - size.bottom, size.top
    for tick in y.ticks(7):
        at = y.place(tick)
        made.append(f'<line class="grid" x1="{size.left}" x2="{size.width - size.right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        name = power(round(math.log10(tick))) if tick != 1.0 else "1"
        made.append(f'<text class="tick" x="{size.left - 8}" y="{at + 4:.1f}" text-anchor="end">{name}</text>')
    ticks = x.ticks(5 if size.name == "wide" else 4)
    for tick in ticks:
        at = x.place(tick)
        anchor = "end" if at > size.width - size.right - 12 else "middle"
        made.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{high}" y2="{low}"/>')
        made.append(
            f'<text class="tick" x="{at:.1f}" y="{low + 18}" text-anchor="{anchor}">{escape(label(tick))}</text>'
        )
    made.append(f'<line class="base" x1="{size.left}" x2="{size.width - size.right}" y1="{low}" y2="{low}"/>')
    return "".join(made)


def _tolerance(size: Size, y: Axis, tol: float) -> str:
    """The line to get below, and the ground below it."""
    if tol <= 0.0:
        return ""
    at, low, right = y.place(tol), size.height - size.bottom, size.width - size.right
    return (
        f'<rect class="good" x="{size.left}" y="{at:.1f}" width="{right - size.left}" height="{low - at:.1f}"/>'
        f'<line class="tol" x1="{size.left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>'
    )


def _called(size: Size, y: Axis, tol: float, places: list[tuple[float, float]]) -> str:
    """The name of that line, above all others, where it hides the fewest marks."""
    if tol <= 0.0:
        return ""
    at, left, right = y.place(tol), size.left + 6, size.width - size.right - 6
    wide, high = NAME

    def hidden(corner: tuple[float, float, str]) -> int:
        x, base, anchor = corner
        first = x if anchor == "start" else x - wide
        return sum(first - 4 <= a <= first + wide + 4 and base - high <= b <= base + 5 for a, b in places)

    corners = [(x, base, a) for base in (at + 16.0, at - 7.0) for x, a in ((left, "start"), (right, "end"))]
    x, base, anchor = min(corners, key=hidden)  # the first of the best
    return f'<text class="tol" x="{x}" y="{base:.1f}" text-anchor="{anchor}">tol {tolerance(tol)}</text>'


def _line(series: Series, x: Axis, y: Axis, label: Label) -> str:
    points = [point for point in thinned(series.points, POINTS) if not x.log or point[0] > 0.0]
    places = [(x.place(across_), y.place(gap)) for across_, gap in points]
    path = " ".join(f"{'L' if k else 'M'}{left:.1f} {top:.1f}" for k, (left, top) in enumerate(places))
    seen, marks = _seen(places), []
    for k, ((across_, gap), (left, top)) in enumerate(zip(points, places, strict=True)):
        said = escape(f"{series.name}: gap {small(gap)} at {label(across_)}")
        marks.append(f'<g class="mark{"" if k in seen else " fine"}" data-x="{left:.1f}" data-y="{top:.1f}"')
        marks.append(f' data-say="{said}"><title>{said}</title>{shape(series.place, left, top)}</g>')
    kind = "rival" if series.rival else "ours"
    return (
        f'<g class="series {kind} c{series.place % COLOURS}" data-series="{series.place}">'
        f'<path d="{path}"/>{"".join(marks)}</g>'
    )


def _seen(places: list[tuple[float, float]]) -> set[int]:
    """Which marks to show, from the last back, so that they do not run into each other."""
    kept: list[int] = []
    for k in reversed(range(len(places))):
        if not kept or math.dist(places[k], places[kept[-1]]) >= APART:
            kept.append(k)
    return set(kept)


def shape(place: int, x: float, y: float, r: float = 3.4) -> str:
    """A circle, square, diamond or triangle around a place."""
    kind = (place // COLOURS + place) % 4
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    if kind == 1:
        return f'<rect x="{x - r * 0.9:.1f}" y="{y - r * 0.9:.1f}" width="{r * 1.8:.1f}" height="{r * 1.8:.1f}"/>'
    corners = {
        2: ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
        3: ((0.0, -1.25), (1.2, 0.95), (-1.2, 0.95)),
    }[kind]
    return f'<polygon points="{" ".join(f"{x + a * r:.1f},{y + b * r:.1f}" for a, b in corners)}"/>'


def thinned(points: tuple[tuple[float, float], ...], most: int) -> list[tuple[float, float]]:
    """Every k-th point, so that at most so many are left, the first and the last among them."""
    every = max(1, math.ceil((len(points) - 1) / (most - 1))) if len(points) > 1 else 1
    kept = list(points[:-1:every])
    return [*kept, points[-1]] if points else kept
