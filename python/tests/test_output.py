"""Results per row have the form that is asked for, and the index of the frame that they belong to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spocc
from spocc._output import Output

from panels import make_panel

INDEX = pd.Index(["third", "first", "second"], name="item")
WORDS = np.array(["ant", "bee", "cow"])


@pytest.fixture
def model() -> spocc.Model:
    predictions, truth = make_panel()
    table = {f"x{k}": column for k, column in enumerate(WORDS[predictions].T)}
    return spocc.fit(table, WORDS[truth], calibrate="cross")


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame(WORDS[make_panel(3)[0]], INDEX, [f"x{k}" for k in range(5)])


@pytest.fixture
def solver() -> spocc.Model:
    answers = {"ann": [12.5, 70, 3, 8] * 9, "bob": [12.5, 71, 3, 9] * 9}
    return spocc.fit(answers, [12.5, 70, 3, 8] * 9, open=True, calibrate="cross")


def test_decisions_on_a_shuffled_frame_are_joined_to_their_own_rows() -> None:
    predictions, truth = make_panel(900)
    frame = pd.DataFrame(predictions, columns=[f"x{k}" for k in range(5)])
    model = spocc.fit(frame[:300], truth[:300])
    shuffled = frame[300:].sample(frac=1, random_state=0)
    right = (model.predict(frame[300:]) == truth[300:]).mean()
    for decided in (
        model.decide(shuffled).to_frame(),
        model.predict(shuffled, output="pandas"),
        model.predict(shuffled, output="series").to_frame(),
        model.predict_proba(shuffled, output="pandas").idxmax(axis=1).rename("decision").to_frame(),
    ):
        joined = frame[300:].assign(gold=truth[300:]).join(decided, validate="one_to_one")
        assert (joined["decision"] == joined["gold"]).mean() == right > 0.9


def test_labels_have_every_form(model: spocc.Model, rows: pd.DataFrame) -> None:
    labels = model.predict(rows)
    assert isinstance(labels, np.ndarray)
    np.testing.assert_array_equal(model.predict(rows, output="numpy"), labels)
    expected = pd.Series(labels, INDEX, name="decision")
    pd.testing.assert_series_equal(model.predict(rows, output="series"), expected)
    pd.testing.assert_frame_equal(model.predict(rows, output="pandas"), expected.to_frame())
    whole = pl.DataFrame({"decision": labels.tolist()})
    assert model.predict(rows, output="polars").equals(whole)
    assert model.predict(pl.from_pandas(rows), output="series").equals(whole["decision"])
    # An array has no index.
    plain = expected.reset_index(drop=True)
    pd.testing.assert_series_equal(model.predict(rows.to_numpy(), output="series"), plain)
    pd.testing.assert_frame_equal(model.predict(pl.from_pandas(rows), output="pandas"), plain.to_frame())


@pytest.mark.parametrize("kind", ["proba", "possibility", "set"])
def test_degrees_have_a_column_per_class(kind: str, model: spocc.Model, rows: pd.DataFrame) -> None:
    decide: Callable[..., Any] = getattr(model, f"predict_{kind}")
    cells = decide(rows)
    assert isinstance(cells, np.ndarray)
    expected = pd.DataFrame(cells, INDEX, list(WORDS))
    pd.testing.assert_frame_equal(decide(rows, output="pandas"), expected)
    pd.testing.assert_frame_equal(
        decide(pl.from_pandas(rows), output="pandas"), expected.reset_index(drop=True)
    )
    assert decide(rows, output="polars").equals(pl.from_pandas(expected))


def test_sets_may_be_lists_of_labels(model: spocc.Model, rows: pd.DataFrame) -> None:
    members = model.predict_set(rows, 0.8)
    sets = [WORDS[row].tolist() for row in members]
    expected = pd.Series(sets, INDEX, object, "set")
    pd.testing.assert_series_equal(model.predict_set(rows, 0.8, output="series"), expected)
    assert model.predict_set(pl.from_pandas(rows), 0.8, output="series").to_list() == sets


@pytest.mark.parametrize(
    ("labels", "names", "kind"),
    [
        (np.array([7, 3, 5]), ["3", "5", "7"], pl.Int64),
        (np.array([True, False, True]), ["False", "True"], pl.Boolean),
        (np.array(["b", 1, "a"], dtype=object), ["1", "a", "b"], pl.String),
    ],
    ids=["numbers", "booleans", "of several types"],
)
def test_labels_of_any_type_are_columns(labels: Any, names: list[str], kind: Any) -> None:
    truth = np.tile(labels, 20)
    table = {"ann": np.concatenate([np.roll(labels, 1), truth[3:]]), "bob": np.roll(truth, 1)}
    model = spocc.fit(table, truth, "naive-bayes", calibrate="cross")
    decided = model.predict(table, output="polars")
    assert decided.schema == {"decision": kind}
    expected = model.predict(table).tolist()
    assert decided["decision"].to_list() == [str(x) if kind == pl.String else x for x in expected]
    assert sorted(model.predict_proba(table, output="polars").columns) == names
    columns = model.predict_proba(table, output="pandas").columns
    assert [*map(repr, columns)] == [*map(repr, model.classes.tolist())]
    sets = model.predict_set(pl.DataFrame({"ann": ["1", "a"], "bob": ["1", "a"]}), 0.5, output="series")
    assert sets.dtype == pl.List(kind)


def test_open_answers_are_a_series_of_what_each_row_has(solver: spocc.Model) -> None:
    new = pd.DataFrame({"ann": [1848, None, 7], "bob": [1848, None, 2]}, index=INDEX)
    for decide in (solver.predict_proba, solver.predict_possibility, solver.predict_set):
        found = decide(new, output="series")
        pd.testing.assert_index_equal(found.index, INDEX)
        assert found.tolist() == decide(new) == decide(new, output="numpy")
        assert decide(pl.from_pandas(new), output="series").to_list() == decide(new)
    assert solver.predict(new, output="series").tolist() == [1848, None, 7]
    decided = solver.predict(
        pl.DataFrame({"ann": ["x", 7, None], "bob": [None] * 3}, strict=False), output="polars"
    )
    assert decided["decision"].to_list() == ["x", "7", None]
    assert solver.decide(new).to_frame().index.equals(INDEX)


def test_decisions_know_the_index_and_are_compared_without_it(model: spocc.Model, rows: pd.DataFrame) -> None:
    decided, plain = model.decide(rows), model.decide(rows.to_numpy())
    assert decided == plain
    assert decided.index is rows.index
    assert plain.index is None
    frame = decided.to_frame()
    assert frame.columns.tolist() == ["decision", "margin", "answered", "is_tie", "by_prior"]
    pd.testing.assert_index_equal(frame.index, INDEX)
    pd.testing.assert_frame_equal(plain.to_frame(), frame.reset_index(drop=True))
    assert decided.to_frame("polars").equals(pl.from_pandas(frame))
    assert model.decide(pl.from_pandas(rows)).to_frame("polars").columns == frame.columns.tolist()
    assert ">third</td>" in decided._repr_html_()
    assert ">0</td>" in plain._repr_html_()


def test_no_rows_have_their_types(model: spocc.Model, rows: pd.DataFrame) -> None:
    none = rows[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(none, output="series").index.equals(none.index)
        assert model.predict_set(none, output="series").dtype == object
        assert model.predict_proba(none, output="polars").shape == (0, 3)
        assert len(model.decide(none).to_frame()) == 0


def test_an_unknown_output_is_refused(model: spocc.Model, solver: spocc.Model, rows: pd.DataFrame) -> None:
    def refused(decide: Callable[..., Any], output: Any, line: str, table: Any = rows) -> None:
        with pytest.raises(spocc.SpoccError) as error:
            decide(table, output=output)
        assert str(error.value) == line

    every = "output: expected one of numpy, pandas, polars, series, found `arrow`"
    refused(model.predict, "arrow", every)
    refused(model.predict_set, "arrow", every)
    degrees = "output: expected one of numpy, pandas, polars, found `series`"
    refused(model.predict_proba, "series", degrees)
    refused(model.predict_possibility, "series", degrees)
    answers = {"ann": [1], "bob": [2]}
    outputs: tuple[Output, ...] = ("pandas", "polars")
    for output in outputs:
        line = f"output: expected one of numpy, series for open answers, found `{output}`"
        for decide in (solver.predict_proba, solver.predict_possibility, solver.predict_set):
            refused(decide, output, line, answers)
    with pytest.raises(spocc.SpoccError, match="output: expected one of pandas, polars, found `numpy`"):
        model.decide(rows).to_frame("numpy")  # type: ignore[arg-type]
    wrong: Any
    for wrong in (None, True, pd.DataFrame):
        with pytest.raises(TypeError, match="output: expected a text, found "):
            model.predict(rows, output=wrong)
