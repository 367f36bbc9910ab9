"""What cannot be done on Spark is refused in one line, and before a job runs where that is possible."""

from __future__ import annotations

import re
from typing import Any

import pytest

import spocc

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def df(spark: Any) -> Any:
    rows = [("x", "x", "x", 1, 0.5, ["x"]), ("y", "x", "y", -1, -0.5, ["y"]), ("y", None, "y", 2, 1.0, None)]
    schema = "a string, b string, truth string, n int, w double, list array<string>"
    return spark.createDataFrame(rows, schema)


def refusal(call: Any, *given: Any, error: type = spocc.SpoccError, **named: Any) -> str:
    """The one line with which a call is refused."""
    with pytest.raises(error) as caught:
        call(*given, **named)
    message = str(caught.value)
    assert "\n" not in message
    return message


COLUMNS = "expected some of the columns a, b, truth, n, w, list, found"
TYPES = "expected texts, whole numbers or booleans, found array<string>"


@pytest.mark.parametrize(
    ("given", "named", "error", "message"),
    [
        (("true", ["a"]), {}, spocc.SpoccError, f"label: {COLUMNS} `true`"),
        (("truth", ["a", "c"]), {}, spocc.SpoccError, f"classifiers: {COLUMNS} `c`"),
        (("truth",), {}, TypeError, f"classifiers, column `list`: {TYPES}"),
        (("list", ["a"]), {}, TypeError, f"label, column `list`: {TYPES}"),
        (("truth", ["a"]), {"weight": "b"}, TypeError, "weight, column `b`: expected numbers, found string"),
        (
            ("truth", ["a"]),
            {"count": "w"},
            TypeError,
            "count, column `w`: expected whole numbers, found double",
        ),
        (
            ("truth", ["a", "truth"]),
            {},
            spocc.SpoccError,
            "column `truth`: expected one use of it, found two",
        ),
        (("truth", "ab"), {}, TypeError, "classifiers: expected a sequence of names, found the text `ab`"),
        (("truth", []), {}, spocc.SpoccError, "classifiers: expected at least one, found none"),
        (
            ("truth", ["a"]),
            {"level": "all"},
            spocc.SpoccError,
            "level: expected one of marginals, pairs, tally, found `all`",
        ),
        (("truth", ["a"]), {"classes": ["x"]}, spocc.SpoccError, "found `y`"),
        (
            ("truth", ["a"]),
            {"count": "n"},
            spocc.SpoccError,
            "expected a whole number from 0 and below 2^64, found -1",
        ),
        (("truth", ["a"]), {"weight": "w"}, spocc.SpoccError, "found -0.5"),
        (("truth", ["w"]), {}, spocc.SpoccError, ": expected a whole number, a text or a boolean"),
        (("truth", ["a", "b"]), {"memory": 10}, spocc.SpoccError, "bytes of memory"),
    ],
)
def test_evidence_that_cannot_be_counted_is_refused(
    df: Any, given: Any, named: Any, error: type, message: str
) -> None:
    from spocc.spark import evidence

    assert message in refusal(evidence, df, *given, error=error, **named)


def test_settings_are_checked_before_any_row_is_read(df: Any) -> None:
    from spocc.spark import fit

    assert "found `best`" in refusal(fit, df, "truth", ["a"], method="best")
    assert "strength" in refusal(fit, df, "truth", ["a"], method="spocc", strength=1)
    assert "'colour'" in refusal(fit, df, "truth", ["a"], method="spocc", colour=1, error=TypeError)
    # Counting would refuse these rows too, and later.
    wrong = df.withColumn("a", df["w"])
    assert "found `last`" in refusal(fit, wrong, "truth", ["a"], ties="last")
    assert "found `ask`" in refusal(fit, wrong, "truth", ["a"], missing="ask")
    assert "found it alone" in refusal(fit, wrong, "truth", ["a"], per_class=True)
    assert "class_weight: expected None" in refusal(fit, wrong, "truth", ["a"], class_weight="heavy")
    assert "seed: expected a whole number" in refusal(fit, wrong, "truth", ["a"], seed=-1)


