"""Penalties: every verb against its definition, and sleep against the steps that were slept through.

A new penalty is found by itself. With parameters that have no default it asks for an example below.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import saddlery as sd
from saddlery.terms import PENALTIES, conj, grad_conj, modulus, normal, prox, separable, slack, value
from saddlery.terms import _verbs as verbs
from saddlery.terms._sums import conj_sum, penalty_sums, prox_all
from saddlery.terms._verbs import prefixes


class Lopsided(NamedTuple):
    """up/2 x^2 for x > 0, down/2 x^2 for x < 0: a user's penalty, everything but its definition left to defaults."""

    up: float = 2.0
    down: float = 0.5

    def modulus(self):
        return min(self.up, self.down)

    def value(self, x):
        return (self.up if x > 0.0 else self.down) * x * x / 2.0

    def conj(self, v):
        return v * v / (2.0 * (self.up if v > 0.0 else self.down))

    def prox(self, v, tau):
        return v / (1.0 + tau * (self.up if v > 0.0 else self.down))


class Corner(NamedTuple):
    """weight |x|: a user's penalty that is not smooth."""

    weight: float = 0.3

    def value(self, x):
        return self.weight * abs(x)

    def conj(self, v):
        return 0.0 if abs(v) <= self.weight else math.inf

    def prox(self, v, tau):
        return max(v - tau * self.weight, 0.0) + min(v + tau * self.weight, 0.0)

    def reach(self):
        return -self.weight, self.weight


EXAMPLES = {
    "Box": [
        PENALTIES["Box"](-1.0, 2.0, 0.7),
        PENALTIES["Box"](0.5, 1.5),
        PENALTIES["Box"](-1.0, math.inf),
        PENALTIES["Box"](-math.inf, 0.5, 0.1),
        PENALTIES["Box"](0.25, 0.25),
    ],
    "GroupL2": [
        PENALTIES["GroupL2"](0.3, np.array([0, 1, 0, 3, 1, 0])),
        PENALTIES["GroupL2"](0.3, np.array([0, 1, 0, 3, 1, 0]), 0.7),
        PENALTIES["GroupL2"](0.0, np.array([0, 0, 0, 0, 0, 0]), 0.7),
    ],
    "L1": [PENALTIES["L1"](0.3), PENALTIES["L1"](0.0)],
    "L1L2": [PENALTIES["L1L2"](0.3, 0.7), PENALTIES["L1L2"](0.3, 0.0), PENALTIES["L1L2"](0.0, 0.7)],
    "L2": [PENALTIES["L2"](0.7), PENALTIES["L2"](1e-6), PENALTIES["L2"](0.0)],
    "NonNegative": [PENALTIES["NonNegative"](), PENALTIES["NonNegative"](0.7)],
}


def instances(name):
    """Examples of a penalty; what it makes by itself if none are given; nothing if it cannot."""
    try:
        return EXAMPLES.get(name) or [PENALTIES[name]()]
    except TypeError:
        return []


@pytest.mark.parametrize("name", PENALTIES)
def test_every_penalty_has_an_example(name):
    assert instances(name), f"{name} has parameters without a default: add an example of it to EXAMPLES"


ALL = [g for name in PENALTIES for g in instances(name)] + [Lopsided(), Corner()]
SCALAR = [g for g in ALL if separable(g)]
STRONG = [g for g in SCALAR if modulus(g) > 0.0]
VECTORS = [g for g in ALL if not separable(g)]
each = pytest.mark.parametrize("g", SCALAR, ids=str)
vectors = pytest.mark.parametrize("g", VECTORS, ids=lambda g: f"{type(g).__name__}{tuple(np.size(p) for p in g)}")

numbers = st.one_of(st.floats(-8, 8).map(lambda t: round(t * 2**30) / 2**30), st.sampled_from([0.0, 0.3, -0.3, 0.25]))
steps = st.floats(-4, 3).map(lambda e: 10.0**e)


def checked(count=40):
    return settings(max_examples=count, deadline=None)


def domain(g, x):
    """The nearest point where g is finite: the prox with a step of 0."""
    return prox(g, x, 0.0)


