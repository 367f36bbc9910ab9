"""The package and the command: the same decisions, the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import spocc
from spocc._settings import Method, Normalise

from open_panels import make_open_panel

Command = Callable[..., str]


@pytest.fixture
def demo(command: Command, tmp_path: Path) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    command("demo", "--save", tmp_path)
    read = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    gold = pd.read_csv(tmp_path / "gold.csv", **read)
    return tmp_path, gold, pd.read_csv(tmp_path / "new.csv", **read)


def panel(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["item", "truth"], errors="ignore")


@pytest.mark.parametrize("method", spocc.METHODS)
def test_both_make_the_same_model_of_the_same_rows(
    method: Method, command: Command, demo: tuple[Path, pd.DataFrame, pd.DataFrame]
) -> None:
    folder, gold, new = demo
    model = spocc.fit(panel(gold), gold["truth"], method, evaluate=True)
    path = folder / "m.spocc"
    command("fit", folder / "gold.csv", "--label", "truth", "--id", "item", "--method", method, "-o", path)
    assert spocc.load(path) == model
    command(
        "predict", path, folder / "new.csv", "--id", "item", "--columns", "margin", "-o", folder / "d.csv"
    )
    decided = pd.read_csv(folder / "d.csv", dtype={"decision": str}, float_precision="round_trip")
    ours = model.decide(new)
    assert decided["decision"].tolist() == ours.label.tolist()
    assert decided["margin"].tolist() == ours.margin.tolist()


def test_both_count_rows_without_truth_alike(
    command: Command, demo: tuple[Path, pd.DataFrame, pd.DataFrame]
) -> None:
    folder, gold, _ = demo
    gold.loc[25:, "truth"] = None
    gold.to_csv(folder / "some.csv", index=False)
    table = [folder / "some.csv", "--label", "truth", "--id", "item", "-o", folder / "out"]
    for unlabelled, options in ((True, []), (False, ["--unlabelled", "none"])):
        evidence = spocc.Evidence(panel(gold), gold["truth"], unlabelled=unlabelled)
        assert (evidence.n_rows, evidence.n_unlabelled) == (25, 375 if unlabelled else 0)
        command("tally", *table, *options)
        assert (folder / "out").read_bytes() == evidence.to_bytes()
        # By default, as with unlabelled=True.
        for asked in (unlabelled, None) if unlabelled else (False,):
            model = spocc.fit(panel(gold), gold["truth"], unlabelled=asked)
            command("fit", *table, *options, "--no-evaluate")
            assert (folder / "out").read_bytes() == model.to_bytes()
            assert spocc.fit(evidence, unlabelled=asked) == model
    whole = spocc.Evidence(panel(gold), gold["truth"])
    assert spocc.fit(whole, unlabelled=False) == spocc.fit(panel(gold), gold["truth"], unlabelled=False)
    assert whole == spocc.Evidence(panel(gold)[:200], gold["truth"][:200]) + spocc.Evidence(
        panel(gold)[200:], gold["truth"][200:]
    )


def test_the_command_reads_our_model_and_tally(
    command: Command, demo: tuple[Path, pd.DataFrame, pd.DataFrame]
) -> None:
    folder, gold, new = demo
    evidence = spocc.Evidence(panel(gold), gold["truth"])
    evidence.save(folder / "ours.tally")
    command("tally", folder / "gold.csv", "--label", "truth", "--id", "item", "-o", folder / "its.tally")
    assert (folder / "ours.tally").read_bytes() == (folder / "its.tally").read_bytes()
    model = spocc.fit(evidence, calibrate="split")
    model.save(folder / "ours.spocc")
    options = ["--id", "item", "--coverage", "0.9", "-o", folder / "sets.csv"]
    command("predict", folder / "ours.spocc", folder / "new.csv", *options)
    theirs = pd.read_csv(folder / "sets.csv", dtype=str)["set"].tolist()
    ours = model.predict_set(new, 0.9, ids=new["item"])
    assert theirs == ["|".join(model.classes[row]) for row in ours]


def test_both_give_the_same_explanation_and_audit(
    command: Command, demo: tuple[Path, pd.DataFrame, pd.DataFrame]
) -> None:
    folder, gold, new = demo
    model = spocc.fit(panel(gold), gold["truth"])
    model.save(folder / "m.spocc")
    text = command("explain", folder / "m.spocc", folder / "new.csv", "--id", "item", "--row", "2")
    assert text.endswith(repr(model.explain(new, 1)))
    report = command("audit", folder / "gold.csv", "--label", "truth", "--id", "item")
    assert report.strip() == repr(spocc.Evidence(panel(gold), gold["truth"]).audit()).strip()
    assert report.strip() == repr(model.audit()).strip()


def test_both_read_a_long_table_alike(command: Command, tmp_path: Path) -> None:
    crowd = pd.DataFrame(
        [(1, "eve", "dog"), (1, "ann", "cat"), (1, "bob", "cat"), (2, "ann", "dog"), (2, "eve", "cat")],
        columns=["item", "worker", "answer"],
    )
    crowd.to_csv(tmp_path / "crowd.csv", index=False)
    (tmp_path / "gold.csv").write_text("item,truth\n1,cat\n2,dog\n")
    long = ["--long", "item,worker,answer", "--gold", tmp_path / "gold.csv", "--label", "truth"]
    command("tally", tmp_path / "crowd.csv", *long, "-o", tmp_path / "crowd.tally")
    ours = spocc.Evidence.from_long(crowd["item"], crowd["worker"], crowd["answer"], {1: "cat", 2: "dog"})
    assert spocc.load(tmp_path / "crowd.tally") == ours


@pytest.mark.parametrize("normalise", ["none", "number"])
def test_both_decide_open_answers_alike(normalise: Normalise, command: Command, tmp_path: Path) -> None:
    answers, truth = make_open_panel()
    answers.loc[::9, "bob"] = answers["bob"][::9].map(lambda answer: None if answer is None else f"${answer}")
    path = tmp_path / "answers.csv"
    answers.assign(truth=truth, item=range(len(truth))).to_csv(path, index=False)
    columns = [path, "--label", "truth", "--id", "item", "--open", "--normalise", normalise]
    model = spocc.fit(answers, truth, open=True, normalise=normalise, evaluate=True)
    command("fit", *columns, "-o", tmp_path / "m.spocc")
    assert spocc.load(tmp_path / "m.spocc") == model
    command(
        "predict", tmp_path / "m.spocc", path, "--id", "item", "--columns", "margin", "-o", tmp_path / "d.csv"
    )
    read = {"dtype": {"decision": object}, "keep_default_na": False, "float_precision": "round_trip"}
    decided = pd.read_csv(tmp_path / "d.csv", **read)
    ours = model.decide(answers)
    assert decided["decision"].tolist() == ["" if answer is None else answer for answer in ours.label]
    assert decided["margin"].tolist() == ours.margin.tolist()
    shown = command("explain", tmp_path / "m.spocc", path, "--row", "5")
    assert shown.removeprefix("row 5\n") == str(model.explain(answers, 4))
