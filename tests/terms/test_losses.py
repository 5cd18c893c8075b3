"""Losses of one number: every verb against its definition, the naive formula of each loss in 60 decimal digits.

A new loss is found by itself. With parameters that have no default it asks for an example below; with an entry in
TWINS, its definition in decimal arithmetic, it is also measured to the last digits.
"""

import decimal
import functools
import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from saddlery.terms import LOSSES, conj, fenchel_young, gamma, grad, labels, modulus, prox_conj, smoothness, value
from saddlery.terms import _verbs as verbs
from saddlery.terms._sums import Single, gradients, loss_means, steps_all

EXAMPLES = {
    "EpsilonInsensitive": [LOSSES["EpsilonInsensitive"](), LOSSES["EpsilonInsensitive"](0.25)],
    "SquaredEpsilonInsensitive": [LOSSES["SquaredEpsilonInsensitive"](), LOSSES["SquaredEpsilonInsensitive"](0.25)],
    "Huber": [LOSSES["Huber"](), LOSSES["Huber"](0.25)],
    "SmoothHinge": [LOSSES["SmoothHinge"](), LOSSES["SmoothHinge"](0.25)],
    "Softmax": [LOSSES["Softmax"](3)],
    "Squared": [LOSSES["Squared"](), LOSSES["Squared"](2.5)],
}


def instances(name):
    """Examples of a loss; what it makes by itself if none are given; nothing if it cannot."""
    try:
        return EXAMPLES.get(name) or [LOSSES[name]()]
    except TypeError:
        return []


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_an_example(name):
    assert instances(name), f"{name} has parameters without a default: add an example of it to EXAMPLES"


SCALAR = [f for name in LOSSES for f in instances(name) if hasattr(f, "prox_conj")]
each = pytest.mark.parametrize("f", SCALAR, ids=str)


# ---- the definitions, in decimal arithmetic ----------------------------------------------------------------------


def precise(function):
    """Run in 60 digits; floats come as the numbers that they are."""

    @functools.wraps(function)
    def call(f, *args):
        with decimal.localcontext(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN):
            return function(f, *(Decimal(a) if isinstance(a, float) else a for a in args))

    return call


def log_one_plus(x):
    return x - x * x / 2 if x < Decimal("1e-29") else (1 + x).ln()


def x_log_x(x):
    return Decimal(0) if x == 0 else x * x.ln()


def clip(x, low, high):
    return min(max(x, Decimal(low)), Decimal(high))


def hinge_value(f, z, b):
    width, m = Decimal(f.gamma), 1 - b * z
    return m - width / 2 if m >= width else max(m, Decimal(0)) ** 2 / (2 * width)


def huber_value(f, z, b):
    w, r = Decimal(f.width), abs(z - b)
    return r * r / 2 if r <= w else w * r - w * w / 2


