"""The documentation: what it says runs, what it names is there, and nothing public is left out.

``make docs`` builds it, in an environment of its own; these are the checks that need no builder.
"""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import saddlery as sd

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "auto"} & set(path.relative_to(DOCS).parts))
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
GALLERY = sorted((DOCS / "gallery").glob("*.py"))
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture
def made(monkeypatch):
    """The pages that are made from the source."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("pages")


# ---- what it says runs


@pytest.mark.parametrize("path", [path for path in PAGES if BLOCK.search(text(path))], ids=name)
def test_the_examples_of_a_page_run_one_after_the_other(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(text(path))
    later = [re.sub(r"^from __future__ import .*$", "", block, flags=re.MULTILINE) for block in blocks[1:]]
    script = tmp_path / "page.py"
    script.write_text("\n".join([blocks[0], *later]), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")


def test_the_pages_that_must_have_examples_have_them():
    for page in ("start", "sklearn", "certificates", "long-runs", "add-a-loss", "add-an-algorithm", "add-a-sampler"):
        assert BLOCK.search(text(DOCS / f"{page}.md")), page


@pytest.mark.parametrize("path", GALLERY, ids=name)
def test_an_example_of_the_gallery_has_a_title_a_picture_and_prose(path):
    source = text(path)
    compile(source, str(path), "exec")
    assert re.match(r'"""\n(.+)\n=+\n\n\S', source), "a title, and a first paragraph"
    assert "plt.show()" in source and source.count("\n# %%\n# ") >= 2
    assert not re.search(r"load_dataset|fetch_|urlopen|requests", source), "nothing is downloaded when docs are built"


# ---- what it names is there


def toctrees(page: str) -> list[str]:
    """Documents that the tables of contents of a page name."""
    listed = re.findall(r"```\{toctree\}\n(.*?)```", page, flags=re.DOTALL)
    lines = [line.strip() for block in listed for line in block.splitlines() if line.strip() and line[0] != ":"]
    return [re.sub(r".*<(.+)>$", r"\1", line) for line in lines]  # "title <target>"


def is_made(target: str) -> bool:
    """Is it a page that the build makes, from what is here?"""
    if target.startswith("auto/gallery/"):
        stem = Path(target).stem
        return stem == "index" or (DOCS / "gallery" / f"{stem}.py").is_file()
    if target.startswith("auto/api/"):
        return Path(target).stem.removeprefix("saddlery.") in sd.__all__
    return Path(target).with_suffix("").as_posix() in ("auto/api", "auto/methods")


def test_every_target_of_a_table_of_contents_exists_and_every_page_is_in_one():
    listed = {"index"}
    for path in PAGES:
        for target in toctrees(text(path)):
            inside = (path.parent / target).relative_to(DOCS).as_posix()
            assert is_made(inside) or (DOCS / f"{inside}.md").is_file(), f"{name(path)} lists {target}"
            listed.add(inside)
    assert {path.relative_to(DOCS).with_suffix("").as_posix() for path in PAGES} <= listed
    assert {"auto/api", "auto/methods", "auto/gallery/index"} <= listed


def anchors(page: str) -> set[str]:
    """The names by which the headings of a page are linked to."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [*PAGES, *FRONT], ids=name)
def test_every_relative_link_leads_somewhere(path):
    prose = re.sub(r"```(python|text).*?```", "", text(path), flags=re.DOTALL)
    found = re.findall(r"!?\[[^\]]*\]\(([^)\s]+)\)", prose) + re.findall(r"```\{include\} (\S+)", prose)
    for link in found:
        if re.match(r"\w+:", link):
            continue
        target, _, anchor = link.partition("#")
        place = (path.parent / target).resolve() if target else path
        inside = place.relative_to(DOCS).as_posix() if place.is_relative_to(DOCS) else ""
        if inside.startswith("auto/rooms/"):
            assert path.stem == place.stem, link
        elif inside.startswith("auto/"):
            assert is_made(inside), link
        else:
            assert place.exists(), link
            assert not anchor or anchor in anchors(text(place)), link


# ---- nothing public is left out


def test_every_public_name_is_in_the_api_page(made):
    page = made.api()
    listed = re.findall(r"^   (\w+)$", page, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {*listed, "__version__", "synthetic"} >= set(sd.__all__)
    assert "sd.__version__" in page and "saddlery.synthetic" in page
    for public in listed:
        assert hasattr(sd, public) or hasattr(sd.synthetic, public)


def test_no_name_is_in_a_section_without_a_title(made):
    assert set(made.public()) <= set(made.SECTIONS), "give the new room a section in docs/pages.py"


def test_every_method_has_an_entry_with_its_update_paper_needs_and_proof(made):
    page = made.methods()
    for info in sd.methods():
        entry = re.search(
            rf"\.\. _method-{re.escape(info.name)}:\n\n(.*?)(?=\n\.\. _method-|\Z)", page, flags=re.DOTALL
        )
        assert entry, info.name
        for fact in (":Paper:", ":Needs:", ":Proved:", ":Cost:", *(f"``{name} = " for name in info.parameters)):
            assert fact in entry[1], f"{info.name}: {fact}"
        assert len(entry[1]) > 300


def test_every_parameter_of_a_method_is_described(made):
    for info in sd.methods():
        described = dict(made.documented(made.METHODS[info.name]))
        assert set(described) >= set(info.parameters) and all(any(told) for told in described.values()), info.name


def test_every_room_has_a_page(made):
    shown = {room for names in made.ROOMS.values() for room in names.split()}
    assert shown == set(made.rooms())
    for page in made.ROOMS:
        assert f"auto/rooms/{page}.md" in text(DOCS / "rooms" / f"{page}.md")


def test_formulas_are_not_taken_for_markup(made):
    """Norms, conjugates and names that end in an underscore stay what they are; a formula keeps its lines."""
    import docstrings

    lines = [
        "The gap |x| of f*, and `coef_` or coef_ alone.",
        "",
        "    x <- y",
        "    z = |a|",
        "",
        "Parameters",
        "-----",
    ]
    lines += ["name_ : a |b|", "    of c*"]
    assert docstrings.processed(lines) == [
        r"The gap \|x\| of f\*, and `coef_` or coef\_ alone.",
        "",
        "",
        ".. code-block:: text",
        "",
        "   x <- y",
        "   z = |a|",
        "",
        "Parameters",
        "-----",
        r"name_ : a \|b\|",
        r"    of c\*",
    ]


def test_the_picture_of_the_readme_is_small():
    picture = DOCS / "_static" / "certificate.png"
    assert "docs/_static/certificate.png" in text(ROOT / "README.md")
    assert 10_000 < picture.stat().st_size < 150_000


def test_every_parameter_of_every_estimator_is_on_the_page_about_scikit_learn():
    from sklearn.utils import all_estimators

    from saddlery.estimators import MODELS

    theirs, page = dict(all_estimators()), text(DOCS / "sklearn.md")
    for model, ours in MODELS.items():
        assert f"`{model}`" in page or f"`sd.{model}`" in page, model
        for parameter in {*inspect.signature(ours).parameters, *inspect.signature(theirs[model]).parameters}:
            assert f"`{parameter}`" in page, f"{model}({parameter}=...)"


def test_every_loss_and_penalty_is_in_the_table_of_terms():
    from saddlery.terms import LOSSES, PENALTIES

    page = text(DOCS / "rooms" / "terms.md")
    for term in [*LOSSES, *PENALTIES]:
        assert f"| `{term}(" in page, term
