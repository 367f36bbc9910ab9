"""A panel with a copy and an adversary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Panel = tuple[NDArray[np.int64], NDArray[np.int64]]


def make_panel(n_rows: int = 300, n_classifiers: int = 5, n_classes: int = 3, seed: int = 0) -> Panel:
    """Predictions of an accurate, a copying, an adversarial and two weaker classifiers, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_rows)
    guesses = rng.integers(0, n_classes, (n_rows, n_classifiers))
    predictions = np.where(rng.random((n_rows, n_classifiers)) < 0.75, truth[:, None], guesses)
    predictions[:, 1] = predictions[:, 0]
    predictions[:, 2] = (truth + 1) % n_classes
    return predictions, truth