# name: f(z, b), f'(z, b), f*(y, b) inside its interval
TWINS = {
    "Absolute": (
        lambda f, z, b: abs(z - b),
        lambda f, z, b: Decimal((z > b) - (z < b)),
        lambda f, y, b: b * y,
    ),
    "EpsilonInsensitive": (
        lambda f, z, b: max(Decimal(0), abs(z - b) - Decimal(f.epsilon)),
        lambda f, z, b: Decimal((z - b > f.epsilon) - (z - b < -f.epsilon)),
        lambda f, y, b: b * y + Decimal(f.epsilon) * abs(y),
    ),
    "Hinge": (
        lambda f, z, b: max(Decimal(0), 1 - b * z),
        lambda f, z, b: -b if b * z < 1 else Decimal(0),
        lambda f, y, b: b * y,
    ),
    "Huber": (
        huber_value,
        lambda f, z, b: clip(z - b, -f.width, f.width),
        lambda f, y, b: y * y / 2 + b * y,
    ),
    "Logistic": (
        lambda f, z, b: log_one_plus((-b * z).exp()),
        lambda f, z, b: -b / (1 + (b * z).exp()),
        lambda f, y, b: x_log_x(-b * y) + x_log_x(1 + b * y),
    ),
    "SmoothHinge": (
        hinge_value,
        lambda f, z, b: -b * clip((1 - b * z) / Decimal(f.gamma), 0, 1),
        lambda f, y, b: Decimal(f.gamma) * y * y / 2 + b * y,
    ),
    "Squared": (
        lambda f, z, b: (z - b) ** 2 / (2 * Decimal(f.gamma)),
        lambda f, z, b: (z - b) / Decimal(f.gamma),
        lambda f, y, b: Decimal(f.gamma) * y * y / 2 + b * y,
    ),
    "SquaredEpsilonInsensitive": (
        lambda f, z, b: max(Decimal(0), abs(z - b) - Decimal(f.epsilon)) ** 2 / 2,
        lambda f, z, b: z - b - clip(z - b, -f.epsilon, f.epsilon),
        lambda f, y, b: y * y / 2 + b * y + Decimal(f.epsilon) * abs(y),
    ),
    "SquaredHinge": (
        lambda f, z, b: max(Decimal(0), 1 - b * z) ** 2 / 2,
        lambda f, z, b: -b * max(Decimal(0), 1 - b * z),
        lambda f, y, b: y * y / 2 + b * y,
    ),
}
TWINNED = [f for f in SCALAR if type(f).__name__ in TWINS]
twinned = pytest.mark.parametrize("f", TWINNED, ids=str)


@precise
def exact_gap(f, z, y, b):
    """f(z) + f*(y) - y z."""
    of_z, _, of_y = TWINS[type(f).__name__]
    return of_z(f, z, b) + of_y(f, y, b) - y * z


@precise
def exact_grad(f, z, b):
    return TWINS[type(f).__name__][1](f, z, b)


@precise
def slow_prox_conj(f, y0, z, sigma, b):
    """The zero of y - f'(z - (y - y0) / sigma), increasing in y, between y0 and f'(z): halved 200 times."""
    slope = TWINS[type(f).__name__][1]
    low, high = sorted([y0, slope(f, z, b)])
    for _ in range(200):
        middle = (low + high) / 2
        if middle > slope(f, z - (middle - y0) / sigma, b):
            high = middle
        else:
            low = middle
    return (low + high) / 2


@precise
def slow_share(f, y0, z, sigma, b):
    """s = -b y of the logistic loss, from its logit: the zero of u + b z + (S(u) - s0) / sigma, halved 250 times."""
    c, s0 = b * z, -b * y0
    low, high = -c + (s0 - 1) / sigma, -c + s0 / sigma
    for _ in range(250):
        u = (low + high) / 2
        if u + c + (1 / (1 + (-u).exp()) - s0) / sigma > 0:
            high = u
        else:
            low = u
    return 1 / (1 + (-low).exp())


# ---- points ------------------------------------------------------------------------------------------------------


def label(f):
    return st.sampled_from([-1.0, 1.0]) if labels(f) == "margin" else st.sampled_from([-2.5, -1.0, 0.0, 0.3, 7.0])


def inside(f, b, share, reach=20.0):
    """A point of the interval: the ends for share 0 and 1."""
    low, high = verbs.interval(f, b)
    low, high = max(low, -reach), min(high, reach)
    return low if share == 0.0 else (high if share == 1.0 else min(max(low + share * (high - low), low), high))


predictions = st.one_of(st.floats(-60, 60), st.sampled_from([-1.0, 0.0, 0.75, 1.0]))
shares = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-12, 1 - 1e-12]))


def powers(low, high):
    return st.floats(low, high).map(lambda e: 10.0**e)


def checked(count=40):
    return settings(max_examples=count, deadline=None)


# ---- Fenchel and Young -------------------------------------------------------------------------------------------


@each
@checked()
@given(data=st.data(), z=predictions, share=shares)
def test_fenchel_young_is_never_negative(f, data, z, share):
    b = data.draw(label(f))
    assert fenchel_young(f, z, inside(f, b, share), b) >= 0.0


