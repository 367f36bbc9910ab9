"""Pictures: what they show is what the reports say, and names never overlap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text

import spocc
import spocc.plot

from panels import Panel, make_panel

mpl.use("Agg")
NAMES = ["ann", "bob", "eve", "joe", "kim"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def model(panel: Panel) -> spocc.Model:
    return spocc.fit(*panel, method="adaspocc", names=NAMES)


def rows(ax: Axes) -> list[str]:
    """Names beside the Axes, from top to bottom."""
    return [label.get_text() for label in ax.get_yticklabels()]


def overlapping(labels: list[Text]) -> list[tuple[str, str]]:
    """Neighbouring boxes that overlap."""
    figure = labels[0].get_figure(root=True)
    assert figure is not None
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in labels]
    pairs = zip(labels, labels[1:], boxes, boxes[1:], strict=False)
    return [(a.get_text(), b.get_text()) for a, b, one, other in pairs if one.overlaps(other)]


def test_an_audit_shows_every_classifier_with_its_verdict(model: spocc.Model) -> None:
    ax = spocc.plot.audit(model)
    assert rows(ax) == NAMES
    assert [text.get_text() for text in ax.texts][1:3] == ["copy of ann", "adversary"]


def test_evidence_a_model_and_an_audit_make_the_same_plot(model: spocc.Model) -> None:
    evidence = model.evidence
    assert evidence is not None
    for draw in (spocc.plot.dendrogram, spocc.plot.dependence):
        assert rows(draw(model)) == rows(draw(model.audit())) == rows(draw(evidence))


def test_copies_join_first_in_a_dendrogram(model: spocc.Model) -> None:
    ax = spocc.plot.dendrogram(model)
    assert sorted(rows(ax)) == NAMES
    first = ax.lines[0]
    joined = {rows(ax)[round(y)] for y in np.asarray(first.get_ydata(), dtype=float)}
    assert joined == {"ann", "bob"}
    assert [line.get_color() for line in ax.lines].count(first.get_color()) == 1


def test_a_heatmap_holds_the_dependence_of_each_pair(model: spocc.Model) -> None:
    ax = spocc.plot.dependence(model)
    shown = np.asarray(ax.images[0].get_array(), dtype=np.float64)
    dependence = model.audit().dependence
    assert dependence is not None
    order = [NAMES.index(name) for name in rows(ax)]
    off = ~np.eye(5, dtype=bool)
    assert np.array_equal(shown[off], dependence[np.ix_(order, order)][off])
    assert shown[order.index(0), order.index(1)] == 1, "ann and bob are copies"


def test_a_grid_has_a_table_per_classifier_and_hides_spare_axes(model: spocc.Model) -> None:
    grid = spocc.plot.confusion(model)
    assert [ax.get_visible() for ax in grid.flat] == [True] * 5 + [False] * 3
    assert grid.flat[2].get_title(loc="left").startswith("eve  accuracy 0%")
    chosen = spocc.plot.confusion(model, ["kim", 0])
    assert [ax.get_title(loc="left").split()[0] for ax in chosen.flat] == ["kim", "ann"]
    assert np.allclose(np.asarray(chosen.flat[0].images[0].get_array()).sum(axis=1), 1)


def test_bars_are_those_of_the_explanation(model: spocc.Model, panel: Panel) -> None:
    explained = model.explain(panel[0], 7)
    ax = spocc.plot.possibility(explained)
    assert rows(ax)[0] == str(explained.label)
    widths = [patch.get_width() for patch in ax.patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(sorted(explained.possibility / explained.possibility.max(), reverse=True))
    again = spocc.plot.possibility(model, panel[0], 7)
    assert [text.get_text() for text in again.texts] == [text.get_text() for text in ax.texts]
    assert ax.texts[0].get_text() == "1.000  predicted by ann, bob, joe, kim"


@pytest.mark.parametrize("labels", [[False, True], [1.0, 2.0], ["True", "true story"]])
def test_bars_name_the_classifiers_that_predict_a_label_of_any_type(labels: list[object]) -> None:
    predictions = [[labels[0], labels[1]], [labels[1], labels[1]]] * 5
    model = spocc.fit(predictions, labels * 5, method="spocc", names=["ann", "bob"])
    ax = spocc.plot.possibility(model, predictions, 1)
    assert ax.texts[0].get_text() == "1.000  predicted by ann, bob"


def test_only_the_most_possible_of_many_classes_are_shown(panel: Panel) -> None:
    predictions, truth = make_panel(n_rows=900, n_classes=40)
    ax = spocc.plot.possibility(spocc.fit(predictions, truth, method="spocc"), predictions)
    assert len(ax.patches) == 15
    assert "25 less possible classes are not shown" in ax.get_xlabel()


def test_given_axes_are_drawn_into_and_returned(model: spocc.Model, panel: Panel) -> None:
    _, axes = plt.subplots(1, 4)
    assert spocc.plot.audit(model, ax=axes[0]) is axes[0]
    assert spocc.plot.dendrogram(model, ax=axes[1]) is axes[1]
    assert spocc.plot.possibility(model, panel[0], ax=axes[2]) is axes[2]
    assert spocc.plot.confusion(model, ["ann"], ax=axes[3])[0] is axes[3]
    assert len(plt.get_fignums()) == 1


def test_names_of_fifty_classifiers_do_not_overlap() -> None:
    predictions, truth = make_panel(n_rows=400, n_classifiers=50, n_classes=12)
    names = [f"a-provider-with-a-name/and-a-model-number-{k}-of-that-name" for k in range(50)]
    evidence = spocc.Evidence(predictions, truth, names=names)
    for ax in (spocc.plot.audit(evidence), spocc.plot.dendrogram(evidence), spocc.plot.dependence(evidence)):
        assert len(set(rows(ax))) == 50
        assert overlapping(list(ax.get_yticklabels())) == []
    assert overlapping(list(ax.get_xticklabels())) == []
    grid = spocc.plot.confusion(evidence)
    assert overlapping([ax.title for ax in grid[0]]) == []
    assert overlapping(list(grid[-1, 0].get_xticklabels())) == []


def test_plots_of_missing_counts_are_refused(panel: Panel, model: spocc.Model) -> None:
    marginals = spocc.Evidence(*panel, level="marginals")
    with pytest.raises(spocc.SpoccError, match="expected evidence that counts pairs of classifiers"):
        spocc.plot.dendrogram(marginals)
    with pytest.raises(spocc.SpoccError, match="found one without"):
        spocc.plot.confusion(model.without_evidence())
    with pytest.raises(spocc.SpoccError, match="predictions: expected a table"):
        spocc.plot.possibility(model)
    with pytest.raises(spocc.SpoccError, match="expected Axes for 2 classifiers, found 1"):
        spocc.plot.confusion(model, ["ann", "bob"], ax=plt.subplots()[1])
    with pytest.raises(spocc.SpoccError, match="unknown"):
        spocc.plot.confusion(model, ["unknown"])


def test_without_matplotlib_one_line_names_what_to_install() -> None:
    script = """
