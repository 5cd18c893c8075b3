"""Losses of one block: Softmax, Huber's Euclidean ball, and the block that every scalar loss is by default."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import saddlery as sd
from saddlery.terms import LOSSES, conj, fenchel_young, gamma, grad, labels, prox_conj, smoothness, value
from saddlery.terms import _verbs as verbs
from saddlery.terms._sums import Blocks, conj_mean, feasible, gradients, loss_means, steps_all
from saddlery.terms.softmax import log_sum_exp, omega

BLOCK_VERBS = ("value_block", "grad_block", "conj_block", "prox_conj_block", "project_block", "fenchel_young_block")
EXAMPLES = {
    "Huber": [LOSSES["Huber"](), LOSSES["Huber"](0.25)],
    "Softmax": [LOSSES["Softmax"](2), LOSSES["Softmax"](4), LOSSES["Softmax"](40)],
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


class Shape(NamedTuple):
    """What a block is: its length, whether one label is shared."""

    size: int
    shared: bool


def shape(f):
    return Shape(verbs.outputs(f), True) if verbs.outputs(f) > 1 else Shape(3, False)


ALL = [f for name in LOSSES for f in instances(name)]
OWN = [f for f in ALL if any(hasattr(f, name) for name in BLOCK_VERBS)]  # with block verbs of their own
DEFAULT = [f for f in ALL if f not in OWN]
own = pytest.mark.parametrize("f", OWN, ids=str)
each = pytest.mark.parametrize("f", ALL, ids=str)
seeds = st.integers(0, 10**6)


def checked(count=40):
    return settings(max_examples=count, deadline=None)


def labelled(f, rng):
    size, shared = shape(f)
    if shared:
        return np.array([float(rng.integers(size))])
    return rng.choice([-1.0, 1.0], size) if labels(f) == "margin" else rng.standard_normal(size)


def feasible_point(f, b, rng, spread=1.0):
    """Somewhere in the domain, on its boundary or at a corner of it half of the time."""
    y = spread * rng.standard_normal(shape(f).size)
    if rng.random() < 0.5:
        y *= 10.0 ** rng.uniform(0, 3)
    verbs.project_block(f, y, b)
    return y


def gradient(f, z, b):
    out = np.empty(z.size)
    verbs.grad_block(f, z, b, out)
    return out


def step(f, y0, z, sigma, b):
    out = np.empty(z.size)
    verbs.prox_conj_block(f, y0, z, sigma, b, out)
    return out


# ---- value, gradient, conjugate ----------------------------------------------------------------------------------


@each
@checked(30)
@given(seed=seeds)
def test_gradient_is_the_finite_difference(f, seed):
    rng = np.random.default_rng(seed)
    b, z, h = labelled(f, rng), 3.0 * rng.standard_normal(shape(f).size), 1e-5
    direction = rng.standard_normal(z.size)
    direction /= np.linalg.norm(direction)
    left, right = z - h * direction, z + h * direction
    ends = sorted([gradient(f, left, b) @ direction, gradient(f, right, b) @ direction])
    found = (verbs.value_block(f, right, b) - verbs.value_block(f, left, b)) / (2 * h)
    assert ends[0] - 1e-9 <= found <= ends[1] + 1e-9


@own
@checked(30)
@given(seed=seeds)
def test_smoothness_bounds_the_gradient(f, seed):
    rng = np.random.default_rng(seed)
    b, z = labelled(f, rng), 2.0 * rng.standard_normal(shape(f).size)
    w = z + 10.0 ** rng.uniform(-3, 1) * rng.standard_normal(z.size)
    difference = gradient(f, w, b) - gradient(f, z, b)
    assert np.linalg.norm(difference) <= smoothness(f) * np.linalg.norm(w - z) * (1 + 1e-12) + 1e-15


def test_the_smoothness_of_softmax_is_reached():
    """Two classes of equal chance: along (1, -1) the second derivative is 1/2."""
    f, b = sd.Softmax(2), np.zeros(1)
    z = np.array([1e-4, -1e-4])
    slope = (gradient(f, z, b) - gradient(f, -z, b)) / (2e-4 * math.sqrt(2.0))
    assert np.linalg.norm(slope) == pytest.approx(smoothness(f), rel=1e-7)


@each
@checked()
@given(seed=seeds)
def test_fenchel_young_is_value_plus_conj_minus_product(f, seed):
    rng = np.random.default_rng(seed)
    b = labelled(f, rng)
    z, y = 10.0 ** rng.uniform(-2, 2) * rng.standard_normal(shape(f).size), feasible_point(f, b, rng)
    a, c = verbs.value_block(f, z, b), verbs.conj_block(f, y, b)
    made = verbs.fenchel_young_block(f, z, y, b)
    assert made >= 0.0 and math.isfinite(c)
    scale = abs(a) + abs(c) + np.abs(y) @ np.abs(z) + np.abs(z).max()  # log sum exp z - z_b cancels
    assert made == pytest.approx(a + c - y @ z, rel=1e-12, abs=1e-14 * scale)


@each
@checked()
@given(seed=seeds)
def test_fenchel_young_is_zero_at_the_gradient(f, seed):
    """Up to rounding of the gradient: squared where f* is quadratic, once where it is as steep as one likes."""
    rng = np.random.default_rng(seed)
    b, z = labelled(f, rng), 5.0 * rng.standard_normal(shape(f).size)
    y = gradient(f, z, b)
    scale = 1.0 + np.abs(z).max() + np.abs(b).max()
    assert 0.0 <= verbs.fenchel_young_block(f, z, y, b) <= (1e-28 if hasattr(f, "width") else 1e-15) * scale**2


@own
@checked()
@given(seed=seeds)
def test_outside_the_domain_everything_is_infinite(f, seed):
    """A dual point that is not feasible bounds nothing: its Fenchel-Young term must say so."""
    rng = np.random.default_rng(seed)
    b, z = labelled(f, rng), rng.standard_normal(shape(f).size)
    for y in (
        3.0 * rng.standard_normal(z.size),
        1.001 * gradient(f, 1e3 * z, b),
        gradient(f, z, b) + 0.01 * np.sign(z),
    ):
        moved = y.copy()
        verbs.project_block(f, moved, b)
        if np.abs(moved - y).max() > 1e-6:
            assert verbs.conj_block(f, y, b) == math.inf
            assert verbs.fenchel_young_block(f, z, y, b) == math.inf


@own
@checked(25)
@given(seed=seeds)
def test_conj_is_the_supremum(f, seed):
    """<y, z> - f(z) nowhere above f*(y), and equal to it where y is the gradient."""
    rng = np.random.default_rng(seed)
    b, z = labelled(f, rng), 3.0 * rng.standard_normal(shape(f).size)
    y = gradient(f, z, b)
    assert verbs.conj_block(f, y, b) == pytest.approx(y @ z - verbs.value_block(f, z, b), rel=1e-12, abs=1e-12)
    y = feasible_point(f, b, rng)
    for _ in range(10):
        w = 10.0 ** rng.uniform(-2, 3) * rng.standard_normal(z.size)
        assert verbs.conj_block(f, y, b) >= y @ w - verbs.value_block(f, w, b) - 1e-14 * (np.abs(y) @ np.abs(w) + 1)


# ---- projection --------------------------------------------------------------------------------------------------


@each
@checked()
@given(seed=seeds)
def test_projection_is_feasible_and_leaves_the_feasible_alone(f, seed):
    rng = np.random.default_rng(seed)
    b = labelled(f, rng)
    y = 10.0 ** rng.uniform(-3, 3) * rng.standard_normal(shape(f).size)
    verbs.project_block(f, y, b)
    assert math.isfinite(verbs.conj_block(f, y, b))
    again = y.copy()
    verbs.project_block(f, again, b)
    np.testing.assert_allclose(again, y, rtol=4e-16 * y.size, atol=4e-16)


@pytest.mark.parametrize("f", [f for f in ALL if not shape(f).shared], ids=str)
def test_projection_is_the_nearest_point(f):
    rng = np.random.default_rng(0)
    for _ in range(20):
        b = labelled(f, rng)
        y = 3.0 * rng.standard_normal(3)
        near = y.copy()
        verbs.project_block(f, near, b)
        for _ in range(20):
            other = feasible_point(f, b, rng)
            assert (y - near) @ (other - near) <= 1e-14 * (1 + np.abs(other).max())


# ---- the dual step -----------------------------------------------------------------------------------------------


@each
@checked()
@given(seed=seeds)
def test_prox_conj_has_the_three_point_property(f, seed):
    """phi(w) >= phi(y) + (1 / sigma + gamma) / 2 |w - y|^2 for phi(y) = f*(y) - <z, y> + |y - y0|^2 / (2 sigma)."""
    rng = np.random.default_rng(seed)
    b, sigma = labelled(f, rng), 10.0 ** rng.uniform(-4, 4)
    z, y0 = 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(shape(f).size), feasible_point(f, b, rng)
    y = step(f, y0, z, sigma, b)

    def parts(v):
        return np.array([verbs.conj_block(f, v, b), -z @ v, (v - y0) @ (v - y0) / (2.0 * sigma)])

    at = parts(y)
    assert np.isfinite(at).all()
    for w in (y0, gradient(f, z, b), feasible_point(f, b, rng), 0.999 * y + 0.001 * feasible_point(f, b, rng)):
        if not math.isfinite(verbs.conj_block(f, w, b)):  # a convex combination may be a rounding error outside
            continue
        distance = w - y
        more = (1.0 / sigma + gamma(f)) / 2.0 * (distance @ distance)
        scale = np.abs(parts(w)).sum() + np.abs(at).sum() + more
        assert parts(w).sum() - at.sum() - more >= -1e-13 * scale - 1e-14 * np.linalg.norm(distance) / sigma


@own
@checked()
@given(seed=seeds)
def test_prox_conj_satisfies_its_optimality_condition(f, seed):
    """y = f'(z - (y - y0) / sigma), the condition of Karush, Kuhn and Tucker solved for y."""
    rng = np.random.default_rng(seed)
    b, sigma = labelled(f, rng), 10.0 ** rng.uniform(-2, 4)
    z, y0 = 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(shape(f).size), feasible_point(f, b, rng)
    y = step(f, y0, z, sigma, b)
    w = z - (y - y0) / sigma
    slip = 1e-14 * (1.0 + np.abs(z).max() + (1.0 + np.abs(y0).max()) / sigma)
    np.testing.assert_allclose(y, gradient(f, w, b), rtol=0.0, atol=slip * (1.0 + np.abs(y).max()))


