"""Spark on open answers: evidence, models and decisions are those of the local package."""

from __future__ import annotations

from typing import Any

import pandas
import pytest

import spocc

from open_panels import NAMES, make_open_panel, real_open_panel

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def frame() -> Any:
    """Answers that are halves of whole numbers, with an id, and the truth of most rows."""
    table, truth = make_open_panel(400)
    halves = table.astype(float) / 200
    known = pandas.Series(truth).astype(float) / 200
    return halves.assign(truth=known.where(halves.index % 7 != 0), item=halves.index)


@pytest.fixture(scope="module")
def df(spark: Any, frame: Any) -> Any:
    columns = ", ".join(f"{name} double" for name in [*NAMES, "truth"]) + ", item long"
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    return spark.createDataFrame(rows, columns).repartition(5).cache()


def texts(answers: Any) -> list[str | None]:
    return [None if answer is None else str(answer) for answer in answers]


def test_evidence_and_models_have_the_bytes_of_the_local_ones(df: Any, frame: Any) -> None:
    from spocc.spark import evidence, fit

    local = spocc.Evidence(frame[NAMES], frame["truth"], open=True)
    assert local.n_unlabelled > 0
    assert evidence(df, "truth", NAMES, open=True) == local
    as_texts = df.select(*(df[name].cast("string") for name in [*NAMES, "truth"]))
    assert evidence(as_texts, "truth", NAMES, open=True) == local
    compared = spocc.Evidence(frame[NAMES], frame["truth"], open=True, normalise="number")
    assert evidence(as_texts, "truth", NAMES, open=True, normalise="number") == compared
    assert fit(df, "truth", NAMES, open=True, evaluate=True) == spocc.fit(
        frame[NAMES], frame["truth"], open=True, evaluate=True
    )
    assert fit(df, "truth", NAMES, "selection", open=True) == spocc.fit(
        frame[NAMES], frame["truth"], "selection", open=True
    )
    # Equal rows are grouped before they are counted.
    assert evidence(df.union(df), "truth", NAMES, open=True) == local + local


def test_decisions_are_the_local_ones_as_texts(df: Any, frame: Any) -> None:
    from spocc.spark import predict

    model = spocc.fit(frame[NAMES], frame["truth"], open=True)
    names: Any = ["margin", "answered", "is_tie", "by_prior"]
    decided = predict(df, model, columns=[*names, "probability", "possibility"])
    assert dict(decided.dtypes)["decision"] == "string"
    assert dict(decided.dtypes)["probability"] == "array<struct<answer:string,probability:double>>"
    rows = sorted(decided.collect(), key=lambda row: row["item"])
    local = model.decide(frame[NAMES])
    assert [row["decision"] for row in rows] == texts(local.label)
    assert rows[2]["decision"] is None
    for name in names:
        assert [row[name] for row in rows] == getattr(local, name).tolist()
    expected = {
        "probability": model.predict_proba(frame[NAMES]),
        "possibility": model.predict_possibility(frame[NAMES]),
    }
    for name, degrees in expected.items():
        found = [[(pair["answer"], pair[name]) for pair in row[name]] for row in rows]
        assert found == [list(zip(texts(row), row.values(), strict=True)) for row in degrees]
    plain = sorted(predict(df.select("item", *NAMES), model).collect(), key=lambda row: row["item"])
    assert [row["decision"] for row in plain] == texts(local.label)


def test_sets_by_row_ids_are_those_of_the_local_model(df: Any, frame: Any) -> None:
    from spocc.spark import predict_set

    model = spocc.fit(frame[NAMES], frame["truth"], "majority", open=True, calibrate="split")
    sets = predict_set(df, model, 0.95, id="item", seed=3)
    assert dict(sets.dtypes)["set"] == "array<string>"
    found = [row["set"] for row in sorted(sets.collect(), key=lambda row: row["item"])]
    local = model.predict_set(frame[NAMES], 0.95, seed=3, ids=frame["item"])
    assert found == [texts(members) for members in local]
    assert any(None in members for members in found)


def test_what_is_refused_locally_is_refused_before_a_job_runs(df: Any) -> None:
    from spocc.spark import evidence, fit, predict

    with pytest.raises(spocc.SpoccError, match="normalise: expected it together with open=True"):
        evidence(df, "truth", NAMES, normalise="text")
    with pytest.raises(spocc.SpoccError, match="open answers: expected no list of classes"):
        fit(df, "truth", NAMES, open=True, classes=["1"])
    model = fit(df, "truth", NAMES, "selection", open=True)
    with pytest.raises(spocc.SpoccError, match="columns: expected a method with probabilities"):
        predict(df, model, columns=["probability"])


def test_answers_of_language_models_are_decided_as_locally(spark: Any) -> None:
    from spocc.spark import fit, predict

    table, truth = real_open_panel()
    names = table.columns.tolist()
    cells = table.assign(truth=truth).astype(object).where(lambda frame: frame.notna(), None)
    columns = ", ".join(f"`{name}` string" for name in cells.columns) + ", item long"
    rows = [(*row, item) for item, row in enumerate(cells.values.tolist())]
    df = spark.createDataFrame(rows, columns).repartition(3)
    model = fit(df, "truth", names, open=True)
    assert model == spocc.fit(table, truth, open=True)
    decided = predict(df, model).select("item", "decision").collect()
    assert [row["decision"] for row in sorted(decided)] == texts(model.predict(table))