@each
@checked()
@given(data=st.data(), z=predictions)
def test_fenchel_young_is_zero_at_the_gradient(f, data, z):
    b = data.draw(label(f))
    y = grad(f, z, b)
    # f'(z) is rounded, and f* may be as steep as it likes at the ends of its interval: s log s at s = 1 - 1e-16
    assert 0.0 <= fenchel_young(f, z, y, b) <= 1e-15 * (1.0 + abs(y)) * (1.0 + abs(z - b))


@each
@checked()
@given(data=st.data(), z=predictions, share=shares)
def test_fenchel_young_is_value_plus_conj_minus_product(f, data, z, share):
    b = data.draw(label(f))
    y = inside(f, b, share)
    a, c, p = value(f, z, b), conj(f, y, b), y * z
    assert fenchel_young(f, z, y, b) == pytest.approx(a + c - p, rel=1e-12, abs=4e-15 * (abs(a) + abs(c) + abs(p)))


@twinned
@checked(60)
@given(data=st.data(), z=predictions, share=shares, near=st.booleans(), away=powers(-9, 0))
def test_fenchel_young_has_no_floor_of_cancellation(f, data, z, share, near, away):
    """To 1e-12, or, next to the gradient, to what a rounding error of y or z makes of a quadratic."""
    b = data.draw(label(f))
    y = inside(f, b, share)
    if near:
        slope, (low, high) = grad(f, z, b), verbs.interval(f, b)
        y = min(max(slope + away * (y - slope), low), high)
    exact = max(float(exact_gap(f, z, y, b)), 0.0)  # 60 digits of 1e-280 beside 1 are none
    scale = 1.0 + abs(z) + abs(b)
    allowed = 2e-12 * exact + 1e-15 * scale * math.sqrt(exact * (abs(y) + 1.0)) + 1e-29 * scale**2
    if gamma(f) == 0.0:  # linear, not quadratic, next to the gradient: r (1 - y) with r = z - b rounded
        allowed += 1e-15 * scale
    assert abs(fenchel_young(f, z, y, b) - exact) <= allowed


@each
def test_outside_the_interval_everything_is_infinite(f):
    for b in (-1.0, 1.0):
        low, high = verbs.interval(f, b)
        for end, way in ((low, -math.inf), (high, math.inf)):
            if math.isfinite(end):
                for y in (math.nextafter(end, way), end + math.copysign(0.1, way), math.copysign(1e6, way)):
                    assert conj(f, y, b) == math.inf
                    assert fenchel_young(f, 0.3, y, b) == math.inf


@each
@checked()
@given(data=st.data(), share=shares)
def test_inside_the_interval_the_conjugate_is_finite(f, data, share):
    b = data.draw(label(f))
    low, high = verbs.interval(f, b)
    assert low < high
    y = inside(f, b, share, 1e100)
    assert math.isfinite(conj(f, y, b))


@each
@checked(20)
@given(data=st.data(), share=shares)
def test_conj_is_the_supremum(f, data, share):
    """sup_z y z - f(z), by golden section on a concave function: right to rounding in its value."""
    b = data.draw(label(f))
    y = inside(f, b, share, 5.0)
    low, high = -300.0, 300.0  # at the ends of the interval the supremum is a limit: logistic, e^-300
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    points = [low, high]
    for _ in range(120):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        points += [left, right]
        if y * left - value(f, left, b) < y * right - value(f, right, b):
            low = left
        else:
            high = right
    best = max(y * z - value(f, z, b) for z in points)
    assert conj(f, y, b) == pytest.approx(best, rel=1e-10, abs=1e-12)  # flat tops: golden section stops 1e-8 beside


# ---- the dual step -----------------------------------------------------------------------------------------------


