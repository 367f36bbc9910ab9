"""Arrays that another thread writes to while they are read."""

import threading

import numpy as np
import pytest

import spocc

ROWS = 200_000

# The first column is the truth until it is written to.
pytestmark = pytest.mark.filterwarnings("ignore::spocc.ColumnWarning")


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8, np.float64, "U5"])
def test_an_array_that_changes_during_a_call_is_read_as_it_was_at_some_time(kind: type | str) -> None:
    cells = np.tile(np.array([0, 1], dtype=np.int64), ROWS // 2)[:, None].repeat(3, axis=1).astype(kind)
    truth = cells[:, 0].copy()
    model = spocc.fit(cells, truth, method="majority")
    values, stop = np.array([0, 1]).astype(kind), threading.Event()

    def write() -> None:
        at = 0
        while not stop.is_set():
            at += 1
            cells[:] = values[at % 2]

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            assert set(np.unique(model.predict(cells))) <= set(values)
            fitted = spocc.fit(cells, truth, method="naive-bayes")
            assert list(fitted.classes) == list(values)
    finally:
        stop.set()
        writer.join()


def test_values_that_are_no_labels_of_the_model_may_appear_during_a_call() -> None:
    cells = np.zeros((ROWS, 3), dtype=np.int32)
    cells[::2] = 1
    model = spocc.fit(cells, cells[:, 0].copy(), method="majority")
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for value in (-1, 2**31 - 1, 0, 300, 1):
                cells[:] = value

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(20):
            assert set(np.unique(model.predict(cells))) <= {0, 1}
    finally:
        stop.set()
        writer.join()
