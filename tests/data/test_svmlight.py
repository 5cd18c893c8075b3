"""Reading and writing LIBSVM text: exact, whatever the layout, and clear about what is broken."""

import ast
import bz2
import gzip
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.datasets import load_svmlight_file

from saddlery.data import svmlight
from saddlery.data.svmlight import read_svmlight, write_svmlight
from saddlery.data.svmlight_lines import block_rows, row_fault

COMPRESS = {"": lambda text: text, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
numbers = st.floats(allow_nan=False, allow_infinity=False)


def naive(text):
    """Parse correct text slowly: lists of labels, and of {index: value} for each row."""
    labels, rows = [], []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        words = line.partition("#")[0].split()
        if words:
            labels.append(float(words[0]))
            pairs = [word.split(":") for word in words[1:] if not word.startswith("qid")]
            rows.append({int(index): float(value) for index, value in pairs})
    return labels, rows


def same(X, b, labels, rows):
    assert b.tolist() == labels
    assert np.diff(X.indptr).tolist() == [len(row) for row in rows]
    assert (X.indices + 1).tolist() == [index for row in rows for index in row]
    assert X.data.astype(np.float64).tobytes() == np.array([v for row in rows for v in row.values()]).tobytes()


@pytest.fixture
def file(tmp_path):
    def make(text, name="toy"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


@st.composite
def decimals(draw):
    """Numbers as people and programs write them: long, short, signed, with exponents."""
    kind = draw(st.sampled_from(["repr", "fixed", "exponent", "digits"]))
    value = draw(numbers)
    if kind == "repr":
        return repr(value)
    if kind == "fixed":
        return f"{draw(st.floats(-1e6, 1e6)):+.6f}"
    if kind == "exponent":
        return f"{value:.20E}" if abs(value) < 1e300 else "1e300"
    digits = draw(st.text("0123456789", min_size=1, max_size=40))
    return f"{digits}.{draw(st.text('0123456789', max_size=40))}e{draw(st.integers(-340, 250))}"


@st.composite
def texts(draw):
    """Correct LIBSVM text in every layout that is read."""
    blanks = st.sampled_from([" ", "\t", "  ", " \t "])
    maybe_blank = st.sampled_from(["", "", " ", "\t"])
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        words = [draw(decimals())]
        if draw(st.booleans()):
            words.append(f"qid:{draw(st.integers(0, 99))}")
        columns = draw(st.sets(st.integers(1, 10**6), max_size=6))
        words += [f"{'0' * draw(st.integers(0, 2))}{j}:{draw(decimals())}" for j in sorted(columns)]
        line = draw(maybe_blank) + words[0] + "".join(draw(blanks) + word for word in words[1:])
        lines.append(line + draw(maybe_blank) + draw(st.sampled_from(["", "", "# 1:2 _ x", "#"])))
        lines += draw(st.lists(st.sampled_from(["", " ", "# only a comment", "\t#1 1:1"]), max_size=2))
    ends = [draw(st.sampled_from(["\n", "\r\n", "\r"])) for _ in lines]
    ends[-1] = draw(st.sampled_from([ends[-1], ""]))
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


@given(texts(), st.sampled_from(list(COMPRESS)), st.integers(1, 200))
@settings(deadline=None, max_examples=200)
def test_every_layout_is_read_exactly(tmp_path_factory, text, ending, block):
    path = tmp_path_factory.mktemp("text") / "toy.txt"  # the ending says nothing of the compression
    path.write_bytes(COMPRESS[ending](text.encode()))
    labels, rows = naive(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svmlight, "_BLOCK", block)  # block borders anywhere, between CR and LF too
        X, b = read_svmlight(path, n_features=10**6)
    same(X, b, labels, rows)
    assert X.shape == (len(rows), 10**6) and X.has_canonical_format
    assert X.indices.dtype == X.indptr.dtype == np.int32


WORDS = ["1", "-1", "1:1", "2:0.5", "5:2", "0:1", "3:", ":3", "3", "a:1", "7:nan", "8:1_0", "9:1e999", "qid:1", "qid:x"]
WORDS += ["3:4:5"]
LINES = st.one_of(
    st.text("01-+.:e# \t_n", max_size=12),
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
)


@given(st.lists(LINES, min_size=1, max_size=6))
@example(["1 1:1", "1:1", "1 1"])  # as many colons as pairs, in the wrong words
@example(["1 1:1 2:2:2 3"])
@example(["1 qid:1 qid:2 1:1"])
@settings(deadline=None, max_examples=500)
def test_parsing_many_lines_at_once_follows_the_rules_of_one_line(lines):
    kind = np.dtype(np.float64)
    faults = [row_fault(line.encode(), 8, kind) for line in lines]
    rows = block_rows("\n".join(lines).encode(), 8, kind)
    assert (rows is None) == any(faults)
    if rows is not None:
        labels, expected = naive("\n".join(lines))
        assert rows.labels.tolist() == labels and rows.sizes.tolist() == [len(row) for row in expected]
        assert (rows.columns + 1).tolist() == [index for row in expected for index in row]
        assert rows.values.tolist() == [value for row in expected for value in row.values()]


@given(st.lists(decimals(), min_size=1, max_size=30))
@settings(deadline=None, max_examples=100)
def test_values_and_labels_are_correctly_rounded(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("text") / "toy"
    path.write_text("\n".join(f"{word} 1:{word}" for word in words))
    X, b = read_svmlight(path)
    expected = np.array([float(word) for word in words])
    assert X.data.tobytes() == b.tobytes() == expected.tobytes()


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("layout", [csr_array, csc_array, coo_array, np.asarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_what_is_written_is_read_back_exactly(tmp_path, ending, layout, dtype):
    rng = np.random.default_rng(0)
    dense = (rng.standard_normal((13, 7)) * 10.0 ** rng.integers(-30, 30, (13, 7))).clip(-1e18, 1e18)
    dense[rng.random((13, 7)) < 0.5] = 0
    dense[3] = 0  # a row without entries
    dense = dense.astype(dtype)
    b = rng.standard_normal(13)
    path = tmp_path / f"toy{ending}"
    with np.errstate(all="ignore"):
        exact = np.array_equal(dense.astype(np.float64).astype(dtype), dense)
    assert exact
    write_svmlight(path, layout(dense), b)
    X, labels = read_svmlight(path, n_features=7, dtype=np.float32 if dtype == np.float32 else np.float64)
    assert np.array_equal(X.toarray().astype(dtype), dense) and labels.tobytes() == b.tobytes()
    assert os.listdir(tmp_path) == [path.name]
    first = path.read_bytes()
    assert first[:6].startswith({"": b"", ".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ"}[ending])
    write_svmlight(path, layout(dense), b)
    assert path.read_bytes() == first  # the same data make the same bytes,
    assert ending != ".gz" or first[4:8] == bytes(4)  # at any time


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20))
@settings(deadline=None, max_examples=100)
def test_round_trip_keeps_every_bit_and_stored_zeros(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("text") / "toy"
    b, values = np.array(pairs).T.copy()
    n = len(b)
    X = csr_array((values, np.arange(n)[::-1].copy(), np.arange(n + 1)), shape=(n, n))
    write_svmlight(path, X, b)
    back, labels = read_svmlight(path, n_features=n)
    assert back.data.tobytes() == values.tobytes() and labels.tobytes() == b.tobytes()
    assert back.nnz == n and np.array_equal(back.indices, X.indices)


def test_decimals_are_the_shortest(tmp_path):
    write_svmlight(tmp_path / "toy", np.array([[0.1, 0, 3.0], [0, -1e-7, 0]]), [1, -0.5])
    assert (tmp_path / "toy").read_text() == "1 1:0.1 3:3\n-0.5 2:-1e-07\n"


def test_unsorted_and_repeated_entries_are_written_in_canonical_form_and_left_alone(tmp_path):
    X = csr_array((np.array([1.0, 2, 4]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    write_svmlight(tmp_path / "toy", X, [1])
    assert (tmp_path / "toy").read_text() == "1 1:2 3:5\n"
    assert X.indices.tolist() == [2, 0, 2] and X.data.tolist() == [1, 2, 4]


def test_read_only_arrays_are_written(tmp_path):
    X = csr_array(np.eye(3))
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    write_svmlight(tmp_path / "toy", X, np.ones(3))
    assert np.array_equal(read_svmlight(tmp_path / "toy")[0].toarray(), np.eye(3))


def test_number_of_columns(file):
    path = file("1 2:1\n-1\n")
    assert read_svmlight(path)[0].shape == (2, 2)
    assert read_svmlight(path, n_features=np.int64(5))[0].shape == (2, 5)
    assert read_svmlight(file("1\n-1"), n_features=3)[0].shape == (2, 3)


def test_wide_indices_are_int64(file):
    for index in (10**18, 2**63, 2**64 + 1):
        with pytest.raises(ValueError, match=f"the index in '{index}:1' overflows"):
            read_svmlight(file(f"1 {index}:1"))
    narrow, _ = read_svmlight(file(f"1 {2**31 - 1}:1"))
    wide, _ = read_svmlight(file(f"1 1:1 {2**31}:1 {10**18 - 1}:2"))
    assert narrow.indices.dtype == np.int32 and narrow.indices.tolist() == [2**31 - 2]
    assert wide.indices.dtype == wide.indptr.dtype == np.int64
    assert wide.indices.tolist() == [0, 2**31 - 1, 10**18 - 2] and wide.shape == (1, 10**18 - 1)


def test_wide_indices_in_one_block_only(file, monkeypatch):
    monkeypatch.setattr(svmlight, "_BLOCK", 1)
    X, _ = read_svmlight(file(f"1 1:1\n1 {2**31}:1\n1 2:1\n"))
    assert X.indices.dtype == np.int64 and X.indices.tolist() == [0, 2**31 - 1, 1]


def test_float32_values_are_rounded_from_the_float64_ones(file):
    X, b = read_svmlight(file("0.1 1:0.1"), dtype=np.float32)
    assert X.dtype == np.float32 and X.data[0] == np.float32(0.1)
    assert b.dtype == np.float64 and b[0] == 0.1


def test_byte_order_mark_is_skipped(file):
    X, b = read_svmlight(file(b"\xef\xbb\xbf1 1:2\n"))
    assert b.tolist() == [1] and X.data.tolist() == [2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("spam 1:1", "label 'spam' is not a number; a line is 'label index:value index:value ...'"),
        ("1_0 1:1", "label '1_0' is not a number"),
        ("1,2 1:1", "label '1,2' is not a number"),
        ("1:1 2:2", "label '1:1' is not a number"),
        ("nan 1:1", "label 'nan' is not finite in float64"),
        ("1e999", "label '1e999' is not finite in float64"),
        ("1 2", "'2' is not an index:value pair"),
        ("1 2:", "'2:' is not an index:value pair"),
        ("1 :2", "':2' is not an index:value pair"),
        ("1 2:3:4", "'2:3:4' is not an index:value pair"),
        ("1 a:3", "'a:3' is not an index:value pair"),
        ("1 1.0:3", "'1.0:3' is not an index:value pair"),
        ("1 +1:3", "'+1:3' is not an index:value pair"),
        ("1 1 :3", "'1' is not an index:value pair"),
        ("1 qid:x 1:1", "'qid:x' is not an index:value pair"),
        ("1 1:1 qid:3", "'qid:3' is not an index:value pair"),
        ("1 0:3", "the index in '0:3' is below 1; indices are counted from 1"),
        ("1 -2:3", "the index in '-2:3' is below 1"),
        ("1 4:1 4:2", "the index in '4:2' does not exceed 4 before it; indices must ascend"),
        ("1 4:1 3:2", "the index in '3:2' does not exceed 4 before it"),
        ("1 8:1", "the index in '8:1' exceeds n_features = 7"),
        (f"1 {10**18}:1", f"the index in '{10**18}:1' overflows; it may have 18 digits"),
        (f"1 {2**64 + 1}:1", "overflows"),
        ("1 1:x", "the value in '1:x' is not a number"),
        ("1 1:1_0", "the value in '1:1_0' is not a number"),
        ("1 1:0x10", "the value in '1:0x10' is not a number"),
        ("1 1:1\0", "is not a number"),
        ("1 1:nan", "the value in '1:nan' is not finite in float64"),
        ("1 1:-inf", "the value in '1:-inf' is not finite in float64"),
        ("1 1:1e999", "the value in '1:1e999' is not finite in float64"),
        ("1 1:é", "the value in '1:é' is not a number"),
        ("1 1:" + "x" * 99, "the value in '1:" + "x" * 38 + "...' is not a number"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_a_broken_line_is_named(file, monkeypatch, line, message, end, block):
    monkeypatch.setattr(svmlight, "_BLOCK", block)
    path = file(end.join(["1 1:1", "", "# comment", line, "-1 2:x", "1 7:1"]))
    with pytest.raises(ValueError) as caught:
        read_svmlight(path, n_features=7)
    assert str(caught.value).startswith(f"{path}, line 4: ")
    assert message in str(caught.value)


def test_a_value_beyond_float32_is_named(file):
    path = file("1 1:1\n1 1:1e39\n")
    assert read_svmlight(path)[0].data[1] == 1e39
    with pytest.raises(ValueError, match="line 2: the value in '1:1e39' is not finite in float32"):
        read_svmlight(path, dtype=np.float32)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "\r \t\r\n"])
def test_a_file_without_rows_is_refused(file, text):
    with pytest.raises(ValueError, match="toy holds no row; a row is a line 'label index:value"):
        read_svmlight(file(text))


def test_rows_without_entries_need_the_number_of_columns(file):
    with pytest.raises(ValueError, match="has no entry in any row, so d is unknown; pass n_features"):
        read_svmlight(file("1\n-1\n"))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_damaged_compression_is_named(file, ending):
    whole = COMPRESS[ending]("".join(f"1 {j}:{j / 7}\n" for j in range(1, 5000)).encode())
    with pytest.raises(ValueError, match=r"toy.* is damaged or cut short: "):
        read_svmlight(file(whole[: len(whole) // 2]))
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 255
    with pytest.raises(ValueError, match=r"toy.* is damaged or cut short: |toy, line "):
        read_svmlight(file(bytes(flipped)))


def test_the_machine_s_own_errors_pass(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_svmlight(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_svmlight(tmp_path)


@pytest.mark.parametrize("n_features", [0, -1, 10**18])
def test_an_impossible_number_of_columns_is_refused(file, n_features):
    with pytest.raises(ValueError, match=rf"n_features is {n_features}; it must be None or lie between 1 and"):
        read_svmlight(file("1 1:1"), n_features=n_features)


@pytest.mark.parametrize("dtype", [np.int32, np.float16, complex])
def test_other_dtypes_are_refused(file, dtype):
    with pytest.raises(ValueError, match="it must be float32 or float64"):
        read_svmlight(file("1 1:1"), dtype=dtype)


@pytest.mark.parametrize(
    ("X", "b", "message"),
    [
        (
            np.ones((2, 3)),
            np.ones(3),
            r"X has shape \(2, 3\) and b \(3,\); they must be \(n, d\) and \(n,\), n > 0",
        ),
        (np.ones((2, 3)), np.ones((2, 1)), "they must be"),
        (np.ones((0, 3)), np.ones(0), "they must be"),
        (np.ones(3), np.ones(3), "they must be"),
        (np.full((2, 2), np.nan), np.ones(2), "X has nan; every number must be finite"),
        (np.ones((2, 2)), [1, np.inf], "b has inf; every number must be finite"),
        (
            np.full((2, 2), 2**53 + 1),
            np.ones(2),
            "X is int64 with numbers that float64 cannot hold; round them",
        ),
        (np.full((2, 2), 2**63 - 1), np.ones(2), "X is int64 with numbers that float64 cannot hold"),
        (np.full((2, 2), 1j), np.ones(2), "X is complex128 with numbers that float64 cannot hold"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, X, b, message):
    path = tmp_path / "toy"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        write_svmlight(path, X, b)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["toy"]


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, ending):
    def lines(*_):
        yield b"1 1:1\n"
        raise OSError(28, "No space left on device")

    path = tmp_path / f"toy{ending}"
    path.write_text("old")
    monkeypatch.setattr(svmlight, "row_lines", lines)
    with pytest.raises(OSError, match="No space left"):
        write_svmlight(path, np.eye(2), np.ones(2))
    assert path.read_text() == "old" and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["a9a.t", "australian", "heart_scale", "ijcnn1", "reuters-money-fx.t", "sector.scale"])
def test_real_sets_agree_with_scikit_learn(name):
    folder = os.environ.get("SADDLERY_DATA")
    path = Path(folder or "", f"{name}.xz")
    if not folder or not path.is_file():
        pytest.skip(f"needs the data set {name}: SADDLERY_DATA is not set, or has no {name}.xz")
    X, b = read_svmlight(path)
    with lzma.open(path) as stream:
        expected, labels = load_svmlight_file(stream, zero_based=False)
    assert X.shape == expected.shape and np.array_equal(b, labels)
    for field in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(X, field), getattr(expected, field))


@pytest.mark.parametrize("module", ["svmlight", "svmlight_lines", "fetch", "random_rows", "synthetic"])
def test_importing_is_light(module):
    """Nothing beyond NumPy and the standard library is imported before it is needed."""
    tree = ast.parse(Path(svmlight.__file__).with_name(f"{module}.py").read_text())
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    heavy = {name for name in names if name.split(".")[0] in ("numba", "sklearn", "scipy", "pooch", "requests")}
    assert not heavy