@twinned
@checked(40)
@given(data=st.data(), z=predictions, share=shares, sigma=powers(-6, 6))
def test_prox_conj_is_the_slow_minimiser(f, data, z, share, sigma):
    b = data.draw(label(f))
    y0 = inside(f, b, share)
    exact = float(slow_prox_conj(f, y0, z, sigma, b))
    scale = abs(y0) + abs(float(exact_grad(f, z, b)))  # it lies between y0 and f'(z)
    # 5e-15 is what is promised; below 1e-40 the twin, which adds y to numbers near 1, sees nothing
    assert abs(prox_conj(f, y0, z, sigma, b) - exact) <= 5e-15 * scale + 1e-40


@each
@checked()
@given(data=st.data(), z=predictions, shares=st.tuples(shares, shares), sigma=powers(-6, 6))
def test_prox_conj_has_the_three_point_property(f, data, z, shares, sigma):
    """phi(w) >= phi(y) + (1 / sigma + gamma) / 2 (w - y)^2 for phi(y) = f*(y) - z y + (y - y0)^2 / (2 sigma)."""
    b = data.draw(label(f))
    y0, w = inside(f, b, shares[0]), inside(f, b, shares[1])
    y = prox_conj(f, y0, z, sigma, b)

    def parts(v):
        return conj(f, v, b), -z * v, (v - y0) ** 2 / (2.0 * sigma)

    more = (1.0 / sigma + gamma(f)) / 2.0 * (w - y) ** 2
    scale = sum(map(abs, parts(w))) + sum(map(abs, parts(y))) + more
    assert sum(parts(w)) - sum(parts(y)) - more >= -1e-13 * scale - 1e-15 * abs(w - y) / sigma


@each
@checked()
@given(data=st.data(), z=predictions, share=shares, sigma=powers(-3, 3))
def test_moreau(f, data, z, share, sigma):
    """x = z - (y - y0) / sigma is the prox of f / sigma at v = z + y0 / sigma, and y a slope of f at x."""
    b = data.draw(label(f))
    y0 = inside(f, b, share)
    y = prox_conj(f, y0, z, sigma, b)
    x, v = z - (y - y0) / sigma, z + y0 / sigma

    def objective(w):
        return value(f, w, b) / sigma + (w - v) ** 2 / 2.0

    for w in [x + h for h in (-1e2, -1.0, -1e-2, -1e-4, 1e-4, 1e-2, 1.0, 1e2)]:
        scale = objective(w) + objective(x)
        assert objective(w) - objective(x) >= (w - x) ** 2 / 2.0 - 2e-15 * scale - 2e-15 * abs(w - x) * (
            abs(v) + abs(x) + abs(y) / sigma
        )
    assert fenchel_young(f, x, y, b) <= 1e-13 * (1.0 + abs(z) + abs(y0) / sigma) * (1.0 + abs(y))


@each
@checked(120)
@given(
    data=st.data(),
    z=st.one_of(st.floats(-1e6, 1e6), st.sampled_from([-1e6, 1e6, 0.0, -1.0, 1.0])),
    share=shares,
    sigma=st.one_of(powers(-12, 12), st.sampled_from([1e-12, 1e12, 1.0])),
)
def test_prox_conj_is_finite_and_inside_at_extremes(f, data, z, share, sigma):
    b = data.draw(label(f))
    y0 = inside(f, b, share, 1e6)
    low, high = verbs.interval(f, b)
    y = prox_conj(f, y0, z, sigma, b)
    assert math.isfinite(y) and low <= y <= high
    ends = sorted([y0, grad(f, z, b)])
    slip = 1e-15 * (abs(ends[0]) + abs(ends[1]))
    assert ends[0] - slip <= y <= ends[1] + slip


@checked(100)
@given(b=st.sampled_from([-1.0, 1.0]), z=st.floats(-40, 40), s0=shares, sigma=powers(-6, 6))
@example(b=1.0, z=30.0, s0=0.0, sigma=10.0)
@example(b=-1.0, z=-40.0, s0=0.0, sigma=1e6)
@example(b=1.0, z=-40.0, s0=1.0, sigma=1e-6)
def test_the_logistic_step_is_right_to_the_last_digits(b, z, s0, sigma):
    """The relative error of s = -b y is at most 1e-14: s = e^u, so that rounding u = -40 alone costs 4e-15."""
    f = LOSSES["Logistic"]()
    s = -b * prox_conj(f, -b * s0, z, sigma, b)
    exact = slow_share(f, -b * s0, z, sigma, b)
    assert abs(Decimal(s) / exact - 1) <= Decimal("1e-14")


