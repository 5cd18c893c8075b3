"""One view of rows: whatever the layout, the same numbers; nothing copied that already serves; faults are found."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from saddlery._compile import kernel
from saddlery.couplings import RowCoupling
from saddlery.couplings.spectrum import norm
from saddlery.data.rows import Dense, Outputs, Rows, Sparse, U, axpy, dot, locked, products

N, D = 7, 5


def example(seed=0):
    """Numbers that 32 bits hold exactly, with an empty row, an empty column, and a full row."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-40, 40, (N, D)) / 8.0
    X[rng.random((N, D)) < 0.5] = 0.0
    X[2] = 0.0
    X[N - 1] = 0.0
    X[:, 3] = 0.0
    X[4] = np.arange(1.0, 6.0) / 4.0
    return X


def read_only(X):
    X = X.copy()
    for array in (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,):
        array.flags.writeable = False
    return X


def index(X, dtype, kind=sp.csr_array):
    made = kind(X)
    made.indices, made.indptr = made.indices.astype(dtype), made.indptr.astype(dtype)
    return made


def shuffled(X):
    """CSR with the entries of each row backwards."""
    made = sp.csr_array(X)
    for i in range(N):
        part = slice(made.indptr[i], made.indptr[i + 1])
        made.indices[part], made.data[part] = made.indices[part][::-1].copy(), made.data[part][::-1].copy()
    return sp.csr_array((made.data, made.indices, made.indptr), shape=made.shape)


def repeated(X):
    """CSR with every entry split into two."""
    made = sp.coo_array(X)
    return sp.csr_array(
        (
            np.repeat(made.data / 2.0, 2),
            np.repeat(made.coords[1], 2),
            np.concatenate([[0], 2 * np.cumsum((X != 0).sum(axis=1))]),
        ),
        shape=X.shape,
    )


def explicit_zeros(X):
    made = sp.csr_array(np.where(X == 0.0, 9.0, X))
    made.data[made.data == 9.0] = 0.0
    return made


# name: (how it is made, is it served as it is)
LAYOUTS = {
    "dense": (lambda X: X.copy(), True),
    "dense, float32": (lambda X: X.astype(np.float32), True),
    "dense, read-only": (read_only, True),
    "dense, Fortran": (np.asfortranarray, False),
    "dense, every other row": (lambda X: np.repeat(X, 2, axis=0)[::2], False),
    "dense, every other column": (lambda X: np.repeat(X, 2, axis=1)[:, ::2], False),
    "dense, transposed": (lambda X: X.T.copy().T, False),
    "dense, first rows": (lambda X: np.concatenate([X, X])[:N], True),
    "dense, float16": (lambda X: X.astype(np.float16), False),
    "dense, big-endian": (lambda X: X.astype(">f8"), False),
    "list": (lambda X: X.tolist(), None),
    "CSR array": (sp.csr_array, True),
    "CSR matrix": (sp.csr_matrix, True),
    "CSR, int64": (lambda X: index(X, np.int64), True),
    "CSR, int32": (lambda X: index(X, np.int32), True),
    "CSR matrix, int64": (lambda X: index(X, np.int64, sp.csr_matrix), True),
    "CSR, float32": (lambda X: sp.csr_array(X.astype(np.float32)), True),
    "CSR, float32, int64": (lambda X: index(X.astype(np.float32), np.int64), True),
    "CSR, read-only": (lambda X: read_only(sp.csr_array(X)), True),
    "CSR, unsorted": (shuffled, False),
    "CSR, entries twice": (repeated, False),
    "CSR, zeros stored": (explicit_zeros, True),
    "CSC": (sp.csc_array, False),
    "COO": (sp.coo_array, False),
    "BSR": (lambda X: sp.bsr_array(X, blocksize=(1, 1)), None),
}


def parts(X):
    """The arrays that a matrix is made of."""
    if not sp.issparse(X):
        return [np.asarray(X)]
    return [X.data, X.row, X.col] if X.format == "coo" else [X.data, X.indices, X.indptr]


@pytest.fixture(params=LAYOUTS)
def layout(request):
    make, served = LAYOUTS[request.param]
    return make(example()), served


def test_a_layout_that_serves_is_never_copied(layout):
    given, served = layout
    rows = Rows.of(given)
    held = list(rows.view)[::-1]  # data, indices, indptr
    shared = [np.shares_memory(a, b) for a, b in zip(held, parts(given), strict=True)]
    if served is None:  # a layout that may be served one way or the other
        assert rows.copied is not shared[0]
        return
    assert rows.copied is not served
    assert all(shared) if served else not shared[0]


