"""A Spark of separate processes for tests and examples; where there can be none, the summary says so."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
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


def _lacking_connect() -> str | None:
    """What keeps a client of Spark Connect from running here."""
    for name in ("grpc", "grpc_status", "google.rpc", "zstandard"):
        try:
            importlib.import_module(name)
        except ImportError:
            return f"expected the module {name}, found none: pip install 'pyspark[connect]'"
    return None


LACKING = _lacking()
LACKING_CONNECT = LACKING or _lacking_connect()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves out the examples of modules that cannot be imported."""
    folders = [folder.name for folder in collection_path.parents]
    return True if LACKING and folders[:2] == ["spark", "spocc"] else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says loudly that Spark was left out."""
    if LACKING_CONNECT:
        terminalreporter.section(
            f"{'SPARK' if LACKING else 'SPARK CONNECT'} WAS NOT TESTED", red=True, bold=True
        )
        terminalreporter.line(LACKING_CONNECT)


# Two executors, each a process of its own with one core.
MASTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of both kinds of session."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
    }


@pytest.fixture(scope="session")
def classic(settings: dict[str, str]) -> Iterator[Any]:
    """A session whose driver is this process."""
    if LACKING:
        pytest.skip(f"Spark: {LACKING}")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(MASTER).appName("spocc")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def connect_server(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of Spark Connect, which is a process of its own."""
    if LACKING_CONNECT:
        pytest.skip(f"Spark Connect: {LACKING_CONNECT}")
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {
        **settings,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    command = [os.path.join(pyspark.__path__[0], "bin", "spark-submit"), "--master", MASTER]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    for name, value in given.items():
        command += ["--conf", f"{name}={value}"]
    log = tmp_path_factory.mktemp("connect") / "log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, cwd=log.parent) as server:
        try:
            _wait(server, port, log)
            yield f"sc://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Returns once the port is open."""
    for _ in range(3000):
        if server.poll() is not None:
            break
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail(f"the server of Spark Connect did not start:\n{log.read_text(errors='replace')[-4000:]}")


@pytest.fixture(scope="session")
def connect(connect_server: str) -> Iterator[Any]:
    """A session of Spark Connect, which has neither a context nor broadcasts."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(connect_server).create()
    yield session
    session.stop()


@pytest.fixture(scope="session", params=["classic", "connect"])
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session of each kind in turn."""
    session = request.getfixturevalue(request.param)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "connect":
            # The functions of `pyspark.sql.functions` are then those of Connect.
            patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
        yield session


@pytest.fixture(autouse=True)
def _classic_functions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have the functions of classic sessions, also while that of Connect is still there."""
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    if params.get("spark") != "connect":
        monkeypatch.delenv("SPARK_CONNECT_MODE_ENABLED", raising=False)


@pytest.fixture(autouse=True)
def _spark_in_doctests(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Examples of `spocc.spark` find a session under the name `spark`."""
    if request.node.name.startswith("spocc.spark"):
        doctest_namespace["spark"] = request.getfixturevalue("classic")
