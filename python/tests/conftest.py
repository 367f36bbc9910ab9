"""What the tests share: a panel, and the command where it was built."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import spark_session
from panels import Panel, make_panel

# Without it scikit-learn leaves some of its checks out; read when scipy is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Lets the examples of the package, which are not below this folder, have a Spark."""
    config.pluginmanager.register(spark_session)


@pytest.fixture
def panel() -> Panel:
    return make_panel()


@pytest.fixture
def command() -> Callable[..., str]:
    """Runs the command `spocc` and returns what it prints."""
    name = os.environ.get("SPOCC")
    if name is None:
        pytest.skip("the environment variable SPOCC names no command")

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([name, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