def within(g, v):
    """The nearest point where g* is finite."""
    low, high = verbs.reach(g)
    return min(max(v, low), high)


# ---- value, conjugate, slack -------------------------------------------------------------------------------------


@each
@checked()
@given(x=numbers, v=numbers)
def test_slack_is_value_plus_conj_minus_product(g, x, v):
    x = domain(g, x)
    a, c, made = value(g, x), conj(g, v), slack(g, x, v)
    assert made >= 0.0
    assert (made == math.inf) == (c == math.inf)
    if math.isfinite(c):
        assert made == pytest.approx(a + c - x * v, rel=1e-9, abs=1e-14 * (abs(a) + abs(c) + abs(x * v)))
    reached = within(g, v)
    assert math.isfinite(slack(g, x, reached)) and slack(g, x, reached) >= 0.0


@each
@checked()
@given(w=numbers, tau=steps)
def test_slack_is_zero_at_a_subgradient(g, w, tau):
    """(w - x) / tau is a subgradient of g at x = prox(w, tau), by the definition of the prox."""
    x = prox(g, w, tau)
    v = within(g, (w - x) / tau)
    assert 0.0 <= slack(g, x, v) <= 2e-15 * (abs(w) + abs(x)) / tau * (abs(x) + 1e-15 * abs(w) / max(modulus(g), tau))


@pytest.mark.parametrize("g", STRONG, ids=str)
@checked()
@given(v=numbers)
def test_grad_conj_is_where_the_conjugate_is_attained(g, v):
    """Slack is quadratic around it: the square of a rounding error. The default slack cancels, so for it once."""
    x, lam = grad_conj(g, v), modulus(g)
    assert math.isfinite(value(g, x))
    users = type(g).__module__ == __name__
    assert 0.0 <= slack(g, x, v) <= (1e-15 if users else 1e-30) * (1.0 + v * v) / lam
    h = 1e-4
    assert grad_conj(g, v - h) - 1e-9 <= (conj(g, v + h) - conj(g, v - h)) / (2 * h) + 1e-9 * (1 + v * v / lam)
    assert grad_conj(g, v + h) + 1e-9 >= (conj(g, v + h) - conj(g, v - h)) / (2 * h) - 1e-9 * (1 + v * v / lam)


@each
@checked(30)
@given(v=numbers)
def test_conj_is_the_supremum(g, v):
    """sup v x - g(x) by golden section over the domain; where it is infinite, v x - g(x) has no bound."""
    low, high, ratio = domain(g, -1e8), domain(g, 1e8), (math.sqrt(5.0) - 1.0) / 2.0
    points = [low, high, domain(g, 0.0)]
    if conj(g, v) == math.inf:
        assert max(v * x - value(g, x) for x in points) > 1e5 * abs(v)
        return
    for _ in range(120):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        points += [domain(g, left), domain(g, right)]
        if v * left - value(g, left) < v * right - value(g, right):
            low = left
        else:
            high = right
    assert conj(g, v) == pytest.approx(max(v * x - value(g, x) for x in points), rel=1e-9, abs=1e-9)


@each
def test_reach_is_where_the_conjugate_is_finite(g):
    low, high = verbs.reach(g)
    for end, way in ((low, -math.inf), (high, math.inf)):
        if math.isfinite(end):
            outside = (math.nextafter(end, way), end + math.copysign(0.1, way), math.copysign(1e6, way))
            assert [conj(g, v) for v in outside] == [math.inf] * 3
            assert [slack(g, domain(g, 1.0), v) for v in outside] == [math.inf] * 3
            assert math.isfinite(conj(g, end))
        else:
            assert math.isfinite(conj(g, math.copysign(1e3, way)))


@each
def test_outside_the_domain_value_is_infinite(g):
    for x in (-1e3, 1e3):
        if domain(g, x) != x:
            out = math.nextafter(domain(g, x), x)
            assert value(g, out) == math.inf and slack(g, out, within(g, 0.1)) == math.inf
            assert math.isfinite(value(g, domain(g, x)))


