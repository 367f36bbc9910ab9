"""Converts tables and columns of any library to what the native module reads.

Only numpy arrays are copied, once: another thread may write to them while they are read.

Tables become a two-dimensional array, an object with the Arrow PyCapsule interface, or a list of
(name, column). Columns become an array of numbers or objects, an array of code points with one axis more for
texts, a pair of signed codes and categories, or an object with the Arrow PyCapsule interface.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from spocc._index import aligned, index_of, is_pandas
from spocc._native import SpoccError, printable

# Rows of a pandas frame up to which copying its cells costs less than a Series per column.
_FEW_ROWS = 256

__all__ = [
    "column",
    "exported",
    "is_missing",
    "is_pandas",
    "labels",
    "named",
    "numbers",
    "strings",
    "table",
    "truth_by_item",
    "whole",
]


def table(predictions: object, selected: Iterable[str] | None = None) -> object:
    """A table as the native module takes it; of named columns only the selected ones are converted."""
    if isinstance(predictions, np.ndarray):
        if predictions.ndim != 2:
            raise SpoccError(f"predictions: expected a table of 2 axes, found {predictions.ndim}")
        return _array(predictions)
    if is_pandas(predictions, "DataFrame"):
        return named(_frame_columns(predictions), selected)
    if isinstance(predictions, Mapping):
        columns = ((str(name), values) for name, values in predictions.items())
        return named(columns, selected, index_of(predictions))
    if hasattr(predictions, "__arrow_c_stream__") and not is_pandas(predictions, "Series"):
        return exported(predictions)
    if isinstance(predictions, Sequence) and not isinstance(predictions, str | bytes):
        return _rows(predictions)
    # A data frame without readable column names must not be read by position.
    if hasattr(predictions, "__array__") and not hasattr(predictions, "columns"):
        array = np.asarray(predictions)
        if array.ndim == 2:
            return _array(array)
    raise TypeError(f"predictions: expected a table, found {type(predictions).__name__}")


def _frame_columns(frame: Any) -> Iterable[tuple[str, object]]:
    """Names and columns of a pandas frame, without a Series per column where few rows have one type."""
    if len(frame) <= _FEW_ROWS and len(kinds := set(frame.dtypes)) == 1:
        kind = kinds.pop()
        if isinstance(kind, np.dtype):
            return zip(map(str, frame.columns), frame.to_numpy().T, strict=True)
        # Of nullable numbers and texts, one row is unwrapped faster than all columns.
        is_nullable = hasattr(kind, "numpy_dtype") or hasattr(kind, "storage")
        if len(frame) == 1 and is_nullable and not hasattr(kind, "pyarrow_dtype"):
            cells = np.asarray(frame.iloc[0].array, dtype=object)
            return zip(map(str, frame.columns), cells[:, np.newaxis], strict=True)
    return ((str(name), values) for name, values in frame.items())


class _LabelTypeError(TypeError):
    """Values of a type that cannot be labels."""


def column(what: str, values: object) -> object:
    """A column as the native module takes it."""
    try:
        return _column(values)
    except SpoccError as error:
        raise SpoccError(f"{printable(what)}: {error}") from None
    except _LabelTypeError as error:
        raise TypeError(f"{printable(what)}: {error}") from None


def truth_by_item(truth: object) -> tuple[object, object]:
    """Items and their true labels, from a mapping or from a pandas series by its index."""
    if truth is None:
        truth = {}
    if is_pandas(truth, "Series"):
        series: Any = truth
        if series.index.has_duplicates:
            repeated = series.index[series.index.duplicated()][0]
            raise SpoccError(
                f"truth: expected one label per item, found two for `{printable(str(repeated))}`"
            )
        return column("truth", series.index), column("truth", series)
    if not isinstance(truth, Mapping):
        found = type(truth).__name__
        raise TypeError(f"truth: expected labels by item (a dict or a pandas Series), found {found}")
    return column("truth", list(truth.keys())), column("truth", list(truth.values()))


def _column(values: object) -> object:
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise SpoccError(f"expected 1 axis, found {values.ndim}")
        return _array(values)
    if is_pandas(values, "Series") or is_pandas(values, "Index") or is_pandas(values, "Categorical"):
        return _pandas_column(values)
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return exported(values)
    if not _is_sequence(values):
        raise _LabelTypeError(f"expected a sequence of labels, found {type(values).__name__}")
    if hasattr(values, "__array__"):
        return _column(np.asarray(values))
    cells = list(values)
    return np.fromiter(cells, dtype=object, count=len(cells))


def labels(values: list[Any]) -> NDArray[Any]:
    """Labels as an array of their type, or of objects if they have several types."""
    kinds = {type(value) for value in values}
    # A numpy array of texts drops trailing null characters.
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
    """Names as a list; None if none are given."""
    if names is None:
        return None
    if isinstance(names, str):
        raise TypeError(f"{what}: expected a sequence of names, found the text `{printable(names)}`")
    return [str(name) for name in names]


def numbers(what: str, values: object, kind: type[np.generic]) -> NDArray[Any] | None:
    """One number per row; None if none are given. Counts must be whole numbers from 0."""
    if values is None:
        return None
    try:
        # A masked number is refused as NaN.
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        # So is a missing one of an Arrow column.
        if hasattr(values, "to_pylist") and getattr(values, "null_count", 0) > 0:
            values = values.to_pylist()
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: expected numbers, found {type(values).__name__}") from None
    if array.dtype.kind not in "iufb":
        raise TypeError(f"{what}: expected numbers, found {array.dtype}")
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
        raise TypeError(f"{what}: expected a whole number, found {value!r}") from None
    if not 0 <= number < 2**64:
        raise SpoccError(f"{what}: expected a whole number from 0 and below 2^64, found {value!r}")
    return number


def named(
    columns: Iterable[tuple[str, object]], selected: Iterable[str] | None, index: Any = None
) -> list[tuple[str, object]]:
    """Columns with their names, aligned to the index; None in place of a column that is not selected."""
    wanted = None if selected is None else set(selected)
    named: list[tuple[str, object]] = []
    seen: set[str] = set()
    for name, values in columns:
        is_wanted = wanted is None or name in wanted
        if is_wanted and name in seen:
            raise SpoccError(f"classifiers: expected distinct names, found `{printable(name)}` twice")
        seen.add(name)
        what = f"`{name}`"
        named.append((name, column(what, aligned(what, values, index)) if is_wanted else None))
    return named


def _rows(rows: Sequence[object]) -> NDArray[Any]:
    """A list of rows as an array of objects: numpy alone would convert mixed rows to texts."""
    cells: list[list[Any]] = []
    for at, row in enumerate(rows):
        if not _is_sequence(row):
            raise TypeError(f"row {at}: expected a sequence of predictions, found {type(row).__name__}")
        cells.append(list(row))
        if len(cells[at]) != len(cells[0]):
            raise SpoccError(f"row {at}: expected {len(cells[0])} predictions, found {len(cells[at])}")
    width = len(cells[0]) if cells else 0
    flat = np.fromiter((cell for row in cells for cell in row), dtype=object, count=len(cells) * width)
    return flat.reshape(len(cells), width)


def _array(array: NDArray[Any]) -> object:
    """An array in a form that the native module reads."""
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
    raise _LabelTypeError(f"expected labels that are texts, whole numbers or booleans, found {array.dtype}")


def _pandas_column(values: Any) -> object:
    """A pandas column: a view of its memory, or its Arrow data if it has any."""
    kind = values.dtype
    if isinstance(kind, np.dtype):
        return _array(values.to_numpy())
    if kind.name == "category":
        # A Series or an Index holds a Categorical.
        categorical = getattr(values, "array", values)
        return np.asarray(categorical.codes), _column(categorical.categories)
    # Masked numbers, Arrow columns and texts go through Arrow; any other extension type as an array.
    if not hasattr(kind, "numpy_dtype") and not hasattr(kind, "storage"):
        return _array(np.asarray(values))
    try:
        import pyarrow
    except ImportError:
        return values.to_numpy(dtype=object)
    try:
        array = pyarrow.array(values, from_pandas=True)
    except pyarrow.ArrowException:
        # For example a sparse column.
        return _array(np.asarray(values))
    return array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array


def exported(values: Any) -> object:
    """An object with the Arrow interface; polars exports all-null columns in a form that readers refuse."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(values, polars.Series) and values.dtype == polars.Null:
        return values.cast(polars.Boolean)
    if polars is not None and isinstance(values, polars.DataFrame) and polars.Null in values.dtypes:
        return values.cast({polars.Null: polars.Boolean})
    return values


def _is_sequence(values: object) -> TypeGuard[Iterable[Any]]:
    """Whether this is an ordered sequence of labels: a set has no order, a dict iterates over its keys."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes | set | frozenset | Mapping)


def is_missing(label: Any) -> bool:
    """Whether this is None, NaN, or a missing value of pandas."""
    if label is None:
        return True
    differs = label != label
    # The comparison of the missing value of pandas gives the missing value again.
    return differs is not False and (type(differs).__name__ == "NAType" or bool(differs))
