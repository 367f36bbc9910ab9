#!/usr/bin/env python3
"""Times the Python package and its rivals: from arrays in memory to a decision for every row.

    bench/package.py NAME DIR KIND      one of NAMES on the panel in DIR (answers.npy, truth.npy); a line of JSON

Each name converts the arrays, fits to all rows and predicts all rows. Predictions and truths have the integer type given:
int64, as scikit-learn's classifiers return them, or uint8. CPU is the processor time of all threads of the process in the
shortest of several runs. bench/versus.py runs all of them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

# bench/versus.py reads the names here with a Python that has no numpy.
if TYPE_CHECKING:
    import numpy as np

Run = Callable[[Any, Any], Any]
METHODS = ["naive-bayes", "majority", "spocc", "adaspocc", "ladder"]


def native(method: str) -> Run:
    import spocc

    return lambda x, y: spocc.fit(x, y, method=method).predict(x)


def estimator(name: str) -> Run:
    import spocc.sklearn

    make = getattr(spocc.sklearn, name)
    return lambda x, y: make().fit(x, y).predict(x)


def categorical_nb() -> Run:
    from sklearn.naive_bayes import CategoricalNB

    return lambda x, y: CategoricalNB().fit(x, y).predict(x)


def logistic_regression() -> Run:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return lambda x, y: make_pipeline(OneHotEncoder(), LogisticRegression()).fit(x, y).predict(x)


def voting() -> Run:
    """A hard vote of estimators that return their own column."""
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.ensemble import VotingClassifier

    class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def __init__(self, k: int = 0) -> None:
            self.k = k

        def fit(self, x: np.ndarray, y: np.ndarray) -> "Column":
            self.classes_ = np.arange(int(y.max()) + 1)
            return self

        def predict(self, x: np.ndarray) -> np.ndarray:
            return x[:, self.k]

    def run(x: np.ndarray, y: np.ndarray) -> Any:
        columns = [(f"c{k}", Column(k)) for k in range(x.shape[1])]
        return VotingClassifier(columns, voting="hard").fit(x, y).predict(x)

    return run


def crowdkit(name: str) -> Run:
    """From a long table, without the truth."""
    import crowdkit.aggregation
    import numpy as np
    import pandas

    def run(x: np.ndarray, y: np.ndarray) -> Any:
        rows, workers = x.shape
        task, worker = np.repeat(np.arange(rows), workers), np.tile(np.arange(workers), rows)
        long = pandas.DataFrame({"task": task, "worker": worker, "label": x.ravel()})
        return getattr(crowdkit.aggregation, name)().fit_predict(long)

    return run


RIVALS: dict[str, Callable[[], Run]] = {
    "CategoricalNB": categorical_nb,
    "OneHotEncoder + LogisticRegression": logistic_regression,
    "VotingClassifier, hard": voting,
    "crowd-kit MajorityVote": lambda: crowdkit("MajorityVote"),
    "crowd-kit DawidSkene": lambda: crowdkit("DawidSkene"),
}
ESTIMATORS = {
    "NaiveBayesClassifier": "naive-bayes", "MajorityClassifier": "majority", "SpoccClassifier": "spocc",
    "AdaSpoccClassifier": "adaspocc", "LadderClassifier": "ladder",
}  # fmt: skip
NAMES: dict[str, Callable[[], Run]] = {
    **{f"spocc.fit, {method}": lambda method=method: native(method) for method in METHODS},
    **{f"spocc.sklearn.{name}": lambda name=name: estimator(name) for name in ESTIMATORS},
    **RIVALS,
}


def main() -> None:
    import numpy as np

    name, directory, kind = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    x, y = (np.load(directory / file).astype(kind) for file in ["answers.npy", "truth.npy"])
    run = NAMES[name]()
    run(x[:1000], y[:1000])
    best, begun = [float("inf"), float("inf")], time.monotonic()
    for _ in range(5):
        wall, cpu = time.perf_counter(), time.process_time()
        run(x, y)
        best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
        if time.monotonic() - begun > 5:
            break
    print(json.dumps({"name": name, "wall": best[0], "cpu": best[1]}))


if __name__ == "__main__":
    main()
