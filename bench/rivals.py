"""Times one rival on one panel: `python bench/rivals.py NAME DIR [TASKS]`.

The directory holds answers.npy, truth.npy and panel.csv. Loading and converting them is not timed, as for spocc. Every
task is printed as a line of JSON, in the format of `spocc-bench`.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Task = tuple[str, Callable[[], Any]]
THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))
FITTED_ROWS = 2_000


class Panel:
    """Predictions (rows x classifiers), truth (rows), and tables derived from them."""

    def __init__(self, directory: Path) -> None:
        self.answers = np.load(directory / "answers.npy")
        self.truth = np.load(directory / "truth.npy")
        self.csv = directory / "panel.csv"
        self.n_rows, self.n_classifiers = self.answers.shape
        self.n_classes = int(self.truth.max()) + 1

    def names(self) -> list[str]:
        return [f"c{k}" for k in range(self.n_classifiers)]

    def columns(self) -> dict[str, np.ndarray]:
        """One contiguous array per column, as a table in memory has them."""
        columns = {name: np.ascontiguousarray(self.answers[:, k]) for k, name in enumerate(self.names())}
        return columns | {"truth": self.truth}

    def first(self) -> tuple[np.ndarray, np.ndarray]:
        return self.answers[:FITTED_ROWS], self.truth[:FITTED_ROWS]


def confusions(answers: np.ndarray, truth: np.ndarray, n_classes: int) -> np.ndarray:
    """Counts by classifier, answer and truth."""
    wide = truth.astype(np.int64)
    tables = [
        np.bincount(answers[:, k].astype(np.int64) * n_classes + wide, minlength=n_classes**2)
        for k in range(answers.shape[1])
    ]
    return np.stack(tables).reshape(-1, n_classes, n_classes)


def numpy_table(panel: Panel) -> Iterator[Task]:
    """bincount per classifier; log tables looked up, added and compared."""
    yield "count", lambda: confusions(panel.answers, panel.truth, panel.n_classes)
    counts = confusions(*panel.first(), panel.n_classes) + 1.0
    tables = np.log(counts / counts.sum(axis=1, keepdims=True))

    def predict() -> np.ndarray:
        scores = tables[0][panel.answers[:, 0]]
        for k in range(1, panel.n_classifiers):
            scores += tables[k][panel.answers[:, k]]
        return scores.argmax(axis=1)

    yield "predict", predict


def numpy_majority(panel: Panel) -> Iterator[Task]:
    """Votes per row by one bincount, or class by class where there are few."""

    def by_class() -> np.ndarray:
        votes = np.empty((panel.n_rows, panel.n_classes), dtype=np.int64)
        for j in range(panel.n_classes):
            np.sum(panel.answers == j, axis=1, out=votes[:, j])
        return votes.argmax(axis=1)

    def at_once() -> np.ndarray:
        places = np.arange(panel.n_rows)[:, None] * panel.n_classes + panel.answers
        votes = np.bincount(places.ravel(), minlength=panel.n_rows * panel.n_classes)
        return votes.reshape(panel.n_rows, panel.n_classes).argmax(axis=1)

    yield "predict", by_class if panel.n_classes <= 5 else at_once


def categorical_nb(panel: Panel) -> Iterator[Task]:
    from sklearn.naive_bayes import CategoricalNB

    def make() -> CategoricalNB:
        return CategoricalNB(min_categories=panel.n_classes)

    yield from learner(panel, make, panel.answers)


def logistic_regression(panel: Panel) -> Iterator[Task]:
    """lbfgs at the default strength and number of iterations, on sparse one-hot columns that are made before the clock starts."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    categories = [np.arange(panel.n_classes)] * panel.n_classifiers
    inputs = OneHotEncoder(categories=categories).fit_transform(panel.answers)

    yield from learner(panel, LogisticRegression, inputs)


def learner(panel: Panel, make: Callable[[], Any], inputs: Any) -> Iterator[Task]:
    """A classifier of scikit-learn on the predictions."""
    model = make().fit(inputs[:FITTED_ROWS], panel.truth[:FITTED_ROWS])
    yield "predict", lambda: model.predict(inputs)
    yield "predict_proba", lambda: model.predict_proba(inputs)
    yield "fit", lambda: make().fit(inputs, panel.truth)