def test_the_softmax_step_is_that_of_projected_gradient():
    """Slow and sure: f* smoothed away from the faces by mirror descent on the simplex."""
    f, b, rng = sd.Softmax(4), np.array([2.0]), np.random.default_rng(0)
    corner = np.eye(4)[2]
    for sigma in (0.05, 1.0, 20.0):
        z, y0 = 2.0 * rng.standard_normal(4), feasible_point(f, b, rng)
        s = np.full(4, 0.25)
        rate = 0.5 / (1.0 + 1.0 / sigma)
        for _ in range(6000):
            slope = np.log(s) - z + (s - corner - y0) / sigma
            s = s * np.exp(-rate * (slope - s @ slope))
            s /= s.sum()
        np.testing.assert_allclose(step(f, y0, z, sigma, b), s - corner, atol=1e-13)


def test_the_huber_step_is_that_of_projected_gradient():
    f, rng = sd.Huber(0.5), np.random.default_rng(0)
    for sigma in (0.05, 1.0, 20.0):
        b, z, y0 = rng.standard_normal((3, 3))
        verbs.project_block(f, y0, b)
        y = np.zeros(3)
        for _ in range(3000):
            y -= (y + b - z + (y - y0) / sigma) / (2.0 * (1.0 + 1.0 / sigma))
            y *= min(1.0, 0.5 / np.linalg.norm(y))
        np.testing.assert_allclose(step(f, y0, z, sigma, b), y, atol=1e-14)


