"""Rows of pandas frames are told apart by their index, as pandas itself tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spocc

from panels import make_panel

N_ROWS = 60
NAMES = [f"x{k}" for k in range(5)]


def labelled_frame(n_rows: int = N_ROWS) -> tuple[pd.DataFrame, pd.Series]:
    """Predictions and their truth, both with the ids of the rows as their index."""
    predictions, truth = make_panel(n_rows)
    index = pd.Index([f"row {row}" for row in range(n_rows)], name="item")
    return pd.DataFrame(predictions, index, NAMES), pd.Series(truth, index, name="gold")


def accuracy(decided: pd.Series, truth: pd.Series) -> float:
    return float((decided == truth.reindex(decided.index)).mean())


def test_a_truth_in_another_order_is_aligned_by_its_index() -> None:
    frame, truth = labelled_frame()
    model = spocc.fit(frame, truth)
    assert spocc.fit(frame, truth[::-1]) == model
    assert spocc.fit(frame.sample(frac=1, random_state=0), truth) == model
    assert spocc.Evidence(frame, truth.sample(frac=1, random_state=1)) == spocc.Evidence(frame, truth)
    assert spocc.fit(frame, truth[::-1].to_numpy()) != model


@settings(max_examples=25, deadline=None)
@given(rows=st.permutations(range(N_ROWS)), truths=st.permutations(range(N_ROWS)))
def test_no_order_of_the_rows_changes_the_model_or_what_is_joined(rows: list[int], truths: list[int]) -> None:
    frame, truth = labelled_frame()
    weights = pd.Series(np.arange(1.0, N_ROWS + 1), frame.index)
    model = spocc.fit(frame, truth, weights=weights)
    shuffled = frame.iloc[rows]
    again = spocc.fit(shuffled, truth.iloc[truths], weights=weights)
    assert again.to_bytes() == model.to_bytes()
    joined = frame.join(again.decide(shuffled).to_frame())
    pd.testing.assert_frame_equal(joined, frame.join(model.decide(frame).to_frame()))
    shares = again.predict_proba(shuffled, output="pandas").reindex(frame.index)
    pd.testing.assert_frame_equal(shares, model.predict_proba(frame, output="pandas"))


INDEXES: dict[str, Callable[[int], pd.Index]] = {
    "numbers": lambda n: pd.Index(range(7, 7 + 2 * n, 2)),
    "texts": lambda n: pd.Index([f"row {row}" for row in range(n)]),
    "dates": lambda n: pd.date_range("2024-01-01", periods=n, tz="UTC"),
    "pairs": lambda n: pd.MultiIndex.from_product([range(n // 2), ["a", "b"]]),
    "categories": lambda n: pd.CategoricalIndex([f"row {row}" for row in range(n)]),
    "with a missing label": lambda n: pd.Index([np.nan, *range(1, n)]),
    "of several types": lambda n: pd.Index(["first", None, *range(2, n)], dtype=object),
}


@pytest.mark.parametrize("make", INDEXES.values(), ids=INDEXES)
def test_any_index_aligns(make: Callable[[int], pd.Index]) -> None:
    frame, truth = labelled_frame()
    index = make(N_ROWS)
    frame, truth = frame.set_axis(index), truth.set_axis(index)
    assert spocc.Evidence(frame, truth.iloc[::-1]) == spocc.Evidence(frame, truth)


def test_weights_and_counts_and_ids_are_aligned_like_the_truth() -> None:
    frame, truth = labelled_frame()
    numbers = pd.Series(np.arange(1, N_ROWS + 1), frame.index)
    for role in ("weights", "counts"):
        one, other = ({role: given} for given in (numbers, numbers[::-1]))
        assert spocc.Evidence(frame, truth, **other) == spocc.Evidence(frame, truth, **one)
    model = spocc.fit(frame, truth, calibrate="cross")
    ids = pd.Series(frame.index, frame.index)
    np.testing.assert_array_equal(
        model.predict_set(frame, 0.8, ids=ids[::-1]), model.predict_set(frame, 0.8, ids=ids)
    )


def test_test_rows_are_aligned_too() -> None:
    frame, truth = labelled_frame()
    first, last = slice(None, 40), slice(40, None)
    expected, found = (
        spocc.compare(
            frame[first],
            truth[first],
            test=(frame[last], truth[last][::step]),
            methods=["majority"],
            curve=False,
        )
        for step in (1, -1)
    )
    assert found == expected


def test_columns_of_a_dict_are_aligned_to_its_first_series() -> None:
    frame, truth = labelled_frame()
    model = spocc.fit(frame, truth)
    columns = {name: frame[name] for name in NAMES}
    columns["x3"] = columns["x3"][::-1]
    assert spocc.fit(columns, truth[::-1]) == model
    np.testing.assert_array_equal(model.predict(columns), model.predict(frame))
    pd.testing.assert_index_equal(model.decide(columns).to_frame().index, frame.index)
    short = {**columns, "x3": columns["x3"][:-1]}
    with pytest.raises(
        spocc.SpoccError, match=r"`x3`: expected the index of .* lacks 1 of 60 labels, such as `row 0`"
    ):
        model.predict(short)


UNINDEXED: dict[str, Callable[[pd.Series], Any]] = {
    "array": lambda truth: truth.to_numpy(),
    "list": lambda truth: truth.tolist(),
    "index": lambda truth: pd.Index(truth),
    "categorical": lambda truth: pd.Categorical(truth),
    "polars": lambda truth: pl.Series(truth.to_numpy()),
}


@pytest.mark.parametrize("make", UNINDEXED.values(), ids=UNINDEXED)
def test_a_truth_without_an_index_is_in_the_order_of_the_rows(make: Callable[[pd.Series], Any]) -> None:
    frame, truth = labelled_frame()
    shuffled = frame.sample(frac=1, random_state=0)
    expected = spocc.Evidence(frame, truth)
    assert spocc.Evidence(shuffled, make(truth[shuffled.index])) == expected
    # So is a Series beside a table without an index.
    for table in (shuffled.to_numpy(), pl.from_pandas(shuffled), shuffled.to_dict("list")):
        names = NAMES if isinstance(table, np.ndarray) else None
        assert spocc.Evidence(table, truth[shuffled.index], names=names) == expected


def test_equal_indexes_may_repeat_labels() -> None:
    frame, truth = labelled_frame()
    sample = np.random.default_rng(0).integers(0, N_ROWS, N_ROWS)
    counted = spocc.Evidence(frame.iloc[sample], truth.iloc[sample])
    assert counted == spocc.Evidence(frame.to_numpy()[sample], truth.to_numpy()[sample], names=NAMES)


def test_indexes_that_do_not_match_are_refused() -> None:
    frame, truth = labelled_frame()
    for found, line in [
        (truth[:58], "lacks 2 of 60 labels, such as `row 58`"),
        (truth[1:], "lacks 1 of 60 labels, such as `row 0`"),
        (truth.reset_index(drop=True), "lacks 60 of 60 labels, such as `row 0`"),
        (truth.set_axis(INDEXES["pairs"](N_ROWS)), "lacks 60 of 60 labels, such as `row 0`"),
        (pd.concat([truth, truth[:1].set_axis(["other"])]), "also has 1 of 61 labels, such as `other`"),
    ]:
        with pytest.raises(spocc.SpoccError) as refused:
            spocc.fit(frame, found)
        assert str(refused.value) == f"truth: expected the index of the predictions, found one that {line}"
    twice = [3, *range(N_ROWS)]
    for table, known, owner in [
        (frame, truth.iloc[twice], "truth"),
        (frame.iloc[twice], truth, "the predictions"),
    ]:
        with pytest.raises(spocc.SpoccError) as refused:
            spocc.fit(table, known)
        expected = "truth: expected distinct labels to align by, found that the index of "
        assert str(refused.value) == f"{expected}{owner} repeats 1 of 61 labels, such as `row 3`"
    with pytest.raises(spocc.SpoccError, match="weights: expected the index of the predictions"):
        spocc.fit(frame, truth, weights=pd.Series(1.0, range(N_ROWS)))


def test_the_index_of_a_usual_frame_is_not_looked_at_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, truth = labelled_frame()
    frame, truth = frame.reset_index(drop=True), truth.reset_index(drop=True)
    expected = spocc.Evidence(frame, truth.to_numpy())

    def refuse(*_: object) -> None:
        raise AssertionError("labels are compared one by one")

    for name in ("get_indexer", "duplicated"):
        monkeypatch.setattr(pd.RangeIndex, name, refuse)
    assert spocc.Evidence(frame, truth) == expected
