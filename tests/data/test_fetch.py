"""Named data sets: found where they should be, verified by contents, with one clear error otherwise."""

import hashlib
import io
import logging
import os
import struct
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pooch
import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from saddlery.data import fetch
from saddlery.data.fetch import DatasetInfo, datasets, fingerprint, load_dataset
from saddlery.data.svmlight import write_svmlight

X = csr_array(np.array([[0.5, 0.0, -2.0], [0.0, 0.0, 0.0], [0.0, 1e-300, 3.0]]))
B = np.array([1.0, -1.0, 0.25])
URL = "https://example.org/sets/toy.bz2"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Folders for local files and the cache, no network, and two known sets: toy (fetch), mine (local)."""
    known = {
        name: DatasetInfo(
            name, 3, 4, 4, "regression", f"the set {name}", "someone/data: a.mat", fingerprint(wide(), B), url
        )
        for name, url in (("toy", URL), ("mine", None))
    }
    monkeypatch.setattr(fetch, "_table", lambda: known)
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"SADDLERY_{name.upper()}", str(tmp_path / name))

    def offline(*_, **__):
        raise requests.exceptions.ConnectionError("Name or service not known")

    monkeypatch.setattr(requests.Session, "request", offline)
    return tmp_path


def wide():
    """X with a last column that has no entry, which the file does not show."""
    return csr_array((X.data, X.indices, X.indptr), shape=(3, 4))


@pytest.mark.parametrize("name", ["toy", "mine"])
@pytest.mark.parametrize("ending", ["", ".xz", ".gz", ".bz2"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_local_file_is_loaded(place, name, ending, dtype):
    write_svmlight(place / "data" / f"{name}{ending}", X, B)
    found = load_dataset(name, dtype=dtype)
    assert found.name == name and found.description == f"the set {name}"
    assert found.X.shape == (3, 4) and found.X.dtype == dtype and found.X.indices.dtype == np.int32
    assert np.array_equal(found.X.toarray(), wide().toarray().astype(dtype)) and np.array_equal(found.b, B)


def test_the_local_folder_may_begin_with_a_tilde(place, monkeypatch):
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("SADDLERY_DATA", "~/data")
    write_svmlight(place / "data" / "mine", X, B)
    assert np.array_equal(load_dataset("mine").b, B)


def test_a_local_file_comes_before_the_cache_and_a_folder_is_no_file(place):
    (place / "data" / "toy").mkdir()
    (place / "cache" / "toy.bz2").write_text("not looked at")
    write_svmlight(place / "data" / "toy.xz", X, B)
    assert np.array_equal(load_dataset("toy").b, B)


@pytest.mark.parametrize("local", ["", "unset", "nowhere"])
def test_the_cache_is_used_without_the_network(place, monkeypatch, local):
    monkeypatch.setenv("SADDLERY_DATA", local)
    if local == "unset":
        monkeypatch.delenv("SADDLERY_DATA")
    write_svmlight(place / "cache" / "toy.bz2", X, B)
    assert np.array_equal(load_dataset("toy").b, B)


def test_a_set_is_downloaded_once_and_quietly(place, monkeypatch, caplog):
    asked = []
    write_svmlight(place / "sent.bz2", X, B)

    def answer(_session, method, url, **_keywords):
        asked.append((method, url))
        response = requests.Response()
        response.status_code = 200
        response.raw = io.BytesIO((place / "sent.bz2").read_bytes())
        return response

    monkeypatch.setattr(requests.Session, "request", answer)
    logger = pooch.get_logger()
    monkeypatch.setattr(logger, "level", logging.DEBUG)
    monkeypatch.setattr(logger, "handlers", [caplog.handler])
    for _ in range(2):
        assert np.array_equal(load_dataset("toy").b, B)
    assert asked == [("get", URL)] and os.listdir(place / "cache") == ["toy.bz2"]
    assert caplog.records == [] and logger.level == logging.DEBUG


def test_the_usual_cache_folder_is_pooch_s(place, monkeypatch):
    asked = {}
    monkeypatch.delenv("SADDLERY_CACHE")
    monkeypatch.setattr(pooch, "retrieve", lambda url, **keywords: asked.update(keywords, url=url) or place / "file")
    write_svmlight(place / "file", X, B)
    load_dataset("toy")
    assert asked == {"url": URL, "known_hash": None, "fname": "toy.bz2", "path": pooch.os_cache("saddlery")}


def test_offline_says_what_was_tried_and_what_to_do(place):
    with pytest.raises(ConnectionError) as caught:
        load_dataset("toy")
    assert str(caught.value) == (
        f"data set 'toy' is not in SADDLERY_DATA = {place / 'data'}, "
        f"and downloading {URL} to {place / 'cache'} failed (Name or service not known). "
        "Set SADDLERY_DATA to a folder with its LIBSVM text "
        "(toy, toy.xz, toy.gz, toy.bz2; contents: GitHub someone/data: a.mat)."
    )
    assert os.listdir(place / "cache") == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [(requests.exceptions.Timeout("slow"), ConnectionError), (PermissionError(13, "no"), PermissionError)],
)
def test_other_failures_of_a_download(place, monkeypatch, error, kind):
    def retrieve(*_, **__):
        raise error

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(kind, match=f"downloading {URL} to"):
        load_dataset("toy")


@pytest.mark.parametrize(
    ("folder", "searched"),
    [
        (None, r"a local folder \(the environment variable SADDLERY_DATA is not set\)"),
        ("nowhere", r"SADDLERY_DATA = nowhere \(no such folder\)"),
        ("", "a local folder"),
    ],
)
def test_a_set_without_a_url_says_that_it_must_be_supplied(place, monkeypatch, folder, searched):
    monkeypatch.delenv("SADDLERY_DATA")
    if folder is not None:
        monkeypatch.setenv("SADDLERY_DATA", folder)
    message = f"data set 'mine' is not in {searched}.* and cannot be downloaded. Set SADDLERY_DATA to a folder"
    with pytest.raises(FileNotFoundError, match=message):
        load_dataset("mine")


@pytest.mark.parametrize("name", ["toy", "mine"])
def test_other_contents_are_refused(place, name):
    path = place / "data" / name
    write_svmlight(path, X[:2], B[:2])
    with pytest.raises(ValueError) as caught:
        load_dataset(name)
    found = fingerprint(csr_array((X[:2].data, X[:2].indices, X[:2].indptr), shape=(2, 4)), B[:2])
    again = "load it again" if name == "toy" else "put the right one there (contents: GitHub someone/data: a.mat)"
    assert str(caught.value) == (
        f"data set {name!r}: {path} has fingerprint {found} (2 rows, 2 entries), not the expected "
        f"{fingerprint(wide(), B)} (3 rows, 4 entries). Remove {path} and {again}."
    )


@pytest.mark.parametrize("text", ["<html>Please log in</html>", "1 5:1\n", ""])
def test_a_broken_download_is_refused(place, text):
    path = place / "cache" / "toy.bz2"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"data set 'toy': {path}.*\. Remove {path} and load it again\."):
        load_dataset("toy")


def test_a_bad_dtype_is_refused_before_any_work(place):
    with pytest.raises(ValueError, match="dtype is int32; it must be float32 or float64"):
        load_dataset("toy", dtype=np.int32)


@pytest.mark.parametrize(
    ("name", "near"),
    [("cina", "'CINA'"), ("a9", "'a9a'"), ("ijcn1", "'ijcnn1'"), ("sector", "'sector.scale'")],
)
def test_an_unknown_name_gets_the_nearest(name, near):
    with pytest.raises(ValueError, match=f"no data set is called '{name}'; did you mean .*{near}.*lists all 51"):
        load_dataset(name)


def test_a_name_like_no_other():
    with pytest.raises(ValueError, match="no data set is called 'zzzzzzzzzz'; saddlery"):
        load_dataset("zzzzzzzzzz")


def by_hand(rows, n, d, b):
    """Fingerprint spelled out: rows as lists of (column, value)."""
    entries = [entry for row in rows for entry in row]
    starts = np.cumsum([0, *map(len, rows)]).tolist()
    text = struct.pack(f"<2q{n + 1}q", n, d, *starts)
    text += struct.pack(f"<{len(entries)}q{len(entries)}d", *(j for j, _ in entries), *(v for _, v in entries))
    return hashlib.sha256(text + struct.pack(f"<{n}d", *b)).hexdigest()


def test_fingerprint_is_the_hash_of_the_little_endian_numbers():
    expected = by_hand([[(0, 0.5), (2, -2.0)], [], [(1, 1e-300), (2, 3.0)]], 3, 3, B)
    assert fingerprint(X, B) == expected
    assert fingerprint(X, B.tolist()) == expected


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None, max_examples=50)
def test_fingerprint_sees_the_numbers_and_nothing_else(seed, n, d):
    rng = np.random.default_rng(seed)
    A = csr_array(random_array((n, d), density=0.6, rng=rng, dtype=np.float64))
    A.data[:] = np.float32(A.data)
    b = rng.integers(-2, 3, n).astype(float)
    expected = fingerprint(A, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetch, "_SLICE", 2)
        assert fingerprint(A, b) == expected
    wide = csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    assert fingerprint(wide, b) == fingerprint(A.astype(np.float32), b.astype(int)) == expected
    assert (
        fingerprint(A.tocsc(), -0.0 + b) == fingerprint(A.astype(np.longdouble), np.where(b == 0, -0.0, b)) == expected
    )
    backwards = csr_array((A.data.copy(), A.indices.copy(), A.indptr.copy()), shape=A.shape)
    for first, last in zip(A.indptr, A.indptr[1:], strict=False):
        for array in (backwards.data, backwards.indices):
            array[first:last] = array[first:last][::-1].copy()
    kept = backwards.indices.copy()
    assert fingerprint(backwards, b) == expected and np.array_equal(backwards.indices, kept)
    assert fingerprint(A, b + np.eye(n)[rng.integers(n)]) != expected
    assert fingerprint(csr_array((A.data, A.indices, A.indptr), shape=(n, d + 1)), b) != expected
    if A.nnz:
        other = A.copy()
        other.data[rng.integers(A.nnz)] += 1e-9
        assert fingerprint(other, b) != expected
        other.data[:] = A.data
        other.data[0] = 0  # a stored zero is not an absent entry
        stored = fingerprint(other, b)
        other.eliminate_zeros()
        assert stored != fingerprint(other, b)


def test_the_table_is_complete_and_consistent():
    table = datasets()
    assert len(table) == len({info.name for info in table}) == 51
    for info in table:
        assert info.n > 0 and info.d > 0 and 0 < info.nnz <= info.n * info.d
        assert info.kind in ("binary", "multiclass", "regression") and len(info.description) > 15
        assert ": " in info.source and "\n" not in info.description + info.source
        assert len(info.fingerprint) == 64 and int(info.fingerprint, 16)
        assert info.origin == ("fetch" if info.url else "local")
    urls = [info.url for info in table if info.url]
    files = [Path(urlsplit(url).path).name for url in urls]
    assert len(set(files)) == len(files) == 11  # the cache holds one file each
    for url in urls:
        parts = urlsplit(url)
        assert (parts.scheme, parts.netloc) == ("https", "www.csie.ntu.edu.tw")
        assert parts.path.startswith("/~cjlin/libsvmtools/datasets/")


@pytest.mark.parametrize("info", datasets(), ids=lambda info: info.name)
def test_every_set_present_is_the_one_recorded(info, monkeypatch):
    folder = os.environ.get("SADDLERY_DATA")
    if not folder or not any(Path(folder, info.name + ending).is_file() for ending in ("", ".xz", ".gz", ".bz2")):
        pytest.skip(f"needs the data set {info.name}: SADDLERY_DATA is not set, or has no such file")
    found = load_dataset(info.name)  # checks the fingerprint
    assert found.X.shape == (info.n, info.d) and found.X.nnz == info.nnz and found.b.shape == (info.n,)
    assert found.X.has_canonical_format and np.isfinite(found.X.data).all()
    classes = len(np.unique(found.b))
    assert {"binary": classes == 2, "multiclass": classes > 2, "regression": classes > 2}[info.kind]
