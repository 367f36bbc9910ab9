"""The held-out accuracy of a model, and warnings about rows that are too few."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import spocc
from spocc._settings import Method
from spocc.sklearn import MajorityClassifier

from panels import make_panel


def caught(*args: Any, **settings: Any) -> tuple[spocc.Model, list[str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = spocc.fit(*args, **settings)
    assert {warning.category for warning in found} <= {spocc.RowWarning}
    assert all(warning.filename == __file__ for warning in found)
    return model, [str(warning.message) for warning in found]


@pytest.mark.parametrize("method", spocc.METHODS)
def test_it_equals_the_row_of_a_comparison_with_one_repetition(method: Method) -> None:
    predictions, truth = make_panel(120)
    found = spocc.fit(predictions, truth, method, evaluate=True).held_out_accuracy
    assert found is not None
    compared = spocc.compare(predictions, truth, methods=[method], repeats=1, curve=False)
    row = next(row for row in compared.methods if row.method == method)
    assert (found.accuracy, found.weighted_accuracy, found.interval) == (row.accuracy, None, row.interval)
    assert (found.by, found.folds, found.n_rows) == ("refits", 5, 120)


def test_weights_of_rows_and_classes_apply() -> None:
    predictions, truth = make_panel(90, n_classes=2)
    weights = 0.2 + np.arange(90) % 7
    settings: dict[str, Any] = {"class_weight": {0: 2.5, 1: 1.0}, "weights": weights}
    found = spocc.fit(predictions, truth, "majority", evaluate=True, **settings).held_out_accuracy
    compared = spocc.compare(predictions, truth, methods=["majority"], repeats=1, curve=False, **settings)
    row = next(row for row in compared.methods if row.method == "majority")
    assert found is not None
    assert found.weighted_accuracy == row.weighted_accuracy is not None
    assert (found.accuracy, found.interval) == (row.accuracy, row.interval)


def test_it_is_measured_only_on_request_and_kept_in_files() -> None:
    predictions, truth = make_panel(60)
    plain = spocc.fit(predictions, truth, "majority")
    model = spocc.fit(predictions, truth, "majority", evaluate=True)
    assert plain.held_out_accuracy is None
    assert plain != model
    assert plain.evidence == model.evidence, "the level that the method needs"
    for same in [
        spocc.Model.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        model.without_evidence(),
    ]:
        assert same.held_out_accuracy == model.held_out_accuracy is not None
    assert copy.deepcopy(model) == model
    assert MajorityClassifier().fit(predictions, truth).model_.held_out_accuracy is None


def test_its_text_is_the_line_of_the_command() -> None:
    predictions, truth = make_panel(60)
    model = spocc.fit(predictions, truth, "selection", evaluate=True)
    text = str(model.held_out_accuracy)
    assert text.startswith("held-out accuracy ")
    assert text.endswith("), by 5-fold cross-validation")
    assert text in model._repr_html_()
    assert "_text" not in repr(model.held_out_accuracy)


def test_above_five_thousand_rows_one_fold_is_held_out() -> None:
    predictions, truth = make_panel(5001)
    found = spocc.fit(predictions, truth, "naive-bayes", evaluate=True).held_out_accuracy
    assert found is not None
    assert (found.by, found.folds, found.n_rows) == ("one-fold", 5, 1001)
    assert str(found).endswith("on 1001 held-out rows (one fold of 5)")


def test_progress_includes_the_evaluation() -> None:
    predictions, truth = make_panel(3000)
    stages: set[str] = set()
    spocc.fit(predictions, truth, "stacking", evaluate=True, progress=lambda stage, *_: stages.add(stage))
    assert "evaluating" in stages


def test_too_few_rows_are_warned_of() -> None:
    rows = [["x", "x"], ["y", "y"], ["x", "x"]]
    _, found = caught(rows, ["x", "y", "x"], "majority")
    once = (
        "class y has a single labelled row: it is used to fit; held out, it is decided by a fit without a "
        "row of its class"
    )
    assert found == [once]
    model, found = caught(rows[1:2], ["y"], "majority", classes=["x", "y", "z"], evaluate=True)
    assert found == [
        "fewer labelled rows (1) than classes (3): the classes without a row (x, z) are decided, if at all, "
        "by the prior assumptions of the method",
        once,
        "no held-out accuracy: labelled rows to fit to and to evaluate on: expected at least 2, found 1",
    ]
    assert model.held_out_accuracy is None
    evidence = spocc.Evidence(*make_panel(60), level="marginals")
    _, found = caught(evidence, method="majority", evaluate=True)
    assert found == ["no held-out accuracy: marginals cannot be split into training rows and held-out rows"]
