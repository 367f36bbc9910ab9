"""Audits and explanations: typed, printed, framed."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

import spocc

from panels import Panel


def test_an_audit_tells_copies_and_liars(panel: Panel) -> None:
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
        spocc.SpoccError, match="audit: expected a model that holds its evidence, found a slim one"
    ):
        model.slim().audit()


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


def test_html_is_escaped_and_small(panel: Panel) -> None:
    answers, truth = panel
    names = ["<script>", "b&b", "c", "d", "e"]
    labels = np.array(["<script>", "<b>", "x"])
    model = spocc.fit(labels[answers], labels[truth], "spocc", names=names, calibrate="cross")
    shown = [
        model,
        model.evidence,
        model.audit(),
        model.explain(labels[answers]),
        model.decide(labels[answers]),
    ]
    for each in shown:
        assert each is not None
        html = each._repr_html_()
        assert "<script>" not in html
        assert "<b>" not in html
        assert "&lt;script&gt;" in html
        assert "http" not in html
        assert len(html) < 5000


def told(html: str) -> list[str]:
    """The lines of a table and of what is below it, as a browser shows them."""
    cells = re.sub(r"</(td|th)>", " ", html)
    return unescape(re.sub(r"<[^>]*>", "", re.sub(r"</(tr|caption|pre)>", "\n", cells))).splitlines()


@pytest.mark.parametrize("method", ["adaspocc", "naive-bayes"])
@pytest.mark.parametrize("level", ["tally", "pairs", "marginals"])
def test_html_tells_what_the_text_tells(panel: Panel, method: str, level: str) -> None:
    answers, truth = panel
    gaps = answers.astype(float)
    gaps[np.arange(answers.size).reshape(answers.shape) % 7 == 3] = np.nan
    model = spocc.fit(gaps, truth, method)
    audit = spocc.Evidence(gaps, truth, level=level).audit()
    reports: list[spocc.Audit | spocc.Explanation] = [audit, model.audit(), model.explain(gaps, 2)]
    for report in reports:
        found = [line.split() for line in told(report._repr_html_())]
        for line in repr(report).splitlines():
            # Names of columns may differ.
            assert line.split() in [[], *found] or line.startswith("classifier "), line


def test_audits_and_explanations_are_compared_by_what_they_say(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, "spocc")
    assert model.audit() == model.audit()
    assert model.audit() != spocc.fit(answers[:200], truth[:200], "spocc").audit()
    assert model.explain(answers) == model.explain(answers)
    assert model.explain(answers, 0) != model.explain(answers, 1)
    assert model.explain(answers) != model.explain(answers.astype(str)), "what was said is of another kind"
    assert model.audit() != 1
    assert model.explain(answers) != 1
    for each in [*model.audit().classifiers, *model.explain(answers).voices, model, model.evidence]:
        assert len({each, each}) == 1


def test_decisions_are_compared_as_arrays(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, "spocc")
    decisions = model.decide(answers)
    assert decisions == model.decide(answers)
    assert decisions != model.decide(answers[1:])
    assert decisions != model.decide(answers[::-1])
    assert decisions != 1
    assert (decisions == 1) is False
    with pytest.raises(TypeError, match="unhashable type: 'Decisions'"):
        hash(decisions)


def test_decisions_are_shown_in_short() -> None:
    model = spocc.fit([["a", "b"], ["b", "b"], ["b", "a"]], ["a", "b", "b"], "majority")
    decisions = model.decide([["a", "b"], ["b", "b"], [None, None]] * 4)
    assert repr(decisions) == "Decisions(12 rows, 2 classes, 4 tied, 4 by the prior)"
    assert repr(model.decide([["b", "b"]])) == "Decisions(1 row, 1 class, 0 tied, 0 by the prior)"
    lines = told(decisions._repr_html_())
    assert lines[:2] == [repr(decisions), "row label margin answered is_tie by_prior "]
    assert lines[3] == "1 b 1.000 2 False False "
    assert lines[-1] == "and 2 more rows"
    assert len(lines) == 13


def test_an_explanation_follows_every_voice(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, "spocc")
    for row in [0, 7]:
        explained = model.explain(answers, row)
        assert explained.label == model.predict(answers)[row]
        assert explained.margin == model.margin(answers)[row]
        np.testing.assert_array_equal(explained.possibility, model.possibility(answers)[row])
        assert [voice.said for voice in explained.voices] == answers[row].tolist()
        assert repr(explained).startswith(f"decided: {explained.label}")
        assert explained.to_frame().shape == (5, 6)
        assert explained.runner_up in model.classes
        assert explained.probability is None
        assert explained.flips is not None


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [False, True], [2**70, 7], ["True", "1"]])
def test_an_explanation_tells_answers_as_they_went_in(labels: list[object]) -> None:
    rows = [[labels[0], labels[1], None], [labels[1], labels[1], labels[0]]] * 5
    model = spocc.fit(rows, [labels[0], labels[1]] * 5, "spocc")
    for row in [0, 1]:
        said = [voice.said for voice in model.explain(rows, row).voices]
        assert said == rows[row]
        assert [type(label) for label in said] == [type(label) for label in rows[row]]


def test_labels_are_not_shown_as_measurements() -> None:
    answers = np.array([[1.0, 2.0], [2.0, 2.0]] * 5)
    html = spocc.fit(answers, [1.0, 2.0] * 5, "spocc").explain(answers)._repr_html_()
    assert "<td>1.0</td><td>" in html


def test_an_explanation_tells_answers_that_the_model_never_met() -> None:
    model = spocc.fit([[1, 0], [0, 0]] * 5, [1, 0] * 5, "spocc", names=["ann", "bob"])
    assert [voice.said for voice in model.explain({"x": [3], "bob": [7], "ann": [1]}).voices] == [1, 7]


def test_a_row_that_is_not_there_is_refused(panel: Panel) -> None:
    answers, truth = panel
    model = spocc.fit(answers, truth, "spocc")
    with pytest.raises(spocc.SpoccError, match=r"^row 300: expected a row from 0 to 299$"):
        model.explain(answers, 300)
    with pytest.raises(spocc.SpoccError, match=r"^row 0: expected rows, found none$"):
        model.explain(answers[:0])
