"""Open answers: every face of a model says the same, and files, sums and pickles keep it."""

from __future__ import annotations

import inspect
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spocc
from spocc._settings import Method

from open_panels import NAMES, make_open_panel, real_open_panel

METHODS: list[Method] = ["ladder", "selection", "majority", "weighted-vote", "stacking"]


@pytest.fixture(scope="module")
def panel() -> tuple[Any, list[str]]:
    return make_open_panel()


@pytest.fixture(scope="module")
def model(panel: tuple[Any, list[str]]) -> spocc.Model:
    return spocc.fit(*panel, open=True, calibrate="split")


def assert_faces_agree(model: spocc.Model, table: Any) -> None:
    """Answers, degrees, sets and explanations of a calibrated model are about the same decisions."""
    decided = model.predict(table)
    decisions = model.decide(table)
    assert decisions.label.tolist() == decided.tolist()
    assert decisions.is_open
    assert np.array_equal(model.margin(table), decisions.margin)
    shares, possibilities = model.predict_proba(table), model.predict_possibility(table)
    sets = model.predict_set(table, 0.8)
    assert len(decided) == len(shares) == len(possibilities) == len(sets) == len(table)
    for row, answer in enumerate(decided.tolist()):
        given = {cell for cell in table.iloc[row] if not pd.isna(cell)}
        assert set(shares[row]) == set(possibilities[row]) == given | {None}
        assert list(shares[row])[-1] is None
        assert sum(shares[row].values()) == pytest.approx(1)
        assert max(possibilities[row].values()) == 1
        if given:
            assert shares[row][answer] == max(shares[row][other] for other in given)
        else:
            assert answer is None
            assert decisions.by_prior[row]
            assert shares[row] == {None: 1}
        assert answer in sets[row]
        assert set(sets[row]) <= given | {None}
    for row in range(6):
        explained = model.explain(table, row)
        assert explained.label == decided[row]
        assert explained.margin == decisions.margin[row]
        assert explained.classes[0] is None
        assert explained.probability is not None
        by_class = dict(zip(explained.classes.tolist(), explained.probability, strict=True))
        assert by_class == shares[row]
        predicted = [entry.prediction for entry in explained.contributions]
        assert predicted == [None if pd.isna(cell) else cell for cell in table.iloc[row][model.classifiers]]


def test_faces_agree_on_every_row(model: spocc.Model, panel: tuple[Any, list[str]]) -> None:
    assert_faces_agree(model, panel[0])
    assert model.is_open
    assert model.normalise == "none"
    assert model.classes.tolist() == []
    assert model.classes.dtype == object
    correct = model.predict(panel[0]) == np.array(panel[1], dtype=object)
    vote = spocc.fit(*panel, "majority", open=True).predict(panel[0])
    assert correct.mean() > (vote == np.array(panel[1], dtype=object)).mean() > 0.5


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_treat_answers_alike_decide_for_given_answers(
    method: Method, panel: tuple[Any, list[str]]
) -> None:
    model = spocc.fit(*panel, method, open=True)
    assert spocc.fit(spocc.Evidence(*panel, open=True), method=method) == model
    for row, answer in zip(panel[0].itertuples(index=False), model.predict(panel[0]), strict=True):
        assert answer in row


def test_evidence_adds_up_and_says_what_it_holds(panel: tuple[Any, list[str]]) -> None:
    table, truth = panel
    whole = spocc.Evidence(table, truth, open=True, normalise="number")
    parts = [spocc.Evidence(table[at::3], truth[at::3], open=True, normalise="number") for at in range(3)]
    assert sum(parts[1:], parts[0]) == whole
    assert parts[2] + (parts[0] + parts[1]) == whole
    assert spocc.Evidence(table[:0], [], open=True, normalise="number") + whole == whole
    assert spocc.fit(sum(parts)) == spocc.fit(whole)
    assert (whole.is_open, whole.normalise) == (True, "number")
    answerable = [true in row for row, true in zip(table.values.tolist(), truth, strict=True)]
    assert whole.answerable_share == pytest.approx(np.mean(answerable))
    assert whole.classes.tolist() == whole.labels.tolist() == []
    assert "5 classifiers, 200 rows, open answers (normalise: number); tally of" in repr(whole)
    assert "open answers" in whole._repr_html_()
    few = spocc.Evidence(table[["cat", "ann"]], truth, open=True, normalise="number")
    assert whole.select(["cat", "ann"]) == few
    closed = spocc.Evidence(table, truth)
    assert (closed.is_open, closed.normalise, closed.answerable_share) == (False, None, None)