def test_what_is_no_frame_of_spark_is_refused(df: Any) -> None:
    from spocc.spark import evidence, predict, predict_set

    model = spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"], method="majority")
    pandas = df.select("a", "b").toPandas()
    for call in (
        lambda frame: evidence(frame, "truth"),
        lambda frame: predict(frame, model),
        lambda frame: predict_set(frame, model, id="a"),
    ):
        message = refusal(call, pandas, error=TypeError)
        assert message == f"df: expected a data frame of Spark, found {type(pandas).__module__}.DataFrame"


def test_a_label_that_cannot_be_decided_fails_in_few_lines(df: Any) -> None:
    from pyspark.errors import PythonException

    from spocc.spark import predict

    model = spocc.fit({"w": [1, 2]}, [1, 2], method="majority")
    with pytest.raises(PythonException) as caught:
        predict(df, model).collect()
    lines = str(caught.value).partition("SQLSTATE")[0].strip().splitlines()
    assert re.match(r"spocc.SpoccError: in a partition, row 0, `w`: label -?0.5: expected a whole", lines[-1])
    assert len(lines) < 8


def test_a_frame_without_rows_is_refused_as_it_is_locally(df: Any) -> None:
    from spocc.spark import evidence, fit

    empty = df.where("false")
    assert evidence(empty, "truth", ["a", "b"]).n_rows == 0
    expected = "truth: expected at least one labelled row, found none"
    assert refusal(fit, empty, "truth", ["a", "b"]) == expected
    assert refusal(fit, empty, "truth", ["a", "b"], method="spocc") == expected


def test_a_frame_that_lacks_a_classifier_or_has_the_output_is_refused(df: Any) -> None:
    from spocc.spark import predict

    model = spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"], method="majority")
    assert refusal(predict, df.drop("b"), model).endswith("found `b`")
    lists = df.withColumn("b", df["list"])
    assert refusal(predict, lists, model, error=TypeError).endswith("found array<string>")
    assert refusal(predict, df, model, output="N").endswith("not yet in the frame, found `N`")
    assert refusal(predict, df, model, columns=["margins"]).endswith("found margins")
    assert refusal(predict, df, model, columns="margin", error=TypeError).endswith("found the text `margin`")
    assert refusal(predict, df, model, columns=["probability"]).endswith("with probabilities, found majority")
    assert refusal(predict, df.select("*", df["b"]), model) == "classifiers: expected one column `b`, found 2"


def test_sets_need_a_calibrated_model_and_a_column_of_ids(df: Any) -> None:
    from spocc.spark import predict_set

    plain = spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"])
    model = spocc.fit({"a": ["x", "y"] * 12, "b": ["x", "y"] * 12}, ["x", "y"] * 12, calibrate="cross")
    assert "expected a calibrated model" in refusal(predict_set, df, plain, id="n")
    assert refusal(predict_set, df, model, id="item").endswith("found `item`")
    assert "coverage: expected" in refusal(predict_set, df, model, 2, id="n")
    assert "seed: expected" in refusal(predict_set, df, model, 0.5, id="n", seed=-1)
    assert refusal(predict_set, df, model, 0.5, id="n", output="A").endswith("found `A`")


def test_other_columns_may_share_a_name_and_streams_can_be_decided(spark: Any, df: Any) -> None:
    from spocc.spark import evidence, predict

    model = spocc.fit({"a": ["x", "y"], "b": ["x", "y"]}, ["x", "y"], method="majority")
    repeated = df.select("a", "b", df["n"].alias("n.n"), df["w"].alias("n.n"))
    assert [row.decision for row in predict(repeated, model).collect()] == ["x", "x", "y"]
    stream = spark.readStream.format("rate").load().selectExpr("'x' a", "'y' b", "timestamp")
    assert predict(stream, model).isStreaming
    assert "found a stream" in refusal(evidence, stream, "a")


def test_unseen_labels_count_as_missing(spark: Any) -> None:
    from spocc.spark import predict

    model = spocc.fit({"a": [1, 2], "b": [1, 2]}, [1, 2], method="naive-bayes")
    df = spark.createDataFrame([(7, 2), (None, None)], "a int, b int")
    found = predict(df, model, columns=["answered", "by_prior"]).collect()
    assert [(row.decision, row.answered, row.by_prior) for row in found] == [(2, 1, False), (1, 0, True)]
