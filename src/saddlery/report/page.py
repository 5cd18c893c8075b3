"""A comparison on one page: an HTML file that needs nothing from anywhere, and may be sent to anybody.

Everything that comes from outside, names and notes, is escaped; a content security policy in the page forbids loading.
"""

from __future__ import annotations

import math
from html import escape
from importlib import resources

from saddlery.report.chart import COLOURS, Series, charts, shape
from saddlery.report.comparison import Comparison
from saddlery.report.course import Course
from saddlery.report.figures import count, digits, duration, small, tolerance

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
ICON = "data:,"


def page(comparison: Comparison) -> str:
    """The whole file."""
    body = "".join(
        (
            _head(comparison),
            _pictures(comparison),
            _results(comparison),
            _notes(comparison),
            f'<div class="two">{_method(comparison)}{_machine(comparison)}</div>',
            _numbers(comparison),
        )
    )
    version = escape(comparison.machine.libraries["saddlery"])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="generator" content="saddlery {version}">\n<link rel="icon" href="{ICON}">\n'
        f"<title>{escape(comparison.title)}: solvers compared</title>\n<style>\n{_file('page.css')}</style>\n</head>\n"
        f'<body>\n<div class="page">\n{body}\n<footer>Made by saddlery {version}. Every number on this page was '
        f"certified on the machine named above.</footer>\n</div>\n<script>\n{_file('page.js')}</script>\n</body>\n"
        "</html>\n"
    )


def _file(name: str) -> str:
    return resources.files("saddlery.report").joinpath(name).read_text("utf-8")


# ---- the top


def _head(c: Comparison) -> str:
    f = c.facts
    day, _, clock = c.machine.date.partition("T")
    intercept = " + x₀" if f.intercept else ""
    formula = (
        f"minimise (1/n) Σᵢ f(⟨aᵢ, x⟩{intercept}, bᵢ) + g(x)",
        f"f(z, b) = {f.loss_formula}",
        f"g(x) = {f.penalty_formula}",
    )
    return (
        f'<header><div class="brand"><b>saddlery</b><span>{escape(day)}, {escape(clock[:5])} UTC</span></div>'
        f"<h1>{escape(c.title)}</h1>"
        f'<p class="formula">{"".join(f"<span>{escape(each)}</span>" for each in formula)}</p>'
        f'<p class="lede">{_lede(c)}</p>{_facts(c)}</header>\n<main>'
    )


def _lede(c: Comparison) -> str:
    """What came out, in two or three sentences."""
    reached = [course for course in c.courses if course.reached]
    ours = [course for course in reached if not course.rival]
    said = [f"{len(reached)} of {len(c.courses)} solvers certified a relative gap of {tolerance(c.tol)}."]
    if reached:
        said.append(f"The fastest was <b>{escape(reached[0].name)}</b>, in {duration(reached[0].seconds_to_tol)}")
        if reached[0].rival and ours:
            said[-1] += f"; of ours <b>{escape(ours[0].name)}</b>, in {duration(ours[0].seconds_to_tol)}"
        said[-1] += "."
    if math.isfinite(c.highest):
        low, high = digits(c.highest, c.lowest)
        where = f"is {low}, to all digits shown" if low == high else f"lies between {low} and {high}"
        said.append(f"The minimum {where}.")
    if c.interrupted:
        said.append("The comparison was interrupted: what had ended by then is here.")
    return " ".join(said)


def _facts(c: Comparison) -> str:
    f = c.facts
    share = f.stored / (f.n * f.d)
    kind = f"{count(f.stored)} ({f'{small(100.0 * share)} %' if f.sparse else 'dense'})"
    rows = [("rows × columns", f"{count(f.n)} × {count(f.d)}"), ("stored entries", kind)]
    rows += [("loss", f.loss), ("penalty", f.penalty), ("intercept", "unpenalised" if f.intercept else "none")]
    if f.condition > 0.0:
        rows.append(("n λ / mean |aᵢ|²", small(f.condition)))
    rows.append(("tol", f"{tolerance(c.tol)} in {c.max_time:g}\u202fs"))
    inner = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<dl class="facts" aria-label="The problem">{inner}</dl>'


# ---- pictures


def _pictures(c: Comparison) -> str:
    bounded = any(course.by_seconds for course in c.courses)
    legend = "".join(_button(k, course) for k, course in enumerate(c.courses))
    if not bounded:
        pictures = (
            '<figure><p class="empty">No bound is known for this problem, so there is no gap to draw.</p></figure>'
        )
    else:
        seconds = [Series(k.name, p, k.rival, k.by_seconds) for p, k in enumerate(c.courses)]
        passes = [Series(k.name, p, k.rival, k.by_passes) for p, k in enumerate(c.courses)]
        about = "Certified relative gap against {}, one line for each solver; the numbers are in the tables below."
        pictures = _figure(
            "Against seconds",
            "By the clock, our methods’ certificates included.",
            charts(seconds, c.tol, "seconds", duration, about.format("seconds")),
        ) + _figure(
            "Against passes over the data",
            "The work of a solver, where it can be counted.",
            charts(passes, c.tol, "passes over the data", count, about.format("passes over the data")),
        )
    return (
        '<section aria-labelledby="pictures"><h2 id="pictures">How the gap falls</h2>'
        '<p class="quiet">Solid lines are saddlery’s methods, dotted lines with hollow marks other libraries’. '
        '<span class="screen">Choose a name to hide or show its line.</span></p>'
        f'<div class="legend" role="group" aria-label="Solvers in the pictures">{legend}</div>'
        f'<div class="charts">{pictures}</div></section>'
    )


