"""Models decide, explain, grow and travel."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import spocc
from spocc._settings import Method

from panels import Panel, make_panel

GOLDEN = sorted((Path(__file__).parents[2] / "testdata" / "golden").glob("case_*.json"))
METHODS: dict[str, tuple[Method, dict[str, Any]]] = {
    "spocc_lambda5": ("spocc", {"exponent": 5}),
    "selection": ("selection", {}),
    "weighted_vote": ("weighted-vote", {}),
    "naive_bayes": ("naive-bayes", {}),
}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_decisions_are_those_of_the_authors(path: Path) -> None:
    case = json.loads(path.read_text())
    classes = np.arange(case["l"])
    for entry, (method, settings) in METHODS.items():
        predictions = np.array(case["preds_val"]).T
        model = spocc.fit(predictions, case["y_val"], method, classes=classes, missing="ignore", **settings)
        decisions = model.decide(np.array(case["preds_test"]).T)
        expected = np.array(case["ref"][entry]["pred_test"])
        clear = ~decisions.is_tie
        clear[case["ref"][entry].get("tied_rows", [])] = False
        np.testing.assert_array_equal(decisions.label[clear], expected[clear], err_msg=entry)
        assert clear.sum() > 100


@pytest.mark.parametrize("method", spocc.METHODS)
def test_every_method_fits_decides_and_is_saved(method: Method, panel: Panel, tmp_path: Path) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, method)
    assert model.method == method
    assert model.classifiers == ["x0", "x1", "x2", "x3", "x4"]
    labels = model.predict(predictions)
    assert (labels == truth).mean() > 0.6
    decisions = model.decide(predictions)
    np.testing.assert_array_equal(decisions.label, labels)
    np.testing.assert_array_equal(model.classes[model.predict_ids(predictions)], labels)
    np.testing.assert_array_equal(model.margin(predictions), decisions.margin)
    possibility = model.predict_possibility(predictions)
    assert possibility.shape == (300, 3)
    assert possibility.min() >= 0
    assert possibility.max() <= 1
    model.save(tmp_path / "m.spocc")
    assert spocc.load(tmp_path / "m.spocc") == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert isinstance(model.fitted, dict)


@pytest.mark.parametrize("method", spocc.METHODS)
def test_probabilities_add_up_to_one_or_are_refused(method: Method, panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, method)
    if model.has_probabilities:
        shares = model.predict_proba(predictions)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (shares.argmax(axis=1) == model.predict_ids(predictions)).mean() > 0.99
    else:
        with pytest.raises(spocc.SpoccError, match="probabilities: expected a model that has them"):
            model.predict_proba(predictions)


def test_a_model_of_evidence_is_that_of_its_rows(panel: Panel) -> None:
    predictions, truth = panel
    evidence = spocc.Evidence(predictions[:100], truth[:100]) + spocc.Evidence(predictions[100:], truth[100:])
    for method in spocc.METHODS:
        assert spocc.fit(evidence, method=method) == spocc.fit(predictions, truth, method)


def test_frames_are_matched_by_name_and_arrays_by_position(panel: Panel) -> None:
    predictions, truth = panel
    frame = pd.DataFrame(predictions, columns=list("edcba"))
    model = spocc.fit(frame, truth)
    shuffled = frame[list("cabde")].assign(item=[f"item {row}" for row in range(len(frame))])
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(predictions))
    np.testing.assert_array_equal(model.predict(pl.from_pandas(shuffled)), model.predict(predictions))


def test_unused_columns_may_have_any_type(panel: Panel) -> None:
    predictions, truth = panel
    frame = pd.DataFrame(predictions, columns=list("edcba"))
    model = spocc.fit(frame, truth, "spocc")
    other = frame.assign(when=pd.Timestamp(0), share=0.5, what=[[]] * len(frame))
    np.testing.assert_array_equal(model.predict(other), model.predict(frame))


def test_unseen_labels_are_missing_unless_strict() -> None:
    model = spocc.fit([["a", "a"], ["b", "b"]], ["a", "b"], "majority")
    assert model.predict([["a", "zebra"]]).tolist() == ["a"]
    with pytest.raises(
        spocc.SpoccError, match="row 0: expected `x1` to predict a label of the model, found `zebra`"
    ):
        model.predict([["a", "zebra"]], strict=True)


def test_no_rows_are_decided_as_no_rows(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, "naive-bayes")
    assert model.predict(predictions[:0]).shape == (0,)
    assert model.predict_possibility(predictions[:0]).shape == (0, 3)
    assert len(model.decide(predictions[:0])) == 0


def test_a_row_without_predictions_is_decided_by_the_prior() -> None:
    model = spocc.fit([["a"], ["b"], ["a"]], ["a", "b", "a"], "spocc")
    decided = model.decide([[None], ["b"]])
    assert decided.label.tolist() == ["a", "b"]
    assert decided.by_prior.tolist() == [True, False]
    assert decided.answered.tolist() == [0, 1]
    assert decided.to_frame().columns.tolist() == ["decision", "margin", "answered", "is_tie", "by_prior"]


def test_sets_have_the_requested_coverage() -> None:
    predictions, truth = make_panel(4000)
    model = spocc.fit(predictions[:2000], truth[:2000], "naive-bayes", calibrate="split")
    assert model.calibration is not None
    sets = model.predict_set(predictions[2000:], 0.9)
    assert sets.shape == (2000, 3)
    assert sets[np.arange(2000), truth[2000:]].mean() > 0.87
    assert sets.any(axis=1).all()


def test_a_row_with_an_id_has_the_same_set_in_any_order() -> None:
    predictions, truth = make_panel(2000)
    model = spocc.fit(predictions, truth, "majority", calibrate="cross", per_class=True)
    names = [f"row {row}" for row in range(2000)]
    order = np.random.default_rng(0).permutation(2000)
    sets = model.predict_set(predictions, 0.8, ids=names)
    shuffled = model.predict_set(predictions[order], 0.8, ids=[names[row] for row in order])
    np.testing.assert_array_equal(sets[order], shuffled)
    assert not np.array_equal(sets, model.predict_set(predictions, 0.8, seed=1, ids=names))


def test_class_weights_move_decisions() -> None:
    predictions, truth = make_panel(400)
    plain = spocc.fit(predictions, truth, "naive-bayes")
    heavy = spocc.fit(predictions, truth, "naive-bayes", class_weight={2: 1000.0})
    assert (heavy.predict(predictions) == 2).sum() > (plain.predict(predictions) == 2).sum()
    assert spocc.fit(predictions, truth, "naive-bayes", class_weight="balanced") != plain


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("spocc", {"exponent": "tuned", "tuning": "resubstitution"}),
        ("spocc", {"exponent": float("inf")}),
        ("spocc", {"exponent": "inf"}),
        ("adaspocc", {"tuning": "k-fold"}),
        ("stacking", {"inputs": "ordinal", "strength": 2.0}),
        ("exp-vote", {"tuning": "resubstitution"}),
    ],
)
def test_methods_have_settings(method: Method, settings: dict[str, Any], panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, method, **settings)
    assert model.method == method
    fitted = model.fitted
    if method == "stacking":
        assert fitted["strength"] == 2.0
        assert fitted["inputs"] == "ordinal"
    if settings.get("exponent") in ("inf", float("inf")):
        assert fitted["exponent"] == "inf"


def test_some_methods_need_no_truth(panel: Panel) -> None:
    predictions, _ = panel
    methods: tuple[Method, ...] = ("ladder", "dawid-skene", "one-coin", "majority")
    for method in methods:
        model = spocc.fit(predictions, method=method)
        assert model.evidence is not None
        assert (model.evidence.n_rows, model.evidence.n_unlabelled) == (0, 300)
    with pytest.raises(spocc.SpoccError, match="expected at least one labelled row"):
        spocc.fit(predictions, method="spocc")


def test_a_classifier_can_be_appended(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions[:, :4], truth, "adaspocc")
    grown = model.append(spocc.Evidence(predictions, truth))
    assert grown.classifiers == ["x0", "x1", "x2", "x3", "x4"]
    with pytest.raises(spocc.SpoccError, match="append: expected a model that holds its evidence"):
        model.without_evidence().append(spocc.Evidence(predictions, truth))


def test_a_model_names_the_parts_that_hold_rows(panel: Panel) -> None:
    predictions, truth = panel
    assert spocc.fit(predictions, truth).row_parts == []
    assert spocc.fit(predictions, truth, method="bayes").without_evidence().row_parts == [
        "a table of patterns"
    ]


def test_a_slim_model_has_no_count_of_a_few_rows() -> None:
    predictions = np.array([["x", "x"]] * 9 + [["y", "y"]] * 9 + [["y", "x"]] * 3)
    truth = ["x"] * 9 + ["y"] * 9 + ["z"] * 3
    model = spocc.fit(predictions, truth, method="bayes")
    line = "slim: 3 rows of the fit are decided differently without counts of fewer than 5 rows"
    with pytest.warns(spocc.SlimWarning, match=line):
        slim = model.slim()
    assert (slim.evidence, slim.row_parts, slim.min_count) == (None, [], 5)
    assert slim.predict([["y", "x"], ["y", "y"]]).tolist() == ["x", "y"]
    assert spocc.Model.from_bytes(slim.to_bytes()) == slim == slim.slim(2)
    assert model.slim(min_count=3).min_count == 3
    assert spocc.fit(predictions, truth, method="majority").slim().min_count is None
    with pytest.raises(
        spocc.SpoccError, match="slim: expected a model that holds its evidence, found one without"
    ):
        model.without_evidence().slim()
    with pytest.raises(TypeError, match="min_count: expected a whole number, found str"):
        model.slim("5")  # type: ignore[arg-type]
    for wrong in (1, -3, 2**64):
        with pytest.raises(spocc.SpoccError, match="min_count: expected a whole number from 2"):
            model.slim(wrong)


def test_a_model_without_evidence_decides_alike(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth)
    slim = model.without_evidence()
    assert slim.evidence is None
    assert len(slim.to_bytes()) < len(model.to_bytes())
    np.testing.assert_array_equal(slim.predict(predictions), model.predict(predictions))
    assert repr(slim).endswith("without evidence)")


@pytest.mark.filterwarnings("ignore::spocc.ColumnWarning")
def test_a_missing_prediction_can_be_an_answer() -> None:
    predictions = [["x", None] if row % 2 else ["x", "y"] for row in range(100)]
    truth = ["a" if row % 2 else "b" for row in range(100)]
    model = spocc.fit(predictions, truth, "naive-bayes")
    assert model.missing == "auto"
    assert model.missing_is_answer == [False, True]
    assert model.predict([["x", None], ["x", "y"]]).tolist() == ["a", "b"]


def test_a_model_is_made_by_fit_alone() -> None:
    with pytest.raises(TypeError, match=r"spocc\.fit"):
        spocc.Model()


def test_a_model_is_not_changed_through_its_properties(panel: Panel) -> None:
    predictions, truth = panel
    frame = pd.DataFrame(predictions, columns=list("abcde"))
    model = spocc.fit(frame, truth, "naive-bayes")
    expected = model.predict(frame)
    model.classifiers.clear()
    model.fitted.clear()
    assert model.classifiers == list("abcde")
    np.testing.assert_array_equal(model.predict(frame), expected)
    with pytest.raises(ValueError, match="read-only"):
        model.classes[0] = 9