def test_every_layout_holds_the_same_numbers(layout):
    rows = Rows.of(layout[0])
    X = example()
    assert rows.shape == (N, D)
    made = rows.matrix()
    np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, X)
    np.testing.assert_array_equal(rows.squares(), (X * X).sum(axis=1))
    by_column = rows.columns()
    assert by_column.shape == (D, N) and by_column.copied
    made = by_column.matrix()
    np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, X.T)
    np.testing.assert_array_equal(by_column.squares(), (X * X).sum(axis=0))
    assert rows.stored == (int(np.count_nonzero(X)) if isinstance(rows.view, Sparse) else N * D) or rows.stored == N * D


def test_nothing_given_is_changed(layout):
    given = layout[0]
    before = [part.copy() for part in parts(given)]
    Rows.of(given).columns().squares()
    for part, old in zip(parts(given), before, strict=True):
        np.testing.assert_array_equal(part, old)
        assert part.dtype == old.dtype


def test_what_is_held_cannot_be_written(layout):
    for array in Rows.of(layout[0]).view:
        assert not array.flags.writeable
        with pytest.raises(ValueError):
            array[...] = 0


def test_rows_of_rows_are_themselves():
    rows = Rows.of(example())
    assert Rows.of(rows) is rows


def test_whole_numbers_become_floats():
    for dtype in (np.int8, np.int32, np.int64, np.uint8, bool):
        X = (example() * 8).astype(dtype)
        for given in (X, sp.csr_array(X)):
            rows = Rows.of(given)
            assert rows.copied
            values = rows.view.X if isinstance(rows.view, Dense) else rows.view.values
            assert values.dtype == np.float64
            made = rows.matrix()
            np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, X.astype(float))


# ---- from disk ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mapped_file_is_read_in_place(tmp_path, dtype):
    path = tmp_path / "X"
    written = np.memmap(path, dtype=dtype, mode="w+", shape=(N, D))
    written[:] = example()
    written.flush()
    mapped = np.memmap(path, dtype=dtype, mode="r", shape=(N, D))
    rows = Rows.of(mapped)
    assert not rows.copied and np.shares_memory(rows.view.X, mapped)
    np.testing.assert_array_equal(rows.squares(), (example() ** 2).sum(axis=1))
    x, y = np.arange(1.0, D + 1), np.arange(1.0, N + 1)
    z, u = both(rows.view, x, y)
    np.testing.assert_allclose(z, example() @ x, rtol=1e-15)
    np.testing.assert_allclose(u, example().T @ y, rtol=1e-15)


def test_a_sparse_matrix_of_mapped_files_is_read_in_place(tmp_path):
    X = sp.csr_array(example())
    arrays = []
    for name, part in (("data", X.data), ("indices", X.indices), ("indptr", X.indptr)):
        path = tmp_path / f"{name}.npy"
        np.save(path, part)
        arrays.append(np.load(path, mmap_mode="r"))
    mapped = sp.csr_array(tuple(arrays), shape=X.shape)
    rows = Rows.of(mapped)
    assert not rows.copied
    for held, file in zip(rows.view, (arrays[2], arrays[1], arrays[0]), strict=True):
        assert np.shares_memory(held, file)
    np.testing.assert_array_equal(rows.matrix().toarray(), example())


# ---- products ----------------------------------------------------------------------------------------------------


def both(view, x, y):
    z, u = np.empty(y.size), np.zeros(x.size)
    products(view, x, y, z, u, True, True)
    return z, u


@kernel
def dots_and_axpys(view, x, y, z, u):
    """Row by row: dot, and axpy."""
    for i in range(U(y.shape[0])):
        z[i] = dot(view, i, x)
        axpy(view, i, y[i], u)


