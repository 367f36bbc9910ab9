"""Results per row as arrays, data frames or a Series, with the index of the rows they belong to.

In: results in the order of the rows, and the table of predictions. Out: what the caller asked for. What is of
pandas has the index of the table. polars has no index, and no column of ids is added in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spocc._index import index_of
from spocc._native import SpoccError, printable

__all__ = ["DEGREES", "LABELS", "OPEN", "FrameOutput", "Output", "check", "column", "frame", "table"]

Output = Literal["numpy", "pandas", "polars", "series"]
FrameOutput = Literal["pandas", "polars"]

# One value per row.
LABELS = ("numpy", "pandas", "polars", "series")
# One value per row and class.
DEGREES = ("numpy", "pandas", "polars")
# Of open answers every row has its own.
OPEN = ("numpy", "series")


def check(output: object, known: Sequence[str], of: str = "") -> None:
    """Refuses a kind of output that is not known, or not among those of such results."""
    if not isinstance(output, str):
        raise TypeError(f"output: expected a text, found {type(output).__name__}")
    if output not in known:
        raise SpoccError(f"output: expected one of {', '.join(known)}{of}, found `{printable(output)}`")


def column(values: Any, name: str, output: Output, predictions: object) -> Any:
    """One value per row: an array or list as it is, a Series, or a data frame of one column."""
    if output == "numpy":
        return values
    if output != "series":
        return frame({name: values}, output, index_of(predictions))
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(predictions, polars.DataFrame):
        return _polars_series(name, values)
    kind = None if isinstance(values, np.ndarray) else object
    return _library("pandas").Series(values, index_of(predictions), kind, name)


def table(values: NDArray[Any], classes: NDArray[Any], output: Output, predictions: object) -> Any:
    """One value per row and class: an array, or a data frame with a column per class."""
    if output == "numpy":
        return values
    if output == "polars":
        return _library("polars").DataFrame(values, [str(label) for label in classes])
    return _library("pandas").DataFrame(values, index_of(predictions), classes.tolist())


def frame(columns: Mapping[str, Any], output: FrameOutput = "pandas", index: Any = None) -> Any:
    """A data frame."""
    if output == "polars":
        series = [_polars_series(name, values) for name, values in columns.items()]
        return _library("polars").DataFrame(series)
    return _library("pandas").DataFrame(columns, index)


def _polars_series(name: str, values: Any) -> Any:
    """A Series, in which labels of several types are texts, as in a column of Spark: it has one type."""
    polars = _library("polars")
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return polars.Series(name, values)
    cells = list(values)
    if any(isinstance(cell, dict) for cell in cells):
        return polars.Series(name, cells, dtype=polars.Object)
    if len({type(label) for label in _labels(cells)}) > 1:
        cells = [_as_text(cell) for cell in cells]
    return polars.Series(name, cells)


def _labels(cells: list[Any]) -> list[Any]:
    """The labels of cells that are labels or lists of labels, without None."""
    flat = [label for cell in cells for label in (cell if isinstance(cell, list) else [cell])]
    return [label for label in flat if label is not None]


def _as_text(cell: Any) -> Any:
    if isinstance(cell, list):
        return [_as_text(label) for label in cell]
    return None if cell is None else str(cell)


def _library(name: FrameOutput) -> Any:
    """A library of data frames, imported when it is needed."""
    try:
        if name == "polars":
            import polars

            return polars
        import pandas
    except ImportError:
        raise ImportError(f"data frames of {name} need {name}: pip install 'spocc[{name}]'") from None
    return pandas
