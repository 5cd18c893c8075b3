"""The examples of the README run as they stand, one after the other, as a reader would paste them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_readme_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 5
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")


def test_readme_names_every_method_loss_and_penalty():
    import saddlery as sd
    from saddlery.terms import LOSSES, PENALTIES

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in [*LOSSES, *PENALTIES, *(method.name for method in sd.methods())]:
        assert f"`{name}`" in text, f"{name} is not in the README"
