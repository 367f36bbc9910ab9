"""Sessions of Spark that are stopped or old are refused in one line."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import pytest

import spocc

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

STOPPED = "df: expected a data frame of a running session, found a stopped one"


@pytest.fixture
def model() -> spocc.Model:
    return spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"], method="majority")


def test_a_frame_of_a_stopped_connect_session_is_refused(
    connect: Any, connect_server: str, model: spocc.Model
) -> None:
    from pyspark.sql.connect.session import SparkSession

    from spocc.spark import compare, evidence, fit, predict, predict_set

    session = SparkSession.builder.remote(connect_server).create()
    df = session.createDataFrame([("x", "y", "x")], "a string, b string, truth string")
    session.stop()
    running = connect.createDataFrame([("x", "y", "x")], "a string, b string, truth string")
    for call in (
        lambda: evidence(df, "truth"),
        lambda: fit(df, "truth"),
        lambda: compare(df, "truth"),
        lambda: predict(df, model),
        lambda: predict_set(df, model, id="a"),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value) == STOPPED
    with pytest.raises(RuntimeError, match=r"^test: expected a data frame of a running session"):
        compare(running, "truth", test=df)


def test_a_frame_of_a_stopped_classic_session_is_refused(settings: dict[str, str], classic: Any) -> None:
    # There is one context in a process, which other tests need.
    script = f"""
        from pyspark.sql import SparkSession
        from spocc.spark import evidence

        builder = SparkSession.builder.master("local[1]")
        for name, value in {settings!r}.items():
            builder = builder.config(name, value)
        df = builder.getOrCreate().createDataFrame([("x", "x")], "a string, truth string")
        df.sparkSession.stop()
        try:
            evidence(df, "truth")
        except RuntimeError as error:
            print(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == f"{STOPPED}\n", done.stderr


def test_an_old_spark_is_refused(spark: Any, model: spocc.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    from spocc.spark import evidence, predict

    df = spark.createDataFrame([("x", "y", "x")], "a string, b string, truth string")
    # A server of this version would have to be installed beside the other.
    monkeypatch.setattr(type(spark), "version", property(lambda _: "3.5.6"))
    for call in (lambda: evidence(df, "truth"), lambda: predict(df, model)):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value) == "df: expected Spark 4.0 or later, found 3.5.6"