def test_two_classes_are_the_logistic_loss():
    """z = (0, t), b in {0, 1}: log(1 + exp(-(2b - 1) t))."""
    f, h = sd.Softmax(2), sd.Logistic()
    for t in (-30.0, -1.0, 0.0, 0.4, 25.0):
        for b in (0.0, 1.0):
            z, label = np.array([0.0, t]), np.array([b])
            slip = 4e-16 * (1.0 + abs(t))  # log sum exp z - z_b cancels
            assert verbs.value_block(f, z, label) == pytest.approx(value(h, t, 2 * b - 1), rel=1e-15, abs=slip)
            assert gradient(f, z, label)[1] == pytest.approx(grad(h, t, 2 * b - 1), rel=1e-14, abs=slip)


@pytest.mark.parametrize("classes", [2, 5, 100])
@pytest.mark.parametrize("sigma", [1e-12, 1e-6, 1e-2, 1.0, 1e2, 1e6, 1e12])
@pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e6])
def test_the_softmax_step_is_feasible_at_extremes(classes, sigma, size):
    f, rng = sd.Softmax(classes), np.random.default_rng(3)
    for k in range(4):
        b = np.array([float(k % classes)])
        z = size * rng.standard_normal(classes)
        y0 = (np.zeros(classes), np.eye(classes)[-1] - np.eye(classes)[int(b[0])], gradient(f, z, b))[k % 3]
        y = step(f, y0, z, sigma, b)
        assert np.isfinite(y).all() and math.isfinite(verbs.conj_block(f, y, b))
        assert y.sum() == pytest.approx(0.0, abs=2e-16 * classes)
        assert np.delete(y, int(b[0])).min() >= 0.0 and -1.0 - 1e-15 <= y[int(b[0])] <= 0.0