@each
@checked(20)
@given(x=numbers, w=numbers)
def test_modulus_is_strong_convexity(g, x, w):
    x, w = domain(g, x), domain(g, w)
    a, c, m = value(g, x), value(g, w), value(g, (x + w) / 2.0)
    assert (a + c) / 2.0 - m >= modulus(g) / 8.0 * (x - w) ** 2 - 1e-15 * (abs(a) + abs(c))


@each
def test_modulus_is_the_largest(g):
    points = [p for p in np.linspace(-3, 3, 61).tolist() if value(g, p) < math.inf]
    bends = [
        (value(g, x) + value(g, w) - 2.0 * value(g, (x + w) / 2.0)) * 4.0 / (x - w) ** 2
        for x, w in zip(points, points[2:], strict=False)
    ]
    assert not bends or min(bends) <= modulus(g) + 1e-9, "modulus is smaller than it may be"


# ---- prox --------------------------------------------------------------------------------------------------------


@each
@checked()
@given(v=numbers, w=numbers, tau=steps)
def test_prox_has_the_three_point_property(g, v, w, tau):
    """phi(w) >= phi(x) + (1 / tau + lam) / 2 (w - x)^2 for phi(x) = g(x) + (x - v)^2 / (2 tau)."""
    x, w = prox(g, v, tau), domain(g, w)

    def phi(p):
        return value(g, p) + (p - v) ** 2 / (2.0 * tau)

    more = (1.0 / tau + modulus(g)) / 2.0 * (w - x) ** 2
    assert phi(w) - phi(x) - more >= -2e-15 * (phi(w) + phi(x) + more + v * v / tau)


@each
@checked(25)
@given(v=numbers, tau=steps)
def test_prox_is_the_slow_minimiser(g, v, tau):
    """Golden section, right to the root of the rounding of values: 1e-8 (values near the minimum hardly differ)."""
    low, high, ratio = domain(g, -10.0), domain(g, 10.0), (math.sqrt(5.0) - 1.0) / 2.0

    def phi(p):
        return value(g, p) * tau + (p - v) * (p - v) / 2.0

    for _ in range(100):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if phi(left) > phi(right):
            low = left
        else:
            high = right
    assert prox(g, v, tau) == pytest.approx((low + high) / 2.0, abs=3e-7)


@each
@pytest.mark.parametrize("tau", [0.0, 1e-12, 1.0, 1e12, 1e15])
@pytest.mark.parametrize("v", [-1e30, -1.0, 0.0, 1e-300, 1e30])
def test_prox_is_finite_and_inside_at_extremes(g, v, tau):
    x = prox(g, v, tau)
    assert math.isfinite(x) and math.isfinite(value(g, x))
    assert abs(x - domain(g, 0.0)) <= abs(v - domain(g, 0.0))  # no expansion from where 0 is drawn to


# ---- sleep -------------------------------------------------------------------------------------------------------


def explicit(g, x, r, taus):
    """The steps, one after the other."""
    for tau in taus:
        x = prox(g, x - tau * r, tau)
    return x


def assert_sleep(g, x, r, taus, s, t):
    taus = np.array(taus)
    Z, U = prefixes(modulus(g), taus)
    asleep = verbs.drift(g, x, r, taus, Z, U, s, t)
    awake = explicit(g, x, r, taus[s:t].tolist())
    scale = abs(x) + taus[s:t].sum() * (abs(r) + abs(value(g, 1.0) if math.isfinite(value(g, 1.0)) else 0.0))
    # U[t] - A U[s] cancels where the first steps of a stretch are far longer than the rest: that is the scale of U[t]
    scale += U[t] * abs(r)
    assert abs(asleep - awake) <= 1e-14 * len(taus) * scale


taus = st.lists(st.floats(-3, 1).map(lambda e: 10.0**e), min_size=1, max_size=30)


