"""Checks X and y as scikit-learn does and converts them for the engine, without copies where possible."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from spocc._input import is_missing, is_pandas

__all__ = [
    "Predictions",
    "booleans_as_numbers",
    "check_predictions",
    "check_truth",
    "distinct",
    "have_numbers",
    "with_types_of",
]

Predictions = NDArray[Any] | Mapping[str, Any]

# Cells checked at a time; their copies fit into the cache of a core.
BLOCK = 1 << 15
# Integers within a range up to this size are counted, which is faster than sorting.
RANGE = 1 << 16

_BOOLEAN = (bool, np.bool_)
_NUMBER = (int, float, np.number, *_BOOLEAN)


def check_predictions(estimator: Any, X: Any, *, reset: bool) -> Predictions:
    """The predictions as an array, or as columns by the names of the classifiers."""
    columns = _columns(X)
    if columns is None:
        if isinstance(X, np.ma.MaskedArray):
            # scikit-learn ignores the mask.
            X, masked = np.asarray(X).astype(object), np.ma.getmaskarray(X)
            X[masked] = None
        if isinstance(X, list | tuple) and np.asarray(X).dtype.kind == "U":
            # numpy would convert a missing value among texts to the text `nan`.
            X = np.array(X, dtype=object)
        X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return _by_value(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required"
                f" by {type(estimator).__name__}."
            )
    names = getattr(estimator, "feature_names_in_", [f"x{k}" for k in range(len(columns))])
    if len(set(names)) < len(columns):
        raise ValueError(f"The feature names should be unique, but {sorted(names)[:8]} are not.")
    cells = (_by_value(column) if isinstance(column, np.ndarray) else column for column in columns)
    return dict(zip(names, cells, strict=True))


def check_truth(
    estimator: Any, y: Any, n_rows: int, *, allow_missing: bool = False
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One label per row, and which of them are known: all, unless missing labels are allowed."""
    if y is None:
        name = type(estimator).__name__
        raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, list | tuple) and np.asarray(y).dtype.kind == "U":
        y = np.array(y, dtype=object) if any(not isinstance(label, str) for label in y) else np.asarray(y)
    if (is_pandas(y, "Series") or is_pandas(y, "Categorical")) and not isinstance(y.dtype, np.dtype):
        y = _of_pandas(y)
    elif _has_nulls(y):
        cells = y.to_pylist() if hasattr(y, "to_pylist") else y.to_list()
        y = np.fromiter(cells, dtype=object, count=len(cells))
    y = column_or_1d(y, warn=True)
    if n_rows == 0:
        name = type(estimator).__name__
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required by {name}."
        )
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    known = np.ones(n_rows, dtype=np.bool_)
    if y.dtype.kind == "f":
        assert_all_finite(y, allow_nan=allow_missing, input_name="y", estimator_name=type(estimator).__name__)
        known = ~np.isnan(y)
    elif y.dtype.kind == "O":
        known = np.fromiter((not is_missing(label) for label in y), dtype=np.bool_, count=n_rows)
        if not allow_missing and not known.all():
            raise ValueError("Input y contains NaN.")
        if known.all() and all(isinstance(label, _NUMBER) for label in y):
            y = np.array(y.tolist())
    if not known.any():
        raise ValueError("Input y contains no label: at least one must be known.")
    return y, known


def _has_nulls(y: Any) -> bool:
    """Whether this is a polars or Arrow column with nulls."""
    count = getattr(y, "null_count", 0)
    return bool(count() if callable(count) else count)


def _of_pandas(y: Any) -> NDArray[Any]:
    """Labels as objects: numpy would convert integers and booleans with missing values to floats."""
    if y.dtype.name != "category":
        return np.asarray(y, dtype=object)
    categories = y.cat if hasattr(y, "cat") else y
    # The code of a missing value is -1, which selects the last entry.
    labels: NDArray[Any] = np.array([*categories.categories, None], dtype=object)
    cells: NDArray[Any] = labels[np.asarray(categories.codes)]
    return cells


def distinct(y: NDArray[Any]) -> NDArray[Any]:
    """The sorted distinct labels of y, as by `numpy.unique`, with the errors of scikit-learn."""
    kind = y.dtype.kind
    if kind == "b":
        return distinct(y.view(np.uint8)).astype(np.bool_)
    if kind in "iu":
        low, high = int(y.min()), int(y.max())
        if high - low >= RANGE or high > np.iinfo(np.intp).max:
            return np.unique(y)
        cells, first = y.astype(np.intp, copy=False), min(low, 0) if high < RANGE else low
        counts = np.bincount(cells - first if first else cells)
        return (np.flatnonzero(counts) + first).astype(y.dtype)
    if kind in "UO":
        labels = set(y.tolist())
        if all(isinstance(label, str) for label in labels):
            return np.array(sorted(labels), dtype=y.dtype)
        if kind == "O" and all(isinstance(label, int | np.integer) for label in labels):
            return np.array(sorted(labels))
        if any(isinstance(label, str) for label in labels):
            raise ValueError(f"Mix of label input types (string and number): {sorted(map(str, labels))[:8]}")
    check_classification_targets(y)
    return np.unique(y)


