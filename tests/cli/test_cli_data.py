"""Data, however they are given: the same numbers from every format; columns and headers seen, not told."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse as sp

import saddlery as sd
from saddlery.cli.ends import Refusal
from saddlery.cli.sources import read

X = np.array([[0.5, 0.0, -2.0], [0.0, 1.5, 0.25], [1e-3, 0.0, 3.0], [4.0, -1.0, 0.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])


def libsvm(path):
    sd.write_svmlight(path, X, Y)


def packed(opener):
    def made(path):
        libsvm(path.with_name("plain"))
        path.write_bytes(opener(path.with_name("plain").read_bytes()))

    return made


def comma(path):
    np.savetxt(path, np.column_stack([X, Y]), delimiter=",", header="a,b,c,y", comments="")


def comma_packed(path):
    comma(path.with_name("plain.csv"))
    path.write_bytes(gzip.compress(path.with_name("plain.csv").read_bytes()))


def parquet(path):
    import pandas as pd

    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y}).to_parquet(path)


def dense(path):
    np.savez(path, X=X, y=Y)


def compressed(path):
    np.savez_compressed(path, X=X.astype(np.float32), b=Y.astype(int))


def csr(path):
    S = sp.csr_array(X)
    np.savez(path, data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, format=b"csr", y=Y)


def csc(path):
    S = sp.csc_array(X)
    np.savez(path, data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, format=b"csc", y=Y)


FORMS = {
    "t.libsvm": libsvm,
    "t.svm": libsvm,
    "a9a": libsvm,
    "news.scale": libsvm,
    "t.svm.gz": packed(gzip.compress),
    "t.txt.xz": packed(lzma.compress),
    "a9a.bz2": packed(bz2.compress),
    "t.csv": comma,
    "T.CSV": comma,
    "t.csv.gz": comma_packed,
    "t.parquet": parquet,
    "t.npz": dense,
    "compressed.npz": compressed,
    "csr.npz": csr,
    "csc.npz": csc,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_format_gives_the_same_numbers(name, tmp_path):
    path = tmp_path / name
    FORMS[name](path)
    data = read(str(path))
    found = data.X.toarray() if sp.issparse(data.X) else data.X
    assert np.allclose(found, X, rtol=1e-6, atol=0.0)
    assert np.array_equal(data.y, Y)
    assert data.name == name.split(".")[0] or name == "news.scale"


def test_a_name_is_a_data_set(tmp_path, monkeypatch):
    from saddlery.data import fetch

    sd.write_svmlight(tmp_path / "toy.xz", X, Y)
    mark = fetch.fingerprint(*sd.read_svmlight(tmp_path / "toy.xz"))
    info = fetch.DatasetInfo("toy", 4, 3, 8, "binary", "a toy", "", mark)
    monkeypatch.setattr(fetch, "_table", lambda: {"toy": info})
    monkeypatch.setenv("SADDLERY_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    data = read("toy")
    assert np.array_equal(data.X.toarray(), X) and data.name == "toy"
    with pytest.raises(Refusal, match="Did you mean toy"):
        read("tov")


def csv_of(tmp_path, text, **more):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    data = read(str(path), **more)
    return data.X.tolist(), None if data.y is None else data.y.tolist(), data.columns


@pytest.mark.parametrize(
    "text",
    [
        "a,b,y\n1,2,3\n4,5,6\n",
        "a;b;y\n1;2;3\n4;5;6\n",
        "a\tb\ty\n1\t2\t3\n4\t5\t6\n",
        "\ufeffa,b,y\r\n1,2,3\r\n4,5,6",
        '"a","b","y"\n"1", 2 ,3.0\n\n4,5,6e0\n\n',
        "\n\na, b, y\n1, 2, 3\n4, 5, 6\n",
    ],
    ids=["comma", "semicolon", "tab", "mark and CRLF", "quotes and blanks", "blanks before"],
)
def test_delimiters_headers_and_blanks(text, tmp_path):
    assert csv_of(tmp_path, text) == ([[1, 2], [4, 5]], [3, 6], ["a", "b"])


def test_no_header_no_names(tmp_path):
    assert csv_of(tmp_path, "1,2,3\n4,5,6\n") == ([[1, 2], [4, 5]], [3, 6], ["column 1", "column 2"])


def test_a_header_may_hold_numbers_that_count(tmp_path):
    assert csv_of(tmp_path, "0,1,target\n7,8,9\n") == ([[7, 8]], [9], ["0", "1"])


def test_words_in_the_first_row_of_data_are_no_header(tmp_path):
    """A row must not vanish because one of its cells is wrong."""
    with pytest.raises(Refusal, match=r"line 1, column 'column 2': 'x' is not a number"):
        csv_of(tmp_path, "1.5,x,3\n4,5,6\n")
    assert csv_of(tmp_path, "1.5,2,yes\n4,5,no\n")[:2] == ([[1.5, 2], [4, 5]], ["yes", "no"])


@pytest.mark.parametrize(
    ("target", "drop", "X_", "y_"),
    [
        (None, [], [[1, 2, 3]], [4]),
        ("a", [], [[2, 3, 4]], [1]),
        ("1", [], [[2, 3, 4]], [1]),
        ("-2", [], [[1, 2, 4]], [3]),
        ("c", ["y"], [[1, 2]], [3]),
        (None, ["a", "4"], [[2]], [3]),
        ("none", [], [[1, 2, 3, 4]], None),
    ],
)
def test_the_target_and_what_is_left_out(target, drop, X_, y_, tmp_path):
    assert csv_of(tmp_path, "a,b,c,y\n1,2,3,4\n", target=target, drop=drop)[:2] == (X_, y_)


def test_the_target_of_parquet_may_be_words(tmp_path):
    import pandas as pd

    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, 2], "flag": [True, False], "kind": ["u", "v"]}).to_parquet(tmp_path / "t.parquet")
    data = read(str(tmp_path / "t.parquet"))
    assert data.X.tolist() == [[1, 1], [2, 0]] and data.y.tolist() == ["u", "v"] and data.columns == ["a", "flag"]


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    import sys

    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Refusal, match=r"needs pyarrow; pip install 'saddlery\[parquet\]'"):
        read(str(tmp_path / "t.parquet"))


def test_the_format_may_be_said(tmp_path):
    comma(tmp_path / "t.data")
    assert np.allclose(read(str(tmp_path / "t.data"), form="csv").X, X)


def broken(text, name="t.csv"):
    return text if isinstance(text, bytes) else text.encode(), name


CASES = {
    "a word": (*broken("a,b,y\n1,2,3\n4,old,6\n"), r"t\.csv, line 3, column 'b': 'old' is not a number"),
    "nothing": (*broken("a,b,y\n1,,3\n4,5,6\n"), r"line 2, column 'b': '' is a missing value"),
    "NaN": (*broken("a,b,y\n1,2,3\n4,NaN,6\n"), r"line 3, column 'b': 'NaN' is a missing value"),
    "infinity": (*broken("a,b,y\n1,2,3\n-inf,5,6\n"), r"line 3, column 'a': '-inf' is not finite"),
    "no target": (*broken("a,b,y\n1,2,3\n4,5,\n"), r"line 3, column 'y': the target is missing"),
    "short row": (*broken("a,b,y\n1,2,3\n4,5\n"), r"line 3: 2 columns, where the first line has 3"),
    "long row": (*broken("1,2,3\n4,5,6,7\n"), r"line 2: 4 columns"),
    "after a blank": (*broken("a,b,y\n\n1,2,3\n\n4,?,6\n"), r"line 5, column 'b'"),
    "empty": (*broken(""), "is empty"),
    "blank": (*broken("\n\n"), "is empty"),
    "header only": (*broken("a,b,y\n"), "a header and no row"),
    "one column": (*broken("y\n1\n2\n"), "leaves no feature"),
    "not UTF-8": (*broken(b"a,b,y\n1,2,3\n\xff,2,3\n"), "not text in UTF-8: byte 12 is 0xff"),
    "underscore": (*broken("a,y\n1_0,2\n3,4\n"), "'1_0' is not a number"),
    "broken LIBSVM": (*broken("1 1:2\n-1 2:x\n", "t.svm"), r"t\.svm, line 2: "),
    "NaN in LIBSVM": (*broken("1 1:2\n-1 2:nan\n", "t.svm"), r"line 2: .*not finite"),
    "cut gzip": (gzip.compress(b"1 1:2\n" * 500)[:30], "t.svm.gz", "damaged or cut short"),
    "cut xz": (lzma.compress(b"1,2\n" * 500)[:40], "t.csv.xz", "damaged or cut short"),
    "no npz": (*broken(b"hello", "t.npz"), "not an npz file"),
    "no parquet": (*broken(b"hello there, this is none", "t.parquet"), "not a Parquet file"),
    "unknown": (*broken(b"PK\x03\x04 something", "t.xlsx"), "what format is this.*--format"),
    "unknown empty": (*broken(b"", "t.what"), "is empty"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_broken_is_named(case, tmp_path):
    content, name, said = CASES[case]
    (tmp_path / name).write_bytes(content)
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises((Refusal, ValueError), match=said):
        read(str(tmp_path / name))


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"y": Y}, "it must hold X and y"),
        ({"X": np.array([[1.0, np.nan]]), "y": [1.0]}, "X holds nan at row 1, column 2"),
        ({"X": X, "y": Y[:2]}, "y must have one entry for each of the 4 rows"),
        ({"X": X, "y": np.array([1.0, np.inf, 0.0, 0.0])}, "y holds inf at row 2"),
        ({"X": X[0], "y": Y}, "X must be a matrix"),
        ({"X": np.array([["a"]]), "y": [1.0]}, "X must be a matrix of real numbers"),
        ({"X": np.zeros((0, 3)), "y": []}, "holds no row"),
        ({"X": np.array([[object()]]), "y": [1]}, "plain arrays"),
    ],
)
def test_broken_arrays_are_named(arrays, said, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(Refusal, match=said):
        read(str(tmp_path / "t.npz"))


def test_columns_that_are_not_there(tmp_path):
    text = "age,price\n1,2\n"
    with pytest.raises(Refusal, match=r"no column 'prise' \(--target\); did you mean 'price'"):
        csv_of(tmp_path, text, target="prise")
    with pytest.raises(Refusal, match="--drop is 7"):
        csv_of(tmp_path, text, drop=["7"])
    with pytest.raises(Refusal, match="both the target and dropped"):
        csv_of(tmp_path, text, target="age", drop=["1"])
    with pytest.raises(Refusal, match="2 columns called 'a'"):
        csv_of(tmp_path, "a,a,y\n1,2,3\n", target="a")
    libsvm(tmp_path / "t.svm")
    with pytest.raises(Refusal, match="--target and --drop are for CSV"):
        read(str(tmp_path / "t.svm"), target="1")
    with pytest.raises(Refusal, match="no format 'excel'"):
        read(str(tmp_path / "t.svm"), form="excel")


def test_a_missing_value_in_parquet_is_named(tmp_path):
    import pandas as pd

    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, None], "y": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(Refusal, match=r"t\.parquet, row 2, column 'a': a missing value"):
        read(str(tmp_path / "t.parquet"))
    pd.DataFrame({"a": ["x", "y"], "y": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(Refusal, match=r"row 1, column 'a': 'x' is not a number"):
        read(str(tmp_path / "t.parquet"))
