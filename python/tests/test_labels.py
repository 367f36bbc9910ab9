"""Labels come back as they went in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import spocc
from spocc._settings import Missing

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
KINDS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8),
    st.lists(st.integers(-3, 5000), min_size=1, max_size=8),
    st.lists(st.booleans(), min_size=1, max_size=8),
    st.lists(TEXT, min_size=1, max_size=8),
    st.lists(st.integers(-(2**53), 2**53).map(float), min_size=1, max_size=8),
    st.lists(st.integers(-(2**100), 2**100), min_size=1, max_size=8),
)


@given(KINDS)
def test_labels_come_back_with_their_value_and_type(labels: list[Any]) -> None:
    distinct = {str(label).removesuffix(".0").replace("True", "true"): label for label in labels}
    # Texts that mean booleans come back in one spelling.
    texts = ("true", "false")
    labels = [each for each in distinct.values() if isinstance(each, bool) or str(each).lower() not in texts]
    labels = labels or [1]
    model = spocc.fit([[label] for label in labels], labels, method="majority")
    decided = model.predict([[label] for label in labels]).tolist()
    assert decided == labels
    assert [type(label) for label in decided] == [type(label) for label in labels]


@given(KINDS, KINDS)
def test_evidence_survives_its_bytes_whatever_the_labels(predictions: list[Any], truth: list[Any]) -> None:
    n = min(len(predictions), len(truth))
    evidence = spocc.Evidence({"a": predictions[:n]}, truth[:n])
    assert spocc.Evidence.from_bytes(evidence.to_bytes()) == evidence
    assert evidence.n_rows == n


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([3, 1], dtype=np.int8), np.int64),
        (np.array([3, 1], dtype=np.uint64), np.int64),
        (np.array([1.0, 2.0]), np.float64),
        (np.array([True, False]), np.bool_),
        (np.array(["a", "bc"]), np.dtype("<U2")),
        (pd.Series(["a", "bc"], dtype="category"), np.dtype("<U2")),
        (["a\0", "b"], np.object_),
        ([1, "b"], np.object_),
        ([2**64, 5], np.object_),
    ],
)
def test_classes_are_an_array_of_their_type(labels: Any, kind: Any) -> None:
    model = spocc.fit({"a": labels}, labels, method="majority")
    assert model.classes.dtype == kind
    assert sorted(map(str, model.predict({"a": labels}))) == sorted(map(str, labels))


def test_one_label_written_in_two_ways_is_one_class() -> None:
    evidence = spocc.Evidence([[1.0], [2.0], [None]], [1, 2, 1])
    assert evidence.classes.tolist() == [1, 2]
    assert evidence.classes.dtype == np.int64


KINDS_OF_LABELS: dict[str, list[Any]] = {
    "text": ["0", "1"],
    "integer": [0, 1],
    "float": [0.0, 1.0],
    "text of floats": ["0.0", "1.0"],
}


@pytest.mark.parametrize("predicted", KINDS_OF_LABELS)
@pytest.mark.parametrize("true", KINDS_OF_LABELS)
@pytest.mark.parametrize("missing", ["auto", "answer"])
def test_labels_come_back_with_the_type_of_the_truth(predicted: str, true: str, missing: Missing) -> None:
    zero, one = KINDS_OF_LABELS[predicted]
    predictions = np.array([[zero, zero, one], [one, one, zero], [zero, one, one], [one, one, zero]] * 5)
    truth = np.array([KINDS_OF_LABELS[true][i] for i in (0, 1, 0, 1)] * 5)
    evidence = spocc.Evidence(predictions, truth)
    model = spocc.fit(predictions, truth, missing=missing)
    decided = model.predict(predictions)
    assert (decided == truth).all()
    explained = model.explain(predictions)
    for labels in [decided, model.classes, evidence.classes, model.decide(predictions).label]:
        assert labels.dtype == truth.dtype
    assert explained.label == truth[0]
    assert type(explained.label) is type(truth[0])
    assert model.without_evidence().predict(predictions).dtype == truth.dtype
    assert [entry["label"] for entry in evidence.audit().as_dict["classes"]] == truth[:2].tolist()
    # A batch in which a label is only predicted does not determine its type as a truth.
    batches = [spocc.Evidence(predictions[[t]], truth[[t]]) for t in range(20)]
    for order in [batches, batches[::-1]]:
        assert sum(order[1:], order[0]).to_bytes() == evidence.to_bytes()


@pytest.mark.filterwarnings("ignore::spocc.ColumnWarning")
@pytest.mark.parametrize(
    ("predictions", "true", "classes"),
    [
        (["1", "3"], [1, 2], [1, 2, 3]),
        ([1.0, 3.0], [1, 2], [1, 2, 3]),
        ([1, 3], ["1", "2"], ["1", "2", "3"]),
        ([1.0, 3.0], ["1", "2"], ["1", "2", "3"]),
        ([1, 3], [1.0, 2.0], [1.0, 2.0, 3.0]),
        (["False", "false"], [True, True], [False, True]),
        (["cat", 7], ["cat", "dog"], ["7", "cat", "dog"]),
        (["na", "1"], [1, 2], [1, 2, "na"]),
        ([1, 3], [True, False], [1, 3, False, True]),
        (["3", 4], [1, "b"], [1, "3", 4, "b"]),
        (["3", 4], None, ["3", 4]),
    ],
)
def test_a_class_that_is_only_predicted_has_the_type_of_the_truth(
    predictions: list[Any], true: list[Any] | None, classes: list[Any]
) -> None:
    evidence = spocc.Evidence([[label] for label in predictions], true)
    model = spocc.fit(evidence, method="majority")
    for found in [evidence.classes.tolist(), evidence.labels.tolist()]:
        assert found == classes
        assert [type(label) for label in found] == [type(label) for label in classes]
    # Labels of a column without true labels are no classes.
    candidates = [(label, type(label)) for label in model.classes.tolist()]
    assert set(candidates) <= {(label, type(label)) for label in classes}
    assert {label for label, _ in candidates} >= set(true or predictions)
    assert spocc.Model.from_bytes(model.to_bytes()) == model


def test_given_classes_come_back_as_they_were_given() -> None:
    model = spocc.fit([["0"], ["1"]] * 5, ["0", "1"] * 5, "majority", classes=[1, 0])
    assert model.predict([["0"], ["1"]]).tolist() == [0, 1]


def test_given_classes_keep_their_order() -> None:
    model = spocc.fit([["no"], ["yes"], ["perhaps"]], ["no", "yes", "no"], "spocc", classes=["yes", "no"])
    assert model.classes.tolist() == ["yes", "no"]
    assert model.evidence is not None
    assert model.evidence.labels.tolist() == ["yes", "no", "perhaps"]


def test_zero_and_minus_zero_are_one_label() -> None:
    assert spocc.Evidence([[0.0], [-0.0]], [0, 0]).labels.tolist() == [0]
