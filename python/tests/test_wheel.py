"""The wheel works where there is nothing else but numpy."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest


@pytest.fixture
def wheel() -> str:
    path = os.environ.get("SPOCC_WHEEL")
    if path is None:
        pytest.skip("the environment variable SPOCC_WHEEL names no wheel")
    return path


def test_it_installs_into_an_empty_environment(wheel: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
    script = textwrap.dedent("""
        import sys, spocc
        model = spocc.fit({"a": ["x", "y"] * 4, "b": ["y", "y"] * 4}, ["x", "y"] * 4, progress=True)
        assert model.predict([["x", "y"]]).tolist() == ["x"]
        assert not {"pandas", "polars", "pyarrow", "sklearn", "tqdm"} & set(sys.modules)
        try:
            model.audit().to_frame()
        except ImportError as error:
            print(error)
    """)
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    assert done.stdout == "data frames of pandas need pandas: pip install 'spocc[pandas]'\n"


def test_its_licences_are_in_it(wheel: str) -> None:
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if "/licenses/" in name}
    assert names == {"LICENSE-MIT", "LICENSE-APACHE"}


def test_it_serves_every_version_and_is_typed(wheel: str) -> None:
    assert "-cp311-abi3-" in Path(wheel).name
    names = zipfile.ZipFile(wheel).namelist()
    assert "spocc/py.typed" in names
    assert "spocc/_native.pyi" in names
    assert not [name for name in names if name.startswith("tests")]
