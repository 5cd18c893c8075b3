"""Numbers as a reader wants to see them: short, aligned, with their unit."""

from __future__ import annotations

import math

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(exponent: int) -> str:
    """10⁻⁶."""
    return f"10{str(exponent).translate(RAISED)}"


def small(number: float) -> str:
    """3.2 × 10⁻⁷, or 0.25 where that is as short."""
    if math.isnan(number):
        return "–"
    if math.isinf(number):
        return "∞"
    if number == 0.0 or 0.01 <= abs(number) < 1000.0:
        return f"{number:.2g}"
    digits, _, exponent = f"{number:.1e}".partition("e")
    return f"{digits}\u202f×\u202f{power(int(exponent))}"


def tolerance(number: float) -> str:
    """10⁻⁶ for a power of ten, else like `small`."""
    digits, _, exponent = f"{number:.6e}".partition("e")
    return power(int(exponent)) if number > 0.0 and float(digits) == 1.0 else small(number)


def duration(seconds: float | None) -> str:
    """12 ms, 1.24 s, 3 min 20 s."""
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds == 0.0:
        return "0"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g}\u202fµs"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.3g}\u202fms"
    if seconds < 99.95:
        return f"{seconds:.3g}\u202fs"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}\u202fmin {rest}\u202fs"


def count(number: float) -> str:
    """12,345; one decimal where there is one; a dash where it is not known."""
    if math.isnan(number):
        return "–"
    return f"{number:,.0f}" if number >= 100.0 or number == int(number) else f"{number:,.1f}"


def digits(lowest: float, highest: float) -> tuple[str, str]:
    """Two objectives, with as many digits as tell them apart, 12 at most."""
    for places in range(4, 13):
        low, high = f"{lowest:.{places}g}", f"{highest:.{places}g}"
        if low != high:
            return low, high
    return f"{lowest:.12g}", f"{highest:.12g}"