PRODUCTS = ["dense", "dense, float32", "CSR array", "CSR, int64", "CSR, float32"]


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_scipy(name):
    view = Rows.of(LAYOUTS[name][0](example())).view
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(D), rng.standard_normal(N)
    y[3] = 0.0
    reference = sp.csr_array(example())
    for z, u in (both(view, x, y), row_by_row(view, x, y)):
        np.testing.assert_allclose(z, reference @ x, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(u, reference.T @ y, rtol=1e-14, atol=1e-15)


def row_by_row(view, x, y):
    z, u = np.empty(y.size), np.zeros(x.size)
    dots_and_axpys(view, x, y, z, u)
    return z, u


@pytest.mark.parametrize("make", [np.array, sp.csr_array])
def test_products_with_several_outputs(make):
    """x is D x q, row by row; line i q + k is row i acting on column k."""
    q, X = 3, example()
    lines = Outputs(Rows.of(make(X)).view, q)
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((D, q)), rng.standard_normal((N, q))
    z, u = both(lines, x.reshape(-1), y.reshape(-1))
    np.testing.assert_allclose(z.reshape(N, q), X @ x, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(u.reshape(D, q), X.T @ y, rtol=1e-14, atol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of plain Python; compiled code says nothing
def test_products_carry_nan():
    """Sums may be reassociated, but never assume that numbers are finite."""
    view = Rows.of(example()).view
    x, y = np.ones(D), np.ones(N)
    x[1] = np.nan
    assert np.isnan(both(view, x, y)[0]).any()
    y[0] = np.nan
    assert np.isnan(both(view, np.ones(D), y)[1]).all()
    x[1] = np.inf
    assert not np.isfinite(both(view, x, np.ones(N))[0]).all()


def test_coupling_forwards_and_back():
    coupling = RowCoupling.of_rows(Rows.of(example()), 1)
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal(D), rng.standard_normal(N)
    np.testing.assert_allclose(coupling.predictions(x), example() @ x, rtol=1e-14)
    np.testing.assert_allclose(coupling.force(y), example().T @ y / N, rtol=1e-14, atol=1e-16)
    assert not coupling.predictions(np.zeros(D)).any() and not coupling.force(np.zeros(N)).any()


def test_the_norm_is_an_upper_bound_and_close():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 6))
    weights = rng.random(40)
    coupling = RowCoupling.of_rows(Rows.of(X), 1)
    exact = np.linalg.norm(np.sqrt(weights)[:, None] * X, 2)
    assert exact <= norm(coupling, weights)[0] <= 1.021 * exact
    assert norm(RowCoupling.of_rows(Rows.of(np.zeros((3, 2))), 1), np.ones(3))[0] == 0.0


def test_the_squared_norms_of_blocks_are_spectral():
    rng = np.random.default_rng(5)
    blocks = [rng.standard_normal((4, q)) for q in (1, 3, 2, 3, 1)] + [np.zeros((4, 2))]
    for make in (np.array, sp.csr_array):
        coupling = RowCoupling.of_blocks([make(block) for block in blocks])
        expected = [np.linalg.norm(block, 2) ** 2 for block in blocks]
        np.testing.assert_allclose(coupling.squares, expected, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (300, 2)])
def test_shapes_at_the_edge(shape):
    X = np.random.default_rng(6).standard_normal(shape)
    for given in (X, sp.csr_array(X)):
        rows = Rows.of(given)
        np.testing.assert_allclose(rows.squares(), (X * X).sum(axis=1), rtol=1e-14)
        assert rows.columns().shape == shape[::-1]


def test_a_sparse_matrix_without_entries():
    X = sp.csr_array((4, 3))
    rows = Rows.of(X)
    assert rows.stored == 0 and not rows.squares().any() and rows.columns().stored == 0
    assert not rows.copied, "there was nothing to copy"


def test_squares_in_slices_are_squares():
    """More entries than one slice holds, with empty rows at the seams."""
    rng = np.random.default_rng(7)
    X = sp.random_array((3000, 400), density=0.3, rng=rng, format="csr")
    X.data[:] = rng.standard_normal(X.nnz)
    X = sp.csr_array(sp.diags_array((rng.random(3000) < 0.9).astype(float)) @ X)
    X.eliminate_zeros()
    assert X.nnz > 1 << 18
    expected = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    np.testing.assert_allclose(Rows.of(X).squares(), expected, rtol=1e-13)
    np.testing.assert_allclose(Rows.of(X.toarray()).squares(), expected, rtol=1e-13)


def test_squares_are_summed_in_double():
    X = np.full((1, 4096), 1.0 / 3.0, dtype=np.float32)
    exact = 4096 * float(X[0, 0]) ** 2
    assert Rows.of(X).squares()[0] == pytest.approx(exact, rel=1e-12)
    assert Rows.of(sp.csr_array(X)).squares()[0] == pytest.approx(exact, rel=1e-12)  # 4096 roundings
    assert np.isfinite(Rows.of(np.full((1, 2), 1e30, dtype=np.float32)).squares()).all()


