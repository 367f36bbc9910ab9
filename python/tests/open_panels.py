"""Panels of open answers: one made up, and one of language models where there is real data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

NAMES = ["ann", "bob", "cat", "dan", "eve"]


def make_open_panel(n_rows: int = 200, seed: int = 0) -> tuple[Any, list[str]]:
    """A frame of numbers in texts, and the truth.

    A wrong answer is one of three of its row, every tenth answer is missing, and the third row has none.
    """
    rng = np.random.default_rng(seed)
    truth = 100 * np.arange(n_rows)
    is_right = rng.random((n_rows, 5)) < [0.9, 0.75, 0.75, 0.6, 0.2]
    numbers = truth[:, None] + np.where(is_right, 0, rng.integers(1, 4, (n_rows, 5)))
    cells = numbers.astype(str).astype(object)
    cells[rng.random((n_rows, 5)) < 0.1] = None
    cells[2] = None
    return pandas.DataFrame(cells, columns=NAMES, dtype=object), truth.astype(str).tolist()


def real_open_panel() -> tuple[Any, Any]:
    """The final answers of 44 language models to arithmetic problems, as they are read, and the truth."""
    folder = os.environ.get("SPOCC_DATA")
    path = Path(folder or "") / "panels" / "gsm_open.csv"
    if folder is None or not path.exists():
        pytest.skip("the environment variable SPOCC_DATA names no folder with panels/gsm_open.csv")
    frame = pandas.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    return frame.drop(columns=["item", "gold"]), frame["gold"]
