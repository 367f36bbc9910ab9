"""Evidence adds up, travels and says what it holds."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import spocc
from spocc._settings import Level

from panels import Panel


@pytest.mark.parametrize("level", ["tally", "pairs", "marginals"])
def test_parts_add_up_to_the_whole(level: Level, panel: Panel) -> None:
    predictions, truth = panel
    parts = [spocc.Evidence(predictions[at::4], truth[at::4], level=level) for at in range(4)]
    whole = spocc.Evidence(predictions, truth, level=level)
    assert sum(parts) == whole
    assert parts[3] + parts[1] + (parts[0] + parts[2]) == whole
    assert whole.level == level


def test_counts_stand_for_repeated_rows(panel: Panel) -> None:
    predictions, truth = panel
    rows, counts = np.unique(np.column_stack([predictions, truth]), axis=0, return_counts=True)
    grouped = spocc.Evidence(rows[:, :-1], rows[:, -1], counts=counts)
    assert grouped == spocc.Evidence(predictions, truth)


def test_weights_are_sums_of_rows(panel: Panel) -> None:
    predictions, truth = panel
    halves = spocc.Evidence(predictions, truth, weights=np.full(len(truth), 0.5))
    assert halves.n_rows == len(truth) / 2
    assert halves + halves != spocc.Evidence(predictions, truth)  # weights are kept as such
    assert (halves + halves).n_rows == len(truth)


def test_a_confusion_has_the_truth_in_rows() -> None:
    evidence = spocc.Evidence(
        [["a"], ["b"], ["c"], ["b"]], ["a", "b", "a", "a"], names=["k"], classes=["a", "b"]
    )
    assert evidence.labels.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(evidence.confusion("k"), [[1, 1, 1], [0, 1, 0]])
    np.testing.assert_array_equal(evidence.confusion(0), evidence.confusion("k"))


def test_evidence_can_be_reduced(panel: Panel) -> None:
    predictions, truth = panel
    whole = spocc.Evidence(predictions, truth)
    assert whole.reduce("marginals") == spocc.Evidence(predictions, truth, level="marginals")
    assert whole.select(["x3", "x0"]) == spocc.Evidence(predictions[:, [3, 0]], truth, names=["x3", "x0"])


def test_a_row_per_prediction_is_the_same_as_a_row_per_item(panel: Panel) -> None:
    predictions, truth = panel
    items, classifiers = np.divmod(np.arange(predictions.size), predictions.shape[1])
    labels = predictions.ravel()
    kept = np.random.default_rng(0).permutation(predictions.size)[:1000]
    gaps = predictions.astype(float)
    gaps.ravel()[np.setdiff1d(np.arange(predictions.size), kept)] = np.nan
    names = [f"x{k}" for k in classifiers[kept]]
    long = spocc.Evidence.from_long(items[kept], names, labels[kept], dict(enumerate(truth.tolist())))
    wide = spocc.Evidence(gaps, truth)
    assert long.n_rows == wide.n_rows
    for name in wide.classifiers:
        np.testing.assert_array_equal(long.confusion(name), wide.confusion(name))


def test_items_without_truth_are_unlabelled_rows() -> None:
    items, workers, labels = ["i", "i", "j"], ["ann", "bob", "ann"], ["x", "y", "y"]
    both = spocc.Evidence.from_long(items, workers, labels, {"i": "x", "k": "y"})
    assert (both.n_rows, both.n_unlabelled) == (1, 1)
    assert "1 labelled and 1 unlabelled rows" in repr(both)
    few = spocc.Evidence.from_long(items, workers, labels, {"i": "x"}, unlabelled=False)
    assert (few.n_rows, few.n_unlabelled) == (1, 0)


def test_it_survives_bytes_pickle_and_files(panel: Panel, tmp_path: Path) -> None:
    evidence = spocc.Evidence(*panel)
    assert spocc.Evidence.from_bytes(evidence.to_bytes()) == evidence
    assert pickle.loads(pickle.dumps(evidence)) == evidence
    evidence.save(tmp_path / "a.tally")
    assert spocc.load(tmp_path / "a.tally") == evidence
    assert [path.name for path in tmp_path.iterdir()] == ["a.tally"]
    assert hash(spocc.Evidence(*panel)) == hash(evidence)


def test_its_repr_lists_its_contents(panel: Panel) -> None:
    evidence = spocc.Evidence(*panel, level="marginals")
    assert repr(evidence) == "Evidence(5 classifiers, 300 rows, 3 classes: 0, 1, 2; marginals)"


def test_empty_evidence_is_the_zero_of_addition(panel: Panel) -> None:
    predictions, truth = panel
    nothing = spocc.Evidence(predictions[:0], truth[:0])
    assert nothing.n_rows == 0
    assert nothing + spocc.Evidence(predictions, truth) == spocc.Evidence(predictions, truth)


def test_an_item_is_the_same_however_it_is_written() -> None:
    long = spocc.Evidence.from_long([1, "1", 1.0], ["ann", "bob", 7], ["x", "y", "y"], {"1": "x"})
    assert (long.n_rows, long.classifiers) == (1, ["7", "ann", "bob"])
    assert [long.confusion(name).sum() for name in long.classifiers] == [1, 1, 1]
