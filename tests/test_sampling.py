"""Samplers draw what they say, with the chances that they say.

Frequencies are compared by chi-square with fixed seeds: a wrong law fails by orders of magnitude, a right one never,
because the draws are always the same.
"""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import saddlery as sd
import saddlery.sampling.permutation
from saddlery.sampling import Adaptive, Permutation, Replay, Uniform, Weighted

LIKELY = 1e-3  # a p-value below it is taken for a wrong law


def agree(counts, chances):
    """Do frequencies belong to chances? Cells of chance 0 must be empty."""
    counts, chances = np.asarray(counts, float), np.asarray(chances, float)
    assert not counts[chances == 0.0].any(), "drawn, but its chance is 0"
    seen = chances > 0.0
    expected = chances[seen] / chances[seen].sum() * counts.sum()
    assert expected.min() > 5.0, "too few draws for a test"
    return stats.chisquare(counts[seen], expected).pvalue > LIKELY


# ---- what every sampler does -------------------------------------------------------------------------------------

ALL = [
    ("Uniform", lambda n: Uniform(), 1),
    ("Uniform, batches", lambda n: Uniform(), 3),
    ("Permutation", lambda n: Permutation(), 1),
    ("Permutation, batches", lambda n: Permutation(), 3),
    ("Weighted", lambda n: Weighted(np.arange(1.0, n + 1)), 1),
    ("Adaptive", lambda n: Adaptive(np.arange(1.0, n + 1)), 1),
]


@pytest.mark.parametrize(("make", "batch"), [case[1:] for case in ALL], ids=[case[0] for case in ALL])
def test_draws_have_their_shape_and_come_from_the_rows(make, batch):
    for n in (3, 4, 10, 200):
        for steps in (1, 2, 7, 300):
            drawn = make(n).draw(np.random.default_rng(0), n, steps, batch)
            assert drawn.shape == (steps, batch) and drawn.dtype == np.int64
            assert drawn.min() >= 0 and drawn.max() < n
            ordered = np.sort(drawn, axis=1)
            assert (ordered[:, 1:] > ordered[:, :-1]).all(), "a row twice in a batch"