@each
@checked(60)
@given(x=numbers, r=numbers, taus=taus, cut=st.tuples(st.floats(0, 1), st.floats(0, 1)))
@example(x=1.0, r=2.0, taus=[0.1] * 30, cut=(0.0, 1.0))  # crosses zero, and goes on
@example(x=-1.0, r=-2.0, taus=[0.1] * 30, cut=(0.0, 1.0))
@example(x=1.0, r=0.1, taus=[0.2] * 30, cut=(0.0, 1.0))  # reaches zero, and stays
@example(x=1.0, r=50.0, taus=[1e-3, 3.0, 1e-3, 2.0], cut=(0.0, 1.0))  # across in one step
@example(x=0.0, r=0.3, taus=[1.0, 2.0], cut=(0.0, 1.0))
@example(x=0.0, r=0.5, taus=[1.0, 2.0], cut=(0.5, 1.0))
def test_sleep_is_the_steps_slept_through(g, x, r, taus, cut):
    s, t = sorted(round(c * len(taus)) for c in cut)
    assert_sleep(g, domain(g, x), r, taus, s, t)


@each
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sleep_across_zero_at_every_step(g, sign):
    """The crossing is made with the tau of the very step that crosses: all places of it, tau alternating by 100."""
    taus = [0.01, 1.0] * 10
    for k in range(1, 20):
        x = domain(g, sign * 2.0 * sum(taus[:k]))
        assert_sleep(g, x, sign * 2.0, taus, 0, 20)


@each
def test_sleep_is_not_ended_by_a_short_step(g):
    """A step too short to change x in its last digit is no sign that a longer one would not."""
    for taus in ([1e-18, 1.0], [1e-18] * 5 + [0.5] * 5, [1e-12, 1e-18, 2.0]):
        assert_sleep(g, domain(g, 1.0), 0.7, taus, 0, len(taus))


@each
def test_sleep_of_no_step_moves_nothing(g):
    taus = np.array([0.3, 0.2])
    Z, U = prefixes(modulus(g), taus)
    for s in (0, 1, 2):
        x = domain(g, 0.4)
        assert verbs.drift(g, x, 5.0, taus, Z, U, s, s) == x


def test_prefixes_are_the_recursion():
    taus = np.array([0.5, 0.1, 3.0])
    Z, U = prefixes(0.7, taus)
    z, u = 1.0, 0.0
    for k, tau in enumerate(taus.tolist()):
        rho = 1.0 / (1.0 + 0.7 * tau)
        z, u = z * rho, rho * (u + tau)
        assert Z[k + 1] == pytest.approx(z, rel=1e-15) and U[k + 1] == pytest.approx(u, rel=1e-15)
    assert (Z[0], U[0]) == (1.0, 0.0)


# ---- NaN ---------------------------------------------------------------------------------------------------------


@each
def test_nan_in_is_never_swallowed(g):
    taus = np.array([0.3, 0.2, 0.5])
    Z, U = prefixes(modulus(g), taus)
    x, nan = domain(g, 0.4), math.nan
    found = {
        "prox, v": prox(g, nan, 0.5),
        "drift, x": verbs.drift(g, nan, 0.1, taus, Z, U, 0, 3),
        "drift, x, far": verbs.drift(g, nan, 9.0, taus, Z, U, 0, 3),
        "drift, r": verbs.drift(g, x, nan, taus, Z, U, 0, 3),
    }
    if modulus(g) > 0.0:
        found["grad_conj"] = grad_conj(g, nan)
    assert not [name for name, made in found.items() if not math.isnan(made)]
    bounded = [value(g, nan), slack(g, nan, within(g, 0.1)), slack(g, x, nan), conj(g, nan)]
    assert not np.isfinite(bounded).any(), "value, slack, slack, conj"


# ---- compiled ----------------------------------------------------------------------------------------------------


