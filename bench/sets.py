#!/usr/bin/env python3
"""Compares the conformal prediction sets of MAPIE and spocc on the panels that `spocc-lab panels` wrote.

    spocc-lab panels wine --data DATA --out PANELS --seed 101 --reps 2
    python bench/sets.py PANELS --spocc target/release/spocc

Needs the packages of bench/requirements.txt. Both are fitted to three quarters of the validation rows and calibrated with
the other quarter, over eight random splits, because the coverage of a single one varies by a point or two. MAPIE uses a
logistic regression on one-hot predictions (scikit-learn's defaults with more iterations) and its default score; spocc uses
the ladder. Prints, for each dataset and coverage, the share of test rows in % whose set contains the true class, the mean
size of the sets and, for MAPIE, the share of empty sets in %, over all folds and splits.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

COVERAGES = [0.8, 0.9, 0.95, 0.99]
# Sums over test rows: rows, covered rows, classes in sets, empty sets.
Sums = np.ndarray


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Predictions (rows x classifiers) and truth of a table `row,truth,c1,..`."""
    table = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
    return table[:, 2:], table[:, 1]


def mapie(validation: Path, test: Path, seed: int) -> dict[float, Sums]:
    answers, truth = read(validation)
    learned, calibrating, learned_truth, calibrating_truth = train_test_split(
        answers, truth, test_size=0.25, random_state=seed
    )
    needed = [coverage for coverage in COVERAGES if round(coverage / (1 - coverage)) <= len(calibrating)]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=10_000))
    model.fit(learned, learned_truth)
    conformal = SplitConformalClassifier(model, confidence_level=needed, prefit=True, random_state=seed)
    conformal.conformalize(calibrating, calibrating_truth)
    answers, truth = read(test)
    _, sets = conformal.predict_set(answers)
    places = {label: place for place, label in enumerate(model.classes_)}
    sums = {}
    for level, coverage in enumerate(needed):
        chosen = sets[:, :, level]
        covered = sum(label in places and chosen[row, places[label]] for row, label in enumerate(truth))
        sums[coverage] = np.array([len(truth), covered, chosen.sum(), (~chosen.any(axis=1)).sum()])
    return sums


def ladder(spocc: str, validation: Path, test: Path, seed: int) -> dict[float, Sums]:
    _, truth = read(test)
    sums = {}
    with tempfile.TemporaryDirectory() as directory:
        model, decided = f"{directory}/ladder.spocc", f"{directory}/sets.csv"

        def run(*words: str | Path) -> bool:
            """Whether the command succeeded; too few calibration rows are not an error."""
            done = subprocess.run([spocc, *words], text=True, capture_output=True)
            if done.returncode and "calibrat" not in done.stderr:
                sys.exit(done.stderr)
            return not done.returncode

        options = ["--method", "ladder", "--calibrate", "split", "--seed", str(seed)]
        run("fit", validation, "--label", "truth", "--id", "row", *options, "-o", model)
        for coverage in COVERAGES:
            if run("predict", model, test, "--id", "row", "--coverage", str(coverage), "-o", decided):
                with open(decided, newline="") as table:
                    sets = [line["set"].split("|") for line in csv.DictReader(table)]
                covered = sum(str(label) in chosen for label, chosen in zip(truth, sets, strict=True))
                sums[coverage] = np.array([len(truth), covered, sum(map(len, sets)), 0])
    return sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panels", type=Path, help="folder that `spocc-lab panels` wrote to")
    parser.add_argument("--spocc", default="spocc", help="the command [default: that of the path]")
    parser.add_argument("--seed", type=int, default=101, help="seed of the first split [default: 101]")
    parser.add_argument("--draws", type=int, default=8, help="random splits into fit and calibration rows [default: 8]")
    chosen = parser.parse_args()
    sums: dict[tuple[str, float], list[Sums]] = defaultdict(lambda: [np.zeros(4), np.zeros(4)])
    for validation in sorted(chosen.panels.glob("*-validation.csv")):
        test = validation.with_name(validation.name.replace("-validation", "-test"))
        dataset = validation.name.rsplit("-", 3)[0]
        for seed in range(chosen.seed, chosen.seed + chosen.draws):
            both = ladder(chosen.spocc, validation, test, seed), mapie(validation, test, seed)
            for place, found in enumerate(both):
                for coverage, counts in found.items():
                    sums[dataset, coverage][place] += counts
    if not sums:
        sys.exit(f"{chosen.panels}: expected tables of `spocc-lab panels`, found none")
    print("| dataset | requested | ladder coverage | ladder size | MAPIE coverage | MAPIE size | MAPIE empty sets |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for (dataset, coverage), (ours, theirs) in sorted(sums.items()):
        if ours[0] and theirs[0]:
            figures = [f"{100 * ours[1] / ours[0]:.1f}", f"{ours[2] / ours[0]:.2f}"]
            figures += [f"{100 * theirs[1] / theirs[0]:.1f}", f"{theirs[2] / theirs[0]:.2f}"]
            figures.append(f"{100 * theirs[3] / theirs[0]:.1f}")
            print(f"| {dataset} | {100 * coverage:.0f} % | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
