"""The held-out accuracy of a fitted model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["HeldOutAccuracy"]


@dataclass(frozen=True, slots=True)
class HeldOutAccuracy:
    """The accuracy of a method on rows that it was not fitted to, with its 95 % interval.

    Its ``str`` is the line that the command ``spocc fit`` prints.
    """

    by: Literal["refits", "one-fold"]
    """Which rows were held out: every fold, each decided by a fit to the others (``"refits"``), or one fold
    (``"one-fold"``)."""
    folds: int
    """Number of folds that the labelled rows were split into."""
    n_rows: int
    """Number of held-out rows."""
    accuracy: float
    """Share of the held-out rows that were decided correctly."""
    weighted_accuracy: float | None
    """The same with rows weighted by class; None without class weights."""
    interval: tuple[float, float]
    """95 % interval of the weighted accuracy if there is one, else of the accuracy."""
    _text: str = field(repr=False, compare=False)

    @classmethod
    def _of(cls, report: str, text: str) -> HeldOutAccuracy:
        entry = json.loads(report)
        low, high = entry.pop("interval")
        return cls(**entry, interval=(low, high), _text=text)

    def __str__(self) -> str:
        return self._text