def test_the_huber_step_is_inside_at_extremes():
    f, rng = sd.Huber(0.5), np.random.default_rng(3)
    for sigma in (1e-12, 1e-6, 1.0, 1e6, 1e12):
        for size in (0.0, 1.0, 1e6):
            b, z, y0 = rng.standard_normal((3, 4)) * np.array([[1.0], [size], [1.0]])
            verbs.project_block(f, y0, b)
            y = step(f, y0, z, sigma, b)
            assert np.isfinite(y).all() and math.isfinite(verbs.conj_block(f, y, b))


# ---- softmax, its parts ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of plain Python; compiled code says nothing
def test_log_sum_exp_at_extremes():
    assert log_sum_exp(np.array([1e308, -1e308])) == 1e308
    assert log_sum_exp(np.array([-1e6, -1e6])) == pytest.approx(-1e6 + math.log(2.0), rel=1e-16)
    assert log_sum_exp(np.array([1000.0, 1000.0, 1000.0])) == pytest.approx(1000.0 + math.log(3.0), rel=1e-16)
    assert log_sum_exp(np.array([0.0, -800.0])) == 0.0
    assert log_sum_exp(np.array([0.0])) == 0.0
    assert math.isnan(log_sum_exp(np.array([0.0, math.nan])))
    assert math.isnan(log_sum_exp(np.array([math.nan, 0.0])))


@checked(200)
@given(t=st.floats(-1e3, 1e3), e=st.floats(-12, 12))
def test_omega_is_the_root(t, e):
    """l + exp(l) / sigma = t: the residual in units of what rounding l makes of it."""
    inverse = 10.0**e
    root = omega(t, inverse)
    assert root <= t + 1e-12
    rest = root + math.exp(root) * inverse - t
    assert abs(rest) <= 4e-16 * (1.0 + abs(root) + abs(t) + abs(e)) * (1.0 + math.exp(root) * inverse) + 1e-15


def test_softmax_values_at_extremes():
    f = sd.Softmax(3)
    z, b = np.array([1e6, -1e6, 0.0]), np.array([1.0])
    assert verbs.value_block(f, z, b) == 2e6
    np.testing.assert_array_equal(gradient(f, z, b), [1.0, -1.0, 0.0])
    assert verbs.conj_block(f, np.zeros(3), b) == 0.0
    assert verbs.conj_block(f, np.full(3, 1 / 3) - np.eye(3)[1], b) == pytest.approx(-math.log(3.0), rel=1e-15)


@own
def test_nan_in_gives_nan_out(f):
    rng = np.random.default_rng(0)
    b, z = labelled(f, rng), rng.standard_normal(shape(f).size)
    y = feasible_point(f, b, rng)
    for k in range(z.size):
        bad = z.copy()
        bad[k] = math.nan
        assert math.isnan(verbs.value_block(f, bad, b)), k
        assert np.isnan(gradient(f, bad, b)).any(), k
        assert math.isnan(verbs.fenchel_young_block(f, bad, y, b)), k
        assert np.isnan(step(f, y, bad, 0.7, b)).any(), k
        assert np.isnan(step(f, y, z, math.nan, b)).any(), k
        spoilt = y.copy()
        spoilt[k] = math.nan
        assert np.isnan(step(f, spoilt, z, 0.7, b)).any(), k
        assert not math.isfinite(verbs.conj_block(f, spoilt, b)), k
        assert not math.isfinite(verbs.fenchel_young_block(f, z, spoilt, b)), k


# ---- the default: a sum over the entries -------------------------------------------------------------------------