import sys
sys.modules["matplotlib"] = None
import spocc, spocc.plot
try:
    spocc.plot.audit(spocc.Evidence([[1, 2], [2, 2]], [1, 2]))
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "spocc.plot needs matplotlib: pip install 'spocc[plot]'\n"


def test_long_names_of_classifiers_stay_readable_above_their_tables() -> None:
    names = [f"organisation/a-rather-long-model-name-v{k}" for k in range(4)]
    evidence = spocc.Evidence([["a", "b", "a", "b"], ["b", "b", "a", "a"]] * 3, ["a", "b"] * 3, names=names)
    grid = spocc.plot.confusion(evidence)
    grid.flat[0].figure.canvas.draw()
    titles = [ax._left_title for ax in grid.flat]
    assert min(title.get_fontsize() for title in titles) > 5
    assert overlapping(titles) == []


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TypeError, match=r"source: expected an audit, evidence, .*, found int"):
        spocc.plot.audit(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="confusion: expected evidence or a model, found int"):
        spocc.plot.confusion(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="classifiers: expected a sequence of names, found the text"):
        spocc.plot.confusion(spocc.Evidence([["a"]], ["a"]), "x0")


def test_an_audit_of_open_answers_has_the_limit_of_every_accuracy() -> None:
    rows = [[f"{n}", f"{n}" if n % 3 else f"{n + 1}"] for n in range(40)]
    truth = [f"{n}" if n % 10 else "something else" for n in range(40)]
    ax = spocc.plot.audit(spocc.fit(rows, truth, open=True))
    assert "some classifier gives" in ax.get_xlabel()
    assert any(np.asarray(line.get_xdata()).tolist() == [0.9, 0.9] for line in ax.get_lines())