def test_they_survive_bytes_pickle_and_files(model: spocc.Model, tmp_path: Path) -> None:
    evidence = model.evidence
    assert evidence is not None
    for kept in (model, evidence):
        assert pickle.loads(pickle.dumps(kept)) == kept
        kept.save(tmp_path / "kept")
        assert spocc.load(tmp_path / "kept") == kept
    new = {name: [f"{name} {row % 2}" if row % 3 else "7" for row in range(9)] for name in NAMES}
    read = spocc.Model.from_bytes(model.without_evidence().to_bytes())
    assert read.predict(new).tolist() == model.predict(new).tolist()
    assert read.is_open


def test_renamed_answers_and_reordered_rows_change_nothing(panel: tuple[Any, list[str]]) -> None:
    table, truth = panel
    model = spocc.fit(table, truth, open=True)
    renamed = table.map(lambda cell: None if cell is None else f"answer {cell}")
    assert spocc.fit(renamed[::-1], [f"answer {true}" for true in truth][::-1], open=True) == model
    backwards = table[NAMES[::-1]]
    assert model.predict(backwards).tolist() == model.predict(table).tolist()


def test_rows_without_truth_are_used(panel: tuple[Any, list[str]]) -> None:
    table, truth = panel
    some = [true if row % 4 == 0 else None for row, true in enumerate(truth)]
    evidence = spocc.Evidence(table, some, open=True)
    assert (evidence.n_rows, evidence.n_unlabelled) == (50, 150)
    assert spocc.fit(table, some, open=True) == spocc.fit(evidence)
    assert spocc.fit(table, some, open=True, unlabelled=False) == spocc.fit(
        table[::4], truth[::4], open=True, unlabelled=False
    )
    assert spocc.fit(table, open=True).predict(table[:1]).tolist()[0] in table.values[0]


def test_a_new_row_may_have_more_answers_than_any_row_before() -> None:
    table = {name: ["4", "9"] * 10 for name in ("ann", "bob")} | {"eve": ["4", None] * 10}
    model = spocc.fit(table, ["4", "8"] * 10, open=True)
    new = {"ann": ["a"], "bob": ["b"], "eve": ["c"]}
    assert set(model.predict_proba(new, strict=True)[0]) == {"a", "b", "c", None}
    assert model.predict(new, strict=True)[0] in "abc"


def test_one_classifier_and_rows_without_answers() -> None:
    answers = [str(row + row % 3) for row in range(30)]
    model = spocc.fit([[answer] for answer in answers], [str(row) for row in range(30)], open=True)
    assert model.predict([["x"], [None], [3]]).tolist() == ["x", None, 3]
    decided = model.decide([["x"], [None]])
    assert decided.by_prior.tolist() == [False, True]
    assert decided.answered.tolist() == [1, 0]
    assert repr(decided) == "Decisions(2 rows, 1 answer, 0 tied, 1 without an answer)"
    assert "without an answer" in decided._repr_html_()
    assert model.predict(np.empty((0, 1))).tolist() == []
    assert model.predict_proba([[None]]) == [{None: 1}]
    assert "not decided: no prediction" in repr(model.explain([[None]]))


def test_sets_depend_on_ids_and_not_on_the_order_of_rows(panel: tuple[Any, list[str]]) -> None:
    table, truth = panel
    model = spocc.fit(table, truth, "majority", open=True, calibrate="split")
    sets = model.predict_set(table, 0.9, ids=table.index)
    assert model.predict_set(table[::-1], 0.9, ids=table.index[::-1]) == sets[::-1]
    assert any(None in members for members in sets)
    assert len({len(members) for members in sets}) > 1
    with pytest.raises(spocc.SpoccError, match="ids: expected 200 rows, found 1"):
        model.predict_set(table, 0.9, ids=[1])


