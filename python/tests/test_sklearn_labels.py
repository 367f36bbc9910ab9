"""Labels that the combiners take from arrays and frames of every kind: masks, gaps, True and 1."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spocc
from spocc.sklearn import DawidSkeneClassifier, MajorityClassifier, NaiveBayesClassifier


def test_masked_cells_are_missing() -> None:
    votes = np.ma.masked_equal([[0, -1, 0], [1, 1, -1], [-1, 0, 0]], -1)
    estimator = NaiveBayesClassifier().fit(votes, [0, 1, 0])
    assert estimator.evidence_.labels.tolist() == [0, 1]
    assert estimator.model_ == spocc.fit(votes, [0, 1, 0], "naive-bayes", classes=[0, 1])
    assert estimator.model_.decide(votes).answered.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(estimator.predict(votes), estimator.model_.predict(votes))


FLAGS = np.array([[True, False], [False, False], [True, True], [False, True]])
TRUE = np.array([True, False, True, False])


@pytest.mark.parametrize(
    "X",
    [
        FLAGS,
        FLAGS.astype(int),
        FLAGS.astype(object),
        FLAGS.astype(int).astype(object),
        pd.DataFrame({"a": FLAGS[:, 0], "b": FLAGS[:, 1].astype(int)}),
        pd.DataFrame({"a": FLAGS[:, 0].astype(object), "b": FLAGS[:, 1].astype(float)}),
    ],
)
@pytest.mark.parametrize(
    "y", [TRUE, TRUE.astype(int), TRUE.astype(object), pd.Series(TRUE, dtype="boolean"), TRUE.astype(float)]
)
def test_true_and_one_are_one_label(X: Any, y: Any) -> None:
    estimator = MajorityClassifier().fit(X, y)
    assert len(estimator.evidence_.labels) == 2
    assert estimator.evidence_.confusion(0).tolist() == [[2, 0], [0, 2]]
    np.testing.assert_array_equal(estimator.predict(X)[[1, 2]], [False, True])


@pytest.mark.parametrize("y", [TRUE, TRUE.astype(int)])
@pytest.mark.parametrize("learned", [bool, int, float, object])
@pytest.mark.parametrize("asked", [bool, int, float, object])
def test_true_and_one_are_one_label_when_deciding(y: Any, learned: Any, asked: Any) -> None:
    for make in [np.asarray, pd.DataFrame]:
        known, new = make(FLAGS.astype(learned)), make(FLAGS.astype(asked))
        estimator = MajorityClassifier().fit(known, y)
        np.testing.assert_array_equal(
            estimator.predict_possibility(new), estimator.predict_possibility(known)
        )
        assert estimator.predict(new)[[1, 2]].tolist() == [False, True]
        pieces = MajorityClassifier().partial_fit(known, y, classes=np.unique(y)).partial_fit(new, y)
        assert pieces.evidence_ == estimator.evidence_ + estimator.evidence_


@pytest.mark.parametrize("kind", ["Int64", "Int8", "int64[pyarrow]", "boolean", "category", "object"])
def test_numbers_of_pandas_come_back_as_numbers(kind: str) -> None:
    y = pd.Series([1, 0, 1, 0] if kind != "boolean" else TRUE, dtype=kind)
    decided = NaiveBayesClassifier().fit(FLAGS.astype(int), y).predict(FLAGS.astype(int))
    assert decided.dtype.kind == ("b" if kind == "boolean" else "i")
    y = pd.Series([*y[:3], None], dtype=kind)
    assert DawidSkeneClassifier().fit(FLAGS.astype(int), y).classes_.dtype.kind == decided.dtype.kind


@pytest.mark.parametrize("make", [pl.Series, pa.array, lambda cells: pa.chunked_array([cells])])
@pytest.mark.parametrize("labels", [[1, 0, None, 1], [True, False, None, True], ["a", "b", None, "a"]])
def test_labels_of_polars_and_arrow_with_nulls_keep_their_type(make: Any, labels: list[Any]) -> None:
    estimator = DawidSkeneClassifier().fit([labels[:2]] * 4, make(labels))
    assert estimator.classes_.tolist() == sorted(labels[:2])
    assert [type(label) for label in estimator.classes_.tolist()] == [type(labels[0])] * 2