@each
def test_compiled_verbs_are_the_plain_ones(g):
    g = normal(g)
    rng = np.random.default_rng(0)
    v = np.concatenate([rng.standard_normal(40), 10.0 ** rng.uniform(-12, 12, 20), [0.0, 0.3, -0.3, math.nan]])
    for tau in (0.0, 1e-9, 0.7, 1e15):
        made = v.copy()
        prox_all(g, made, tau)
        np.testing.assert_allclose(made, [prox(g, w, tau) for w in v.tolist()], rtol=1e-15)
    for w, x in zip(v[:40], v[:40][::-1].copy(), strict=True):
        point, force = np.array([domain(g, float(x))]), np.array([within(g, float(w))])
        plain = value(g, float(point[0])), slack(g, float(point[0]), float(force[0]))
        assert penalty_sums(g, point, force)[:2] == pytest.approx(plain, rel=1e-14, abs=1e-30, nan_ok=True)
        assert conj_sum(g, force) == pytest.approx(conj(g, float(force[0])), rel=1e-15, nan_ok=True)
        assert conj_sum(g, np.array([w])) == pytest.approx(conj(g, float(w)), rel=1e-15, nan_ok=True)


# ---- penalties of whole vectors ----------------------------------------------------------------------------------


def arrays(g, rng, scale=1.0):
    size = np.size(g.groups) if hasattr(g, "groups") else 6
    return scale * rng.standard_normal(size)


@vectors
def test_vectors_prox_has_the_three_point_property(g):
    rng = np.random.default_rng(1)
    for tau in (1e-3, 0.3, 1.0, 50.0):
        for _ in range(20):
            v, w = arrays(g, rng), arrays(g, rng)
            x = g.prox(v, tau)

            def phi(p, v=v, tau=tau):
                return g.value(p) + ((p - v) @ (p - v)) / (2.0 * tau)

            for p in (w, x + 1e-3 * w, np.zeros(v.size), v):
                more = (1.0 / tau + modulus(g)) / 2.0 * ((p - x) @ (p - x))
                assert phi(p) - phi(x) - more >= -4e-15 * (phi(p) + phi(x) + more)


@vectors
def test_vectors_slack_is_value_plus_conj_minus_product(g):
    rng = np.random.default_rng(2)
    for scale in (0.05, 1.0):
        for _ in range(20):
            x, v = arrays(g, rng), arrays(g, rng, scale)
            c, made = g.conj(v), g.slack(x, v)
            assert made >= 0.0
            assert (made == math.inf) == (c == math.inf)
            if math.isfinite(c):
                assert made == pytest.approx(g.value(x) + c - x @ v, rel=1e-12, abs=1e-14)
            v *= g.reach_scale(v) * (1.0 - 1e-13)
            assert g.slack(x, v) == pytest.approx(g.value(x) + g.conj(v) - x @ v, rel=1e-12, abs=1e-14)


@vectors
def test_vectors_slack_is_zero_at_a_subgradient(g):
    rng = np.random.default_rng(3)
    for tau in (0.1, 1.0):
        w = arrays(g, rng)
        x = g.prox(w, tau)
        v = (w - x) / tau
        v *= g.reach_scale(v) * (1.0 - 1e-15)
        assert g.slack(x, v) <= 1e-13  # what is lost by moving v inside, where it must be
        if modulus(g) > 0.0:
            assert g.slack(g.grad_conj(v), v) <= 1e-29  # the square of a rounding error


@vectors
def test_vectors_conj_is_the_supremum(g):
    """By ascent along many directions and along the point where it is attained."""
    rng = np.random.default_rng(4)
    for scale in (0.05, 1.0):
        v = arrays(g, rng, scale)
        best = 0.0
        for _ in range(200):
            x = arrays(g, rng) * 10.0 ** rng.uniform(-3, 8)
            best = max(best, v @ x - g.value(x))
        if g.conj(v) == math.inf:
            x = 1e8 * g.prox(v, 1.0)  # grows with every group that is above the threshold
            assert v @ x - g.value(x) > 1e4
        else:
            assert best <= g.conj(v) * (1.0 + 1e-14)
            if modulus(g) > 0.0:
                x = g.grad_conj(v)
                assert v @ x - g.value(x) == pytest.approx(g.conj(v), rel=1e-13)


@vectors
def test_vectors_nan_is_never_swallowed(g):
    rng = np.random.default_rng(5)
    v = arrays(g, rng)
    v[0] = math.nan
    assert np.isnan(g.prox(v, 0.5)).any()
    assert not math.isfinite(g.value(v)) and not math.isfinite(g.conj(v))
    assert not math.isfinite(g.slack(v, arrays(g, rng, 0.01)))
    assert not math.isfinite(g.slack(arrays(g, rng), v))


