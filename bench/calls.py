#!/usr/bin/env python3
"""Times single calls of the Python package: the decision on one row, and Dawid-Skene on a crowd beside crowd-kit's.

    bench/calls.py          lines of JSON; bench/versus.py runs it in the environment of the rivals

A row has ten predictions of one type, and its array or frame is made before the clock starts. The crowd has 2 275 items,
762 workers and five labels per item, of which 80 % are correct; no truth is given.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import crowdkit.aggregation
import numpy as np
import pandas
import spocc

CLASSIFIERS, ITEMS, WORKERS, ANSWERS, CLASSES = 10, 2_275, 762, 5, 2


def shortest(work: Callable[[], Any]) -> float:
    """Seconds of the shortest of many runs."""
    work()
    best, begun = float("inf"), time.monotonic()
    while time.monotonic() - begun < 1:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def rows() -> Iterator[tuple[str, Any, Any]]:
    """Tables of several types, each with the same 400 rows, and their truth."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 400)
    is_right = rng.random((400, CLASSIFIERS)) < 0.7
    answers = np.where(is_right, truth[:, None], rng.integers(0, 3, (400, CLASSIFIERS)))
    names, texts = [f"c{k}" for k in range(CLASSIFIERS)], np.array(["cat", "dog", "emu"])
    frame = pandas.DataFrame(answers, columns=names)
    words = pandas.DataFrame(texts[answers], columns=names)
    yield "numpy, int64", answers, truth
    yield "pandas, int64", frame, truth
    yield "pandas, object", words.astype(object), texts[truth]
    yield "pandas, str", words.astype("str"), texts[truth]
    yield "pandas, category", words.astype("category"), texts[truth]
    yield "pandas, Int64", frame.astype("Int64"), truth


def crowd() -> pandas.DataFrame:
    """A long table of labels."""
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.integers(0, CLASSES, ITEMS), ANSWERS)
    workers = np.concatenate([rng.choice(WORKERS, ANSWERS, replace=False) for _ in range(ITEMS)])
    other = (truth + rng.integers(1, CLASSES, truth.size)) % CLASSES
    labels = np.where(rng.random(truth.size) < 0.8, truth, other)
    return pandas.DataFrame({"task": np.repeat(np.arange(ITEMS), ANSWERS), "worker": workers, "label": labels})


def main() -> None:
    for kind, table, truth in rows():
        model = spocc.fit(table, truth)
        one = table[:1].copy()
        for task in ["predict", "predict_proba", "explain"]:
            wall = shortest(lambda call=getattr(model, task), one=one: call(one))
            print(json.dumps({"task": task, "name": kind, "wall": wall}), flush=True)
    long = crowd()

    def ours() -> Any:
        evidence = spocc.Evidence.from_long(long["task"], long["worker"], long["label"])
        return spocc.fit(evidence, method="dawid-skene")

    print(json.dumps({"task": "crowd", "name": "spocc", "wall": shortest(ours)}), flush=True)
    theirs = shortest(lambda: crowdkit.aggregation.DawidSkene().fit(long))
    print(json.dumps({"task": "crowd", "name": "crowd-kit", "wall": theirs}), flush=True)


if __name__ == "__main__":
    main()