def booleans_as_numbers(labels: Any, is_wanted: bool) -> Any:
    """Booleans as 0 and 1 if there are numbers among the labels, so that True and 1 are one label."""
    if not is_wanted:
        return labels
    if isinstance(labels, Mapping):
        return {name: booleans_as_numbers(column, is_wanted) for name, column in labels.items()}
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "O":
        cells = [int(cell) if isinstance(cell, _BOOLEAN) else cell for cell in labels.flat]
        return np.fromiter(cells, dtype=object, count=labels.size).reshape(labels.shape)
    if not _kind(labels).startswith("bool"):
        return labels
    if isinstance(labels, np.ndarray):
        return labels.view(np.int8)
    # A column of pandas, Arrow or polars.
    if hasattr(labels, "astype"):
        return labels.astype("Int8")
    return labels.cast("int8" if hasattr(labels, "type") else int)


def with_types_of(classes: NDArray[Any], labels: Predictions) -> Any:
    """Labels in which True and 1 have the type that they have among the classes."""
    if classes.dtype.kind == "b":
        return _numbers_as_booleans(labels)
    return booleans_as_numbers(labels, have_numbers(classes))


def _numbers_as_booleans(labels: Any) -> Any:
    """0 and 1 as booleans, for a model whose classes are booleans."""
    if isinstance(labels, Mapping):
        return {name: _numbers_as_booleans(column) for name, column in labels.items()}
    if not have_numbers(labels):
        return labels
    cells = np.asarray(labels, dtype=object)
    booleans: dict[Any, bool] = {0: False, 1: True}
    converted = [booleans.get(cell, cell) if isinstance(cell, _NUMBER) else cell for cell in cells.flat]
    return np.fromiter(converted, dtype=object, count=cells.size).reshape(cells.shape)


def have_numbers(*tables: Predictions) -> bool:
    """Whether there is a number among these labels."""
    columns = (column for table in tables for column in _parts(table))
    return any(
        _object_has_number(column)
        if isinstance(column, np.ndarray) and column.dtype.kind == "O"
        else _kind(column).startswith(("int", "uint", "float", "double"))
        for column in columns
    )


def _parts(table: Predictions) -> Iterable[Any]:
    return table.values() if isinstance(table, Mapping) else [table]


def _object_has_number(cells: NDArray[Any]) -> bool:
    kinds = set(map(type, cells.ravel(order="K").tolist())).difference(_BOOLEAN)
    numbers = {kind for kind in kinds if issubclass(kind, _NUMBER)}
    # A missing value of pandas is a float, but no number.
    floats = {kind for kind in numbers if issubclass(kind, float | np.floating)}
    return bool(numbers - floats) or any(type(cell) in floats and cell == cell for cell in cells.flat)


def _kind(column: Any) -> str:
    return str(column.dtype if hasattr(column, "dtype") else column.type).lower()


def _columns(X: Any) -> list[Any] | None:
    """The columns of a data frame or of an Arrow table; None for an array."""
    if is_pandas(X, "DataFrame"):
        columns = [X.iloc[:, k] for k in range(X.shape[1])]
        columns = [column.astype(np.float64) if _kind(column) == "float64" else column for column in columns]
        return [column.to_numpy() if isinstance(column.dtype, np.dtype) else column for column in columns]
    for module, name, method in (("polars", "DataFrame", "get_columns"), ("pyarrow", "Table", "itercolumns")):
        owner = sys.modules.get(module)
        if owner is not None and isinstance(X, getattr(owner, name)):
            columns = list(getattr(X, method)())
            is_float = [_kind(column).startswith(("float", "double")) for column in columns]
            return [
                column.to_numpy() if is_it else column
                for column, is_it in zip(columns, is_float, strict=True)
            ]
    return None


def _by_value(cells: NDArray[Any]) -> NDArray[Any]:
    """Numbers with fractions as texts, each a label: X may contain features besides predictions."""
    kind = cells.dtype.kind
    if kind == "f" and _has_fraction(cells):
        values, places = np.unique(cells, return_inverse=True)
        texts = np.array([_label(value) for value in values.tolist()], dtype=object)
        return texts[places].reshape(cells.shape)
    if kind == "O" and any(isinstance(cell, float | np.floating) for cell in cells.flat):
        texts = np.empty(cells.size, dtype=object)
        texts[:] = [_label(cell) for cell in cells.flat]
        return texts.reshape(cells.shape)
    return cells


def _has_fraction(cells: NDArray[Any]) -> bool:
    flat = cells.ravel(order="K")
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK]
        if ((np.rint(block) != block) & (block == block)).any():
            return True
    return False


def _label(cell: Any) -> Any:
    if isinstance(cell, float | np.floating) and np.isfinite(cell) and not float(cell).is_integer():
        return repr(float(cell))
    return cell
