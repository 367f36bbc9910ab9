"""Every estimator documents its parameters and attributes, and can be saved and loaded."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import spocc.sklearn
from spocc.sklearn import LadderClassifier, SpoccEnsemble

ESTIMATORS = [getattr(spocc.sklearn, name) for name in spocc.sklearn.__all__]
X = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 0]] * 5)
Y = np.array(["no", "yes"] * 10)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_lists_parameters_attributes_and_an_example(estimator: Any) -> None:
    text = inspect.getdoc(estimator) or ""
    parameters, _, rest = text.partition("\nParameters\n----------\n")[2].partition(
        "\nAttributes\n----------\n"
    )
    attributes, _, example = rest.partition("\nExamples\n--------\n")
    documented = [name for line in parameters.split("\n") if line[:1].strip() for name in line.split(", ")]
    assert sorted(documented) == sorted(inspect.signature(estimator).parameters)
    listed = [name for line in attributes.split("\n") if line[:1].strip() for name in line.split(", ")]
    assert {"classes_", "model_", "n_features_in_", "feature_names_in_", "audit_"} <= set(listed)
    assert f"{estimator.__name__}(" in example


def fitted() -> list[Any]:
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
    return [LadderClassifier(calibrate="cross").fit(X, Y), SpoccEnsemble(members, "bayes").fit(X, Y)]


def assert_alike(one: Any, other: Any) -> None:
    assert one.model_ == other.model_
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.classes_, other.classes_)


def test_skops_saves_and_loads_estimators_models_and_evidence() -> None:
    sio = pytest.importorskip("skops.io")
    for estimator in fitted():
        for value in (
            estimator,
            estimator.model_,
            estimator.evidence_ if hasattr(estimator, "evidence_") else None,
        ):
            if value is None:
                continue
            data = sio.dumps(value)
            loaded = sio.loads(data, trusted=sio.get_untrusted_types(data=data))
            if value is estimator:
                assert_alike(loaded, value)
            else:
                assert loaded == value


@pytest.mark.parametrize("library", ["pickle", "cloudpickle", "joblib"])
def test_estimators_are_saved_and_loaded(library: str, tmp_path: Any) -> None:
    for estimator in fitted():
        if library == "joblib":
            joblib = pytest.importorskip("joblib")
            joblib.dump(estimator, tmp_path / "estimator")
            loaded = joblib.load(tmp_path / "estimator")
        else:
            loaded = pickle.loads(pytest.importorskip(library).dumps(estimator))
        assert_alike(loaded, estimator)
