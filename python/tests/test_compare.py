"""Comparing methods: the figures of the command, as Python objects."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spocc
from spocc._settings import Method

from panels import Panel

Command = Callable[..., str]
FAST: list[Method] = ["ladder", "naive-bayes", "bayes"]


@pytest.fixture
def comparison(panel: Panel) -> spocc.Comparison:
    predictions, truth = panel
    return spocc.compare(predictions, truth, methods=FAST, repeats=1)


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])


def columns(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["item", "truth"], errors="ignore")


def test_both_faces_print_the_same_report(command: Command, tmp_path: Path) -> None:
    command("demo", "--save", tmp_path)
    gold = read(tmp_path / "gold.csv")
    test = read(tmp_path / "new.csv").head(200)
    test["truth"] = read(tmp_path / "truth.csv")["truth"].head(200)
    test.to_csv(tmp_path / "test.csv", index=False)
    rows = [tmp_path / "gold.csv", "--label", "truth", "--id", "item", "--methods", ",".join(FAST)]

    ours = spocc.compare(columns(gold), gold["truth"], methods=FAST, folds=3, repeats=2, seed=4)
    options = ["--folds", "3", "--rounds", "2", "--seed", "4"]
    assert json.loads(command("compare", *rows, *options, "--json")) == ours.as_dict
    assert command("compare", *rows, *options) == str(ours)

    held_out = (columns(test), test["truth"])
    ours = spocc.compare(
        columns(gold), gold["truth"], test=held_out, methods=FAST, class_weight="balanced", curve=False
    )
    options = ["--test", str(tmp_path / "test.csv"), "--class-weight", "balanced", "--no-curve"]
    assert json.loads(command("compare", *rows, *options, "--json")) == ours.as_dict
    assert command("compare", *rows, *options) == str(ours)


def test_the_command_reads_a_tally_as_we_do(command: Command, panel: Panel, tmp_path: Path) -> None:
    predictions, truth = panel
    known = [label if row % 5 > 0 else None for row, label in enumerate(truth.tolist())]
    evidence = spocc.Evidence(predictions, known)
    evidence.save(tmp_path / "rows.tally")
    options = ["--methods", "ladder,dawid-skene", "--no-curve", "--json"]
    ours = spocc.compare(evidence, methods=["ladder", "dawid-skene"], curve=False)
    assert json.loads(command("compare", tmp_path / "rows.tally", *options)) == ours.as_dict
    assert ours.n_unlabelled == evidence.n_unlabelled > 0
    users = {result.method for result in ours.methods if result.uses_unlabelled}
    assert users == {"ladder", "dawid-skene"}
    assert f"fitted also to {ours.n_unlabelled:.0f} unlabelled rows: " in repr(ours)
    assert ours == spocc.compare(predictions, known, methods=["ladder", "dawid-skene"], curve=False)
    none = spocc.compare(evidence, methods=["ladder"], curve=False, unlabelled=False)
    assert none.n_unlabelled == 0
    assert not none.to_frame()["uses_unlabelled"].any()
    assert none == spocc.compare(predictions, known, methods=["ladder"], curve=False, unlabelled=False)


def test_results_are_objects(comparison: spocc.Comparison) -> None:
    assert comparison.n_rows == 300
    assert comparison.held_out == {"by": "folds", "folds": 5, "repeats": 1, "seed": 0}
    assert {result.method for result in comparison.methods} == {*FAST, "selection", "majority"}
    best, *others = comparison.methods
    assert best.behind is None
    assert best.method == comparison.recommendation.leader
    for result in comparison.methods:
        low, high = result.interval
        assert low <= result.accuracy <= high
        assert result.is_reference == (result.method not in FAST)
        assert result.most_certain is not None
        assert result.most_certain[1.0] == pytest.approx(result.accuracy)
        assert result.aurc is not None
        assert 0 <= result.aurc <= 1
    assert all(result.behind is not None and result.behind.by >= 0 for result in others)
    assert comparison.curve is not None
    assert comparison.curve["n_rows"] == [15, 30, 60, 120, 240]
    assert comparison.refused == {}


def test_a_data_frame_has_a_row_per_method(comparison: spocc.Comparison) -> None:
    frame = comparison.to_frame()
    assert frame["method"].tolist() == [result.method for result in comparison.methods]
    assert frame["accuracy"].is_monotonic_decreasing
    assert frame["behind"].iloc[0] == 0
    assert (frame["low"] <= frame["accuracy"]).all()
    assert (frame["accuracy"] <= frame["high"]).all()


def test_equal_rows_give_equal_comparisons(comparison: spocc.Comparison, panel: Panel) -> None:
    predictions, truth = panel
    order = np.random.default_rng(3).permutation(len(truth))
    shuffled = spocc.compare(predictions[order], truth[order], methods=iter(FAST), repeats=1)
    assert shuffled == comparison
    assert str(shuffled) == str(comparison)
    assert spocc.compare(predictions, truth, methods=FAST, repeats=1, seed=1) != comparison


def test_progress_counts_fits_and_can_stop(panel: Panel) -> None:
    seen: list[tuple[str, int, int]] = []

    def stop(stage: str, done: int, total: int) -> None:
        seen.append((stage, done, total))
        if stage == "comparing" and done > 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        spocc.compare(*panel, methods=["stacking"], repeats=50, progress=stop)
    assert seen[-1][0] == "comparing"
    assert seen[-1][1] < seen[-1][2]


def test_settings_are_refused_by_name(panel: Panel) -> None:
    predictions, truth = panel
    refused: list[tuple[dict[str, Any], str]] = [
        ({"folds": 1}, "folds: expected at least 2, found 1"),
        ({"repeats": 0}, "repetitions: expected at least 1, found 0"),
        ({"folds": 70_000}, "folds: expected at most 65535, found 70000"),
        ({"methods": ["best"]}, "found `best`"),
        ({"test": (predictions, truth)}, "test rows: expected held-out rows"),
    ]
    for settings, message in refused:
        with pytest.raises(spocc.SpoccError, match=message):
            spocc.compare(predictions, truth, **settings)
    with pytest.raises(spocc.SpoccError, match="truth: expected none beside evidence"):
        spocc.compare(spocc.Evidence(predictions, truth), truth)
    with pytest.raises(TypeError, match="test: expected evidence, or a pair"):
        spocc.compare(predictions, truth, test=predictions)  # type: ignore[arg-type]


def test_a_plot_has_a_row_per_method(comparison: spocc.Comparison) -> None:
    ax = comparison.plot()
    ticks = [tick.get_text() for tick in ax.get_yticklabels()]
    assert [tick.removesuffix(" *") for tick in ticks] == [result.method for result in comparison.methods]
    assert ax.get_xlabel().startswith("accuracy")
