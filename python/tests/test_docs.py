"""The code blocks of the pages run and print the output that the pages show.

Python blocks of a page are run in order. A text block below one is its expected output, which
``SPOCC_BLESS=1`` rewrites.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md", ROOT / "python" / "README.md"]
BLOCK = re.compile(r"^```python( spark)?\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def run(code: str, name: str, names: dict[str, Any]) -> str:
    """The output of a block."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, name, "exec"), names)
    lines = [line.rstrip() for line in output.getvalue().strip().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def follow(page: Path, names: dict[str, Any]) -> None:
    """Runs the blocks of a page, except those for Spark if there is no session."""
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == len(re.findall("^```python", text, re.MULTILINE)) > 0
    for block in blocks:
        needs_spark, code, shown = block.groups()
        if needs_spark and "spark" not in names:
            continue
        printed = run(code, page.name, names)
        if os.environ.get("SPOCC_BLESS") and shown is not None:
            blessed = block.group().replace(f"```text\n{shown}```", f"```text\n{printed}```")
            page.write_text(
                page.read_text(encoding="utf-8").replace(block.group(), blessed), encoding="utf-8"
            )
        else:
            assert printed == (shown or ""), code


@pytest.mark.filterwarnings("error::spocc.RowWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_a_page_print_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    follow(page, {})


def test_examples_of_spark_print_what_the_page_shows(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    follow(ROOT / "python" / "README.md", {"spark": spark})
