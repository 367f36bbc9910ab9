"""Tables of which some columns are no classifiers: the truth, weights, counts and ids of the rows.

In: a table, and what belongs to its rows: the name of a column (a text), or values. Out: the columns that are
classifiers and the values in the order of the rows, or the evidence of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _input, _native
from spocc._index import aligned, index_of, is_pandas
from spocc._native import SpoccError, printable
from spocc._progress import Progress
from spocc._settings import Level, Normalise

__all__ = ["Names", "Rows"]

# The name of a column, or several names.
Names = str | Iterable[object]

# Number of columns that an error names.
_SHOWN = 12


class Rows:
    """The rows of a table."""

    def __init__(
        self,
        predictions: object,
        names: Iterable[object] | None = None,
        ignore: Names | None = None,
        id: Names | None = None,
    ) -> None:
        self._predictions = predictions
        self._index = index_of(predictions)
        self._columns: list[tuple[str, Any]] | None = None
        # The use of each column that is no classifier.
        self._uses: dict[str, str] = {}
        self._names = _input.strings("names", names)
        self._ignored = _some_names("ignore", ignore)
        for name in self._ignored:
            self._column("ignore", name)
        self.ids = [self._used("id", name) for name in _some_names("id", id)]

    def of(self, use: str, values: object) -> Any:
        """A value per row: the column of this name, or the values, aligned if the rows have an index."""
        return self._used(use, values) if isinstance(values, str) else aligned(use, values, self._index)

    def classifiers(self) -> tuple[object, list[str] | None]:
        """The table as the native module takes it, and the names of the columns that are classifiers."""
        if self._columns is None:
            return _input.table(self._predictions, self._names), self._names
        names = self._names
        if names is None:
            names = [name for name, _ in self._columns if name not in self._uses]
        for name in names:
            if name in self._uses:
                raise _used_twice(name, "names", self._uses[name])
        names = [name for name in names if name not in self._ignored]
        if not names:
            found = _listed(name for name, _ in self._columns)
            raise SpoccError(f"predictions: expected at least one column of a classifier, found only {found}")
        return _input.named(self._columns, names, self._index), names

    def count(
        self,
        truth: object = None,
        *,
        classes: object = None,
        weights: object = None,
        counts: object = None,
        level: Level = "tally",
        unlabelled: bool = True,
        open: bool = False,
        normalise: Normalise = "none",
        memory: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[_native.Evidence, str | None]:
        """The evidence of the rows, and a warning about repeated ids."""
        labels = None if truth is None else _input.column("truth", self.of("truth", truth))
        per_row = [
            _input.numbers("weights", self.of("weights", weights), np.float64),
            _input.numbers("counts", self.of("counts", counts), np.uint64),
        ]
        cells, names = self.classifiers()
        evidence = _native.Evidence.count(
            cells,
            names,
            labels,
            classes=None if classes is None else _input.column("classes", classes),
            weights=per_row[0],
            counts=per_row[1],
            level=level,
            unlabelled=unlabelled,
            open=open,
            normalise=normalise,
            memory=None if memory is None else _input.whole("memory", memory),
            progress=progress,
        )
        return evidence, self._repeated_ids(None if unlabelled else labels)

    def _repeated_ids(self, truth: object) -> str | None:
        """A warning about rows that repeat the id of another row; with a truth, about labelled rows only."""
        if not self.ids:
            return None
        try:
            columns = [_input.column("ids", values) for values in self.ids]
            return _native.repeated_ids(columns, truth)
        except (SpoccError, TypeError):
            # Dates and other values that are no labels.
            return _native.repeated_ids([_texts(values) for values in self.ids], truth)

    def _used(self, use: str, name: str) -> Any:
        """The column of this name, which is then no classifier."""
        values = self._column(use, name)
        if name in self._uses:
            raise _used_twice(name, use, self._uses[name])
        self._uses[name] = use
        return aligned(use, values, self._index)

    def _column(self, use: str, name: str) -> Any:
        if self._columns is None:
            self._columns = _columns(use, name, self._predictions)
        found = [values for known, values in self._columns if known == name]
        if not found:
            known = _listed(name for name, _ in self._columns)
            raise SpoccError(f"{use}: expected one of the columns {known}, found `{printable(name)}`")
        if len(found) > 1:
            raise SpoccError(f"{use}: expected one column `{printable(name)}`, found {len(found)}")
        return found[0]


def _some_names(use: str, names: object) -> list[str]:
    """The name of a column, or several names; none if there are none."""
    if names is None:
        return []
    if isinstance(names, str):
        return [names]
    # The values of a column are no names.
    if (
        not isinstance(names, Iterable)
        or isinstance(names, bytes | Mapping)
        or type(names).__name__ == "Series"
    ):
        found = type(names).__name__
        raise TypeError(f"{use}: expected the name of a column, or several names, found {found}")
    return [str(name) for name in names]


def _columns(use: str, name: str, predictions: Any) -> list[tuple[str, Any]]:
    """The columns of a table with names, of which one has such a use."""
    if is_pandas(predictions, "DataFrame") or isinstance(predictions, Mapping):
        return [(str(known), values) for known, values in predictions.items()]
    if hasattr(predictions, "__arrow_c_stream__") and not is_pandas(predictions, "Series"):
        return list(_native.columns(_input.exported(predictions)))
    found = type(predictions).__name__
    raise TypeError(
        f"{use}: expected predictions with a column `{printable(name)}`, found {found} without names"
    )


def _used_twice(name: str, *uses: str) -> SpoccError:
    found = " and ".join(uses)
    return SpoccError(f"column `{printable(name)}`: expected one use of it, found two ({found})")


def _listed(names: Iterable[str]) -> str:
    return printable(", ".join(list(names)[:_SHOWN]))


def _texts(values: Any) -> NDArray[np.object_]:
    """Values of any type as texts."""
    cells = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    texts = [None if _input.is_missing(cell) else str(cell) for cell in cells]
    return np.fromiter(texts, dtype=np.object_, count=len(texts))