def _figure(title: str, caption: str, drawn: str) -> str:
    return f"<figure><figcaption><strong>{title}</strong>{caption}</figcaption>{drawn}</figure>"


def _button(place: int, course: Course) -> str:
    lacks = "" if course.by_seconds or course.by_passes else " disabled"
    return (
        f'<button type="button" aria-pressed="true" data-series="{place}"{lacks}>{_swatch(place, course)}'
        f"{escape(course.name)}</button>"
    )


def _swatch(place: int, course: Course) -> str:
    kind = "rival" if course.rival else "ours"
    return (
        f'<svg class="swatch {kind} c{place % COLOURS}" viewBox="0 0 28 14" aria-hidden="true"><path d="M1 7H27"/>'
        f'<g class="dot">{shape(place, 14.0, 7.0)}</g></svg>'
    )


# ---- tables


def _results(c: Comparison) -> str:
    fastest = next((course.seconds_to_tol for course in c.courses if course.seconds_to_tol), None)
    rows = "".join(_row(place, course, fastest) for place, course in enumerate(c.courses))
    names = ("solver", "to tol", "× fastest", "relative gap", "epochs", "passes", "seconds")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return (
        '<section aria-labelledby="results"><h2 id="results">Results</h2>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="results"><table><thead><tr>'
        f'{head}<th scope="col" class="word">status</th></tr></thead><tbody>{rows}</tbody></table></div></section>'
    )


def _row(place: int, course: Course, fastest: float | None) -> str:
    kind = ("best" if course.seconds_to_tol == fastest else "") if course.reached else "missed"
    times = course.seconds_to_tol / fastest if course.seconds_to_tol and fastest else math.nan
    cells = (
        ("key", duration(course.seconds_to_tol)),
        ("", f"{times:.3g} ×" if times < 999.5 else f"{times:,.0f} ×" if times == times else "–"),
        ("", small(course.certificate.relative_gap)),
        ("", count(course.epochs)),
        ("", count(course.passes)),
        ("", duration(course.seconds)),
        ("word", course.status.partition(":")[0] if course.reached else course.status),
    )
    inner = "".join(f'<td class="{name}">{escape(text)}</td>' for name, text in cells)
    return f'<tr class="{kind}"><th scope="row">{_swatch(place, course)}{escape(course.name)}</th>{inner}</tr>'


def _notes(c: Comparison) -> str:
    said = [(course.name, note) for course in c.courses for note in course.notes]
    if not said:
        return ""
    items = "".join(f"<li><b>{escape(name)}</b>: {escape(note)}</li>" for name, note in said)
    return (
        '<section aria-labelledby="notes"><h2 id="notes">What the runs had to say</h2>'
        f'<ul class="notes">{items}</ul></section>'
    )


def _method(c: Comparison) -> str:
    said = [
        "The gap is a certificate: no answer is further above the minimum than its gap. It is computed on the original "
        "problem, from the answer and a dual point, by the same code for every solver. Gaps are divided by the "
        "objective at x = 0.",
        "Lines show the best gap so far. What lies below a picture is drawn on its lower edge.",
        "Compiling is not counted: before the clock starts, every solver makes a first short run, which compiles and "
        "imports what it needs. Then it starts from a problem that remembers nothing of that run.",
        f"Each solver has {c.max_time:g} seconds. Runs shorter than a tenth of a second are made three times, and the "
        "fastest counts. Where a run needs few certificates, it is made once more with one after every epoch, for the "
        "curve against passes.",
    ]
    if any(course.rival for course in c.courses):
        said.append(
            "Other libraries give no dual point. Their answer is certified by the better of two: the dual point of "
            "its own gradients, and the best that our methods found. Each is fitted from the start with more and more "
            "iterations, half as many again each time, its own tolerance next to nothing; certifying it is not "
            "counted. Its epochs are its iterations."
        )
    items = "".join(f"<li>{escape(each)}</li>" for each in said)
    return (
        '<section aria-labelledby="method"><h2 id="method">How this was measured</h2>'
        f'<ul class="notes">{items}</ul></section>'
    )


def _machine(c: Comparison) -> str:
    m = c.machine
    libraries = ", ".join(f"{name} {version}" for name, version in m.libraries.items())
    rows = (
        ("processor", m.processor),
        ("cores", str(m.cores)),
        ("system", m.system),
        ("Python", m.python),
        ("libraries", libraries),
        ("threads", m.threads),
        ("seed", str(c.seed)),
        ("date", m.date),
    )
    inner = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    return (
        '<section aria-labelledby="machine"><h2 id="machine">The machine</h2>'
        f'<dl class="machine">{inner}</dl></section>'
    )


def _numbers(c: Comparison) -> str:
    """Every point of the pictures."""
    rows = []
    for course in c.courses:
        for what, points, said in (("seconds", course.by_seconds, duration), ("passes", course.by_passes, count)):
            name = escape(course.name)
            rows += [
                f'<tr><th scope="row">{name}</th><td>{what}</td><td>{said(at)}</td><td>{small(gap)}</td></tr>'
                for at, gap in points
            ]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("solver", "against", "at", "relative gap"))
    return (
        f'<details><summary>All {len(rows):,} points of the pictures</summary><div class="scroll"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details></main>"
    )
