"""Audits and explanations: typed, printed, framed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import spocc

from panels import Panel


def test_an_audit_finds_copies_and_adversaries(panel: Panel) -> None:
    audit = spocc.audit(spocc.Evidence(*panel))
    assert [entry.verdict for entry in audit.classifiers] == [
        "useful",
        "copy-of",
        "adversary",
        "useful",
        "useful",
    ]
    assert audit.classifiers[1].original == "x0"
    assert audit.n_rows == 300
    assert audit.classifiers[0].influence == 0.0  # its copy says the same
    assert (audit.classifiers[2].influence or 0.0) > 0.0
    assert spocc.Evidence(*panel, level="pairs").audit().classifiers[0].influence is None
    assert "copy of x0" in repr(audit)


def test_the_audit_of_a_model_has_influence(panel: Panel) -> None:
    model = spocc.fit(*panel, method="adaspocc")
    audit = model.audit()
    assert all(entry.influence is not None for entry in audit.classifiers)
    with pytest.raises(
        spocc.SpoccError, match="audit: expected a model that holds its evidence, found one without"
    ):
        model.without_evidence().audit()


def test_an_audit_is_a_frame(panel: Panel) -> None:
    frame = spocc.audit(spocc.Evidence(*panel)).to_frame()
    assert frame["classifier"].tolist() == ["x0", "x1", "x2", "x3", "x4"]
    assert (frame["low"] <= frame["accuracy"]).all()
    assert (frame["accuracy"] <= frame["high"]).all()


def test_dissimilarities_are_a_square(panel: Panel) -> None:
    square = spocc.audit(spocc.Evidence(*panel)).dissimilarities
    assert square is not None
    assert square.shape == (5, 5)
    np.testing.assert_array_equal(square, square.T)
    assert square[0, 1] < square[0, 3]
    assert spocc.audit(spocc.Evidence(*panel, level="marginals")).dissimilarities is None


def test_audits_and_explanations_are_compared_by_content(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, "spocc")
    assert model.audit() == model.audit()
    assert model.audit() != spocc.fit(predictions[:200], truth[:200], "spocc").audit()
    assert model.explain(predictions) == model.explain(predictions)
    assert model.explain(predictions, 0) != model.explain(predictions, 1)
    assert model.explain(predictions) != model.explain(predictions.astype(str)), (
        "what was predictions is of another kind"
    )
    assert model.audit() != 1
    assert model.explain(predictions) != 1
    for each in [
        *model.audit().classifiers,
        *model.explain(predictions).contributions,
        model,
        model.evidence,
    ]:
        assert len({each, each}) == 1


def test_decisions_are_compared_as_arrays(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, "spocc")
    decisions = model.decide(predictions)
    assert decisions == model.decide(predictions)
    assert decisions != model.decide(predictions[1:])
    assert decisions != model.decide(predictions[::-1])
    assert decisions != 1
    assert (decisions == 1) is False
    with pytest.raises(TypeError, match="unhashable type: 'Decisions'"):
        hash(decisions)


def test_decisions_are_shown_in_short() -> None:
    model = spocc.fit([["a", "b"], ["b", "b"], ["b", "a"]], ["a", "b", "b"], "majority")
    decisions = model.decide([["a", "b"], ["b", "b"], [None, None]] * 4)
    assert repr(decisions) == "Decisions(12 rows, 2 classes, 4 tied, 4 by the prior)"
    assert repr(model.decide([["b", "b"]])) == "Decisions(1 row, 1 class, 0 tied, 0 by the prior)"


def test_an_explanation_has_a_contribution_per_classifier(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, "spocc")
    for row in [0, 7]:
        explained = model.explain(predictions, row)
        assert explained.label == model.predict(predictions)[row]
        assert explained.margin == model.margin(predictions)[row]
        np.testing.assert_array_equal(explained.possibility, model.predict_possibility(predictions)[row])
        assert [entry.prediction for entry in explained.contributions] == predictions[row].tolist()
        assert repr(explained).startswith(f"decided: {explained.label}")
        assert explained.to_frame().shape == (5, 6)
        assert explained.runner_up in model.classes
        assert explained.probability is None
        assert explained.flips is not None


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [2**70, 7], ["True", "1"]])
def test_an_explanation_has_predictions_with_their_type(labels: list[object]) -> None:
    rows = [[labels[0], labels[1], None], [labels[1], labels[1], labels[0]]] * 5
    model = spocc.fit(rows, [labels[0], labels[1]] * 5, "spocc")
    for row in [0, 1]:
        predictions = [entry.prediction for entry in model.explain(rows, row).contributions]
        assert predictions == rows[row]
        assert [type(label) for label in predictions] == [type(label) for label in rows[row]]


def test_an_explanation_has_predictions_that_the_model_does_not_know() -> None:
    model = spocc.fit([[1, 0], [0, 0]] * 5, [1, 0] * 5, "spocc", names=["ann", "bob"])
    assert [
        entry.prediction for entry in model.explain({"x": [3], "bob": [7], "ann": [1]}).contributions
    ] == [
        1,
        7,
    ]


def test_a_row_that_does_not_exist_is_refused(panel: Panel) -> None:
    predictions, truth = panel
    model = spocc.fit(predictions, truth, "spocc")
    with pytest.raises(spocc.SpoccError, match=r"^row 300: expected a row from 0 to 299$"):
        model.explain(predictions, 300)
    with pytest.raises(spocc.SpoccError, match=r"^row 0: expected rows, found none$"):
        model.explain(predictions[:0])


def test_dependence_is_1_for_copies_and_unknown_for_constants() -> None:
    predictions = {
        "one": list("aabb") * 10,
        "copy": list("aabb") * 10,
        "other": list("abab") * 10,
        "constant": ["a"] * 40,
    }
    audit = spocc.Evidence(predictions, list("aabb") * 10).audit()
    dependence, dissimilarities = audit.dependence, audit.dissimilarities
    assert dependence is not None
    assert dissimilarities is not None
    assert dependence[0].tolist()[:3] == [1.0, 1.0, 0.0]
    assert np.isnan(dependence[0, 3])
    assert dissimilarities[0, 1] == pytest.approx(0.5)
    assert audit.influence_on == "ladder"


def test_families_have_their_most_accurate_member_first() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, 600)
    best = np.where(rng.random(600) < 0.7, truth, rng.integers(0, 4, 600))
    copies = [np.where(rng.random(600) < 0.05, rng.integers(0, 4, 600), best) for _ in range(2)]
    audit = spocc.Evidence({"poor": copies[0], "worse": copies[1], "best": best}, truth).audit()
    assert audit.families == [["best", "poor", "worse"]]
    assert [entry.original for entry in audit.classifiers] == ["best", "best", None]
    assert "family of copies: best" in audit._repr_html_()


def test_columns_that_are_no_classifiers_are_warned_of() -> None:
    rng = np.random.default_rng(5)
    truth = rng.choice(["cat", "dog"], 60)
    good = np.where(rng.random(60) < 0.8, truth, "cat")
    table = {
        "item": [f"i{row}" for row in range(60)],
        "subset": ["dev", "train"] * 30,
        "gold": truth,
        "good": good,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = spocc.fit(table, truth)
    assert [str(warning.message) for warning in caught] == [
        "column `item` has a different label in nearly every row (60 labels in 60 rows): "
        'if it names the rows, leave it out of the predictions, such as by id="item"',
        "column `subset` shares no label with the truth: "
        'if it is no classifier, leave it out of the predictions, such as by ignore="subset"',
        "column `gold` equals the truth in all of its 60 rows: "
        'if it is the truth itself, leave it out of the predictions, such as by ignore="gold"',
    ]
    assert {warning.category for warning in caught} == {spocc.ColumnWarning}
    assert caught[0].filename == __file__
    assert model.classes.tolist() == ["cat", "dog"]
    assert model.classifiers == list(table)
    spocc.fit({"good": good}, truth)


def test_margins_lie_anywhere_between_a_tie_and_certainty() -> None:
    rows = [["a", "a", "a", "b", "b"], ["a", "a", "b", "b", None], ["b"] * 5]
    decided = spocc.fit(rows, ["a", "b", "b"], method="majority").decide(rows)
    assert decided.margin.tolist() == pytest.approx([1 / 3, 0, 1])