def test_groups_of_one_are_l1():
    rng = np.random.default_rng(6)
    g, h = sd.GroupL2(0.3, np.arange(5), 0.7), sd.L1L2(0.3, 0.7)
    x, v = rng.standard_normal((2, 5))
    assert g.value(x) == pytest.approx(sum(value(h, t) for t in x))
    assert g.conj(v) == pytest.approx(sum(conj(h, t) for t in v))
    np.testing.assert_allclose(g.prox(v, 0.8), [prox(h, t, 0.8) for t in v], rtol=1e-14)
    np.testing.assert_allclose(g.grad_conj(v), [grad_conj(h, t) for t in v], rtol=1e-14)


def test_groups_are_scaled_as_a_whole():
    """prox of alpha |x|: v (1 - tau alpha / |v|), by hand for one group of (3, 4)."""
    g = sd.GroupL2(1.0, np.array([1, 0, 1]))
    np.testing.assert_allclose(g.prox(np.array([3.0, 0.5, 4.0]), 1.0), [2.4, 0.0, 3.2], rtol=1e-15)


# ---- parameters --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("penalty", "name"),
    [
        (lambda: sd.L2(-1.0), "lam"),
        (lambda: sd.L2(math.nan), "lam"),
        (lambda: sd.L2(math.inf), "lam"),
        (lambda: sd.L1(-0.1), "l1"),
        (lambda: sd.L1L2(-0.1, 1.0), "l1"),
        (lambda: sd.L1L2(0.1, -1.0), "l2"),
        (lambda: sd.L1L2(0.1, math.nan), "l2"),
        (lambda: sd.NonNegative(-1e-9), "lam"),
        (lambda: sd.Box(0.0, 1.0, -1.0), "lam"),
        (lambda: sd.Box(1.0, 0.0), "lo"),
        (lambda: sd.Box(math.nan, 1.0), "lo"),
        (lambda: sd.Box(math.inf, math.inf), "lo"),
        (lambda: sd.GroupL2(-1.0, np.zeros(3, int)), "alpha"),
        (lambda: sd.GroupL2(1.0, np.zeros(3, int), -1.0), "lam"),
        (lambda: sd.GroupL2(1.0, np.array([0, -1, 0])), "groups"),
        (lambda: sd.GroupL2(1.0, np.array([0.0, 0.5, 1.0])), "groups"),
        (lambda: sd.GroupL2(1.0, np.zeros((3, 1), int)), "groups"),
        (lambda: sd.GroupL2(1.0, np.zeros(4, int)), "groups"),
        (lambda: sd.GroupL2(1.0, np.zeros(0, int)), "groups"),
        (lambda: sd.GroupL2(1.0, 3), "groups"),
    ],
)
def test_wrong_parameters_are_refused_by_name(penalty, name):
    with pytest.raises(ValueError) as error:
        sd.ERM(np.ones((2, 3)), np.ones(2), sd.Squared(), penalty())
    assert name in str(error.value) and type(penalty()).__name__ in str(error.value)


@pytest.mark.parametrize("penalty", [sd.L2("0.1"), sd.L2(None), sd.L1L2(0.1, 1j), sd.Box(0.0, "1")])
def test_parameters_that_are_no_numbers_are_refused_by_name(penalty):
    with pytest.raises(TypeError) as error:
        sd.ERM(np.ones((2, 3)), np.ones(2), sd.Squared(), penalty)
    assert type(penalty).__name__ in str(error.value) and "must be a number" in str(error.value)


def test_an_array_is_no_number():
    with pytest.raises((TypeError, ValueError), match="lam"):
        sd.ERM(np.ones((2, 3)), np.ones(2), sd.Squared(), sd.L2(np.array([0.1, 0.2, 0.3])))


def test_whole_numbers_are_floats():
    assert [type(part) for part in normal(sd.Box(0, 1, 2))] == [float] * 3
    assert normal(sd.L2(np.float32(0.5))) == sd.L2(0.5)