VECTORS = [
    ("Squared", 1.0, 0.5, 0.25, -1.5, 2.0, -1.25),
    ("Squared", 0.5, -1.0, 0.0, 3.0, 0.1, 0.380952380952381),
    ("SmoothHinge", 1.0, 1.0, -0.5, 0.3, 0.7, -0.582352941176471),
    ("SmoothHinge", 0.25, -1.0, 0.2, 0.9, 3.0, 1.0),
    ("SmoothHinge", 1.0, 1.0, -0.9, -4.0, 5.0, -1.0),
    ("Logistic", None, 1.0, -0.5, 0.3, 0.7, -0.444902377913558),
    ("Logistic", None, -1.0, 0.01, -6.0, 1000.0, 0.00247264172300344),
    ("Logistic", None, 1.0, -0.999, 40.0, 0.001, -0.955923254693742),
    ("Logistic", None, 1.0, 0.0, 30.0, 10.0, -9.3576229688392e-14),
]


@pytest.mark.parametrize(("name", "width", "b", "y0", "z", "sigma", "expected"), VECTORS)
def test_known_dual_steps(name, width, b, y0, z, sigma, expected):
    f = LOSSES[name]() if width is None else LOSSES[name](width)
    assert prox_conj(f, y0, z, sigma, b) == pytest.approx(expected, rel=2e-14)  # printed with 14 or 15 digits


# ---- gradient and traits -----------------------------------------------------------------------------------------


@each
@checked()
@given(data=st.data(), z=st.floats(-20, 20), h=powers(-4, 1), sign=st.sampled_from([-1.0, 1.0]))
def test_grad_supports_the_loss_and_bounds_it(f, data, z, h, sign):
    """delta/2 h^2 <= f(z + h) - f(z) - f'(z) h <= h^2 / (2 gamma)."""
    b = data.draw(label(f))
    w = z + sign * h
    a, c = value(f, w, b), value(f, z, b)
    rest = a - c - grad(f, z, b) * (w - z)
    slip = 4e-15 * (abs(a) + abs(c) + abs(grad(f, z, b)) * (abs(z) + abs(w)))
    assert rest >= modulus(f) / 2.0 * (w - z) ** 2 - slip
    assert rest <= smoothness(f) / 2.0 * (w - z) ** 2 + slip


@each
@checked()
@given(data=st.data(), z=st.floats(-20, 20))
def test_grad_is_the_finite_difference(f, data, z):
    b, h = data.draw(label(f)), 1e-5
    left, right = value(f, z - h, b), value(f, z + h, b)
    low, high = grad(f, z - h, b), grad(f, z + h, b)
    assume(math.isfinite(smoothness(f)) or low == high)  # away from kinks
    slip = 1e-15 * (abs(left) + abs(right)) / h + 1e-9
    assert low - slip <= (right - left) / (2.0 * h) <= high + slip


@each
def test_traits_are_the_least_and_the_largest_slope(f):
    """Over a grid of finite differences of the gradient, which a loss with a kink makes as steep as one likes."""
    for b in (-1.0, 1.0):
        points = [t / 64.0 for t in range(-64 * 40, 64 * 40 + 1)]
        slopes = [grad(f, points[k], b) for k in range(len(points))]
        steep = [(v - u) * 64.0 for u, v in itertools.pairwise(slopes)]
        assert max(steep) <= smoothness(f) * (1.0 + 1e-9)
        assert min(steep) >= modulus(f) * (1.0 - 1e-9)
        assert max(steep) >= min(smoothness(f), 64.0) * 0.999, "smoothness is larger than it need be"
        assert min(steep) <= modulus(f) + 1e-3, "modulus is smaller than it may be"


