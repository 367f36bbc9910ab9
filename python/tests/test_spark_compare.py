"""Comparisons on Spark are those of `spocc.compare` on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

import spocc

from open_panels import NAMES as OPEN_NAMES
from open_panels import make_open_panel

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

NAMES = [f"k{k}" for k in range(4)]


def spread(spark: Any, frame: Any, kind: str) -> Any:
    """The frame in Spark; columns that hold numbers are told by their names."""
    numbers = {"w": "double", "n": "long"}
    columns = ", ".join(f"{name} {numbers.get(name, kind)}" for name in frame.columns)
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    return spark.createDataFrame(rows, columns).repartition(3)


@pytest.fixture(scope="module")
def frame() -> Any:
    """Predictions, the truth of most rows, and weights."""
    rng = np.random.default_rng(5)
    truth = rng.choice(["bug", "praise", "question"], 240)
    cells = np.where(rng.random((240, 4)) < 0.7, truth[:, None], rng.choice(["bug", "praise"], (240, 4)))
    frame = pandas.DataFrame(cells, columns=NAMES, dtype=object)
    frame["truth"] = pandas.Series(truth, dtype=object).where(rng.random(240) < 0.9, None)
    frame["w"] = rng.random(240)
    return frame


def same(spread_out: spocc.Comparison, local: spocc.Comparison) -> bool:
    return spread_out == local and repr(spread_out) == repr(local)


def test_it_is_that_of_the_local_rows(spark: Any, frame: Any) -> None:
    from spocc.spark import compare

    given: Any = {"methods": ["ladder", "naive-bayes"], "repeats": 2, "seed": 3, "class_weight": "balanced"}
    found = compare(spread(spark, frame, "string"), "truth", NAMES, **given)
    assert same(found, spocc.compare(frame[NAMES], frame["truth"], **given))
    assert found.n_unlabelled > 0
    assert found.curve is not None


def test_test_rows_may_be_a_frame_or_evidence(spark: Any, frame: Any) -> None:
    from spocc.spark import compare, evidence

    given: Any = {"methods": ["majority", "spocc"], "curve": False, "unlabelled": False}
    known, held_out = frame[:180], frame[180:].assign(other="x")
    local = spocc.compare(known[NAMES], known["truth"], test=(held_out[NAMES], held_out["truth"]), **given)
    df, test = spread(spark, known.drop(columns="w"), "string"), spread(spark, held_out, "string")
    found = compare(df, "truth", test=test, **given)
    assert same(found, local)
    assert found.held_out == {"by": "test", "n_rows": held_out["truth"].notna().sum()}
    counted = evidence(test, "truth", NAMES)
    assert same(compare(df, "truth", test=counted, **given), local)


def test_weights_and_counts_are_those_of_the_columns(spark: Any, frame: Any) -> None:
    from spocc.spark import compare

    given: Any = {"methods": ["naive-bayes"], "curve": False, "repeats": 1}
    known, held_out = frame[:180], frame[180:]
    weighted = spocc.Evidence(held_out[NAMES], held_out["truth"], weights=held_out["w"])
    local = spocc.compare(known[NAMES], known["truth"], weights=known["w"], test=weighted, **given)
    df, test = spread(spark, known, "string"), spread(spark, held_out, "string")
    assert same(compare(df, "truth", NAMES, weight="w", test=test, **given), local)
    grouped = known.fillna("none").groupby([*NAMES, "truth"]).size().rename("n").reset_index()
    grouped = grouped[grouped["truth"] != "none"]
    labelled = known[known["truth"].notna()]
    found = compare(spread(spark, grouped, "string"), "truth", count="n", **given)
    assert same(found, spocc.compare(labelled[NAMES], labelled["truth"], **given))


def test_open_answers_are_compared(spark: Any) -> None:
    from spocc.spark import compare

    table, truth = make_open_panel(150)
    frame = table.astype(float).assign(truth=pandas.Series(truth).astype(float))
    given: Any = {"open": True, "normalise": "number", "methods": ["majority"], "curve": False}
    found = compare(spread(spark, frame, "double"), "truth", OPEN_NAMES, **given)
    assert same(found, spocc.compare(frame[OPEN_NAMES], frame["truth"], **given))


def test_settings_are_checked_before_any_row_is_read(spark: Any) -> None:
    from spocc.spark import compare

    # Counting would refuse these rows too, and later.
    df = spark.createDataFrame([(0.5, 0.5)], "a double, truth double")
    for given, message in (
        ({"methods": ["best"]}, "found `best`"),
        ({"folds": -1}, "folds: expected a whole number"),
        ({"repeats": 70000}, "repeats: expected at most 65535"),
        ({"ties": "last"}, "found `last`"),
        ({"weight": "w"}, "weight: expected some of the columns a, truth, found `w`"),
        ({"test": df.drop("truth")}, "label: expected some of the columns a, found `truth`"),
    ):
        with pytest.raises(spocc.SpoccError, match=message):
            compare(df, "truth", ["a"], **given)
    with pytest.raises(TypeError, match=r"^test: expected a data frame of Spark, found builtins\.tuple$"):
        compare(df, "truth", test=(df, "truth"))  # type: ignore[arg-type]
