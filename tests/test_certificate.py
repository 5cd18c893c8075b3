"""The certificate is a bound, whatever it is made from; and 0 at the optimum."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.certificate import certify
from saddlery.terms import LOSSES, PENALTIES
from saddlery.terms import _verbs as verbs

N, D, CLASSES = 9, 4, 3

LOSS_EXAMPLES = {"Huber": [sd.Huber(0.5)], "SmoothHinge": [sd.SmoothHinge(0.5)], "Softmax": [sd.Softmax(CLASSES)]}
PENALTY_EXAMPLES = {
    "Box": [sd.Box(-0.2, 0.3, 0.1), sd.Box(-0.2, 0.3), sd.Box(-0.1, math.inf)],
    "GroupL2": [sd.GroupL2(0.1, np.array([0, 1, 0, 1]), 0.1), sd.GroupL2(0.1, np.array([0, 1, 0, 1]))],
    "L1": [sd.L1(0.05)],
    "L1L2": [sd.L1L2(0.05, 0.1)],
    "L2": [sd.L2(0.1)],
    "NonNegative": [sd.NonNegative(), sd.NonNegative(0.1)],
}


def instances(terms, examples, name):
    """Examples of a term; what it makes by itself if none are given; nothing if it cannot."""
    try:
        return examples.get(name) or [terms[name]()]
    except TypeError:
        return []


@pytest.mark.parametrize("name", [*LOSSES, *PENALTIES])
def test_every_term_has_an_example(name):
    terms, examples = (LOSSES, LOSS_EXAMPLES) if name in LOSSES else (PENALTIES, PENALTY_EXAMPLES)
    assert instances(terms, examples, name), f"{name} has parameters without a default: add an example of it"


ALL_LOSSES = [f for name in LOSSES for f in instances(LOSSES, LOSS_EXAMPLES, name)]
ALL_PENALTIES = [g for name in PENALTIES for g in instances(PENALTIES, PENALTY_EXAMPLES, name)]


def labels(f, n=N, seed=1):
    kind, rng = verbs.labels(f), np.random.default_rng(seed)
    if kind == "class":
        return np.arange(n) % verbs.outputs(f)
    return np.where(np.arange(n) % 3 == 0, 1.0, -1.0) if kind == "margin" else rng.standard_normal(n)


def problem_of(f, g, intercept=False, weighted=False, sparse=False):
    X = np.random.default_rng(0).standard_normal((N, D))
    if hasattr(g, "groups") and verbs.outputs(f) > 1:
        g = g._replace(groups=np.repeat(g.groups, verbs.outputs(f)))
    weights = np.linspace(0.0, 2.0, N) if weighted else None
    return sd.ERM(sp.csr_array(X) if sparse else X, labels(f), f, g, weights=weights, intercept=intercept)


def inside(problem, x):
    """The nearest point where the penalty is finite."""
    flat, x0 = problem.unpack(x)
    if verbs.separable(problem.g):
        flat = np.array([verbs.prox(problem.g, v, 0.0) for v in flat])
    return problem.pack(flat, x0)


def points(problem, rng, scale=1.0):
    y = scale * rng.standard_normal(problem.y_shape)
    y[problem.c == 0.0] = 0.0
    return inside(problem, scale * rng.standard_normal(problem.x_shape)), y


def near_optimum(problem):
    """A point as good as is cheap: all rows in every step, kernels that know one term at a time."""
    if problem.gamma == 0.0 or "ag" not in able(problem):
        return np.zeros(problem.x_shape), np.zeros(problem.y_shape)
    result = sd.solve(problem, "ag", tol=1e-10, max_epochs=300, every=25, history=False)
    return result.x, result.y


def able(problem):
    from saddlery.algorithms import able

    return able(problem)


# ---- weak duality ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", ALL_LOSSES, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("g", ALL_PENALTIES, ids=lambda g: str(tuple(g)) + type(g).__name__)
@pytest.mark.parametrize("intercept", [False, True], ids=["", "intercept"])
def test_the_lower_bound_is_below_every_objective(f, g, intercept):
    """Of random points, near an optimum, far from it, dual feasible or not; with weights, one of them 0."""
    for weighted in (False, True):
        problem = problem_of(f, g, intercept, weighted)
        rng = np.random.default_rng(2)
        best, dual = near_optimum(problem)
        values, bounds = [problem.primal(best)], []
        trials = [(1.0, 0.0), (0.1, 0.0), (30.0, 0.0), (0.0, 0.0), *((s, 1.0) for s in (1e-6, 1e-3, 0.03, 0.3))]
        for scale, centre in trials:
            x, y = points(problem, rng, scale)
            x, y = inside(problem, centre * best + x), centre * dual + y
            for start in (y, problem.gradients(problem.predictions(x)).reshape(problem.y_shape)):
                made = certify(problem, x, start)
                certificate = made.certificate
                assert certificate.gap >= 0.0 and certificate.relative_gap >= 0.0
                assert certificate.primal == pytest.approx(problem.primal(x), rel=1e-13)
                values.append(certificate.primal)
                if math.isfinite(certificate.gap):
                    bounds.append(certificate.dual)
                    assert certificate.dual == certificate.primal - certificate.gap
                else:
                    assert certificate.kind == "localised" and certificate.dual == -math.inf
                    assert 0.0 <= certificate.local_gap < math.inf
                if certificate.kind == "exact":
                    size = abs(certificate.dual) + abs(certificate.primal)
                    assert problem.dual(made.y) == pytest.approx(certificate.dual, rel=1e-9, abs=1e-11 * size)
        lowest = min(values)
        assert all(bound <= lowest + 1e-12 * abs(lowest) for bound in bounds)


def test_a_softmax_dual_point_that_is_not_feasible_bounds_nothing():
    """One row, two classes, every y of a grid: few of them sum to 0."""
    problem = sd.ERM(np.ones((1, 1)), np.array([0]), sd.Softmax(2), sd.L2(1.0))
    best = sd.solve(problem, "ag", tol=1e-13).certificate
    grid = np.linspace(-1.2, 1.2, 25)
    for x in (np.array([[0.6, -0.1]]), np.array([[0.0, 0.0]]), np.array([[0.2, 0.1]])):
        off = problem.primal(x) - best.primal
        for p in grid:
            for q in grid:
                assert problem.certificate(x, np.array([[p, q]])).gap >= off - 1e-12


def test_a_huber_dual_point_that_is_not_feasible_bounds_nothing():
    problem = sd.SeparableSaddle([np.eye(2)], sd.Huber(0.5), sd.L2(0.2), [np.array([3.0, 1.0])])
    best = sd.solve(problem, "ag", tol=1e-13).certificate
    grid = np.linspace(-1.5, 1.5, 25)
    for x in (np.zeros(2), np.array([2.0, 0.5]), np.array([3.0, 1.0])):
        off = problem.primal(x) - best.primal
        for p in grid:
            for q in grid:
                assert problem.certificate(x, np.array([p, q])).gap >= off - 1e-12


@pytest.mark.parametrize(
    ("f", "g"),
    [
        (sd.Squared(), sd.L2(0.1)),
        (sd.Logistic(), sd.L1L2(0.05, 0.1)),
        (sd.SmoothHinge(), sd.NonNegative()),
        (sd.Huber(0.5), sd.L1(0.05)),
        (sd.Softmax(CLASSES), sd.L2(0.1)),
    ],
    ids=str,
)
def test_no_perturbation_of_an_optimum_fools_it(f, g):
    """P(x) - gap <= P*, for x and y a little or a lot beside the optimum, in many directions."""
    problem = problem_of(f, g)
    result = sd.solve(problem, "ag", tol=1e-12, max_epochs=20000, every=50, history=False)
    assert result.certificate.relative_gap <= 1e-9
    least, rng = result.certificate.primal, np.random.default_rng(3)
    for scale in 10.0 ** np.arange(-8.0, 2.0):
        for _ in range(20):
            x, y = inside(problem, result.x + scale * rng.standard_normal(problem.x_shape)), result.y
            for dual in (
                y,
                y + scale * rng.standard_normal(y.shape),
                scale * rng.standard_normal(y.shape),
                (1 + scale) * y,
            ):
                made = problem.certificate(x, dual)
                assert made.gap >= made.primal - least - 1e-14 * (abs(made.primal) + abs(least))


# ---- the optimum -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("lam", [1e-6, 0.1, 1e3])
def test_at_a_saddle_point_the_gap_is_a_squared_rounding_error(scale, lam):
    """A sum of squares: not the difference of two objectives, which would be 1e-16 of them."""
    X = scale * np.random.default_rng(0).standard_normal((30, 5))
    saddle = sd.synthetic.exact_saddle(X, lam=lam, seed=1)
    problem = sd.ERM(X, saddle.b, sd.Squared(), sd.L2(lam))
    certificate = problem.certificate(saddle.x, saddle.y)
    assert certificate.kind == "exact"
    assert 0.0 <= certificate.gap <= 1e-28 * certificate.primal * max(1.0, 1e2 * scale**2 / lam)


def test_at_the_minimum_of_a_lasso_the_gap_closes():
    """X = I: x = soft(b, n l1), y = x - b, u = y / n of length l1 at most."""
    n, l1 = 6, 0.1
    b = np.array([3.0, -2.0, 0.5, 0.1, 0.0, -0.7])
    x = np.sign(b) * np.maximum(np.abs(b) - n * l1, 0.0)
    certificate = sd.ERM(np.eye(n), b, sd.Squared(), sd.L1(l1)).certificate(x, x - b)
    assert 0.0 <= certificate.gap <= 1e-12 * certificate.primal  # y must be moved inside |u| <= l1


def test_at_the_minimum_without_a_penalty_the_gap_closes():
    rng = np.random.default_rng(0)
    X, b = rng.standard_normal((20, 3)), rng.standard_normal(20)
    x = np.linalg.lstsq(X, b, rcond=None)[0]
    certificate = sd.ERM(X, b, sd.Squared(), sd.Zero()).certificate(x, X @ x - b)
    assert certificate.kind == "strong"
    assert 0.0 <= certificate.gap <= 1e-28 * certificate.primal


# ---- what it says ------------------------------------------------------------------------------------------------


def test_the_relative_gap_is_in_units_of_the_objective_at_0():
    problem = problem_of(sd.Squared(), sd.L2(0.1))
    x, y = points(problem, np.random.default_rng(0))
    certificate = problem.certificate(x, y)
    at_0 = problem.primal(np.zeros(D))
    assert at_0 == pytest.approx(np.mean(problem.b**2) / 2.0)
    assert certificate.relative_gap == pytest.approx(certificate.gap / at_0, rel=1e-15)


def test_where_the_objective_at_0_is_no_unit_the_larger_objective_is():
    """P(0) = 0: all targets 0. P(0) infinite: 0 is not in the domain of the penalty."""
    for b, g in ((np.zeros(N), sd.L2(0.1)), (np.ones(N), sd.Box(0.5, 1.0, 0.1))):
        problem = sd.ERM(np.random.default_rng(0).standard_normal((N, D)), b, sd.Squared(), g)
        assert problem.scale is None
        x, y = points(problem, np.random.default_rng(1))
        certificate = problem.certificate(x, y)
        unit = max(abs(certificate.primal), abs(certificate.dual))
        assert 0.0 < certificate.gap < math.inf
        assert certificate.relative_gap == pytest.approx(certificate.gap / unit, rel=1e-15)


def test_a_gap_of_0_is_a_relative_gap_of_0():
    problem = sd.ERM(np.eye(3), np.zeros(3), sd.Squared(), sd.L2(0.1))
    certificate = problem.certificate(np.zeros(3), np.zeros(3))
    assert (certificate.primal, certificate.gap, certificate.relative_gap) == (0.0, 0.0, 0.0)


def test_what_is_no_number_is_no_bound():
    problem = problem_of(sd.Squared(), sd.L2(0.1))
    x, y = points(problem, np.random.default_rng(0))
    x[0] = math.nan
    certificate = problem.certificate(x, y)
    assert certificate.kind == "none" and certificate.gap == certificate.relative_gap == math.inf
    y[0] = math.nan
    assert problem.certificate(inside(problem, np.zeros(D)), y).gap == math.inf


def test_outside_the_domain_of_the_penalty_is_no_bound():
    problem = problem_of(sd.Squared(), sd.Box(-0.2, 0.3, 0.1))
    certificate = problem.certificate(np.full(D, 5.0), np.zeros(N))
    assert certificate.primal == certificate.gap == math.inf and certificate.dual == -math.inf


def test_shapes_are_checked():
    problem = problem_of(sd.Squared(), sd.L2(0.1), intercept=True)
    with pytest.raises(ValueError, match=r"x must have shape \(5,\), found \(4,\)"):
        problem.certificate(np.zeros(4), np.zeros(N))
    with pytest.raises(ValueError, match=r"y must have shape \(9,\), found \(9, 1\)"):
        problem.certificate(np.zeros(5), np.zeros((N, 1)))


# ---- repairs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [f for f in ALL_LOSSES if type(f).__name__ != "Softmax"], ids=lambda f: type(f).__name__)
def test_with_an_intercept_the_dual_point_sums_to_0(f):
    for weighted in (False, True):
        problem = problem_of(f, sd.L2(0.1), intercept=True, weighted=weighted)
        rng = np.random.default_rng(4)
        for scale in (0.1, 1.0, 10.0):
            x, y = points(problem, rng, scale)
            made = certify(problem, x, y)
            assert abs(made.y.sum()) <= 1e-15 * N * np.abs(made.y).max() and math.isfinite(made.certificate.gap)
            assert math.isfinite(problem.dual(made.y))
        only = np.abs(y)  # one sign only: nothing to balance it with
        assert not certify(problem, x, only).y.any()


@pytest.mark.parametrize("weighted", [False, True])
def test_with_intercepts_the_dual_points_of_all_classes_sum_to_0(weighted):
    problem = problem_of(sd.Softmax(CLASSES), sd.L2(0.1), intercept=True, weighted=weighted)
    rng = np.random.default_rng(4)
    for scale in (0.1, 1.0, 10.0):
        x, y = points(problem, rng, scale)
        for start in (y, problem.gradients(problem.predictions(x)).reshape(y.shape)):
            made = certify(problem, x, start)
            np.testing.assert_allclose(made.y.sum(axis=0), 0.0, atol=1e-15 * N)
            np.testing.assert_allclose(made.y.sum(axis=1), 0.0, atol=1e-15 * N)
            assert math.isfinite(problem.dual(made.y))


def test_a_balanced_dual_point_is_left_alone():
    problem = problem_of(sd.Squared(), sd.L2(0.1), intercept=True)
    y = np.array([1.0, -1.0, 0.5, -0.25, -0.25, 0.0, 0.0, 2.0, -2.0])
    made = certify(problem, np.zeros(D + 1), y)
    np.testing.assert_array_equal(made.y, y)
    problem = problem_of(sd.Logistic(), sd.L2(0.1))
    y = -0.3 * problem.b
    np.testing.assert_array_equal(certify(problem, np.zeros(D), y).y, y)


@pytest.mark.parametrize("f", [sd.Squared(), sd.Logistic(), sd.Softmax(CLASSES)], ids=str)
def test_a_row_of_weight_0_has_a_dual_point_of_0(f):
    """Its conjugate is infinite elsewhere: a y_i that a caller leaves there must not move the bound."""
    problem = problem_of(f, sd.L2(0.1), weighted=True)
    assert problem.c[0] == 0.0
    x, y = points(problem, np.random.default_rng(6))
    clean = certify(problem, x, y)
    for size in (1e-3, 1.0, 50.0):
        y[0] = size
        made = certify(problem, x, y)
        assert not made.y[0].any(), "c = 0 forces y = 0"
        assert made.certificate.gap == pytest.approx(clean.certificate.gap, rel=1e-12)


@pytest.mark.parametrize(
    "g", [sd.L1(0.05), sd.Box(-0.2, 0.3), sd.NonNegative(), sd.Box(-0.1, math.inf), sd.Box(-math.inf, 0.1)], ids=str
)
@pytest.mark.parametrize("intercept", [False, True])
def test_without_strong_convexity_near_an_optimum_the_gap_is_finite(g, intercept):
    """The dual point is moved to where g* is finite, and by no more than it was off."""
    problem = problem_of(sd.Squared(), g, intercept)
    result = sd.solve(problem, "ag", tol=1e-9, max_epochs=20000, every=20)
    assert result.status.ok and result.certificate.kind == "exact"
    rng = np.random.default_rng(5)
    for scale in (1e-8, 1e-5, 1e-3):
        y = result.y + scale * rng.standard_normal(N)
        made = certify(problem, result.x, y)
        assert made.certificate.gap <= 1e-8 + 1e3 * scale
        assert math.isfinite(problem.dual(made.y))


def test_no_penalty_and_a_strongly_convex_loss_give_a_strong_bound():
    rng = np.random.default_rng(0)
    X, b, weights = rng.standard_normal((40, 5)), rng.standard_normal(40), rng.random(40)
    for intercept in (False, True):
        A = np.column_stack([X, np.ones(40)]) if intercept else X
        root = np.sqrt(weights / weights.mean())
        best = np.linalg.lstsq(root[:, None] * A, root * b, rcond=None)[0]
        for given in (X, sp.csr_array(X)):
            problem = sd.ERM(given, b, sd.Squared(), sd.Zero(), weights=weights, intercept=intercept)
            for scale in (1e-6, 0.1, 10.0):
                x = best + scale * rng.standard_normal(A.shape[1])
                certificate = problem.certificate(x, rng.standard_normal(40))
                off = problem.primal(x) - problem.primal(best)
                assert certificate.kind == "strong"
                assert off * (1 - 1e-9) <= certificate.gap <= 30.0 * off + 1e-14
        # the direction of least curvature meets the bound with equality
        gram = (A.T * (root**2)) @ A / 40
        x = best + np.linalg.eigh(gram)[1][:, 0]
        off = problem.primal(x) - problem.primal(best)
        assert problem.certificate(x, rng.standard_normal(40)).gap == pytest.approx(off, rel=1e-6)


def test_linearly_dependent_columns_give_no_strong_bound():
    X = np.ones((6, 2))
    certificate = sd.ERM(X, np.arange(6.0), sd.Squared(), sd.Zero()).certificate(np.ones(2), np.ones(6))
    assert certificate.kind == "localised" and certificate.gap == math.inf and certificate.local_gap > 0.0


def test_where_nothing_is_known_it_says_so():
    problem = problem_of(sd.Logistic(), sd.Zero())
    certificate = problem.certificate(np.zeros(D), -0.5 * problem.b)
    assert certificate.kind == "localised" and certificate.gap == certificate.relative_gap == math.inf
    assert certificate.dual == -math.inf and certificate.primal == pytest.approx(math.log(2.0), rel=1e-15)
    assert str(certificate).startswith("no bound")
    with pytest.raises(ValueError, match="no bound is known"):
        sd.solve(problem, "cd")


def test_a_bound_says_what_it_bounds():
    problem = problem_of(sd.Squared(), sd.L2(0.1))
    text = str(problem.certificate(np.zeros(D), np.zeros(N)))
    assert "at most" in text and "exact" in text


# ---- another solver ----------------------------------------------------------------------------------------------

KINDS = [
    (sd.Squared(), sd.L2(0.1), False, "ag"),
    (sd.Squared(), sd.L1L2(0.05, 0.1), True, "ag"),
    (sd.Logistic(), sd.L2(0.1), True, "ag"),
    (sd.Logistic(), sd.L1(0.02), False, "ag"),
    (sd.SmoothHinge(0.5), sd.L2(0.1), False, "ag"),
    (sd.SquaredHinge(), sd.NonNegative(), True, "ag"),
    (sd.Huber(0.5), sd.Box(-0.2, 0.3), False, "ag"),
    (sd.Squared(), sd.NonNegative(0.1), False, "ag"),
    (sd.Squared(), sd.Zero(), True, "ag"),
    (sd.Squared(), sd.GroupL2(0.1, np.array([0, 1, 0, 1])), True, "ag"),
    (sd.Logistic(), sd.GroupL2(0.05, np.array([0, 1, 0, 1]), 0.1), False, "ag"),
    (sd.Softmax(CLASSES), sd.L2(0.1), True, "ag"),
    (sd.Hinge(), sd.L2(0.1), False, "sdca"),
    (sd.Absolute(), sd.L2(0.1), False, "sdca"),
    (sd.EpsilonInsensitive(0.3), sd.L2(0.1), False, "sdca"),
    (sd.SquaredEpsilonInsensitive(0.3), sd.L1L2(0.02, 0.05), True, "spdc"),
]


@pytest.fixture(scope="module")
def cvxpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("cvxpy", reason="cvxpy is not installed: no other solver to compare with")


def modelled_loss(cp, f, z, b, K):
    """f(z, b), one number for each row, as cvxpy knows it."""
    name, m = type(f).__name__, None if K > 1 else cp.multiply(b, z)
    if name == "SmoothHinge":
        part = cp.Variable(z.shape)  # the Moreau envelope of the hinge
        return cp.pos(1 - part) + cp.square(m - part) / (2 * f.gamma) if f.gamma else cp.pos(1 - m)
    return {
        "Squared": lambda: cp.square(z - b) / 2,
        "Logistic": lambda: cp.logistic(-m),
        "SquaredHinge": lambda: cp.square(cp.pos(1 - m)) / 2,
        "Huber": lambda: cp.huber(z - b, f.width) / 2,
        "Hinge": lambda: cp.pos(1 - m),
        "Absolute": lambda: cp.abs(z - b),
        "EpsilonInsensitive": lambda: cp.pos(cp.abs(z - b) - f.epsilon),
        "SquaredEpsilonInsensitive": lambda: cp.square(cp.pos(cp.abs(z - b) - f.epsilon)) / 2,
        "Softmax": lambda: cp.log_sum_exp(z, axis=1) - cp.sum(cp.multiply(np.eye(K)[b.astype(int)], z), axis=1),
    }[name]()


def modelled_penalty(cp, g, x):
    """g(x), and the constraints that belong to it."""
    name, half = type(g).__name__, cp.sum_squares(x) / 2
    if name == "GroupL2":
        norms = sum(cp.norm(x[np.flatnonzero(g.groups == k)], 2) for k in np.unique(g.groups))
        return g.alpha * norms + g.lam * half, []
    return {
        "L2": lambda: (g.lam * half, []),
        "L1": lambda: (g.l1 * cp.norm1(x), []),
        "L1L2": lambda: (g.l1 * cp.norm1(x) + g.l2 * half, []),
        "Zero": lambda: (0.0, []),
        "Box": lambda: (g.lam * half, [x >= g.lo, x <= g.hi]),
        "NonNegative": lambda: (g.lam * half, [x >= 0]),
    }[name]()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "g", "intercept", "method"), KINDS, ids=lambda p: str(p)[:24])
def test_another_solver_finds_the_same_minimum(cvxpy, f, g, intercept, method):
    """Interior points of another library: right to about 1e-8."""
    problem = problem_of(f, g, intercept, weighted=True)
    K = problem.q
    x = cvxpy.Variable((D, K) if K > 1 else D)
    x0 = cvxpy.Variable((1, K) if K > 1 else 1) if intercept else 0.0
    z = problem.coupling.rows.matrix() @ x + (np.ones((N, 1)) @ x0 if intercept and K > 1 else x0)
    penalty, constraints = modelled_penalty(cvxpy, g, x)
    losses = problem.c @ modelled_loss(cvxpy, f, z, problem.b, K) / N
    least = cvxpy.Problem(cvxpy.Minimize(losses + penalty), constraints).solve(solver="CLARABEL")

    result = sd.solve(problem, method, tol=1e-7, max_epochs=60000, every=100 if method == "ag" else "auto")
    certificate = result.certificate
    assert result.status.ok
    assert certificate.primal == pytest.approx(least, rel=1e-6)
    assert certificate.dual <= least * (1 + 1e-7) and least <= certificate.primal * (1 + 1e-7)


@pytest.mark.filterwarnings("ignore")
def test_another_solver_finds_the_same_minimum_of_blocks(cvxpy):
    rng = np.random.default_rng(6)
    blocks, b = [rng.standard_normal((D, q)) for q in (1, 3, 2)], [rng.standard_normal(q) for q in (1, 3, 2)]
    problem = sd.SeparableSaddle(blocks, sd.Huber(0.5), sd.L2(0.1), b)
    x = cvxpy.Variable(D)
    radii = [cvxpy.norm(A.T @ x - t, 2) for A, t in zip(blocks, b, strict=True)]
    model = sum(cvxpy.huber(r, 0.5) / 2 for r in radii) / 3 + 0.05 * cvxpy.sum_squares(x)
    least = cvxpy.Problem(cvxpy.Minimize(model)).solve(solver="CLARABEL")
    result = sd.solve(problem, "ag", tol=1e-8, max_epochs=20000, every=50)
    assert result.status.ok and result.certificate.primal == pytest.approx(least, rel=1e-6)
