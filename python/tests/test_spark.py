"""Spark against the local package: the same rows give the same bytes and decisions, however they are cut."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import spocc
from spocc._settings import Level, Method

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

NAMES = ["ada", "bea", "bea.2", "BEA", "contrary", "seldom"]


def panel(n: int = 2000, words: tuple[Any, ...] = ("bug", "praise", "question")) -> Any:
    """Rows with an id, six classifiers (a copy, an adversary, one mostly missing), and the truth of most."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, len(words), n)
    predictions = np.where(rng.random((n, 6)) < 0.7, truth[:, None], rng.integers(0, len(words), (n, 6)))
    predictions[:, 2] = predictions[:, 1]
    predictions[:, 4] = (truth + 1) % len(words)
    cells = np.array(words, dtype=object)[predictions]
    cells[rng.random(n) < 0.8, 5] = None
    cells[rng.random(n) < 0.1, 0] = None
    frame = pandas.DataFrame(cells, columns=NAMES, dtype=object)
    frame["truth"] = np.array(words, dtype=object)[truth]
    frame.loc[rng.random(n) < 0.1, "truth"] = None
    frame.insert(0, "item", np.arange(n))
    return frame


def spread(spark: Any, frame: Any, kind: str = "string") -> Any:
    """The frame in Spark, its columns but the id of this type."""
    columns = ", ".join(f"`{name}` {'long' if name == 'item' else kind}" for name in frame.columns)
    return spark.createDataFrame(frame.astype(object).values.tolist(), columns)


@pytest.fixture(scope="module")
def frame() -> Any:
    return panel()


@pytest.fixture(scope="module")
def df(spark: Any, frame: Any) -> Any:
    return spread(spark, frame).repartition(5).cache()


@pytest.mark.parametrize("method", ["ladder", "spocc", "dawid-skene", "naive-bayes", "bayes"])
def test_a_fit_has_the_bytes_of_the_local_fit(df: Any, frame: Any, method: Method) -> None:
    from spocc.spark import fit

    local = spocc.fit(frame[NAMES], frame["truth"], method=method)
    assert fit(df, "truth", NAMES, method=method).to_bytes() == local.to_bytes()


def test_a_fit_has_the_held_out_accuracy_of_the_local_fit(df: Any, frame: Any) -> None:
    from spocc.spark import fit

    local = spocc.fit(frame[NAMES], frame["truth"], method="naive-bayes", evaluate=True)
    spread_out = fit(df, "truth", NAMES, method="naive-bayes", evaluate=True)
    assert spread_out.held_out_accuracy == local.held_out_accuracy is not None
    assert spread_out.to_bytes() == local.to_bytes()


def test_columns_that_are_no_classifiers_are_warned_of(spark: Any, frame: Any) -> None:
    from spocc.spark import fit

    known = frame.dropna(subset="truth").head(60).assign(part=["dev", "train"] * 30)
    with pytest.warns(spocc.ColumnWarning) as caught:
        model = fit(spread(spark, known[["part", "ada", "truth"]]), "truth", method="naive-bayes")
    assert [str(each.message).partition(":")[0] for each in caught] == [
        "column `part` shares no label with the truth"
    ]
    assert model.classes.tolist() == ["bug", "praise", "question"]


def test_labels_come_back_with_the_type_of_the_truth(spark: Any, frame: Any) -> None:
    from spocc.spark import fit, predict

    words = {"bug": 0, "praise": 1, "question": 2}
    # One class is true of a single row, and so only an answer in all partitions but one.
    numbered = frame.assign(truth=frame["truth"].map(words).where(frame["truth"] != "question"))
    numbered.loc[17, "truth"] = 2
    predictions = frame[NAMES].replace({word: str(number) for word, number in words.items()})
    rows = [
        (*predictions, None if true != true else int(true))
        for predictions, true in zip(predictions.values.tolist(), numbered["truth"].tolist(), strict=True)
    ]
    columns = ", ".join(f"`{name}` string" for name in NAMES) + ", truth int"
    cut = spark.createDataFrame(rows, columns).repartition(7)
    local = spocc.fit(
        predictions, pandas.Series([row[-1] for row in rows], dtype="Int64"), method="naive-bayes"
    )
    model = fit(cut, "truth", NAMES, method="naive-bayes")
    assert model.to_bytes() == local.to_bytes()
    assert model.classes.tolist() == [0, 1, 2]
    assert dict(predict(cut, model).dtypes)["decision"] == "bigint"


def test_partitions_that_are_skewed_or_empty_change_nothing(df: Any, frame: Any) -> None:
    from pyspark.sql import functions as sql

    from spocc.spark import evidence

    def local(level: Level) -> spocc.Evidence:
        return spocc.Evidence(frame[NAMES], frame["truth"], level=level)

    # All rows but a few meet in one partition, and of 23 most have none.
    skewed = df.repartition(23, sql.when(sql.col("item") < 1990, 0).otherwise(sql.col("item")))
    assert evidence(skewed, "truth", NAMES) == local("tally")
    assert evidence(skewed, "truth", NAMES, level="marginals") == local("marginals")
    assert evidence(df.coalesce(1), "truth", NAMES, level="pairs") == local("pairs")


@pytest.mark.parametrize("method", ["ladder", "naive-bayes"])
def test_decisions_are_the_local_ones_and_other_columns_are_kept(df: Any, frame: Any, method: Method) -> None:
    from spocc.spark import Column, predict

    model = spocc.fit(frame[NAMES], frame["truth"], method=method)
    plain: list[Column] = ["margin", "answered", "is_tie", "by_prior"]
    decided = predict(df, model, columns=[*plain, "possibility", "probability"])
    assert decided.columns[:8] == df.columns
    found: Any = decided.toPandas()
    found = found.sort_values("item", ignore_index=True)
    local = model.decide(frame[NAMES])
    assert found["decision"].tolist() == local.label.tolist()
    for name in plain:
        assert found[name].tolist() == getattr(local, name).tolist()
    assert np.array_equal(np.stack(found["possibility"]), model.predict_possibility(frame[NAMES]))
    assert np.array_equal(np.stack(found["probability"]), model.predict_proba(frame[NAMES]))
    assert found[NAMES].equals(frame[NAMES])


