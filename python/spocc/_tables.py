"""What users hold becomes what the native module reads: views, never copies, wherever that is possible.

Tables become a two-dimensional array, an object that speaks Arrow, or a list of (name, column). Columns
become an array of numbers or objects, an array of code points with one axis more for texts, a pair of signed
codes and categories, or an object that speaks Arrow.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from spocc._native import SpoccError

__all__ = ["column", "gold", "is_pandas", "labels", "numbers", "strings", "table", "whole"]


def table(answers: object, wanted: Iterable[str] | None = None) -> object:
    """A table as the native module takes it; of named columns only those wanted are looked at."""
    if isinstance(answers, np.ndarray):
        if answers.ndim != 2:
            raise SpoccError(f"answers: expected a table of 2 axes, found {answers.ndim}")
        return _array(answers)
    if is_pandas(answers, "DataFrame"):
        frame: Any = answers
        return _named(((str(name), frame.iloc[:, k]) for k, name in enumerate(frame.columns)), wanted)
    if isinstance(answers, Mapping):
        return _named(((str(name), values) for name, values in answers.items()), wanted)
    if hasattr(answers, "__arrow_c_stream__") and not is_pandas(answers, "Series"):
        return _exported(answers)
    if isinstance(answers, Sequence) and not isinstance(answers, str | bytes):
        return _rows(answers)
    # A frame whose names cannot be read must not be taken by position.
    if hasattr(answers, "__array__") and not hasattr(answers, "columns"):
        array = np.asarray(answers)
        if array.ndim == 2:
            return _array(array)
    raise SpoccError(f"answers: expected a table, found {type(answers).__name__}")


def column(what: str, values: object) -> object:
    """A column as the native module takes it."""
    try:
        return _column(values)
    except SpoccError as error:
        raise SpoccError(f"{what}: {error}") from None


def gold(truth: object) -> tuple[object, object]:
    """Items and their truths: of a mapping, or of a series of pandas by its index."""
    if truth is None:
        truth = {}
    if is_pandas(truth, "Series"):
        series: Any = truth
        if series.index.has_duplicates:
            twice = series.index[series.index.duplicated()][0]
            raise SpoccError(f"truth: expected one label per item, found two for `{twice}`")
        return column("truth", series.index), column("truth", series)
    if not isinstance(truth, Mapping):
        found = type(truth).__name__
        raise SpoccError(f"truth: expected labels by item (a dict or a Series of pandas), found {found}")
    return column("truth", list(truth.keys())), column("truth", list(truth.values()))


def _column(values: object) -> object:
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise SpoccError(f"expected 1 axis, found {values.ndim}")
        return _array(values)
    if is_pandas(values, "Series") or is_pandas(values, "Index") or is_pandas(values, "Categorical"):
        return _pandas_column(values)
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return _exported(values)
    if not _is_sequence(values):
        raise SpoccError(f"expected a sequence of labels, found {type(values).__name__}")
    if hasattr(values, "__array__"):
        return _column(np.asarray(values))
    cells = list(values)
    return np.fromiter(cells, dtype=object, count=len(cells))


def labels(values: list[Any]) -> NDArray[Any]:
    """Labels as an array of their own kind, or of objects where they are of several."""
    kinds = {type(value) for value in values}
    # An array of texts would lose zeros at their ends.
    if kinds == {str} and not any(value.endswith("\0") for value in values):
        return np.array(values, dtype=np.str_)
    if kinds == {int}:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    if kinds == {bool} or kinds == {float}:
        return np.array(values)
    return np.fromiter(values, dtype=object, count=len(values))


def strings(what: str, names: Iterable[object] | None) -> list[str] | None:
    """Names as a list, if there are any."""
    if names is None:
        return None
    if isinstance(names, str):
        raise SpoccError(f"{what}: expected a sequence of names, found the text `{names}`")
    return [str(name) for name in names]


def numbers(what: str, values: object, kind: type[np.generic]) -> NDArray[Any] | None:
    """One number per row, if there are any; counts must be whole and not below 0."""
    if values is None:
        return None
    try:
        # What is masked is not a number either.
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise SpoccError(f"{what}: expected numbers, found {type(values).__name__}") from None
    if array.dtype.kind not in "iufb":
        raise SpoccError(f"{what}: expected numbers, found {array.dtype}")
    if array.ndim != 1:
        raise SpoccError(f"{what}: expected 1 axis, found {array.ndim}")
    if issubclass(kind, np.integer):
        wrong = array < 0
        if array.dtype.kind == "f":
            wrong |= (np.floor(array) != array) | (array >= 2.0**64)
        if wrong.any():
            row = int(wrong.argmax())
            raise SpoccError(
                f"{what}, row {row}: expected a whole number from 0 and below 2^64, found {array[row]}"
            )
    return np.ascontiguousarray(array, dtype=kind)


def whole(what: str, value: object) -> int:
    """A whole number that the native module can hold."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise SpoccError(f"{what}: expected a whole number from 0 and below 2^64, found {value!r}")
    return number


