"""A Spark of separate processes for the tests; where there can be none, the summary says so."""

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
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < 17:
        return f"expected Java 17 or later, found {told.splitlines()[0] if told else 'none'}"
    return None


LACKING = _lacking()
collect_ignore = ["spocc/spark.py", "spocc/_spark_workers.py"] if LACKING else []


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
    # Workers do not inherit the path of the tests.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent) if _from_source() else ""
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


def _from_source() -> bool:
    """Whether the package under test is the one beside this file and not an installed wheel."""
    import spocc

    return Path(spocc.__file__).parent.parent == Path(__file__).parent


@pytest.fixture(autouse=True)
def _spark_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Examples of `spocc.spark` find a session under the name `spark`."""
    if request.node.name.startswith("spocc.spark"):
        doctest_namespace["spark"] = request.getfixturevalue("spark")
