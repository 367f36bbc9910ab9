"""The combiners: estimators whose X has a column of predictions per classifier."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score, cross_validate

import spocc
from spocc._settings import Calibrate
from spocc.sklearn import (
    AdaSpoccClassifier,
    DawidSkeneClassifier,
    ExpVoteClassifier,
    LadderClassifier,
    MajorityClassifier,
    NaiveBayesClassifier,
    OneCoinClassifier,
    OneHotStackingClassifier,
    SpoccClassifier,
)
from spocc.sklearn._methods import BY_METHOD

KINDS = list(BY_METHOD.values())
NAMES = ["ann", "bob", "eve"]


def panel(n: int = 200, n_classes: int = 3, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Three classifiers, one of them a copy of another, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    right = rng.random((n, 3)) < [0.8, 0.7, 0.6]
    X = np.where(right, y[:, None], rng.integers(0, n_classes, (n, 3)))
    X[:, 2] = np.where(rng.random(n) < 0.9, X[:, 1], X[:, 2])
    return X, y


def test_every_method_has_an_estimator() -> None:
    assert set(BY_METHOD) == set(spocc.METHODS)


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_makes_the_model_that_fit_makes(kind: Any) -> None:
    X, y = panel()
    estimator = kind().fit(X, y)
    model = spocc.fit(X, y, estimator._method, classes=[0, 1, 2])
    assert estimator.model_ == model
    np.testing.assert_array_equal(estimator.predict(X), model.predict(X))
    np.testing.assert_array_equal(estimator.predict_possibility(X), model.predict_possibility(X))


@pytest.mark.parametrize("kind", KINDS)
def test_predict_proba_exists_exactly_for_methods_with_probabilities(kind: Any) -> None:
    X, y = panel()
    estimator = kind().fit(X, y)
    assert hasattr(estimator, "predict_proba") == estimator.model_.has_probabilities
    if hasattr(estimator, "predict_proba"):
        np.testing.assert_allclose(estimator.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_in_any_order_give_the_model_of_the_whole(kind: Any) -> None:
    X, y = panel()
    weights = np.arange(len(y)) % 4 / 2
    whole = kind().fit(X, y, sample_weight=weights)
    pieces = kind()
    for rows in (slice(120, None), slice(0, 50), slice(50, 120)):
        pieces.partial_fit(X[rows], y[rows], classes=[2, 0, 1], sample_weight=weights[rows])
    assert pieces.model_ == whole.model_
    assert pieces.evidence_ == whole.evidence_


def test_batches_go_on_after_a_fit_and_after_a_look_at_the_model() -> None:
    X, y = panel()
    whole = AdaSpoccClassifier().fit(X, y)
    pieces = AdaSpoccClassifier().fit(X[:60], y[:60])
    pieces.partial_fit(X[60:90], y[60:90]).predict(X)
    assert pieces.partial_fit(X[90:], y[90:]).model_ == whole.model_


def test_the_first_batch_must_give_the_classes_and_later_ones_may_not_change_them() -> None:
    X, y = panel()
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        MajorityClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="is not the same as on last call"):
        MajorityClassifier().partial_fit(X, y, classes=[0, 1, 2]).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(spocc.SpoccError, match="expected a truth among the classes"):
        MajorityClassifier().partial_fit(X, y, classes=[0, 1])


@pytest.mark.parametrize("calibrate", ["split", "cross"])
def test_calibrated_batches_keep_all_their_evidence(calibrate: Calibrate) -> None:
    X, y = panel()
    whole = LadderClassifier(calibrate=calibrate).fit(X, y)
    pieces = LadderClassifier(calibrate=calibrate).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert pieces.model_ == whole.model_
    assert pieces.evidence_.n_rows == 200
    assert pickle.loads(pickle.dumps(pieces)).evidence_ == whole.evidence_


TABLES: dict[str, Any] = {
    "integers": lambda X: X.astype(np.int16),
    "columns first": np.asfortranarray,
    "floats": lambda X: X.astype(np.float32),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "texts": lambda X: X.astype(str),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas categories": lambda X: pd.DataFrame(X, columns=NAMES).astype("category"),
    "pandas texts": lambda X: pd.DataFrame(X, columns=NAMES).astype(str),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("table", TABLES)
def test_any_table_of_the_same_predictions_is_decided_alike(table: str) -> None:
    X, y = panel()
    expected = NaiveBayesClassifier().fit(X, y).predict_proba(X)
    given = TABLES[table](X)
    estimator = NaiveBayesClassifier().fit(given, y)
    np.testing.assert_array_equal(estimator.predict_proba(given), expected)
    if hasattr(given, "columns"):
        assert list(estimator.feature_names_in_) == NAMES
        assert estimator.model_.classifiers == NAMES
    assert estimator.n_features_in_ == 3


@pytest.mark.parametrize(
    "classes",
    [
        np.array([3, 7, 9], dtype=np.int8),
        np.array([0, 1, 2**40]),
        np.array([1, 2, 3], dtype=np.uint8),
        np.array([-1.0, 0.0, 5.0]),
        np.array(["a", "bb", "ccc"]),
        np.array(["a", "bb", "ccc"], dtype=object),
        np.array(["10", "9", "x"]),
    ],
    ids=["int8", "int64", "uint8", "float64", "texts", "objects", "digits"],
)
def test_labels_come_back_as_they_went_in(classes: NDArray[Any]) -> None:
    X, y = panel()
    estimator = LadderClassifier().fit(classes[X], classes[y])
    assert estimator.classes_.dtype == classes.dtype
    np.testing.assert_array_equal(estimator.classes_, classes)
    decided = estimator.predict(classes[X])
    assert decided.dtype == classes.dtype
    np.testing.assert_array_equal(decided, classes[LadderClassifier().fit(X, y).predict(X)])


@pytest.mark.parametrize("of_x", [np.bool_, np.int64, np.float64])
@pytest.mark.parametrize("of_y", [np.bool_, np.int64])
def test_booleans_and_the_numbers_0_and_1_are_the_same_labels(of_x: Any, of_y: Any) -> None:
    X, y = panel(n_classes=2)
    expected = MajorityClassifier().fit(X, y).predict(X)
    estimator = MajorityClassifier(class_weight={True: 2}).fit(X.astype(of_x), y.astype(of_y))
    decided = estimator.predict(X.astype(of_x))
    assert decided.dtype == of_y
    np.testing.assert_array_equal(decided, expected)
    frame = pd.DataFrame(X.astype(of_x), columns=NAMES)
    for table in (
        frame,
        frame.convert_dtypes(),
        pl.DataFrame(frame.to_dict("list")),
        pa.table(frame.to_dict("list")),
    ):
        np.testing.assert_array_equal(
            MajorityClassifier().fit(table, y.astype(of_y)).predict(table), expected
        )


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "i8", "u8", "f8"])
def test_classes_are_what_numpy_finds_unique(kind: str) -> None:
    ends = np.iinfo(kind) if kind != "f8" else np.iinfo("i4")
    for labels in ([ends.min, ends.max], [ends.max - 1, ends.max], [0, 7], [ends.min, ends.min + 3], [5]):
        y = np.array(labels * 2, dtype=kind)
        estimator = MajorityClassifier().fit(np.zeros((len(y), 1)), y)
        assert estimator.classes_.dtype == y.dtype
        np.testing.assert_array_equal(estimator.classes_, np.unique(y))


def test_missing_predictions_may_be_written_in_any_way() -> None:
    predictions = [["cat", "cat"], ["dog", "dog"], ["dog", "cat"]] * 3
    estimator = NaiveBayesClassifier().fit(predictions, ["cat", "dog", "dog"] * 3)
    expected = estimator.predict_proba(np.array([["cat", None]], dtype=object))
    for gap in (None, np.nan, pd.NA):
        np.testing.assert_array_equal(estimator.predict_proba([["cat", gap]]), expected)
        frame = pd.DataFrame([["cat", gap]], dtype=object)
        frame.columns = range(2)
        np.testing.assert_array_equal(estimator.predict_proba(frame), expected)


def test_an_unseen_label_counts_as_missing() -> None:
    X, y = panel()
    estimator = MajorityClassifier().fit(X, y)
    np.testing.assert_array_equal(
        estimator.predict_possibility([[1, 77, 1]]), estimator.predict_possibility([[1, np.nan, 1]])
    )


def test_a_number_with_a_fraction_is_a_label_of_its_own() -> None:
    X = np.array([[0.5, 1], [0.25, 1], [0.5, 2.0], [0.25, 2], [np.nan, 1]])
    y = ["half", "quarter", "half", "quarter", "half"]
    estimator = NaiveBayesClassifier().fit(X, y)
    np.testing.assert_array_equal(estimator.predict(X[:4]), y[:4])
    assert {"0.5", "0.25"} <= set(estimator.evidence_.labels)
    np.testing.assert_array_equal(estimator.predict(X.astype(object)), estimator.predict(X))
    frame = pd.DataFrame(X, columns=["a", "b"])
    for table in (frame, frame.convert_dtypes(), pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        np.testing.assert_array_equal(
            NaiveBayesClassifier().fit(table, y).predict(table), estimator.predict(X)
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("ties", ["first", "random"])
def test_the_decision_function_decides_as_predict_does(kind: Any, n_classes: int, ties: str) -> None:
    for seed in range(4):
        X, y = panel(30, n_classes, seed)
        estimator = kind(ties=ties).fit(X, y)
        asked = np.random.default_rng(seed).integers(0, n_classes + 1, (200, 3))
        scores = estimator.decision_function(asked)
        best = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(estimator.classes_[best], estimator.predict(asked))


def test_sets_have_the_requested_coverage() -> None:
    X, y = panel(1000)
    estimator = LadderClassifier(calibrate="split", random_state=3).fit(X, y)
    X, y = panel(4000, seed=1)
    sets = estimator.predict_set(X, coverage=0.9)
    assert 0.87 < sets[np.arange(len(y)), y].mean() < 0.95
    with pytest.raises(spocc.SpoccError, match="expected a calibrated model"):
        LadderClassifier().fit(X, y).predict_set(X)


@pytest.mark.parametrize("kind", [LadderClassifier, DawidSkeneClassifier, OneCoinClassifier])
def test_rows_without_truth_are_used(kind: Any) -> None:
    X, y = panel()
    gaps = y.astype(float)
    gaps[50:] = np.nan
    estimator = kind().fit(X, gaps)
    assert (estimator.evidence_.n_rows, estimator.evidence_.n_unlabelled) == (50, 150)
    objects = np.array([None if np.isnan(label) else int(label) for label in gaps], dtype=object)
    np.testing.assert_array_equal(kind().fit(X, objects).predict(X), estimator.predict(X).astype(int))


def test_settings_are_those_of_the_command() -> None:
    X, y = panel()
    cases: list[tuple[Any, dict[str, Any]]] = [
        (SpoccClassifier, {"exponent": "tuned", "tuning": "resubstitution"}),
        (AdaSpoccClassifier, {"tuning": "k-fold"}),
        (ExpVoteClassifier, {"tuning": "resubstitution"}),
        (OneHotStackingClassifier, {"inputs": "ordinal", "strength": 2}),
        (NaiveBayesClassifier, {"missing": "answer", "class_weight": "balanced"}),
        (MajorityClassifier, {"ties": "random"}),
    ]
    for kind, settings in cases:
        estimator = kind(**settings, random_state=7).fit(X, y)
        assert estimator.model_ == spocc.fit(X, y, kind._method, classes=[0, 1, 2], seed=7, **settings)


def test_clones_and_copies_decide_alike() -> None:
    X, y = panel()
    estimator = AdaSpoccClassifier(class_weight={0: 2.0}).fit(X, y)
    assert pickle.loads(pickle.dumps(estimator)).model_ == estimator.model_
    assert clone(estimator).fit(X, y).model_ == estimator.model_


def test_columns_are_matched_by_position_where_one_side_has_no_names() -> None:
    X, y = panel()
    frame = pd.DataFrame(X, columns=NAMES)
    named, plain = NaiveBayesClassifier().fit(frame, y), NaiveBayesClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(X), plain.predict(X))
    with pytest.warns(UserWarning, match="X has feature names, but NaiveBayesClassifier was fitted without"):
        np.testing.assert_array_equal(plain.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame[["bob", "ann", "eve"]])


def test_weights_are_routed() -> None:
    X, y = panel()
    weights = np.where(y == 0, 1000.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = NaiveBayesClassifier().set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=False)
        result = cross_validate(estimator, X, y, params={"sample_weight": weights}, return_estimator=True)
    assert all(fitted.evidence_.n_rows > 10_000 for fitted in result["estimator"])
    assert cross_val_score(NaiveBayesClassifier(), X, y).mean() > 0.6


BAD: dict[str, tuple[Any, Any, str]] = {
    "no rows": (np.empty((0, 2)), [], r"Found array with 0 sample\(s\)"),
    "no rows of a frame": (pd.DataFrame({"a": []}), [], r"Found array with 0 sample\(s\)"),
    "no columns": (np.empty((2, 0)), [0, 1], r"Found array with 0 feature\(s\)"),
    "one axis": ([0, 1], [0, 1], "Expected 2D array, got 1D array instead"),
    "other lengths": ([[0], [1]], [0], "Found input variables with inconsistent numbers of samples"),
    "no truth": ([[0], [1]], None, "requires y to be passed, but the target y is None"),
    "a gap in y": ([[0], [1]], [0, np.nan], "Input y contains NaN"),
    "a gap among texts of y": ([["a"], ["b"]], ["a", None], "Input y contains NaN"),
    "measurements for y": ([[0], [1], [2]], [0.5, 1.5, 2.25], "Unknown label type: continuous"),
    "mixed kinds in y": ([[0], [1]], np.array([0, "a"], dtype=object), "Mix of label input types"),
    "infinity": ([[np.inf], [1.0]], [0, 1], "Input X contains infinity"),
    "what is no label": (np.array([[{}], [1]], dtype=object), [0, 1], "expected a whole number, a text"),
    "dates": (np.array([["2020-01-01"], ["2020-01-02"]], dtype="M8[D]"), [0, 1], "found datetime64"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_clear_line(case: str) -> None:
    X, y, message = BAD[case]
    expected = TypeError if case in ("what is no label", "dates") else ValueError
    with pytest.raises(expected, match=message):
        MajorityClassifier().fit(X, y)


def test_an_unfitted_estimator_raises() -> None:
    for ask in ("predict", "predict_possibility", "decision_function", "predict_proba", "predict_set"):
        with pytest.raises(NotFittedError, match="instance is not fitted yet"):
            getattr(LadderClassifier(), ask)([[0, 1]])
    assert not hasattr(LadderClassifier(), "model_")


def test_a_wrong_width_or_setting_is_refused() -> None:
    X, y = panel()
    with pytest.raises(ValueError, match="X has 2 features, but LadderClassifier is expecting 3 features"):
        LadderClassifier().fit(X, y).predict(X[:, :2])
    with pytest.raises(spocc.SpoccError, match="missing: expected one of"):
        LadderClassifier(missing="perhaps").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(spocc.SpoccError, match="tuning: expected a method that uses it"):
        SpoccClassifier(tuning="k-fold").fit(X, y)
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        LadderClassifier().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        LadderClassifier().fit(X, y, sample_weight=-np.ones(len(y)))


@pytest.mark.parametrize("kind", ["int64", "Int64", "category"])
def test_rows_are_in_order_whatever_their_index(kind: str) -> None:
    X, y = panel()
    frame = pd.DataFrame(X, columns=NAMES).astype(kind)
    weights = np.arange(len(y)) % 5
    expected = LadderClassifier().fit(frame, y, weights)
    shuffled = np.random.default_rng(0).permutation(len(y))
    for index in (shuffled, shuffled % 7, [f"row {row}" for row in shuffled]):
        found = LadderClassifier().fit(frame, pd.Series(y, index), pd.Series(weights, index))
        assert found.model_ == expected.model_
        found = LadderClassifier().fit(frame.set_axis(index), pd.Series(y), pd.Series(weights))
        assert found.model_ == expected.model_
        decided = found.predict(frame.set_axis(index))
        assert isinstance(decided, np.ndarray)
        np.testing.assert_array_equal(decided, expected.predict(frame))
    # As in scikit-learn, only transformers have an output to set.
    assert not hasattr(expected, "set_output")
