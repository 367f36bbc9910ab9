"""The index of pandas, which says which row is which.

In: a table of predictions and what belongs to its rows, such as the truth. Out: the same in the order of the
rows. What has no index is in that order already: arrays, lists and polars are never reordered.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from spocc._native import SpoccError, printable

__all__ = ["aligned", "index_of", "is_pandas"]


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


def aligned(what: str, values: Any, index: Any) -> Any:
    """Values in the order of the rows with this index, if both have one.

    Equal indexes need no alignment, and may repeat labels: a sample of rows keeps its order.
    """
    if index is None or not is_pandas(values, "Series"):
        return values
    given = values.index
    if given is index or given.equals(index):
        return values
    what = printable(what)
    for owner, labels in (("the predictions", index), (what, given)):
        if not labels.is_unique:
            raise SpoccError(
                f"{what}: expected distinct labels to align by, found that the index of {owner} repeats "
                f"{_some(labels.duplicated(), labels)}"
            )
    expected = f"{what}: expected the index of the predictions, found one that"
    places = given.get_indexer(index)
    if (without := places < 0).any():
        raise SpoccError(f"{expected} lacks {_some(without, index)}")
    if len(given) > len(index):
        raise SpoccError(f"{expected} also has {_some(index.get_indexer(given) < 0, given)}")
    return values.iloc[places]


def _some(which: Any, index: Any) -> str:
    """How many labels of an index these are, and the first of them."""
    return f"{which.sum()} of {len(index)} labels, such as `{printable(str(index[which.argmax()]))}`"
