"""Open answers as they come in and come back: any table, any number of them, fractions, normalised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spocc

from open_panels import NAMES, make_open_panel


def test_tables_of_all_kinds_are_counted_alike() -> None:
    frame, truth = make_open_panel(60)
    expected = spocc.Evidence(frame, truth, open=True)
    floats = frame.astype(float)
    tables: list[Any] = [
        frame.to_numpy(),
        frame.values.tolist(),
        frame.to_dict("list"),
        frame.astype("category"),
        frame.astype("string"),
        floats,
        floats.astype(np.float32),
        np.asfortranarray(floats.to_numpy()),
        np.ma.masked_invalid(floats.to_numpy()),
        floats.astype("Int64"),
        floats.astype("category"),
        pl.from_pandas(frame),
        pl.from_pandas(floats),
        pa.Table.from_pandas(floats),
        pa.table({name: pa.array(frame[name]).dictionary_encode() for name in NAMES}),
    ]
    truths = [truth, np.array(truth), [float(true) for true in truth], pa.array(map(int, truth))]
    for at, table in enumerate(tables):
        evidence = spocc.Evidence(table, truths[at % len(truths)], names=NAMES, open=True)
        assert evidence == expected, type(table)


def test_a_row_per_answer_is_the_same_as_a_row_per_item() -> None:
    frame, truth = make_open_panel(60)
    halved = frame.astype(float) / 200
    cells = [(row, name, halved.at[row, name]) for row in halved.index for name in NAMES]
    given = [cell for cell in cells if cell[2] == cell[2]]
    known = {row: str(float(true) / 200) for row, true in enumerate(truth) if row % 2}
    # The row without answers comes last: its item occurs with a missing answer only.
    items, names, answers = zip(*given, (2, "ann", None), strict=True)
    long = spocc.Evidence.from_long(items, names, answers, known, open=True)
    wide = spocc.Evidence(halved, [known.get(row) for row in range(60)], open=True)
    assert long == wide
    with pytest.raises(spocc.SpoccError, match="row 0: expected one prediction of `ann`, found two"):
        spocc.Evidence.from_long([1, 1], ["ann", "ann"], [0.5, 0.5], open=True)


def test_a_hundred_thousand_distinct_answers_are_read() -> None:
    n = 100_000
    answers = {"ann": np.arange(n), "bob": np.where(np.arange(n) % 3 == 0, np.arange(n), n + np.arange(n))}
    truth = np.where(np.arange(n) % 5 == 0, -1 - np.arange(n), np.arange(n))
    with pytest.raises(spocc.SpoccError, match="65535"):
        spocc.Evidence(answers, truth)
    evidence = spocc.Evidence(answers, truth, open=True)
    assert (evidence.n_rows, evidence.answerable_share) == (n, 0.8)
    model = spocc.fit(evidence)
    assert np.array_equal(model.predict(answers), np.arange(n))
    texts = {name: [f"answer {number}" for number in numbers] for name, numbers in answers.items()}
    assert spocc.Evidence(texts, [f"answer {number}" for number in truth], open=True) == evidence
    assert model.predict(texts).tolist() == texts["ann"]


SOME: list[float | None] = [12.5, 70000.0, 0.1, -3.25, 1e-7, None]


@pytest.mark.parametrize(
    "column",
    [
        SOME,
        np.array(SOME, dtype=float),
        np.array(SOME, dtype=np.float32),
        np.array([None if x is None else np.float32(x) for x in SOME], dtype=object),
        pd.Series(SOME, dtype="Float64"),
        pd.Series(SOME, dtype="float32").astype("category"),
        pl.Series(SOME, dtype=pl.Float32),
        pa.array(SOME, pa.float64()),
        ["12.5", "70000", "0.1", "-3.25", "0.0000001", None],
        ["12.5", 70000, "0.1", -3.25, 1e-7, float("nan")],
    ],
    ids=lambda column: f"{type(column).__module__.partition('.')[0]} {getattr(column, 'dtype', '')}",
)
def test_a_fraction_is_the_same_answer_however_it_is_written(column: Any) -> None:
    others = ["12.5", "70000.0", "0.1", "-3.25", "0.0000001", "7"]
    known = spocc.Evidence({"a": SOME, "b": others}, SOME, open=True)
    assert known.answerable_share == 1
    assert known.n_unlabelled == 1
    assert spocc.Evidence({"a": column, "b": others}, column, open=True) == known
    model = spocc.fit({"a": [1, 2] * 20, "b": [1, 3] * 20}, [1, 4] * 20, open=True)
    decided = model.predict({"a": column, "b": [None] * 6})
    assert [None if answer is None else float(answer) for answer in decided] == SOME


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_comes_back(number: float) -> None:
    model = spocc.fit([[1], [2]] * 10, [1, 3] * 10, open=True)
    assert model.predict([[number]]).tolist() == [number]
    assert set(model.predict_proba([[number]])[0]) == {number, None}


def test_only_open_answers_may_have_a_fraction() -> None:
    with pytest.raises(spocc.SpoccError, match=r"label 12\.5: expected a whole number"):
        spocc.Evidence({"a": [12.5]}, [1])
    with pytest.raises(spocc.SpoccError, match=r"label 12\.5: expected a whole number"):
        spocc.Evidence({"a": [12]}, [12.5])
    with pytest.raises(spocc.SpoccError, match="label inf: expected a finite number, a text or a boolean"):
        spocc.Evidence({"a": np.array([np.inf])}, [1], open=True)
    with pytest.raises(TypeError, match="expected a number, a text or a boolean, found complex"):
        spocc.Evidence({"a": [1j]}, [1], open=True)


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ([3, -1, 7], np.int64),
        ([3, -1.5, 7], np.float64),
        ([3.0, -1.0, 7.0], np.float64),
        (["a", "bc", "7"], np.dtype("<U2")),
        ([True, False, True], np.bool_),
        ([3, "a", 7], np.object_),
        ([2**53 + 1, 0.5, 1], np.object_),
        ([3, None, 7], np.object_),
    ],
)
def test_answers_come_back_with_their_value_and_type(answers: list[Any], kind: Any) -> None:
    model = spocc.fit({"a": [1, 2] * 20, "b": [1, 3] * 20}, [1, 4] * 20, open=True)
    table = {"a": answers, "b": [None] * 3}
    for decided in (model.predict(table), model.decide(table).label):
        assert decided.dtype == kind
        assert decided.tolist() == answers


def test_equal_answers_are_written_as_the_first_classifier_by_name_writes_them() -> None:
    table = {"bob": ["7.0", 2], "ann": [7, "2"]}
    model = spocc.fit({"ann": [1, 2] * 20, "bob": [1, 3] * 20}, [1, 4] * 20, open=True)
    assert model.predict(table).tolist() == [7, "2"]
    assert [list(row) for row in model.predict_proba(table)] == [[7, None], ["2", None]]


def test_true_and_1_are_two_answers_but_one_key() -> None:
    model = spocc.fit({"a": [1, 2] * 20, "b": [1, 3] * 20}, [1, 4] * 20, open=True)
    (shares,) = model.predict_proba([[True, 1]])
    assert list(shares) == [True, None]
    assert sum(shares.values()) == pytest.approx(1)
    explained = model.explain([[True, 1]])
    assert explained.probability is not None
    assert shares[True] == pytest.approx(explained.probability[1:].sum())
    assert model.predict_possibility([[True, 1]])[0][True] == 1


def test_normalised_answers_are_compared_by_their_meaning() -> None:
    table = {
        "ann": ["$1,000", " New  York. "] * 10,
        "bob": [1000.0, "new york"] * 10,
        "eve": [1000, "LA"] * 10,
    }
    truth = ["1e3", "NEW YORK"] * 10
    shares = {"none": 0.5, "number": 1.0, "text": 0.5}
    for normalise, share in shares.items():
        evidence = spocc.Evidence(table, truth, open=True, normalise=normalise)  # type: ignore[arg-type]
        assert evidence.answerable_share == (0.0 if normalise == "none" else share)
        assert evidence.normalise == normalise
    model = spocc.fit(table, truth, "majority", open=True, normalise="number")
    assert model.normalise == "number"
    assert (
        repr(model) == "Model(majority, 3 classifiers, open answers (normalise: number); fitted to 20 rows)"
    )
    # The model compares new answers in the same way.
    decided = model.decide({"ann": ["12 $", "x"], "bob": ["12.00", "y"], "eve": [13, "Y!"]})
    assert decided.label.tolist() == ["12 $", "y"]
    assert decided.is_tie.tolist() == [False, False]
    assert spocc.Model.from_bytes(model.to_bytes()).normalise == "number"


TABLE = [["1", "2"], ["3", "3"]] * 8
TRUTH = ["1", "3"] * 8


def fitted() -> spocc.Model:
    return spocc.fit(TABLE, TRUTH, open=True)


def test_closed_and_open_evidence_do_not_add_up() -> None:
    open_evidence = spocc.Evidence(TABLE, TRUTH, open=True)
    for other in [
        spocc.Evidence(TABLE, TRUTH),
        spocc.Evidence(TABLE, TRUTH, open=True, normalise="text"),
    ]:
        with pytest.raises(spocc.SpoccError, match="expected the same classes on both sides"):
            open_evidence + other


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spocc.fit(TABLE, TRUTH, normalise="text"), "normalise: expected it together with open=True"),
        (
            lambda: spocc.Evidence(TABLE, TRUTH, normalise="number"),
            "normalise: expected it together with open",
        ),
        (
            lambda: spocc.Evidence.from_long([1], ["a"], ["x"], normalise="text"),
            "normalise: expected it together with open=True",
        ),
        (
            lambda: spocc.compare(TABLE, TRUTH, normalise="text"),
            "normalise: expected it together with open=True",
        ),
        (
            lambda: spocc.fit(TABLE, TRUTH, open=True, normalise="words"),  # type: ignore[arg-type]
            "normalise: expected one of none, number, text, found `words`",
        ),
        (
            lambda: spocc.fit(TABLE, TRUTH, open=True, classes=["1", "3"]),
            "open answers: expected no list of classes, since any answer can be true, found one",
        ),
        (
            lambda: spocc.Evidence.from_long([1], ["a"], ["x"], open=True, classes=["x"]),
            "open answers: expected no list of classes",
        ),
        (lambda: spocc.Evidence(TABLE, TRUTH, open=True, level="pairs"), "open answers: expected a tally"),
        (lambda: spocc.Evidence(TABLE, TRUTH[1:], open=True), "truth: expected 16 rows, found 15"),
        (
            lambda: spocc.fit(TABLE, TRUTH, "bayes", open=True),
            "open answers: expected a method that treats all",
        ),
        (
            lambda: spocc.fit(TABLE, TRUTH, open=True, missing="answer"),
            "open answers: expected missing answers",
        ),
        (lambda: spocc.fit(TABLE, TRUTH, open=True, class_weight="balanced"), "open answers: expected"),
        (
            lambda: spocc.fit(spocc.Evidence(TABLE, TRUTH, open=True), open=True),
            "open: expected none beside evidence, which holds its own, found one",
        ),
        (
            lambda: spocc.compare(spocc.Evidence(TABLE, TRUTH, open=True), normalise="text"),
            "normalise: expected none beside evidence, which holds its own, found one",
        ),
        (lambda: fitted().predict_ids(TABLE), "predict_ids: expected a model of classes, found one of open"),
        (
            lambda: fitted().predict({"x0": ["1"]}),
            "classifier `x1`: expected predictions of every classifier",
        ),
        (lambda: fitted().predict([["1"]]), "predictions: expected 2 columns, found 1"),
        (lambda: fitted().predict_set(TABLE), "sets: expected a calibrated model"),
        (lambda: fitted().explain(TABLE, 16), "row 16: expected a row from 0 to 15"),
        (
            lambda: spocc.fit(TABLE, TRUTH, "selection", open=True).predict_proba(TABLE),
            "probabilities: expected a model that has them",
        ),
        (
            lambda: spocc.Evidence(TABLE, TRUTH, open=True).confusion("x0"),
            "confusion: expected evidence of classes, found open answers",
        ),
    ],
)
def test_what_needs_classes_or_a_table_is_refused_in_a_sentence(
    call: Callable[[], Any], message: str
) -> None:
    with pytest.raises(spocc.SpoccError, match=f"^{message}"):
        call()


def test_weights_and_counts_are_those_of_rows() -> None:
    whole = spocc.Evidence(TABLE, TRUTH, open=True)
    assert spocc.Evidence(TABLE[:2], TRUTH[:2], counts=[8, 8], open=True) == whole
    halves = spocc.Evidence(TABLE, TRUTH, weights=np.full(16, 0.5), open=True)
    assert halves.n_rows == 8
    assert spocc.fit(halves).predict([["5", None]]).tolist() == ["5"]