# ---- NaN ---------------------------------------------------------------------------------------------------------


@each
def test_nan_in_gives_nan_out(f):
    for b in (-1.0, 1.0):
        y = inside(f, b, 0.5, 1.0)
        found = {
            "value": value(f, math.nan, b),
            "grad": grad(f, math.nan, b),
            "prox_conj, z": prox_conj(f, y, math.nan, 0.7, b),
            "prox_conj, y0": prox_conj(f, math.nan, 0.3, 0.7, b),
            "prox_conj, sigma": prox_conj(f, y, 0.3, math.nan, b),
            "fenchel_young, z": fenchel_young(f, math.nan, y, b),
        }
        swallowed = [name for name, made in found.items() if not math.isnan(made)]
        assert not swallowed
        # of a dual point that is no number nothing finite may be said
        assert not math.isfinite(conj(f, math.nan, b)) and not math.isfinite(fenchel_young(f, 0.3, math.nan, b))


@each
def test_compiled_nan_in_gives_nan_out(f):
    f = verbs.normal(f)
    blocks, b, one = Single(), np.ones(1), np.ones(1)
    y = np.array([inside(f, 1.0, 0.5, 1.0)])
    bad, made = np.array([math.nan]), np.zeros(1)
    assert np.isnan(loss_means(blocks, f, bad, y, b, one, np.empty(1))[:2]).all()
    assert not np.isfinite(loss_means(blocks, f, np.array([0.3]), bad, b, one, np.empty(1))[1])
    gradients(blocks, f, bad, b, one, made)
    assert np.isnan(made[0]), "gradient"
    for start, z, sigma in ((y, bad, one), (bad, one, one), (y, one, bad)):
        out = start.copy()
        steps_all(blocks, f, start, z, sigma, b, one, out, np.empty(1))
        assert np.isnan(out[0]), "prox_conj"


# ---- compiled ----------------------------------------------------------------------------------------------------


@each
def test_compiled_verbs_are_the_plain_ones(f):
    """On a grid with all extremes; a fused multiply-add or another exp may change the last digits, nothing else."""
    f = verbs.normal(f)
    rng = np.random.default_rng(0)
    n = 400
    b = rng.choice([-1.0, 1.0], n)
    z = rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-6, 6, n)
    z[:50] = 1.0 - rng.uniform(-1.5, 1.5, 50)
    sigma = 10.0 ** rng.uniform(-12, 12, n)
    sigma[::2] = 10.0 ** rng.uniform(-3, 3, n // 2)
    y0 = np.array([inside(f, b[i], [0.0, 1.0, rng.random()][i % 3]) for i in range(n)])
    one = np.ones(1)

    made = np.zeros(n)
    gradients(Single(), f, z, b, np.ones(n), made)
    plain = [grad(f, *pair) for pair in zip(z.tolist(), b.tolist(), strict=True)]
    np.testing.assert_allclose(made, plain, rtol=1e-14, atol=1e-300)

    steps_all(Single(), f, y0, z, sigma, b, np.ones(n), made, np.empty(1))
    plain = [prox_conj(f, *args) for args in zip(y0.tolist(), z.tolist(), sigma.tolist(), b.tolist(), strict=True)]
    size = np.abs(y0) + np.abs([grad(f, *pair) for pair in zip(z.tolist(), b.tolist(), strict=True)])
    assert np.all(np.abs(made - plain) <= 1e-14 * size + 1e-300)
    ends = np.array([verbs.interval(f, label) for label in b.tolist()])
    assert np.all((made >= ends[:, 0]) & (made <= ends[:, 1]))

    for i in range(0, n, 7):
        a, e, _ = loss_means(Single(), f, z[i : i + 1], y0[i : i + 1], b[i : i + 1], one, np.empty(1))
        args = float(z[i]), float(b[i])
        assert a == pytest.approx(value(f, *args), rel=1e-14)
        assert e == pytest.approx(fenchel_young(f, args[0], float(y0[i]), args[1]), rel=1e-12, abs=1e-25)