def _named(columns: Iterable[tuple[str, object]], wanted: Iterable[str] | None) -> list[tuple[str, object]]:
    """Columns with their names; nothing in place of one that is not wanted."""
    asked = None if wanted is None else set(wanted)
    named: list[tuple[str, object]] = []
    met: set[str] = set()
    for name, values in columns:
        is_asked = asked is None or name in asked
        if is_asked and name in met:
            raise SpoccError(f"classifiers: expected distinct names, found `{name}` twice")
        met.add(name)
        named.append((name, column(f"`{name}`", values) if is_asked else None))
    return named


def _rows(rows: Sequence[object]) -> NDArray[Any]:
    """A list of rows, cell by cell, so that numpy does not turn numbers into texts."""
    cells: list[list[Any]] = []
    for at, row in enumerate(rows):
        if not _is_sequence(row):
            raise SpoccError(f"row {at}: expected a sequence of answers, found {type(row).__name__}")
        cells.append(list(row))
        if len(cells[at]) != len(cells[0]):
            raise SpoccError(f"row {at}: expected {len(cells[0])} answers, found {len(cells[at])}")
    width = len(cells[0]) if cells else 0
    flat = np.fromiter((cell for row in cells for cell in row), dtype=object, count=len(cells) * width)
    return flat.reshape(len(cells), width)


def _array(array: NDArray[Any]) -> object:
    """An array in the forms that the native module knows."""
    if isinstance(array, np.ma.MaskedArray):
        cells = np.asarray(array).astype(object)
        cells[np.ma.getmaskarray(array)] = None
        return cells
    array = array.view(np.ndarray)
    kind = array.dtype.kind
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if kind in "iuf":
        if array.dtype.itemsize not in ((4, 8) if kind == "f" else (1, 2, 4, 8)):
            array = array.astype(np.float64)
        return array if array.flags.aligned else array.copy()
    if kind == "b":
        return array.view(np.int8), np.array([False, True], dtype=object)
    if kind == "U" and array.dtype.itemsize > 0:
        array = np.ascontiguousarray(array)
        return array.view(np.uint32).reshape(*array.shape, array.dtype.itemsize // 4)
    if kind in "UOT":
        return array.astype(object)
    raise SpoccError(f"expected labels that are texts, whole numbers or booleans, found {array.dtype}")


def _pandas_column(values: Any) -> object:
    """A column of pandas: its own memory, or its Arrow data where it has such."""
    kind = values.dtype
    if isinstance(kind, np.dtype):
        return _array(values.to_numpy())
    if kind.name == "category":
        categories = values.cat if hasattr(values, "cat") else values
        codes = np.asarray(categories.codes)
        return codes, _column(categories.categories)
    # Masked numbers, Arrow's own and texts; what is left are objects, or numbers that lie far apart.
    if not hasattr(kind, "numpy_dtype") and not hasattr(kind, "storage"):
        return _array(np.asarray(values))
    try:
        import pyarrow
    except ImportError:
        return values.to_numpy(dtype=object)
    try:
        array = pyarrow.array(values, from_pandas=True)
    except pyarrow.ArrowException:
        # Such as sparse columns.
        return _array(np.asarray(values))
    return array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array


def _exported(values: Any) -> object:
    """What speaks Arrow; polars exports columns of nothing but null in a form that readers refuse."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(values, polars.Series) and values.dtype == polars.Null:
        return values.cast(polars.Boolean)
    if polars is not None and isinstance(values, polars.DataFrame) and polars.Null in values.dtypes:
        return values.cast({polars.Null: polars.Boolean})
    return values


def _is_sequence(values: object) -> TypeGuard[Iterable[Any]]:
    """Whether these are labels one after the other: a set has no order, and a dict would give its keys."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | set | frozenset | Mapping)


def is_pandas(values: object, name: str) -> bool:
    """Whether this is something of pandas, which need not be there."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, getattr(pandas, name))
