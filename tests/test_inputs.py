"""What bad input gets: an error before any work that names the argument, what was found and what is allowed.

And what is no bad input: zero rows, constant columns, equal rows, one row, one column.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.algorithms import METHODS

N, D = 10, 3
X = np.random.default_rng(0).standard_normal((N, D))
B = np.where(np.arange(N) % 2 == 1, 1.0, -1.0)
F, G = sd.Logistic(), sd.L2(0.1)


def put(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def broken(form):
    """A sparse matrix with a row number below 0."""
    matrix = sp.coo_array(X).asformat(form)
    rows = matrix.indices if form == "csc" else matrix.coords[0]
    rows[1] = -2
    return matrix


PROBLEMS = {
    "NaN in X": (lambda: sd.ERM(put(X, (3, 1), math.nan), B, F, G), "X holds nan at row 3, column 1; only finite"),
    "infinity in sparse X": (
        lambda: sd.ERM(sp.csr_array(put(X, (3, 1), math.inf)), B, F, G),
        "X holds inf at row 3, column 1",
    ),
    "NaN in b": (lambda: sd.ERM(X, put(B, 2, math.nan), sd.Squared(), G), "b holds nan at position 2; only finite"),
    "NaN in weights": (lambda: sd.ERM(X, B, F, G, weights=put(np.ones(N), 4, math.nan)), "weights holds nan at posi"),
    "a negative weight": (lambda: sd.ERM(X, B, F, G, weights=put(np.ones(N), 4, -1)), r"weights holds -1.0 at .* 0 or"),
    "no weight": (lambda: sd.ERM(X, B, F, G, weights=np.zeros(N)), "weights are all 0; at least one"),
    "weights of another length": (lambda: sd.ERM(X, B, F, G, weights=np.ones(9)), r"length 10, .* found shape \(9,\)"),
    "labels of another length": (lambda: sd.ERM(X, B[:9], F, G), r"b must be a vector of length 10, .* shape \(9,\)"),
    "labels in a column": (lambda: sd.ERM(X, B[:, None], F, G), r"b must be a vector of length 10, .* \(10, 1\)"),
    "labels that are no numbers": (
        lambda: sd.ERM(X, np.array(["a"] * N), F, G),
        "b must hold real numbers, found dtype",
    ),
    "labels 0 and 1": (lambda: sd.ERM(X, B > 0, F, G), r"labels of Logistic must be -1 and 1, found .*np.where"),
    "classes beyond the last": (
        lambda: sd.ERM(X, np.arange(N), sd.Softmax(3), G),
        r"Softmax\(3\) must be whole numbers from 0 to 2, found",
    ),
    "one class with an intercept": (
        lambda: sd.ERM(X, np.ones(N), F, G, intercept=True),
        "labels are all 1: .* two classes are needed, or intercept=False",
    ),
    "one class of positive weight": (
        lambda: sd.ERM(X, B, F, G, intercept=True, weights=B > 0),
        "labels.* are all 1: .* two classes are needed",
    ),
    "X of one dimension": (lambda: sd.ERM(X[:, 0], B, F, G), r"two dimensions, found shape \(10,\).*reshape"),
    "no row": (lambda: sd.ERM(X[:0], B[:0], F, G), r"X is empty: shape \(0, 3\)"),
    "no column": (lambda: sd.ERM(sp.csr_array((N, 0)), B, F, G), r"X is empty: shape \(10, 0\)"),
    "complex X": (lambda: sd.ERM(X + 0j, B, F, G), "X must hold real numbers, found dtype complex128"),
    "numbers too large": (lambda: sd.solve(sd.ERM(1e200 * X, B, F, G)), "X: the squared norm of row 0"),
    "labels too large": (lambda: sd.ERM(X, 1e200 * B, sd.Squared(), G), "b holds numbers up to 1.0e"),
    "lam < 0": (lambda: sd.ERM(X, B, F, sd.L2(-1.0)), r"L2\(lam=...\) must be a finite number, 0 or more, found -1"),
    "an empty box": (lambda: sd.ERM(X, B, F, sd.Box(1.0, 0.0)), "Box needs lo <= hi, found lo = 1.0, hi = 0.0"),
    "width 0": (lambda: sd.ERM(X, B, sd.Huber(0.0), G), r"Huber\(width=...\) must be a finite number above 0"),
    "groups of others": (lambda: sd.ERM(X, B, F, sd.GroupL2(0.1, [0, 1])), "groups for 2 coordinates, but x has 3"),
    "loss and penalty exchanged": (lambda: sd.ERM(X, B, G, F), "loss must be one of .* were the two exchanged"),
    "a class": (lambda: sd.ERM(X, B, sd.Logistic, G), r"loss must be an instance, .* write Logistic\(...\)"),
    "a string": (lambda: sd.ERM(X, B, F, "l2"), "penalty must be one of .*L2.*found 'l2'"),
    "no block": (lambda: sd.SeparableSaddle([], sd.Squared(), G), "blocks is empty"),
    "blocks that do not match": (
        lambda: sd.SeparableSaddle([np.ones((3, 2)), np.ones((4, 2))], sd.Squared(), G),
        r"same number of rows, found shapes \[\(3, 2\), \(4, 2\)\]",
    ),
    "labels that do not match blocks": (
        lambda: sd.SeparableSaddle([np.ones((3, 2))] * 2, sd.Squared(), G, b=[np.ones(2), np.ones(3)]),
        r"a vector for every block, of lengths \[2, 2\] ..., found \[\(2,\), \(3,\)\]",
    ),
    "labels of the right number but not by block": (
        lambda: sd.SeparableSaddle([np.ones((3, 2)), np.ones((3, 3))], sd.Squared(), G, b=[np.ones(3), np.ones(2)]),
        "a vector for every block",
    ),
    "a block of no width": (
        lambda: sd.SeparableSaddle([np.ones((3, 2)), np.ones((3, 0))], sd.Squared(), G),
        "block 1 has no column",
    ),
    "a class that no row has, with an intercept": (
        lambda: sd.ERM(X, B > 0, sd.Softmax(3), G, intercept=True),
        r"no row has the label 2 of Softmax\(3\).*use Softmax\(2\)",
    ),
    "masked entries": (
        lambda: sd.ERM(np.ma.masked_less(X, -1.0), B, F, G),
        "X has .* masked entries; fill them in",
    ),
    "masked labels": (lambda: sd.ERM(X, np.ma.masked_equal(B, 1.0), F, G), "b has 5 masked entries"),
    "an array in a box": (lambda: sd.ERM(X, B, F, sd.Box(np.zeros(3), 1.0)), r"Box\(lo=...\) must be one number"),
    "a group beyond the last": (
        lambda: sd.ERM(X, B, F, sd.GroupL2(0.1, [0, 1, 2**40])),
        "has the group number 1099511627776 for 3 coordinates",
    ),
    "indices of CSC below 0": (lambda: sd.ERM(broken("csc"), B, F, G), "X is not a valid CSC matrix: indices from -2"),
    "indices of COO below 0": (lambda: sd.ERM(broken("coo"), B, F, G), "X is not a valid COO matrix: indices from -2"),
    "NaN in a block": (
        lambda: sd.SeparableSaddle([np.ones((3, 2)), np.full((3, 2), math.nan)], sd.Squared(), G),
        "blocks holds nan",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_bad_problem_is_refused(name):
    make, message = PROBLEMS[name]
    with pytest.raises((ValueError, TypeError), match=message):
        make()


RUNS = {
    "an unknown method": ({"method": "adaspcd"}, "no method 'adaspcd'; did you mean 'adaspdc'"),
    "a method like no other": ({"method": "xyz"}, "no method 'xyz'; the methods are auto, ada-bpd"),
    "no method": ({"method": None}, "method must be a name or made by"),
    "tol < 0": ({"tol": -1.0}, "tol must be a number, 0 or more, found -1.0"),
    "tol NaN": ({"tol": math.nan}, "tol must be a number"),
    "max_epochs < 0": ({"max_epochs": -1}, "max_epochs must be a whole number, 0 or more, found -1"),
    "half an epoch": ({"max_epochs": 1.5}, "max_epochs must be a whole number"),
    "max_time < 0": ({"max_time": -1.0}, "max_time must be seconds"),
    "max_time in words": ({"max_time": "long"}, "max_time must be seconds, 0 or more, or None, found 'long'"),
    "every an array": ({"every": np.ones(2)}, 'every must be "auto" or a whole number'),
    "a fallback that is none": (
        {"method": sd.method("adaspdc", fallback="nope")},
        "no method 'nope'",
    ),
    "a fallback without batches": (
        {"method": sd.method("adaspdc", fallback="sdca", batch_size=2)},
        "method 'sdca' has no parameter 'batch_size'",
    ),
    "every 0": ({"every": 0}, 'every must be "auto" or a whole number, 1 or more, found 0'),
    "a seed that is none": ({"seed": "a"}, "seed must be a whole number, 0 or more, or None, found 'a'"),
    "a callback that cannot be called": ({"callback": 3}, "callback must be a function of one argument, found 3"),
    "a start of another shape": ({"start": np.zeros(4)}, r"x must have shape \(3,\), found \(4,\)"),
    "a dual start of another shape": ({"start": (np.zeros(3), np.zeros(3))}, r"y must have shape \(10,\)"),
    "a start with NaN": ({"start": np.full(3, math.nan)}, "start: x holds NaN or infinity"),
    "a start in words": ({"start": "zero"}, "start must be a Result, a State, .* found 'zero'"),
    "a checkpoint nowhere": (
        {"checkpoint": "no/such/folder/run.npz"},
        "checkpoint must be a file in a folder that can",
    ),
    "a batch of more rows than there are": (
        {"method": sd.method("spdc", batch_size=N + 1)},
        "batch_size is 11, but only 10 rows",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_bad_run_is_refused(name):
    given, message = RUNS[name]
    with pytest.raises((ValueError, TypeError), match=message):
        sd.solve(sd.ERM(X, B, F, G), **given)


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="checkpoint must be a file"):
        sd.solve(sd.ERM(X, B, F, G), checkpoint=tmp_path)


def test_what_is_no_problem_is_refused():
    with pytest.raises(TypeError, match="problem must be an ERM or a SeparableSaddle, found ndarray"):
        sd.solve(X)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "two", None])
def test_a_bad_batch_size_is_refused(wrong):
    with pytest.raises(ValueError, match="batch_size must be a whole number, 1 or more, found"):
        sd.method("spdc", batch_size=wrong)


def test_what_no_method_can_solve_says_what_is_missing():
    with pytest.raises(ValueError, match=r"no method can .* gamma = 0.* lam = 0") as error:
        sd.solve(sd.ERM(X, B, sd.Hinge(), sd.GroupL2(0.1, np.zeros(D, dtype=int))))
    assert str(error.value).count("GroupL2 has lam = 0") == 1


ODD = {
    "one row": lambda: (X[:1], B[:1]),
    "one column": lambda: (X[:, :1], B),
    "zero rows": lambda: (put(X, slice(2, 5), 0.0), B),
    "nothing but zeros": lambda: (np.zeros((N, D)), B),
    "no stored entry": lambda: (sp.csr_array((N, D)), B),
    "equal rows": lambda: (np.tile(X[:2], (5, 1)), np.tile(B[:2], 5)),
    "equal rows of other labels": lambda: (np.tile(X[:1], (N, 1)), B),
    "constant columns": lambda: (np.hstack([X, np.full((N, 1), 5.0)]), B),
    "equal columns": lambda: (np.hstack([X, X]), B),
    "whole numbers": lambda: (np.round(4 * X).astype(int), B.astype(int)),
    "lists": lambda: (X.tolist(), B.tolist()),
}


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_but_not_bad_works(name, intercept):
    data, labels = ODD[name]()
    if intercept and len(np.unique(labels)) < 2:
        pytest.skip("one class with an intercept is bad input")
    values = []
    for method in METHODS:
        result = sd.solve(sd.ERM(data, labels, F, G, intercept=intercept), method, tol=1e-9, max_epochs=5000)
        assert result.status.ok, f"{method}: {result}"
        values.append(result.certificate.primal)
    np.testing.assert_allclose(values, min(values), rtol=1e-8)