@pytest.mark.parametrize("f", DEFAULT, ids=str)
def test_the_default_block_is_the_sum_of_its_entries(f):
    rng = np.random.default_rng(0)
    b, z = labelled(f, rng), rng.standard_normal(3)
    y, sigma = feasible_point(f, b, rng), 0.7
    triples = list(zip(z.tolist(), y.tolist(), b.tolist(), strict=True))
    assert verbs.value_block(f, z, b) == pytest.approx(sum(value(f, p, q) for p, _, q in triples), rel=1e-15)
    assert verbs.conj_block(f, y, b) == pytest.approx(sum(conj(f, v, q) for _, v, q in triples), rel=1e-15)
    assert verbs.fenchel_young_block(f, z, y, b) == pytest.approx(
        sum(fenchel_young(f, p, v, q) for p, v, q in triples), rel=1e-15
    )
    np.testing.assert_array_equal(gradient(f, z, b), [grad(f, p, q) for p, _, q in triples])
    np.testing.assert_array_equal(step(f, y, z, sigma, b), [prox_conj(f, v, p, sigma, q) for p, v, q in triples])


@pytest.mark.parametrize("f", [f for f in OWN if hasattr(f, "prox_conj")], ids=str)
def test_a_block_of_one_is_the_scalar(f):
    rng = np.random.default_rng(0)
    for _ in range(20):
        b, z, y = rng.standard_normal((3, 1)) * 2.0
        verbs.project_block(f, y, b)
        scalars = float(z[0]), float(y[0]), float(b[0])
        assert verbs.value_block(f, z, b) == pytest.approx(value(f, scalars[0], scalars[2]), rel=1e-14)
        made = verbs.fenchel_young_block(f, z, y, b)  # y on the boundary: each rounds the nearest point in its own way
        assert made == pytest.approx(fenchel_young(f, *scalars), rel=1e-13, abs=1e-15)
        assert gradient(f, z, b)[0] == pytest.approx(grad(f, scalars[0], scalars[2]), rel=1e-15)
        made = step(f, y, z, 0.7, b)[0]
        assert made == pytest.approx(prox_conj(f, scalars[1], scalars[0], 0.7, scalars[2]), rel=1e-14)


# ---- compiled ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [sd.Softmax(4), sd.Huber(0.5), sd.Logistic()], ids=str)
def test_compiled_blocks_are_the_plain_ones(f):
    """Blocks of unequal length where the loss allows them, a weight of 0 among the weights."""
    f, rng = verbs.normal(f), np.random.default_rng(0)
    size, shared = shape(f)
    sizes = [size] * 6 if shared else [1, 3, 2, 3, 1, 2]
    start = np.concatenate([[0], np.cumsum(sizes)])
    m = int(start[-1])
    blocks = Blocks(start, max(sizes), shared)
    b = rng.integers(0, size, 6).astype(float) if shared else rng.choice([-1.0, 1.0], m)
    c = np.array([1.0, 2.0, 0.0, 0.5, 1.5, 1.0])
    z, sigma = rng.standard_normal(m), 10.0 ** rng.uniform(-2, 2, 6)
    y = 2.0 * rng.standard_normal(m)
    feasible(blocks, f, y, b, c)

    expected = {"losses": 0.0, "gaps": 0.0, "conj": 0.0}
    slopes, stepped = np.zeros(m), y.copy()
    for i in range(6):
        part = slice(start[i], start[i + 1])
        label = b[i : i + 1] if shared else b[part]
        if c[i] == 0.0:
            assert not y[part].any()
            continue
        v = y[part] / c[i]
        assert math.isfinite(verbs.conj_block(f, v, label))
        expected["losses"] += c[i] * verbs.value_block(f, z[part], label) / 6
        expected["gaps"] += c[i] * verbs.fenchel_young_block(f, z[part], v, label) / 6
        expected["conj"] += c[i] * verbs.conj_block(f, v, label) / 6
        slopes[part] = c[i] * gradient(f, z[part], label)
        stepped[part] = c[i] * step(f, v, z[part], sigma[i], label)

    losses, gaps, _ = loss_means(blocks, f, z, y, b, c, np.empty(64))
    assert (losses, gaps) == pytest.approx((expected["losses"], expected["gaps"]), rel=1e-13)
    assert conj_mean(blocks, f, y, b, c, np.empty(64)) == pytest.approx(expected["conj"], rel=1e-13)
    made = np.zeros(m)
    gradients(blocks, f, z, b, c, made)
    np.testing.assert_allclose(made, slopes, rtol=1e-14, atol=1e-16)
    made = np.zeros(m)
    steps_all(blocks, f, y, z, sigma, b, c, made, np.empty(64))
    np.testing.assert_allclose(made, stepped, rtol=1e-13, atol=1e-16)
