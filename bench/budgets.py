#!/usr/bin/env python3
"""Adds scikit-learn and crowd-kit to the results of `spocc-lab budgets`, on the same draws of labelled rows.

    spocc-lab budgets all --data DATA --seed S --out RESULTS
    spocc-lab budgets all --data DATA --seed S --export DRAWS
    python bench/budgets.py DRAWS --out RESULTS
    spocc-lab report RESULTS

Needs the packages of bench/requirements.txt. Reads NAME.csv and NAME.draws.jsonl, and appends to
RESULTS/budgets-NAME.rivals.jsonl what it lacks.

- sklearn-logistic: LogisticRegression on one-hot predictions (a missing one is an all-zero block). C is one of eight
  values from 0.003 to 10 with the least log-loss on the held-out rows of a stratified 5-fold cross-validation of the
  labelled rows.
- sklearn-forest: RandomForestClassifier, 200 trees, on the same inputs.
- crowdkit-one-coin, crowdkit-mace: OneCoinDawidSkene and MACE, fitted once to all rows without any truth. They run
  where every label is a class, and up to 100 000 labels.

Probabilities are floored at 1e-6 in the log-loss, as for the methods of the laboratory; a class without labelled rows
has probability 0 in scikit-learn.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import csv
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import MACE, OneCoinDawidSkene
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

STRENGTHS = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
FOLDS = 5
MIN_PROBABILITY = 1e-6
MAX_CROWD_LABELS = 100_000

# A probability per row and class.
Probabilities = np.ndarray
# From inputs and the number of classes.
Predictor = Callable[[np.ndarray, int], Probabilities]


@dataclass
class LabelSet:
    """The first line of its results, one-hot inputs, classes (-1 where the truth is unknown), the table of labels."""

    name: str
    header: dict[str, Any]
    inputs: np.ndarray
    truth: np.ndarray
    long: pd.DataFrame
    n_classes: int

    def is_crowd(self) -> bool:
        return bool((self.long["label"] < self.n_classes).all()) and len(self.long) <= MAX_CROWD_LABELS


@cache
def load(directory: Path, name: str) -> LabelSet:
    with open(directory / f"{name}.draws.jsonl") as lines:
        first = json.loads(next(lines))
    # Labels that are no class have the numbers after those of the classes.
    numbers = {label: number for number, label in enumerate(first["classes"])}
    truth, columns, cells = [], {}, []
    with open(directory / f"{name}.csv", newline="") as table:
        lines = csv.reader(table)
        next(lines)
        for row, (known, *labels) in enumerate(lines):
            truth.append(numbers[known] if known else -1)
            for worker, label in enumerate(labels):
                if label:
                    number = numbers.setdefault(label, len(numbers))
                    columns.setdefault((worker, number), len(columns))
                    cells.append((row, worker, number))
    inputs = np.zeros((len(truth), len(columns)), dtype=np.float32)
    for row, worker, number in cells:
        inputs[row, columns[worker, number]] = 1.0
    long = pd.DataFrame(cells, columns=["task", "worker", "label"])
    return LabelSet(name, first["header"], inputs, np.array(truth), long, len(first["classes"]))


def spread(classes: np.ndarray, found: Probabilities, n_classes: int) -> Probabilities:
    """Probabilities of all classes from those of the classes that a model has seen."""
    probabilities = np.zeros((len(found), n_classes))
    probabilities[:, classes] = found
    return probabilities


def log_loss(probabilities: Probabilities, truth: np.ndarray) -> float:
    true = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(true, MIN_PROBABILITY)).mean())


def fitted_logistic(inputs: np.ndarray, truth: np.ndarray) -> Iterator[tuple[float, Predictor]]:
    """A regression per strength, each started from the weaker one."""
    if len(np.unique(truth)) == 1:
        for strength in STRENGTHS:
            yield strength, lambda rows, n: spread(truth[:1], np.ones((len(rows), 1)), n)
        return
    model = LogisticRegression(max_iter=2000, warm_start=True)
    for strength in STRENGTHS:
        model.set_params(C=strength)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(inputs, truth)
        yield strength, lambda rows, n: spread(model.classes_, model.predict_proba(rows), n)


def logistic(table: LabelSet, labelled: np.ndarray, test: np.ndarray, seed: int) -> Probabilities:
    inputs, truth = table.inputs[labelled], table.truth[labelled]
    shuffled = np.random.default_rng(seed).permutation(len(labelled))
    folds = np.empty(len(labelled), dtype=int)
    folds[shuffled[np.argsort(truth[shuffled], kind="stable")]] = np.arange(len(labelled)) % FOLDS
    losses = dict.fromkeys(STRENGTHS, 0.0)
    for fold in range(FOLDS):
        learned, held_out = folds != fold, folds == fold
        for strength, predict in fitted_logistic(inputs[learned], truth[learned]):
            predicted = predict(inputs[held_out], table.n_classes)
            losses[strength] += log_loss(predicted, truth[held_out]) * held_out.sum()
    best = min(STRENGTHS, key=lambda strength: losses[strength])
    model = LogisticRegression(C=best, max_iter=5000).fit(inputs, truth)
    return spread(model.classes_, model.predict_proba(table.inputs[test]), table.n_classes)


def forest(table: LabelSet, labelled: np.ndarray, test: np.ndarray, seed: int) -> Probabilities:
    model = RandomForestClassifier(n_estimators=200, random_state=seed)
    model.fit(table.inputs[labelled], table.truth[labelled])
    return spread(model.classes_, model.predict_proba(table.inputs[test]), table.n_classes)


SUPERVISED = {"sklearn-logistic": logistic, "sklearn-forest": forest}
CROWD = {
    "crowdkit-one-coin": lambda: OneCoinDawidSkene(n_iter=100),
    "crowdkit-mace": lambda: MACE(random_state=0),
}


@cache
def aggregated(directory: Path, name: str, method: str) -> Probabilities:
    """Probabilities of all rows, fitted without truth; a row without labels has equal ones."""
    table = load(directory, name)
    model = CROWD[method]()
    model.fit(table.long)
    probabilities = np.full((len(table.truth), table.n_classes), 1.0 / table.n_classes)
    found = model.probas_.reindex(columns=range(table.n_classes), fill_value=0.0)
    probabilities[found.index.to_numpy()] = found.to_numpy()
    return probabilities


def outcome(directory: Path, name: str, draw: dict[str, Any], methods: list[str]) -> dict[str, Any]:
    """A line of the results: confusion counts by true and by decided class, and log-losses."""
    table = load(directory, name)
    labelled, test = np.array(draw["labelled"], dtype=int), np.array(draw["test"], dtype=int)
    truth, n = table.truth[test], table.n_classes
    confusion, losses = {}, {}
    for method in methods:
        if method in SUPERVISED:
            predicted = SUPERVISED[method](table, labelled, test, draw["rep"])
        else:
            predicted = aggregated(directory, name, method)[test]
        confusion[method] = np.bincount(truth * n + predicted.argmax(axis=1), minlength=n * n).tolist()
        losses[method] = log_loss(predicted, truth)
    return {
        "rep": draw["rep"],
        "fold": 0,
        "at": draw["at"],
        "confusion": confusion,
        "references": {},
        "log_loss": losses,
    }


def recorded(path: Path, header: dict[str, Any]) -> set[tuple[int, float, str]]:
    """Draw, number of labelled rows and method of every outcome in a file; an incomplete last line is dropped."""
    if not path.exists():
        path.write_text(json.dumps(header) + "\n")
    text = path.read_text()
    complete = text[: text.rfind("\n") + 1]
    if complete != text:
        path.write_text(complete)
    first, *lines = complete.splitlines()
    if json.loads(first) != header:
        sys.exit(f"{path}: expected results of {header}, found {first}; name another folder, or remove the file")
    outcomes = [json.loads(line) for line in lines]
    return {(found["rep"], found["at"], method) for found in outcomes for method in found["confusion"]}


def work(unit: tuple[Path, str, dict[str, Any], list[str]]) -> dict[str, Any]:
    return outcome(*unit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", type=Path, help="folder that `spocc-lab budgets --export` wrote to")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results of `spocc-lab budgets`")
    parser.add_argument("--sets", help="names of label sets, separated by commas [default: all]")
    parser.add_argument("--methods", help=f"of {', '.join([*SUPERVISED, *CROWD])} [default: all]")
    parser.add_argument("--jobs", type=int, default=1, help="processes [default: 1]")
    chosen = parser.parse_args()
    methods = chosen.methods.split(",") if chosen.methods else [*SUPERVISED, *CROWD]
    if unknown := set(methods) - {*SUPERVISED, *CROWD}:
        sys.exit(f"--methods {', '.join(sorted(unknown))}: expected some of {', '.join([*SUPERVISED, *CROWD])}")
    files = sorted(chosen.draws.glob("*.draws.jsonl"))
    names = chosen.sets.split(",") if chosen.sets else [file.name.removesuffix(".draws.jsonl") for file in files]
    if not names:
        sys.exit(f"{chosen.draws}: expected files of `spocc-lab budgets --export`, found none")
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for name in names:
            table = load(chosen.draws, name)
            path = chosen.out / f"budgets-{name}.rivals.jsonl"
            done = recorded(path, table.header)
            with open(chosen.draws / f"{name}.draws.jsonl") as lines:
                drawn = [json.loads(line) for line in lines][1:]
            units = []
            for draw in drawn:
                able = [*(SUPERVISED if draw["labelled"] else []), *(CROWD if table.is_crowd() else [])]
                wanted = [method for method in methods if method in able]
                missing = [method for method in wanted if (draw["rep"], draw["at"], method) not in done]
                if missing:
                    units.append((chosen.draws, name, draw, missing))
            with open(path, "a") as results:
                for found in pool.map(work, units):
                    results.write(json.dumps(found) + "\n")
                    results.flush()
            print(f"{name}: {len(units)} outcomes added to {path}", flush=True)


if __name__ == "__main__":
    main()
