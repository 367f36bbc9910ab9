#!/usr/bin/env python3
"""Compares the two ways in which `SpoccEnsemble` gets its evidence: out-of-fold predictions (cv=5) and a holdout of 20 %.

    python bench/ensemble.py [--splits N] [--seed S]

Needs the Python package with scikit-learn. Six pools of five classifiers are trained on datasets that scikit-learn ships or
makes; every split trains on at most 300 rows and tests on the others. Prints, per pool, the mean accuracy and log-loss of both, the
difference of accuracies with its 95 % interval over splits, and a majority vote of the same classifiers for comparison.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from spocc.sklearn import SpoccEnsemble

TRAINING_ROWS = 300


def members() -> list[tuple[str, Any]]:
    """Five classifiers of different kinds."""
    return [
        ("line", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
        ("near", make_pipeline(StandardScaler(), KNeighborsClassifier())),
        ("bayes", GaussianNB(var_smoothing=1e-3)),
        ("tree", DecisionTreeClassifier(max_depth=5, random_state=0)),
        ("forest", RandomForestClassifier(30, random_state=0)),
    ]


def pools(seed: int) -> dict[str, tuple[Any, Any]]:
    """The datasets."""
    made = {"n_samples": 2000, "n_features": 20, "n_informative": 6, "random_state": seed}
    return {
        "breast": load_breast_cancer(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "iris": load_iris(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "made, 4 classes": make_classification(**made, n_classes=4),
        "made, noisy": make_classification(**made, n_classes=2, flip_y=0.3),
    }


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--splits", type=int, default=20, help="splits per pool (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of splits and made data (default: %(default)s)")
    asked = parser.parse_args()
    print(f"{'pool':<16} {'vote':>6} {'holdout':>8} {'cv=5':>6} {'difference':>16} {'log-loss: holdout':>18} {'cv=5':>6}")
    for name, (X, y) in pools(asked.seed).items():
        found = []
        for split in range(asked.splits):
            size = min(TRAINING_ROWS, len(y) * 2 // 3)
            parts = train_test_split(X, y, train_size=size, random_state=asked.seed + split, stratify=y)
            X_train, X_test, y_train, y_test = parts
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = [
                    SpoccEnsemble(members(), **how).fit(X_train, y_train) for how in ({"holdout": 0.2}, {"cv": 5})
                ]
                vote = VotingClassifier(members()).fit(X_train, y_train).score(X_test, y_test)
            accuracies = [ensemble.score(X_test, y_test) for ensemble in fitted]
            losses = [log_loss(y_test, ensemble.predict_proba(X_test)) for ensemble in fitted]
            found.append([vote, *accuracies, *losses])
        columns = np.array(found).T
        vote, holdout, folds, *losses = columns.mean(axis=1)
        gains = 100 * (columns[2] - columns[1])
        half = 1.96 * gains.std(ddof=1) / np.sqrt(len(gains))
        print(
            f"{name:<16} {100 * vote:6.1f} {100 * holdout:8.1f} {100 * folds:6.1f} {gains.mean():+8.2f} ± {half:5.2f}"
            f" {losses[0]:18.3f} {losses[1]:6.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
