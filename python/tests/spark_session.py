"""A Spark of separate processes for tests and examples; where there can be none, the summary says so."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def _lacking() -> str | None:
    """What keeps Spark from running here."""
    if importlib.util.find_spec("pyspark") is None:
        return "expected pyspark, found none: pip install 'spocc[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.path.exists(java):
        return "expected Java 17 or later, found none: apt install openjdk-17-jre-headless"
    found = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', found)
    if version is None or int(version[1]) < 17:
        return f"expected Java 17 or later, found {found.splitlines()[0] if found else 'none'}"
    return None


LACKING = _lacking()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out the examples of modules that cannot be imported."""
    names = ("spark.py", "_spark_workers.py")
    return (
        True if LACKING and collection_path.name in names and collection_path.parent.name == "spocc" else None
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says loudly that Spark was left out."""
    if LACKING:
        terminalreporter.section("SPARK WAS NOT TESTED", red=True, bold=True)
        terminalreporter.line(LACKING)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two executors, each a process of its own with one core."""
    if LACKING:
        pytest.skip(f"Spark: {LACKING}")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("spocc")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _spark_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Examples of `spocc.spark` find a session under the name `spark`."""
    if request.node.name.startswith("spocc.spark"):
        doctest_namespace["spark"] = request.getfixturevalue("spark")