def test_comparisons_accept_open_answers(panel: tuple[Any, list[str]]) -> None:
    table, truth = panel
    compared = spocc.compare(table, truth, open=True, repeats=1, curve=False)
    assert {result.method for result in compared.methods} == set(METHODS)
    evidence = spocc.Evidence(table, truth, open=True)
    assert spocc.compare(evidence, repeats=1, curve=False) == compared
    evaluated = spocc.fit(table, truth, open=True, evaluate=True).held_out_accuracy
    assert evaluated is not None
    ladder = next(result for result in compared.methods if result.method == "ladder")
    assert evaluated.accuracy == pytest.approx(ladder.accuracy)
    test = (table[100:], truth[100:])
    split = spocc.compare(table[:100], truth[:100], test=test, open=True, curve=False)
    held_out = spocc.Evidence(*test, open=True)
    again = spocc.compare(table[:100], truth[:100], test=held_out, open=True, curve=False)
    assert split == again


def test_reports_name_the_answers(model: spocc.Model, panel: tuple[Any, list[str]]) -> None:
    assert repr(model).startswith("Model(ladder, 5 classifiers, open answers; fitted to ")
    assert "open answers" in model._repr_html_()
    assert [entry.name for entry in model.audit().classifiers] == NAMES
    audit = model.audit()
    assert all(math.isnan(entry.information) and math.isnan(entry.p_value) for entry in audit.classifiers)
    assert "open answers" in repr(audit)
    assert "nan" not in audit._repr_html_()
    assert audit.as_dict["answerable_share"] is not None
    assert audit.as_dict["classes"] == []
    explained = model.explain({"ann": [8], "bob": [9.5], "cat": [8], "dan": [None], "eve": ["x"]})
    assert explained.classes.tolist() == [None, 8, 9.5, "x"]
    assert explained.label == 8
    assert explained.to_frame().columns.tolist()[3:] == ["none of these", "8", "9.5", "x"]
    assert '<td class="left">none of these</td>' in explained._repr_html_()
    assert explained.as_dict["decision"]["label"] == 8
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    import spocc.plot

    ax = spocc.plot.possibility(explained)
    assert {tick.get_text() for tick in ax.get_yticklabels()} == {"none of these", "8", "9.5", "x"}
    plt.close("all")


def test_estimators_have_fixed_classes() -> None:
    estimators = pytest.importorskip("spocc.sklearn")
    for name in estimators.__all__:
        parameters = inspect.signature(getattr(estimators, name)).parameters
        assert not {"open", "normalise"} & set(parameters)


def test_faces_agree_on_answers_of_language_models() -> None:
    table, truth = real_open_panel()
    model = spocc.fit(table[:300], truth[:300], open=True, calibrate="split")
    assert_faces_agree(model, table[300:])
    for method in METHODS:
        fitted = spocc.fit(table[:300], truth[:300], method, open=True)
        assert np.mean(fitted.predict(table[300:]) == truth.to_numpy()[300:]) > 0.94
    items, names = np.divmod(np.arange(table.size), table.shape[1])
    columns = table.columns.to_numpy()[names]
    by_item = dict(enumerate(truth))
    long = spocc.Evidence.from_long(items, columns, table.to_numpy().ravel(), by_item, open=True)
    assert long.select(table.columns) == spocc.Evidence(table, truth, open=True)
    halves = (
        spocc.Evidence(table[:500], truth[:500], open=True),
        spocc.Evidence(table[500:], truth[500:], open=True),
    )
    assert halves[0] + halves[1] == spocc.Evidence(table, truth, open=True)
    numbers = table.apply(pd.to_numeric, errors="coerce")
    assert spocc.fit(numbers, pd.to_numeric(truth), open=True).predict(numbers[:50]).dtype == np.float64