@pytest.mark.parametrize(
    ("kind", "words", "out"),
    [
        ("int", (3, -1, 200), "bigint"),
        ("tinyint", (3, -1, 100), "bigint"),
        ("boolean", (False, True), "boolean"),
        ("double", (0.0, 1.0, 2.0), "double"),
        ("string", ("\u00e9t\u00e9", "", " x"), "string"),
    ],
)
def test_labels_come_back_in_their_type(spark: Any, kind: str, words: tuple[Any, ...], out: str) -> None:
    from spocc.spark import fit, predict

    frame = panel(300, words)
    df = spread(spark, frame, kind).repartition(3)
    model = fit(df, "truth", NAMES, method="naive-bayes")
    assert model == spocc.fit(frame[NAMES], frame["truth"], method="naive-bayes")
    decided = predict(df, model, output="Decided by all")
    assert dict(decided.dtypes)["Decided by all"] == out
    found = [row[1] for row in sorted(decided.select("item", "Decided by all").collect())]
    assert found == model.predict(frame[NAMES]).tolist()


def test_sets_by_row_ids_are_those_of_the_local_model(df: Any, frame: Any) -> None:
    from spocc.spark import predict_set

    model = spocc.fit(frame[NAMES], frame["truth"], method="majority", calibrate="split")
    sets = predict_set(df, model, 0.9, id="item", seed=3)
    assert dict(sets.dtypes)["set"] == "array<string>"
    found = [row[1] for row in sorted(sets.select("item", "set").collect())]
    local = model.predict_set(frame[NAMES], 0.9, seed=3, ids=frame["item"])
    assert found == [model.classes[members].tolist() for members in local]
    assert len({len(members) for members in found}) > 1


def test_weights_and_counts_add_up_exactly(spark: Any, frame: Any) -> None:
    from pyspark.sql import functions as sql

    from spocc.spark import evidence

    weights = np.random.default_rng(3).random(len(frame))
    df = spread(spark, frame).withColumn("n", sql.lit(3)).repartition(4)
    known = spark.createDataFrame(list(enumerate(weights.tolist())), "item long, w double")
    local = spocc.Evidence(frame[NAMES], frame["truth"], weights=weights)
    assert evidence(df.join(known, "item"), "truth", NAMES, weight="w") == local
    local = spocc.Evidence(frame[NAMES], frame["truth"], counts=np.full(len(frame), 3))
    assert evidence(df, "truth", NAMES, count="n") == local


def test_rows_without_truth_and_given_classes_count_as_they_do_locally(df: Any, frame: Any) -> None:
    from spocc.spark import evidence, fit

    classes = ["question", "bug", "praise"]
    local = spocc.Evidence(frame[NAMES], frame["truth"], classes=classes)
    assert local.n_unlabelled > 0
    assert evidence(df, "truth", NAMES, classes=classes) == local
    local = spocc.Evidence(frame[NAMES], frame["truth"], classes=classes, unlabelled=False)
    assert evidence(df, "truth", NAMES, classes=classes, unlabelled=False) == local
    assert fit(df, None, NAMES, method="majority") == spocc.fit(frame[NAMES], method="majority")
    calibrated = spocc.fit(frame[NAMES], frame["truth"], calibrate="split")
    assert fit(df, "truth", NAMES, calibrate="split") == calibrated


def test_the_example_of_the_page_runs(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "SPARK.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    df = spark.createDataFrame([(*"xxyx",), (*"yyxy",)], ["ann", "bob", "eve", "truth"])
    exec(compile(example, "SPARK.md", "exec"), {"df": df, "new": df.drop("truth")})
    assert "|ann|bob|eve|decision|" in capsys.readouterr().out


def killing_once(mark: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Passes rows on, but the first task to come here ends the executor that runs it."""

    def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import signal

        for batch in batches:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                yield batch
                continue
            # The worker was forked by a daemon, and that was started by the executor.
            with open(f"/proc/{os.getppid()}/stat") as stat:
                executor = int(stat.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{executor}/cmdline") as command:
                assert "CoarseGrainedExecutorBackend" in command.read()
            with open(mark, "w") as out:
                out.write(str(executor))
            os.kill(executor, signal.SIGKILL)
            yield batch

    return pass_on


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="finds the executor through /proc")
@pytest.mark.parametrize("method", ["ladder", "spocc"])
def test_a_killed_executor_changes_nothing(df: Any, frame: Any, tmp_path: Path, method: Method) -> None:
    from spocc.spark import fit, predict

    names = list("abcdef")
    predictions = frame[NAMES].set_axis(names, axis=1)
    local = spocc.fit(predictions, frame["truth"], method=method)
    rows = df.toDF("item", *names, "truth")
    fitting, deciding = tmp_path / "fitting", tmp_path / "deciding"
    model = fit(rows.mapInArrow(killing_once(str(fitting)), rows.schema), "truth", names, method=method)
    assert model.to_bytes() == local.to_bytes()
    decided = predict(rows.mapInArrow(killing_once(str(deciding)), rows.schema), model)
    found = sorted((row.item, row.decision) for row in decided.collect())
    assert [decision for _, decision in found] == local.predict(predictions).tolist()
    assert fitting.read_text().isdigit()
    assert deciding.read_text().isdigit()