# ---- what is wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.array, np.asfortranarray, sp.csr_array, sp.csc_array, shuffled])
def test_a_number_that_is_not_finite_is_located(bad, dtype, make):
    for row, column in ((0, 0), (3, 4), (N - 1, D - 1), (2, 1)):
        X = example().astype(dtype)
        X[row, column] = bad
        with pytest.raises(ValueError, match=f"X holds {bad} at row {row}, column {column}"):
            Rows.of(make(X))


def test_opposite_infinities_do_not_cancel():
    X = example()
    X[0, 0], X[1, 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="row 0, column 0"):
        Rows.of(X)


def test_large_numbers_are_not_infinite():
    """Their sum overflows, they do not; in 32 bits neither."""
    Rows.of(np.full((3, 3), 1e308))
    Rows.of(np.full((300, 30), 3e38, dtype=np.float32))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"two dimensions, found shape \(3,\)"),
        (np.ones((2, 2, 2)), "two dimensions"),
        (np.float64(3.0), "two dimensions"),
        (np.ones((0, 3)), r"empty: shape \(0, 3\)"),
        (np.ones((3, 0)), r"empty: shape \(3, 0\)"),
        (sp.csr_array((0, 3)), r"empty: shape \(0, 3\)"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
    ],
)
def test_a_wrong_shape_is_refused(X, message):
    with pytest.raises(ValueError, match=message) as error:
        Rows.of(X)
    assert str(error.value).startswith("X ")


@pytest.mark.parametrize("X", [np.ones((2, 2), complex), np.array([["a", "b"]]), np.array([[None, 1.0]])])
def test_what_is_no_real_number_is_refused(X):
    with pytest.raises(TypeError, match="X must hold real numbers, found dtype"):
        Rows.of(X)


def test_complex_sparse_is_refused():
    with pytest.raises(TypeError, match="X must hold real numbers, found dtype complex"):
        Rows.of(sp.csr_array(np.ones((2, 2), complex)))


OVERFLOWED = """
import sys
import numpy as np
import scipy.sparse as sp
from saddlery.data.rows import Rows

field, place, value = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X = sp.csr_array(np.arange(1.0, 13.0).reshape(4, 3))
getattr(X, field)[place] = value
try:
    Rows.of(X)
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("field", "place", "value"),
    [("indices", 1, -3), ("indices", 0, 3), ("indptr", 2, -5), ("indptr", 1, 20), ("indptr", 4, 2)],
)
def test_indices_that_overflowed_are_noticed(field, place, value):
    """Negative, beyond the last column, or an indptr that falls: 32 bits that were not enough.

    In a process of its own: what sorts a broken matrix writes where it should not.
    """
    made = subprocess.run(
        [sys.executable, "-c", OVERFLOWED, field, str(place), str(value)], capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stderr[-500:]
    assert "64-bit indices" in made.stdout and made.stdout.startswith("X is not a valid CSR matrix")


def test_the_name_of_the_argument_is_the_callers():
    with pytest.raises(ValueError, match="weights_matrix holds nan"):
        Rows.of(np.array([[np.nan]]), "weights_matrix")


def test_locked_is_a_view():
    array = np.arange(3.0)
    view = locked(array)
    assert np.shares_memory(view, array) and array.flags.writeable and not view.flags.writeable


@pytest.mark.skipif(os.environ.get("SADDLERY_COMPILE") == "0", reason="nothing is compiled")
def test_one_compilation_serves_writable_and_read_only():
    views = [Rows.of(make(example())).view for make in (np.array, read_only)]
    for view in views:
        both(view, np.ones(D), np.ones(N))
    before = len(products.kept.signatures)
    for view in views:
        both(view, np.ones(D), np.ones(N))
    assert len(products.kept.signatures) == before
    assert len({str(signature[0]) for signature in products.kept.signatures}) == before


def test_indices_of_blocks_beyond_the_matrix_are_refused():
    X = sp.bsr_array(sp.csr_array(np.arange(1.0, 33.0).reshape(8, 4)), blocksize=(2, 1))
    assert Rows.of(X).shape == (8, 4)
    X.indices[0] = 3000
    with pytest.raises(ValueError, match=r"not a valid BSR matrix: indices from \d+ to 3000"):
        Rows.of(X)