@pytest.mark.parametrize(("make", "batch"), [case[1:] for case in ALL], ids=[case[0] for case in ALL])
def test_the_same_seed_draws_the_same(make, batch):
    first, second = (make(20).draw(np.random.default_rng(7), 20, 50, batch) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = make(20).draw(np.random.default_rng(8), 20, 50, batch)
    assert (other != first).any()


@pytest.mark.parametrize(("make", "batch"), [c[1:] for c in ALL if c[0] != "Adaptive"], ids=lambda c: str(c)[:0])
def test_frequencies_are_the_probabilities(make, batch):
    n = 12
    sampler = make(n)
    drawn = sampler.draw(np.random.default_rng(1), n, 20000, batch)
    chances = sampler.probabilities(n)
    assert chances.sum() == pytest.approx(1.0, rel=1e-15)
    counts = np.bincount(drawn.reshape(-1), minlength=n)
    if isinstance(sampler, Permutation):  # every pass has every row once: no independent draws
        assert np.ptp(counts) <= 2
    else:
        assert agree(counts, chances)


@pytest.mark.parametrize("make", [Uniform, Permutation])
def test_a_single_row(make):
    assert not make().draw(np.random.default_rng(0), 1, 5).any()


# ---- uniform, permutation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "batch"), [(5, 2), (5, 3), (5, 5), (40, 2)], ids=str)
def test_batches_are_uniform_sets(n, batch):
    """Of 5 rows by choosing, of 40 by drawing again: every set of m rows has the same chance."""
    drawn = np.sort(Uniform().draw(np.random.default_rng(2), n, 12000, batch), axis=1)
    sets = {chosen: k for k, chosen in enumerate(itertools.combinations(range(n), batch))}
    counts = np.bincount([sets[tuple(row)] for row in drawn.tolist()], minlength=len(sets))
    assert counts.sum() == 12000
    assert agree(counts, np.ones(len(sets))) if len(sets) > 1 else counts[0] == 12000


def test_draws_are_independent_of_the_past():
    drawn = Uniform().draw(np.random.default_rng(3), 4, 20001)[:, 0]
    assert agree(np.bincount(4 * drawn[:-1] + drawn[1:], minlength=16), np.ones(16))


@pytest.mark.parametrize(("n", "batch"), [(7, 1), (6, 2), (6, 3), (5, 5)])
def test_a_pass_covers_every_row_once(n, batch):
    drawn = Permutation().draw(np.random.default_rng(0), n, 4 * n // batch, batch)
    for each in drawn.reshape(4, n):
        assert sorted(each.tolist()) == list(range(n))


def test_a_pass_that_batches_do_not_divide_has_no_row_twice():
    drawn = Permutation().draw(np.random.default_rng(0), 7, 6, 3)
    for each in drawn.reshape(3, 6):
        assert len(set(each.tolist())) == 6
    assert len(set(drawn.reshape(-1).tolist())) == 7, "the row that is left over is not always the same"


@pytest.mark.parametrize("few", [5000, 0], ids=["shuffled by NumPy", "shuffled by a compiled loop"])
def test_orders_are_uniform(few, monkeypatch):
    monkeypatch.setattr(saddlery.sampling.permutation, "FEW", few)
    drawn = Permutation().draw(np.random.default_rng(4), 4, 4 * 6000).reshape(6000, 4)
    orders = {order: k for k, order in enumerate(itertools.permutations(range(4)))}
    assert agree(np.bincount([orders[tuple(row)] for row in drawn.tolist()], minlength=24), np.ones(24))


def test_many_rows_are_shuffled_far_and_wide():
    n = 20_000
    order = Permutation().draw(np.random.default_rng(5), n, n)[:, 0]
    assert np.array_equal(np.sort(order), np.arange(n))
    cells = np.histogram2d(np.arange(n), order, bins=20)[0].reshape(-1)
    assert agree(cells, np.ones(400))


@pytest.mark.parametrize("make", [Uniform, Permutation])
def test_a_batch_of_more_rows_than_there_are_is_refused(make):
    with pytest.raises(ValueError, match="batch_size is 5, but only 4 rows"):
        make().draw(np.random.default_rng(0), 4, 3, 5)


# ---- weighted ----------------------------------------------------------------------------------------------------

weights = st.lists(st.one_of(st.just(0.0), st.floats(-9, 9).map(lambda e: 10.0**e)), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(weights=weights.filter(any))
def test_the_alias_table_holds_the_probabilities(weights):
    """Column i is kept with chance keep_i, else gives alias_i; each with chance 1/n. Exact, and 0 where it must be."""
    sampler, n = Weighted(weights), len(weights)
    keep, alias = sampler._table
    assert keep.min() >= 0.0 and keep.max() <= 1.0
    made = keep / n
    np.add.at(made, alias, (1.0 - keep) / n)
    expected = sampler.probabilities(n)
    np.testing.assert_allclose(made, expected, rtol=0.0, atol=1e-15)
    assert not made[expected == 0.0].any()
    np.testing.assert_allclose(expected, np.array(weights) / math.fsum(weights), rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_only_ratios_of_weights_matter(scale):
    chances = np.array([1.0, 2.0, 0.0, 5.0])
    sampler = Weighted(scale * chances)
    np.testing.assert_allclose(sampler.probabilities(4), chances / 8.0, rtol=1e-15)
    drawn = sampler.draw(np.random.default_rng(0), 4, 4000)
    np.testing.assert_array_equal(drawn, Weighted(chances).draw(np.random.default_rng(0), 4, 4000))


def test_a_row_without_chance_is_never_drawn():
    chances = np.array([0.0, 1.0, 1e-3, 0.0, 5.0, 0.0])
    drawn = Weighted(chances).draw(np.random.default_rng(5), 6, 50000)
    assert set(drawn[:, 0].tolist()) == {1, 2, 4}


@pytest.mark.parametrize("wrong", [[], [0.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf], [[1.0, 2.0]], 3.0])
def test_wrong_weights_are_refused(wrong):
    with pytest.raises(ValueError, match="weights"):
        Weighted(wrong)


@pytest.mark.parametrize("make", [Weighted, Adaptive])
def test_weights_for_another_number_of_rows_are_refused(make):
    with pytest.raises(ValueError, match="chances for 3 rows, but there are 4"):
        make([1.0, 2.0, 3.0]).draw(np.random.default_rng(0), 4, 2)


@pytest.mark.parametrize("make", [Weighted, Adaptive])
def test_batches_without_simple_chances_are_refused(make):
    with pytest.raises(ValueError, match="batch_size must be 1, found 2"):
        make([1.0, 2.0]).draw(np.random.default_rng(0), 2, 3, 2)


def test_what_a_caller_changes_later_is_not_seen():
    """A sampler is a record: probabilities and table belong together."""
    given = np.array([1.0, 1.0, 1.0])
    sampler = Weighted(given)
    sampler.draw(np.random.default_rng(0), 3, 1)
    given[0] = 100.0
    drawn = sampler.draw(np.random.default_rng(0), 3, 9000)
    assert agree(np.bincount(drawn[:, 0], minlength=3), sampler.probabilities(3))


# ---- adaptive ----------------------------------------------------------------------------------------------------


def law(weights, shrink, steps):
    """Chances of every sequence of draws, one after the other: p_i proportional to w_i, divided by shrink at a draw."""
    table = {(): 1.0}
    for _ in range(steps):
        longer = {}
        for past, chance in table.items():
            rate = np.array([w / shrink ** past.count(i) for i, w in enumerate(weights)])
            for i in range(len(weights)):
                longer[(*past, i)] = chance * rate[i] / rate.sum()
        table = longer
    return table


@pytest.mark.parametrize("shrink", [1.0, 2.0, 10.0])
@pytest.mark.parametrize("steps", [2, 3])
def test_adaptive_has_the_law_of_one_draw_after_the_other(shrink, steps):
    """Exact chances of all sequences, on four rows with one that has none."""
    weights = np.array([1.0, 0.5, 0.0, 2.0])
    expected = law(weights, shrink, steps)
    rng, sampler = np.random.default_rng(6), Adaptive(weights, shrink)
    counts = dict.fromkeys(expected, 0)
    for _ in range(6000):
        counts[tuple(sampler.draw(rng, 4, steps)[:, 0].tolist())] += 1
    often = [past for past, chance in expected.items() if chance * 6000 > 8 or chance == 0.0]
    rare = [past for past in expected if past not in often]
    cells = [counts[past] for past in often] + ([sum(counts[past] for past in rare)] if rare else [])
    chances = [expected[past] for past in often] + ([sum(expected[past] for past in rare)] if rare else [])
    if rare and chances[-1] * 6000 <= 8:
        cells, chances = cells[:-1], chances[:-1]
    assert agree(cells, chances)


@pytest.mark.parametrize(
    ("shrink", "steps", "runs"),
    [(4.0, 6, 4000), (4.0, 40, 1000), (1.1, 40, 1000)],
    ids=["ring by ring", "many rings at once", "many rings, slowly"],
)
def test_adaptive_agrees_with_a_sequential_sampler(shrink, steps, runs):
    """Frequencies of ordered pairs of neighbours in longer runs, against draws by inversion of cumulative chances."""
    weights = np.array([3.0, 1.0, 0.2, 1.0])
    rng = np.random.default_rng(7)
    tables = np.zeros((2, 4, 4))
    for _ in range(runs):
        fast = Adaptive(weights, shrink).draw(rng, 4, steps)[:, 0]
        rate, slow = weights.copy(), []
        for _ in range(steps):
            heights = np.cumsum(rate)
            slow.append(int(np.searchsorted(heights, rng.random() * heights[-1], side="right")))
            rate[slow[-1]] /= shrink
        for table, drawn in zip(tables, (fast, slow), strict=True):
            np.add.at(table, (drawn[:-1], drawn[1:]), 1.0)
    assert tables[0].sum() == tables[1].sum() == runs * (steps - 1)
    assert stats.chi2_contingency(tables.reshape(2, 16)).pvalue > LIKELY


@pytest.mark.parametrize("steps", [60, 8000])
def test_adaptive_keeps_the_order_of_the_heavy_beside_the_light(steps):
    """Which of two equal rows comes first is a coin, also where others have a chance of 1e-14 of theirs."""
    weights, rng = np.full(1000, 1e-14), np.random.default_rng(11)
    weights[:2] = 1.0
    first = [int(Adaptive(weights).draw(rng, 1000, steps)[0, 0]) for _ in range(200)]
    assert agree(np.bincount(first, minlength=2), np.ones(2))


def test_adaptive_never_draws_a_row_without_chance():
    drawn = Adaptive([0.0, 1.0, 0.0, 1e-6], 10.0).draw(np.random.default_rng(8), 4, 400)
    assert set(drawn[:, 0].tolist()) == {1, 3}


def test_adaptive_without_any_chance_is_uniform():
    """All residues 0: the point is optimal, whatever is drawn."""
    drawn = np.concatenate([Adaptive(np.zeros(4)).draw(np.random.default_rng(s), 4, 1)[0] for s in range(2000)])
    assert agree(np.bincount(drawn, minlength=4), np.ones(4))


DRAWING = """
import sys
import numpy as np
from saddlery.sampling import Adaptive

weights, n = [float(w) for w in sys.argv[1].split()], int(sys.argv[2])
weights += [0.0] * (n - len(weights))
try:
    drawn = Adaptive(weights, 10.0).draw(np.random.default_rng(9), n, n)
    assert drawn.shape == (n, 1)
    print(*sorted(set(drawn[:, 0].tolist())))
except ValueError as error:
    print(error)
"""


def elsewhere(weights, n):
    """What `Adaptive` draws, or says, in a process of its own: what never ends also never stops to take memory."""
    made = subprocess.run([sys.executable, "-c", DRAWING, weights, str(n)], capture_output=True, text=True, timeout=15)
    assert made.returncode == 0, made.stderr[-500:]
    return made.stdout


@pytest.mark.parametrize("wrong", ["1 -1", "1 nan", "1 inf"])
def test_wrong_weights_of_adaptive_are_refused(wrong):
    assert "weights" in elsewhere(wrong, 2)


@pytest.mark.parametrize(
    ("weights", "n", "expected"),
    [
        ("1", 400, {0}),  # divided by 10 four hundred times: 1e-400 is 0
        ("1 1e-12", 1000, {0, 1}),
        ("1e-300 1e-300", 40, {0, 1}),
        ("1e-320", 1, {0}),
        ("1e300 1e-300", 3, {0}),
    ],
)
def test_adaptive_ends_where_chances_underflow(weights, n, expected):
    """Few rows with a residue among many without: the shape of the last epochs of a solve."""
    assert set(map(int, elsewhere(weights, n).split())) == expected


def test_a_strong_shrink_visits_every_row():
    drawn = Adaptive(np.linspace(1.0, 3.0, 30), 1e6).draw(np.random.default_rng(10), 30, 30)
    assert len(set(drawn[:, 0].tolist())) == 30


@pytest.mark.parametrize("wrong", [0.5, 0.0, -1.0, math.nan])
def test_a_wrong_shrink_is_refused(wrong):
    with pytest.raises(ValueError, match="shrink"):
        Adaptive([1.0], wrong)
    with pytest.raises(ValueError, match="shrink"):
        sd.method("adasdca+", shrink=wrong)


# ---- replay ------------------------------------------------------------------------------------------------------


def test_a_replay_is_a_table_padded_with_minus_one():
    table = Replay([2, (0, 1), (3, 3, 3), [1, 0, 1, 2]]).table(4)
    np.testing.assert_array_equal(table, [[2, -1, -1], [0, 1, -1], [3, -1, -1], [1, 0, 2]])
    assert table.dtype == np.int64


@pytest.mark.parametrize(
    "given",
    [range(4), np.arange(4), [0, 1, 2, 3], np.arange(4, dtype=np.uint8), (np.int32(k) for k in range(4))],
    ids=type,
)
def test_rows_may_be_given_in_any_form(given):
    given = list(given) if not hasattr(given, "__len__") else given
    np.testing.assert_array_equal(Replay(given).table(4)[:, 0], [0, 1, 2, 3])


def test_an_array_of_batches():
    np.testing.assert_array_equal(Replay(np.array([[0, 1], [2, 2]])).table(3), [[0, 1], [2, -1]])


@pytest.mark.parametrize("wrong", [[4], [-1], [(0, 9)], [0, 1.5], [math.nan], ["a"]])
def test_rows_that_are_not_there_are_refused(wrong):
    with pytest.raises(ValueError, match=r"Replay"):
        Replay(wrong).table(4)


def test_a_replay_of_nothing_plays_nothing():
    assert Replay([]).table(4).shape[0] == 0
    problem = sd.ERM(np.eye(3), np.ones(3), sd.Squared(), sd.L2(0.1))
    for name in ("spdc", "sdca", "cd"):
        result = sd.solve(problem, sd.method(name, sampler=Replay([])))
        assert result.status is sd.Status.REPLAYED and not result.x.any()


@pytest.mark.parametrize("name", ["sdca", "spdc", "cd"])
def test_a_replay_with_rows_that_are_not_there_is_refused_by_solve(name):
    problem = sd.ERM(np.eye(3), np.ones(3), sd.Squared(), sd.L2(0.1))
    with pytest.raises(ValueError, match=r"Replay holds rows outside 0 .. 2"):
        sd.solve(problem, sd.method(name, sampler=Replay([0, 3])))


@pytest.mark.parametrize("name", ["spdc-nonuniform", "adaspdc-balanced", "sag", "sdca"])
def test_a_method_of_one_row_at_a_time_refuses_batches_in_a_replay(name):
    """Their weights are for single rows. SDCA is told rows one after the other: it may flatten them."""
    problem = sd.ERM(np.eye(3), np.ones(3), sd.Squared(), sd.L2(0.1))
    method = sd.method(name, sampler=Replay([(0, 1), (2,)]))
    if name == "sdca":
        flat = sd.solve(problem, sd.method(name, sampler=Replay([0, 1, 2])))
        np.testing.assert_array_equal(sd.solve(problem, method).x, flat.x)
        return
    with pytest.raises(ValueError, match="one row"):
        sd.solve(problem, method)
