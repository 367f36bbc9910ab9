"""What estimators remember: nothing of a fit that failed, and one label however it is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from spocc.sklearn import MajorityClassifier, NaiveBayesClassifier

PREDICTIONS = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
TRUTH = ["cat", "dog", "cat", "dog"]
X = np.array([[True, False], [False, False], [True, True], [False, True]] * 5)
Y = np.array([True, False, True, False] * 5)


def test_a_failed_fit_leaves_no_model_behind() -> None:
    panel = MajorityClassifier(ties="last")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ties"):
        panel.fit(PREDICTIONS, TRUTH)
    with pytest.raises(NotFittedError):
        panel.predict(PREDICTIONS)


def test_an_old_model_is_not_used_after_a_failed_fit() -> None:
    panel = MajorityClassifier().fit(PREDICTIONS, TRUTH)
    with pytest.raises(ValueError, match="ties"):
        panel.set_params(ties="last").fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(NotFittedError):
        panel.predict(PREDICTIONS)


@pytest.mark.parametrize(("predictions", "truth"), [(PREDICTIONS, TRUTH[:2]), (PREDICTIONS[0], TRUTH)])
def test_a_first_batch_that_was_refused_counts_for_nothing(predictions: Any, truth: list[str]) -> None:
    panel = NaiveBayesClassifier()
    with pytest.raises(ValueError, match="sample"):
        panel.partial_fit(predictions, truth, classes=["cat", "dog"])
    with pytest.raises(NotFittedError):
        panel.predict(PREDICTIONS)
    panel.partial_fit(PREDICTIONS, TRUTH)
    assert panel.evidence_.n_rows == 4
    assert panel.n_features_in_ == 3


def test_a_later_batch_that_was_refused_counts_for_nothing() -> None:
    panel = NaiveBayesClassifier().partial_fit(PREDICTIONS, TRUTH, classes=["cat", "dog"])
    with pytest.raises(ValueError, match="found `cow`"):
        panel.partial_fit(PREDICTIONS[:1], ["cow"])
    assert panel.evidence_.n_rows == 4


WAYS: dict[str, Any] = {
    "booleans": lambda cells: cells,
    "integers": lambda cells: cells.astype(int),
    "floats": lambda cells: cells.astype(float),
    "objects": lambda cells: cells.astype(object),
    "objects that are numbers": lambda cells: cells.astype(int).astype(object),
    "pandas": lambda cells: pd.DataFrame(cells.astype(int)),
    "pandas Int64": lambda cells: pd.DataFrame(cells.astype(int)).astype("Int64"),
    "pandas boolean": lambda cells: pd.DataFrame(cells).astype("boolean"),
    "polars": lambda cells: pl.DataFrame(cells.astype(int)),
    "polars Boolean": lambda cells: pl.DataFrame(cells),
}


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("fitted", WAYS)
def test_true_and_one_are_one_label_in_fit_and_predict(fitted: str) -> None:
    panel = NaiveBayesClassifier().fit(WAYS[fitted](X), Y)
    for way, make in WAYS.items():
        decided = panel.predict(make(X))
        assert decided.dtype == np.bool_
        assert (decided == Y).all(), way


def test_later_truths_may_write_true_as_one() -> None:
    panel = NaiveBayesClassifier().partial_fit(X, Y, classes=[False, True]).partial_fit(X, Y.astype(int))
    np.testing.assert_array_equal(
        panel.evidence_.confusion("x0"), 2 * NaiveBayesClassifier().fit(X, Y).evidence_.confusion("x0")
    )


def test_a_missing_number_stays_missing_beside_booleans() -> None:
    panel = NaiveBayesClassifier().fit(X, Y)
    gaps = np.array([[np.nan, 0.0], [1.0, np.nan]])
    np.testing.assert_array_equal(
        panel.predict_proba(gaps), panel.predict_proba([[None, False], [True, None]])
    )


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pd.DataFrame(np.array(PREDICTIONS), columns=["ann", "ann", "eve"])
    with pytest.raises(ValueError, match="unique"):
        MajorityClassifier().fit(frame, TRUTH)
