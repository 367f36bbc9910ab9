"""What Spark's workers do: count a partition, merge counts, decide a partition."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pyarrow
from numpy.typing import NDArray

from spocc._evidence import Evidence
from spocc._model import Model
from spocc._native import SpoccError

# Rows counted at a time: many more than a batch of Spark has, so that few tables are merged.
_ROWS = 1 << 20


class _Broadcast(Protocol):
    """Bytes that Spark has brought to this worker."""

    @property
    def value(self) -> bytes: ...


@dataclass(frozen=True)
class Counter:
    """Counts tables whose columns are the classifiers, then what ``extra`` names, in that order."""

    names: tuple[str, ...]
    extra: tuple[str, ...]
    classes: object
    level: str
    unlabelled: bool
    memory: int | None

    def with_counts(self) -> Counter:
        """The same for tables of grouped rows."""
        return replace(self, extra=(*self.extra, "count"))

    def nothing(self) -> Evidence:
        """The evidence of no rows."""
        width = len(self.names) + len(self.extra)
        return self._evidence(pyarrow.table([pyarrow.nulls(0)] * width, [str(k) for k in range(width)]))

    def count(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row with the evidence of a partition, or with why it was refused; none if there are no rows."""
        _one_task_one_core()
        # Rows have no number that a user would know.
        return self._summed(map(self._evidence, _tables(batches)), "in a partition, ")

    def merge(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row with the sum of such rows."""
        _one_task_one_core()
        rows = (row for batch in batches for row in batch.to_pylist())
        return self._summed(self._read(row["evidence"], row["refused"]) for row in rows)

    def add(self, total: Evidence, data: bytes, refused: str | None) -> Evidence:
        """The sum with one more such row."""
        return self._plus(total, self._read(data, refused))

    def _read(self, data: bytes, refused: str | None) -> Evidence:
        if refused is not None:
            raise SpoccError(refused)
        return Evidence.from_bytes(bytes(data))

    def _plus(self, a: Evidence, b: Evidence) -> Evidence:
        return Evidence._of(a._engine.merge(b._engine, memory=self.memory))

    def _evidence(self, table: Any) -> Evidence:
        columns = dict(zip(self.extra, table.columns[len(self.names) :], strict=True))
        weights, counts = (
            columns[role].to_numpy() if role in columns else None for role in ("weight", "count")
        )
        answers = table.select(range(len(self.names))).rename_columns(list(self.names))
        return Evidence(
            answers,
            columns.get("label"),
            classes=self.classes,
            weights=weights,
            counts=counts,
            level=self.level,
            unlabelled=self.unlabelled,
            memory=self.memory,
        )

    def _summed(self, pieces: Iterator[Evidence], where: str = "") -> Iterator[Any]:
        # A refusal goes to the driver as data and is raised there; a failed task would be retried.
        total = refused = None
        try:
            for piece in pieces:
                total = piece if total is None else self._plus(total, piece)
        except SpoccError as error:
            refused = f"{where}{error}"
        if refused is not None:
            yield _row(None, refused)
        elif total is not None:
            yield _row(total.to_bytes(), None)


def _row(data: bytes | None, refused: str | None) -> Any:
    arrays = [pyarrow.array([data], pyarrow.binary()), pyarrow.array([refused], pyarrow.string())]
    return pyarrow.record_batch(arrays, ["evidence", "refused"])


@dataclass(frozen=True)
class Sets:
    """Sets of classes instead of decisions, in which lots are drawn by the column at ``place``."""

    coverage: float
    seed: int
    place: int


@dataclass(frozen=True)
class Decider:
    """Decides tables in which the model's classifiers are at ``places``."""

    model: _Broadcast
    places: tuple[int, ...]
    wanted: tuple[str, ...] | Sets

    def decide(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Every batch with its decisions beside it."""
        _one_task_one_core()
        model = _loaded(self.model.value)
        for batch in batches:
            try:
                arrays = [*batch.columns, *self._beside(model, batch)]
            except SpoccError as error:
                # Rows have no number that a user would know, and Spark shows whatever is behind an error.
                raise SpoccError(f"in a partition, {error}") from None
            yield pyarrow.record_batch(arrays, [str(k) for k in range(len(arrays))])

    def _beside(self, model: Model, batch: Any) -> list[Any]:
        table = pyarrow.Table.from_batches([batch]).select(self.places).rename_columns(model.classifiers)
        classes = _column(model)
        if isinstance(self.wanted, Sets):
            lots, ids = self.wanted, batch.column(self.wanted.place)
            members = model.predict_set(table, lots.coverage, seed=lots.seed, ids=ids)
            return [_lists(members.sum(axis=1), classes.take(pyarrow.array(members.nonzero()[1])))]
        found = dict(_found(model, table, set(self.wanted)))
        return [classes.take(pyarrow.array(found["id"])), *(found[name] for name in self.wanted)]


def _found(model: Model, table: Any, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    if wanted.isdisjoint(("margin", "answered", "is_tie", "by_prior")):
        yield "id", model.predict_ids(table)
    else:
        ids, margin, answered, is_tie, by_prior = model._engine.decide(table, False)
        yield "id", ids
        yield "margin", pyarrow.array(margin)
        yield "answered", pyarrow.array(answered).cast(pyarrow.int32())
        yield "is_tie", pyarrow.array(is_tie)
        yield "by_prior", pyarrow.array(by_prior)
    degrees: dict[str, Callable[[Any], Any]] = {
        "possibility": model.possibility,
        "probability": model.predict_proba,
    }
    for name in degrees.keys() & wanted:
        shares = degrees[name](table)
        yield name, _lists(np.full(len(shares), shares.shape[1]), pyarrow.array(shares.reshape(-1)))


def _lists(lengths: NDArray[np.integer[Any]], values: Any) -> Any:
    """The values in lists of these lengths, one per row."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(starts), values)


def _column(model: Model) -> Any:
    """The classes as a column of their own type, or of texts where they have several."""
    classes = model.classes
    values = classes.tolist() if classes.dtype.kind in "ibf" else [str(label) for label in classes]
    return pyarrow.array(values)


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> Model:
    """The model of these bytes, read once per worker."""
    return Model.from_bytes(data)


def _tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches together, at least ``_ROWS`` rows at a time."""
    held: list[Any] = []
    n_rows = 0
    for batch in batches:
        held.append(batch)
        n_rows += batch.num_rows
        if n_rows >= _ROWS:
            yield pyarrow.Table.from_batches(held)
            held, n_rows = [], 0
    if held:
        yield pyarrow.Table.from_batches(held)


def _one_task_one_core() -> None:
    """Spark runs a task per core; a task that took all cores would only disturb the others."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
