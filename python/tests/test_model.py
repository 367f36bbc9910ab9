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

from panels import Panel, make_panel

GOLDEN = sorted((Path(__file__).parents[2] / "testdata" / "golden").glob("case_*.json"))
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
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
        answers = np.array(case["preds_val"]).T
        model = spocc.fit(answers, case["y_val"], method, classes=classes, missing="silent", **settings)
        decisions = model.decide(np.array(case["preds_test"]).T)
        expected = np.array(case["ref"][entry]["pred_test"])
        clear = ~decisions.is_tie
        clear[case["ref"][entry].get("tied_rows", [])] = False
        np.testing.assert_array_equal(decisions.label[clear], expected[clear], err_msg=entry)
        assert clear.sum() > 100


@pytest.mark.parametrize("method", spocc.METHODS)
def test_every_method_fits_decides_and_travels(method: str, panel: Panel, tmp_path: Path) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, method)
    assert model.method == method
    assert model.classifiers == ["x0", "x1", "x2", "x3", "x4"]
    labels = model.predict(answers)
    assert (labels == truth).mean() > 0.6
    decisions = model.decide(answers)
    np.testing.assert_array_equal(decisions.label, labels)
    np.testing.assert_array_equal(model.classes[model.predict_ids(answers)], labels)
    np.testing.assert_array_equal(model.margin(answers), decisions.margin)
    possibility = model.possibility(answers)
    assert possibility.shape == (300, 3)
    assert possibility.min() >= 0
    assert possibility.max() <= 1
    model.save(tmp_path / "m.spocc")
    assert spocc.load(tmp_path / "m.spocc") == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert isinstance(model.fitted, dict)


@pytest.mark.parametrize("method", spocc.METHODS)
def test_probabilities_add_up_to_one_or_are_refused(method: str, panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, method)
    if model.has_probabilities:
        shares = model.predict_proba(answers)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert (shares.argmax(axis=1) == model.predict_ids(answers)).mean() > 0.99
    else:
        with pytest.raises(spocc.SpoccError, match="probabilities: expected a model that has them"):
            model.predict_proba(answers)


def test_a_model_of_evidence_is_that_of_its_rows(panel: Panel) -> None:
    answers, truth = panel
    evidence = spocc.Evidence(answers[:100], truth[:100]) + spocc.Evidence(answers[100:], truth[100:])
    for method in spocc.METHODS:
        assert spocc.fit(evidence, method=method) == spocc.fit(answers, truth, method)


def test_frames_are_matched_by_name_and_arrays_by_position(panel: Panel) -> None:
    answers, truth = panel
    frame = pd.DataFrame(answers, columns=list("edcba"))
    model = spocc.fit(frame, truth)
    shuffled = frame[list("cabde")].assign(item=[f"item {row}" for row in range(len(frame))])
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(answers))
    np.testing.assert_array_equal(model.predict(pl.from_pandas(shuffled)), model.predict(answers))


def test_columns_that_nobody_asks_for_may_hold_anything(panel: Panel) -> None:
    answers, truth = panel
    frame = pd.DataFrame(answers, columns=list("edcba"))
    model = spocc.fit(frame, truth, "spocc")
    other = frame.assign(when=pd.Timestamp(0), share=0.5, what=[[]] * len(frame))
    np.testing.assert_array_equal(model.predict(other), model.predict(frame))


def test_unseen_labels_are_silence_unless_strict() -> None:
    model = spocc.fit([["a", "a"], ["b", "b"]], ["a", "b"], "majority")
    assert model.predict([["a", "zebra"]]).tolist() == ["a"]
    with pytest.raises(
        spocc.SpoccError, match="row 0: expected `x1` to predict a label of the model, found `zebra`"
    ):
        model.predict([["a", "zebra"]], strict=True)


def test_no_rows_are_decided_as_no_rows(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, "naive-bayes")
    assert model.predict(answers[:0]).shape == (0,)
    assert model.possibility(answers[:0]).shape == (0, 3)
    assert len(model.decide(answers[:0])) == 0


def test_a_row_of_silence_is_decided_by_the_prior() -> None:
    model = spocc.fit([["a"], ["b"], ["a"]], ["a", "b", "a"], "spocc")
    decided = model.decide([[None], ["b"]])
    assert decided.label.tolist() == ["a", "b"]
    assert decided.by_prior.tolist() == [True, False]
    assert decided.answered.tolist() == [0, 1]
    assert decided.to_frame().columns.tolist() == ["decision", "margin", "answered", "is_tie", "by_prior"]


