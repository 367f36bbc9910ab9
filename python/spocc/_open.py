"""Open answers as Python values: arrays of decided answers, degrees by answer, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _input
from spocc._settings import Normalise

__all__ = ["answers", "by_answer", "described", "text"]

# An answer, None for "none of these", and its degree.
Degree = tuple[Any, float]


def answers(values: list[Any]) -> NDArray[Any]:
    """Answers as an array of their type: of whole numbers and floats, floats; of several types, objects."""
    # A whole number that no float has stays as it is.
    if {type(value) for value in values} == {int, float} and all(float(value) == value for value in values):
        return np.array(values, dtype=np.float64)
    return _input.labels(values)


def by_answer(rows: Iterable[list[Degree]], join: Callable[[float, float], float]) -> list[dict[Any, float]]:
    """A dict per row; ``join`` joins the degrees of True and 1, which are one key."""
    return [_joined(row, join) for row in rows]


def _joined(row: list[Degree], join: Callable[[float, float], float]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for answer, degree in row:
        found[answer] = join(found[answer], degree) if answer in found else degree
    return found


def text(answer: object) -> str | None:
    """An answer as text; None stays None."""
    return None if answer is None else str(answer)


def described(normalise: Normalise | None) -> str:
    """How open answers are compared, for the ``repr`` of evidence and models."""
    return "open answers" if normalise in (None, "none") else f"open answers (normalise: {normalise})"
