"""The index of pandas, which says which row is which."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["index_of", "is_pandas"]


def is_pandas(values: object, name: str) -> bool:
    """Whether this is an object of that pandas class; pandas need not be installed."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, getattr(pandas, name))


def index_of(predictions: Any) -> Any:
    """The index of a table: that of a data frame, or of the first Series of a dict; None if there is none."""
    if is_pandas(predictions, "DataFrame"):
        return predictions.index
    if isinstance(predictions, Mapping):
        return next((values.index for values in predictions.values() if is_pandas(values, "Series")), None)
    return None