def test_sets_hold_the_truth_as_often_as_asked() -> None:
    answers, truth = make_panel(4000)
    model = spocc.fit(answers[:2000], truth[:2000], "naive-bayes", calibrate="split")
    assert model.calibration is not None
    sets = model.predict_set(answers[2000:], 0.9)
    assert sets.shape == (2000, 3)
    assert sets[np.arange(2000), truth[2000:]].mean() > 0.87
    assert sets.any(axis=1).all()


def test_a_named_row_gets_the_same_set_in_whatever_order() -> None:
    answers, truth = make_panel(2000)
    model = spocc.fit(answers, truth, "majority", calibrate="cross", per_class=True)
    names = [f"row {row}" for row in range(2000)]
    order = np.random.default_rng(0).permutation(2000)
    sets = model.predict_set(answers, 0.8, ids=names)
    shuffled = model.predict_set(answers[order], 0.8, ids=[names[row] for row in order])
    np.testing.assert_array_equal(sets[order], shuffled)
    assert not np.array_equal(sets, model.predict_set(answers, 0.8, seed=1, ids=names))


def test_class_weights_move_decisions() -> None:
    answers, truth = make_panel(400)
    plain = spocc.fit(answers, truth, "naive-bayes")
    heavy = spocc.fit(answers, truth, "naive-bayes", class_weight={2: 1000.0})
    assert (heavy.predict(answers) == 2).sum() > (plain.predict(answers) == 2).sum()
    assert spocc.fit(answers, truth, "naive-bayes", class_weight="balanced") != plain


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
def test_methods_have_settings(method: str, settings: dict[str, Any], panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, method, **settings)
    assert model.method == method
    fitted = model.fitted
    if method == "stacking":
        assert fitted["strength"] == 2.0
        assert fitted["inputs"] == "ordinal"
    if settings.get("exponent") in ("inf", float("inf")):
        assert fitted["exponent"] == "inf"


def test_no_truth_at_all_is_enough_for_some(panel: Panel) -> None:
    answers, _ = panel
    for method in ["dawid-skene", "majority"]:
        model = spocc.fit(answers, method=method)
        assert model.evidence is not None
        assert (model.evidence.n_rows, model.evidence.n_unlabelled) == (0, 300)
    with pytest.raises(spocc.SpoccError, match="expected at least one labelled row"):
        spocc.fit(answers, method="spocc")


def test_one_more_classifier_can_join(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers[:, :4], truth, "adaspocc")
    grown = model.append(spocc.Evidence(answers, truth))
    assert grown.classifiers == ["x0", "x1", "x2", "x3", "x4"]
    with pytest.raises(spocc.SpoccError, match="append: expected a model that holds its evidence"):
        model.slim().append(spocc.Evidence(answers, truth))


def test_a_slim_model_decides_alike(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth)
    slim = model.slim()
    assert slim.evidence is None
    assert len(slim.to_bytes()) < len(model.to_bytes())
    np.testing.assert_array_equal(slim.predict(answers), model.predict(answers))
    assert repr(slim).endswith("slim)")


@pytest.mark.filterwarnings("ignore::spocc.ColumnWarning")
def test_silence_can_be_an_answer() -> None:
    said = [["x", None] if row % 2 else ["x", "y"] for row in range(100)]
    truth = ["a" if row % 2 else "b" for row in range(100)]
    model = spocc.fit(said, truth, "naive-bayes")
    assert model.missing == "auto"
    assert model.declines == [False, True]
    assert model.predict([["x", None], ["x", "y"]]).tolist() == ["a", "b"]


def test_a_model_is_made_by_fit_alone() -> None:
    with pytest.raises(TypeError, match=r"spocc\.fit"):
        spocc.Model()


def test_nothing_that_a_model_hands_out_changes_it(panel: Panel) -> None:
    answers, truth = panel
    frame = pd.DataFrame(answers, columns=list("abcde"))
    model = spocc.fit(frame, truth, "naive-bayes")
    expected = model.predict(frame)
    model.classifiers.clear()
    model.fitted.clear()
    assert model.classifiers == list("abcde")
    np.testing.assert_array_equal(model.predict(frame), expected)
    with pytest.raises(ValueError, match="read-only"):
        model.classes[0] = 9