def hist_gradient_boosting(panel: Panel) -> Iterator[Task]:
    """At most a hundred iterations, the default, which it may end early, on label numbers that it takes as categories."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    columns = list(range(panel.n_classifiers))
    yield from learner(panel, lambda: HistGradientBoostingClassifier(categorical_features=columns), panel.answers)


def random_forest(panel: Panel) -> Iterator[Task]:
    """A hundred trees, the default, on label numbers."""
    from sklearn.ensemble import RandomForestClassifier

    yield from learner(panel, lambda: RandomForestClassifier(n_jobs=THREADS, random_state=1), panel.answers)


def voting(panel: Panel) -> Iterator[Task]:
    """A hard vote of estimators that each return their own column, fitted beforehand."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.ensemble import VotingClassifier
    from sklearn.preprocessing import LabelEncoder

    class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def __init__(self, k: int = 0) -> None:
            self.k = k

        def fit(self, x: np.ndarray, y: np.ndarray) -> "Column":
            self.classes_ = np.unique(y)
            return self

        def predict(self, x: np.ndarray) -> np.ndarray:
            return x[:, self.k]

    columns = [(name, Column(k).fit(*panel.first())) for k, name in enumerate(panel.names())]
    vote = VotingClassifier(columns, voting="hard", n_jobs=THREADS)
    vote.estimators_ = [column for _, column in columns]
    vote.le_ = LabelEncoder().fit(np.arange(panel.n_classes))
    vote.classes_ = vote.le_.classes_
    yield "predict", lambda: vote.predict(panel.answers)


def crowdkit(panel: Panel, method: str) -> Iterator[Task]:
    """Fits and predicts in one call, from a long table and without the truth."""
    import pandas
    from crowdkit.aggregation import DawidSkene, MajorityVote

    long = pandas.DataFrame(
        {
            "task": np.repeat(np.arange(panel.n_rows), panel.n_classifiers),
            "worker": np.tile(np.arange(panel.n_classifiers), panel.n_rows),
            "label": panel.answers.ravel(),
        }
    )
    make = MajorityVote if method == "majority" else DawidSkene
    yield "predict", lambda: make().fit_predict(long)


def duckdb(panel: Panel) -> Iterator[Task]:
    """Groups by every column: a table in memory, then the CSV as it is read."""
    import duckdb as database
    import pyarrow

    connection = database.connect(config={"threads": THREADS})
    columns = panel.columns()
    frame = pyarrow.table(columns)
    connection.register("frame", frame)
    connection.execute("CREATE TABLE panel AS SELECT * FROM frame")
    connection.unregister("frame")
    grouped = "SELECT *, count(*) AS n FROM {} GROUP BY ALL"
    yield "tally", lambda: connection.execute(grouped.format("panel")).fetchnumpy()
    connection.execute("DROP TABLE panel")
    del columns, frame
    yield "csv", lambda: connection.execute(grouped.format(f"read_csv('{panel.csv}')")).fetchnumpy()


def polars(panel: Panel) -> Iterator[Task]:
    """Groups by every column: a frame in memory, then the CSV as it is read."""
    import polars as pl

    frame = pl.DataFrame(panel.columns())
    names = [*panel.names(), "truth"]
    yield "tally", lambda: frame.group_by(names).len()
    frame = frame.clear()
    yield "csv", lambda: pl.scan_csv(panel.csv).group_by(names).len().collect()


RIVALS: dict[str, Callable[[Panel], Iterator[Task]]] = {
    "numpy-table": numpy_table,
    "numpy-majority": numpy_majority,
    "categorical-nb": categorical_nb,
    "logistic-regression": logistic_regression,
    "hist-gradient-boosting": hist_gradient_boosting,
    "random-forest": random_forest,
    "voting": voting,
    "crowdkit-majority": lambda panel: crowdkit(panel, "majority"),
    "crowdkit-dawid-skene": lambda panel: crowdkit(panel, "dawid-skene"),
    "duckdb": duckdb,
    "polars": polars,
}


def peak() -> int:
    """The peak memory of the process since its last reset, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


def measure(work: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """The measurement and what was made. Repeats as `spocc-bench` does: five runs and 0.3 s at least, no more after two seconds."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # the peak is then that of the whole process
    runs: list[tuple[float, float]] = []
    made: Any = None
    begun = time.perf_counter()
    while not runs or ((passed := time.perf_counter() - begun) < 2 and (len(runs) < 5 or passed < 0.3)):
        made = None
        cpu, wall = time.process_time(), time.perf_counter()
        made = work()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    runs.sort()
    measured: dict[str, Any] = {
        "wall": runs[0][0],
        "median": runs[len(runs) // 2][0],
        "cpu": runs[0][1],
        "runs": len(runs),
    }
    if hasattr(made, "n_iter_"):
        measured["note"] = f"{int(np.max(made.n_iter_))} iterations"
    return measured | {"peak": peak()}, made


def main() -> None:
    name, directory = sys.argv[1], Path(sys.argv[2])
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else None
    panel = Panel(directory)
    for task, work in RIVALS[name](panel):
        if wanted and task not in wanted:
            continue
        measured, made = measure(work)
        if task == "predict" and panel.n_rows > FITTED_ROWS:
            # Of the rows that nothing was fitted to, as for spocc.
            right = np.asarray(made)[FITTED_ROWS:] == panel.truth[FITTED_ROWS:]
            measured["accuracy"] = float(right.mean())
        print(json.dumps({"task": task, "name": name} | measured), flush=True)


if __name__ == "__main__":
    main()
