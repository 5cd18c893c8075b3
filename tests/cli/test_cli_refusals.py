"""What bad input gets, command by command: one line on stderr, an exit code, nothing on stdout, nothing written."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from lines import one_line

import saddlery as sd

SMALL = "a,b,y\n1,2,0\n3,4.5,1\n-1,0.5,1\n0.3,2,0\n"
FILES = {
    "good.csv": SMALL,
    "one_class.csv": "a,b,y\n1,2,1\n3,4,1\n",
    "nan.csv": "a,b,y\n1,nan,0\n3,4,1\n",
    "inf.csv": "a,b,y\n1,inf,0\n3,4,1\n",
    "broken.csv": "a,b,y\n1,2,0\n3,4\n",
    "words.csv": "a,b,y\n1,red,0\n3,blue,1\n",
    "text_target.csv": "a,b,y\n1,2,no\n3,4,yes\n5,5,no\n",
    "real.csv": "a,b,y\n1,2,0.5\n3,4,1.25\n5,5,7.75\n",
    "empty.csv": "",
    "broken.svm": "1 1:2\n-1 1:x\n",
    "wide.csv": "a,b,c,d,y\n1,2,3,4,0\n4,3,2,1,1\n",
    "strange.xlsx": "PK not really",
}
DATA = {  # data that no command takes, and what it says of them
    "nowhere.csv": "there is no file nowhere.csv",
    "folder": "folder is a directory",
    "empty.csv": "empty.csv is empty",
    "nan.csv": "nan.csv, line 2, column 'b': 'nan' is a missing value",
    "inf.csv": "inf.csv, line 2, column 'b': 'inf' is not finite",
    "broken.csv": "broken.csv, line 3: 2 columns",
    "words.csv": "words.csv, line 2, column 'b': 'red' is not a number",
    "broken.svm": "broken.svm, line 2:",
    "strange.xlsx": "strange.xlsx: what format is this?",
    "nonsense-set": "no known data set of that name",
    "mushroms": "Did you mean mushrooms?",
}
COMMANDS = {
    "fit": ("fit", "DATA", "--model", "logistic"),
    "path": ("path", "DATA", "--model", "lasso"),
    "compare": ("compare", "DATA", "--methods", "sdca", "--no-rivals"),
    "predict": ("predict", "good.saddlery", "DATA"),
    "certify": ("certify", "good.saddlery", "DATA"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The files, a folder, and a model of good.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SADDLERY_CACHE", str(tmp_path / "cache"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    X = np.array([[1, 2], [3, 4.5], [-1, 0.5], [0.3, 2]])
    sd.LogisticRegression().fit(X, [0, 1, 1, 0]).save(tmp_path / "good.saddlery")
    sd.Ridge().fit(X, [0.0, 1.0, 1.0, 0.0]).save(tmp_path / "ridge.saddlery")
    return tmp_path


def refused(call, here, words, said, code=2):
    """One line, that code, nothing else anywhere."""
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    made = call(*words)
    assert made.code == code, made
    assert said in one_line(made.err)
    assert made.out == ""
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("command", COMMANDS)
def test_data_that_no_command_takes(command, data, call, here):
    refused(call, here, [data if word == "DATA" else word for word in COMMANDS[command]], DATA[data])


REFUSED = {
    "fit: no model": ("fit good.csv", "Missing option '--model'"),
    "fit: unknown model": ("fit good.csv --model lassso", "there is no 'lassso'; did you mean 'lasso'?"),
    "fit: one class": ("fit one_class.csv --model logistic", "class"),
    "fit: one class svc": ("fit one_class.csv --model svc", "class"),
    "fit: words for a regression": (
        "fit text_target.csv --model ridge",
        "found words such as 'no'",
    ),
    "fit: numbers for a classifier": ("fit real.csv --model svc", "a target of classes, found 0.5"),
    "fit: negative alpha": ("fit real.csv --model lasso --alpha -1", "alpha"),
    "fit: negative C": ("fit good.csv --model svc --C -1", "'C' parameter"),
    "fit: C is 0": ("fit good.csv --model svc --C 0", "'C' parameter"),
    "fit: alpha of a model without": (
        "fit good.csv --model logistic --alpha 1",
        "no parameter --alpha; it has --C",
    ),
    "fit: l1-ratio": ("fit real.csv --model elastic-net --l1-ratio 2", "l1_ratio"),
    "fit: tol": ("fit good.csv --model logistic --tol -1", "--tol must be"),
    "fit: tol is no number": ("fit good.csv --model logistic --tol small", "--tol"),
    "fit: NaN tol": ("fit good.csv --model logistic --tol nan", "--tol must be"),
    "fit: max-time": ("fit good.csv --model logistic --max-time 0", "--max-time must be"),
    "fit: max-iter": ("fit good.csv --model logistic --max-iter -3", "--max-iter must be"),
    "fit: seed": ("fit good.csv --model logistic --seed -3", "random_state"),
    "fit: unknown solver": ("fit good.csv --model logistic --solver sdcaa", "did you mean 'sdca'?"),
    "fit: a solver that cannot": ("fit real.csv --model lasso --solver sdca", "methods that can:"),
    "fit: unknown parameter": ("fit good.csv --model logistic --set colour=red", "no parameter 'colour'"),
    "fit: no value": ("fit good.csv --model logistic --set dual", "--set: write NAME=VALUE"),
    "fit: unknown option": ("fit good.csv --model logistic --fast", "--fast"),
    "fit: output in no folder": ("fit good.csv --model logistic -o no/where.saddlery", "no is not a directory"),
    "fit: output is a folder": ("fit good.csv --model logistic -o folder", "folder is a directory"),
    "fit: target": ("fit good.csv --model logistic --target z", "has no column 'z'"),
    "fit: format": ("fit good.csv --model logistic --format toml", "no format 'toml'"),
    "predict: no model": ("predict no.saddlery good.csv", "there is no model no.saddlery"),
    "predict: a folder": ("predict folder good.csv", "folder is a directory; a model is a file"),
    "predict: no model file": ("predict good.csv good.csv", "good.csv: not a model of saddlery's"),
    "predict: other columns": ("predict good.saddlery wide.csv", "the model has 2 columns, but wide.csv has 4"),
    "predict: no probabilities": (
        "predict ridge.saddlery good.csv --proba",
        "which has no probabilities",
    ),
    "predict: output": ("predict good.saddlery good.csv -o folder", "folder is a directory"),
    "certify: no model": ("certify no.saddlery good.csv", "there is no model no.saddlery"),
    "certify: other columns": ("certify good.saddlery wide.csv", "the model has 2 columns, but wide.csv has 4"),
    "certify: unknown classes": ("certify good.saddlery text_target.csv", "no"),
    "certify: words": ("certify ridge.saddlery text_target.csv", "found words"),
    "certify: tol": ("certify good.saddlery good.csv --tol -2", "--tol must be"),
    "path: values": ("path real.csv --model lasso --values 1,two", "--values must be numbers"),
    "path: eps": ("path real.csv --model lasso --eps 2", "--eps must lie"),
    "path: output": ("path real.csv --model lasso -o path.txt", "a path is written as .csv or .json"),
    "path: unknown model": ("path real.csv --model tree", "--model: there is no 'tree'"),
    "path: words": ("path text_target.csv --model lasso", "found words"),
    "compare: unknown method": ("compare good.csv --methods sdcaa", "there is no method 'sdcaa'; did you mean 'sdca'?"),
    "compare: a method that cannot": ("compare good.csv --penalty l1 --methods sdca", "methods that can:"),
    "compare: a parameter": ("compare good.csv --methods sdca:colour=red", "has no parameter 'colour'"),
    "compare: half a parameter": ("compare good.csv --methods sdca:order", "written sdca:name=value"),
    "compare: no method": ("compare good.csv --methods ,", "methods must be"),
    "compare: unknown loss": ("compare good.csv --loss logisitc", "did you mean 'logistic'?"),
    "compare: a loss's parameter": (
        "compare good.csv --loss huber:with=2",
        "no parameter 'with'; it has width",
    ),
    "compare: a loss's number": ("compare good.csv --loss huber:width=x", "width must be a number"),
    "compare: unknown penalty": ("compare good.csv --penalty l3", "--penalty: there is no 'l3'"),
    "compare: box": ("compare good.csv --penalty box", "box needs its bounds"),
    "compare: groups": ("compare good.csv --penalty group-l2", "groups cannot be told"),
    "compare: negative lam": ("compare good.csv --lam -1", "--lam must be"),
    "compare: l1-ratio": ("compare good.csv --l1-ratio 1.5", "--l1-ratio must lie"),
    "compare: tol": ("compare good.csv --tol inf", "--tol must be"),
    "compare: max-time": ("compare good.csv --max-time -1", "--max-time must be"),
    "compare: three classes": ("compare wide.csv --target a --loss logistic", "two classes"),
    "compare: one class": ("compare one_class.csv", "two classes, found 1"),
    "compare: words": ("compare text_target.csv --loss squared", "a target of numbers"),
    "compare: output": ("compare good.csv -o no/where.html", "no is not a directory"),
    "compare: twice": ("compare good.csv --penalty l1:l1=2 --lam 3", "behind its name already"),
    "methods: unknown": ("methods sdcaa", "did you mean 'sdca'?"),
    "datasets: too much": ("datasets a9a", "unexpected extra argument"),
    "demo: output": ("demo -o folder", "folder is a directory"),
    "demo: option": ("demo --fast", "--fast"),
    "no such command": ("fti good.csv", "No such command 'fti'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_each_command_refuses(case, call, here):
    words, said = REFUSED[case]
    if case == "compare: three classes":
        (here / "wide.csv").write_text("a,b,y\n1,2,3\n2,3,4\n3,5,5\n")
    refused(call, here, words.split(), said)


@pytest.mark.parametrize("command", ["predict", "certify"])
def test_a_model_that_was_tampered_with(command, call, here):
    """One number of it changed: the checksum tells."""
    kept = here / "good.saddlery"
    with zipfile.ZipFile(kept) as bundle:
        parts = {name: bytearray(bundle.read(name)) for name in bundle.namelist()}
    parts["a0.npy"][-1] ^= 1
    with zipfile.ZipFile(kept, "w") as bundle:
        for name, part in parts.items():
            bundle.writestr(name, bytes(part))
    refused(call, here, (command, "good.saddlery", "good.csv"), "checksum")


@pytest.mark.parametrize("command", ["predict", "certify"])
def test_a_model_that_was_cut_short(command, call, here):
    kept = here / "good.saddlery"
    kept.write_bytes(kept.read_bytes()[:200])
    refused(call, here, (command, "good.saddlery", "good.csv"), "good.saddlery")


def test_a_folder_that_cannot_be_written_to(call, here, monkeypatch):
    monkeypatch.setattr("os.access", lambda *given: False)
    refused(call, here, ("fit", "good.csv", "--model", "ridge", "-o", "kept.saddlery"), "cannot be written to")


def test_an_error_of_our_own_is_one_line_too(call, here, monkeypatch):
    def broken(*given, **more):
        raise RuntimeError("the roof\nfell in")

    monkeypatch.setattr("saddlery.cli.sources._csv", broken)
    words = ("fit", "good.csv", "--model", "ridge")
    refused(call, here, words, "an error of its own: RuntimeError: the roof fell in", code=70)
    shown = call("--debug", *words)
    assert "Traceback" in shown.err and shown.code == 70
    assert "Traceback" in call(*words, "--debug").err
