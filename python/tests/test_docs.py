"""What the pages show is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = [Path(__file__).parents[2] / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, page.name, "exec"), {})
