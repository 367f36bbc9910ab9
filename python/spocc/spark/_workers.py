"""The functions that Spark's workers run: counting, merging and deciding partitions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from spocc import _native, _open
from spocc._evidence import Evidence
from spocc._model import Model
from spocc._native import SpoccError
from spocc._settings import Level, Normalise

# Rows counted at a time: far more than a batch of Spark has, so that few tables are merged.
_BLOCK_ROWS = 1 << 20


@dataclass(frozen=True)
class Counter:
    """Counts tables whose columns are the classifiers, then the columns of the roles in ``extra``."""

    names: tuple[str, ...]
    extra: tuple[str, ...]
    classes: object
    level: Level
    unlabelled: bool
    open: bool
    normalise: Normalise
    memory: int | None

    def with_counts(self) -> Counter:
        """The same counter for tables of grouped rows."""
        return replace(self, extra=(*self.extra, "count"))

    def empty(self) -> Evidence:
        """The evidence of no rows."""
        width = len(self.names) + len(self.extra)
        return self._evidence(pyarrow.table([pyarrow.nulls(0)] * width, [str(k) for k in range(width)]))

    def count(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row with the evidence of a partition, or with an error; no row for an empty partition."""
        _one_task_one_core()
        # The row number within a partition means nothing to the caller.
        return self._summed(map(self._evidence, _tables(batches)), "in a partition, ")

    def merge(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row with the sum of the evidence of such rows."""
        _one_task_one_core()
        rows = (row for batch in batches for row in batch.to_pylist())
        return self._summed(self._read(row["evidence"], row["error"]) for row in rows)

    def add(self, total: Evidence, data: bytes, error: str | None) -> Evidence:
        """The sum of ``total`` and the evidence of one such row."""
        return self._plus(total, self._read(data, error))

    def _read(self, data: bytes, error: str | None) -> Evidence:
        if error is not None:
            raise SpoccError(error)
        return Evidence.from_bytes(bytes(data))

    def _plus(self, a: Evidence, b: Evidence) -> Evidence:
        return Evidence._of(a._engine.merge(b._engine, memory=self.memory))

    def _evidence(self, table: Any) -> Evidence:
        columns = dict(zip(self.extra, table.columns[len(self.names) :], strict=True))
        weights, counts = (
            columns[role].to_numpy() if role in columns else None for role in ("weight", "count")
        )
        predictions = table.select(range(len(self.names))).rename_columns(list(self.names))
        return Evidence(
            predictions,
            columns.get("label"),
            classes=self.classes,
            weights=weights,
            counts=counts,
            level=self.level,
            unlabelled=self.unlabelled,
            open=self.open,
            normalise=self.normalise,
            memory=self.memory,
        )

    def _summed(self, parts: Iterator[Evidence], where: str = "") -> Iterator[Any]:
        # An error is sent to the driver as data and raised there; Spark would retry a failed task.
        total = message = None
        try:
            for part in parts:
                total = part if total is None else self._plus(total, part)
        except SpoccError as error:
            message = f"{where}{error}"
        if message is not None:
            yield _row(None, message)
        elif total is not None:
            yield _row(total.to_bytes(), None)


def _row(data: bytes | None, error: str | None) -> Any:
    arrays = [pyarrow.array([data], pyarrow.binary()), pyarrow.array([error], pyarrow.string())]
    return pyarrow.record_batch(arrays, ["evidence", "error"])


@dataclass(frozen=True)
class SetSettings:
    """The settings of conformal sets; the ids of the rows are in the column at ``id_index``."""

    coverage: float
    seed: int
    id_index: int


@dataclass(frozen=True)
class Decider:
    """Decides tables in which the classifiers of the model (its bytes) are the columns at ``indices``."""

    model: bytes
    indices: tuple[int, ...]
    wanted: tuple[str, ...] | SetSettings

    def decide(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Every batch with the columns of its decisions appended."""
        _one_task_one_core()
        model = _loaded(self.model)
        for batch in batches:
            try:
                arrays = [*batch.columns, *self._new_columns(model, batch)]
            except SpoccError as error:
                # The row number means nothing to the caller, and Spark prints the cause of an error too.
                raise SpoccError(f"in a partition, {error}") from None
            yield pyarrow.record_batch(arrays, [str(k) for k in range(len(arrays))])

    def _new_columns(self, model: Model, batch: Any) -> list[Any]:
        table = pyarrow.Table.from_batches([batch]).select(self.indices).rename_columns(model.classifiers)
        if model._of_answers is not None:
            return self._answer_columns(model, model._of_answers, table, batch)
        classes = _column(model)
        if isinstance(self.wanted, SetSettings):
            members = self._sets(model, table, batch, self.wanted)
            return [_lists(members.sum(axis=1), classes.take(pyarrow.array(members.nonzero()[1])))]
        columns = dict(_decision_columns(model, table, set(self.wanted)))
        return [classes.take(pyarrow.array(columns["id"])), *(columns[name] for name in self.wanted)]

    def _answer_columns(self, model: Model, native: _native.OpenModel, table: Any, batch: Any) -> list[Any]:
        if isinstance(self.wanted, SetSettings):
            sets = self._sets(model, table, batch, self.wanted)
            texts = [[_open.text(answer) for answer in members] for members in sets]
            return [pyarrow.array(texts, pyarrow.list_(pyarrow.string()))]
        answers, further = native.decide(table, False)
        columns = dict(_further_columns(further))
        degrees = {"possibility": native.possibility, "probability": native.probability}
        for name in degrees.keys() & self.wanted:
            rows = degrees[name](table, False)
            pairs = [[{"answer": _open.text(answer), name: degree} for answer, degree in row] for row in rows]
            kind = pyarrow.struct([("answer", pyarrow.string()), (name, pyarrow.float64())])
            columns[name] = pyarrow.array(pairs, pyarrow.list_(kind))
        decided = pyarrow.array([_open.text(answer) for answer in answers], pyarrow.string())
        return [decided, *(columns[name] for name in self.wanted)]

    def _sets(self, model: Model, table: Any, batch: Any, settings: SetSettings) -> Any:
        ids = batch.column(settings.id_index)
        return model.predict_set(table, settings.coverage, seed=settings.seed, ids=ids)


def _decision_columns(model: Model, table: Any, wanted: set[str]) -> Iterator[tuple[str, Any]]:
    if wanted.isdisjoint(("margin", "answered", "is_tie", "by_prior")):
        yield "id", model.predict_ids(table)
    else:
        ids, further = model._engine.decide(table, False)
        yield "id", ids
        yield from _further_columns(further)
    degrees: dict[str, Callable[[Any], Any]] = {
        "possibility": model.predict_possibility,
        "probability": model.predict_proba,
    }
    for name in degrees.keys() & wanted:
        values = degrees[name](table)
        yield name, _lists(np.full(len(values), values.shape[1]), pyarrow.array(values.reshape(-1)))


def _further_columns(further: Iterable[NDArray[Any]]) -> Iterator[tuple[str, Any]]:
    margin, answered, is_tie, by_prior = further
    yield "margin", pyarrow.array(margin)
    yield "answered", pyarrow.array(answered).cast(pyarrow.int32())
    yield "is_tie", pyarrow.array(is_tie)
    yield "by_prior", pyarrow.array(by_prior)


def _lists(lengths: NDArray[np.integer[Any]], values: Any) -> Any:
    """A column of lists with these lengths."""
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pyarrow.ListArray.from_arrays(pyarrow.array(starts), values)


def _column(model: Model) -> Any:
    """The classes as a column of their type, or of texts if they have several types."""
    classes = model.classes
    values = classes.tolist() if classes.dtype.kind in "ibf" else [str(label) for label in classes]
    return pyarrow.array(values)


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> Model:
    """The model of these bytes, parsed once per worker."""
    return Model.from_bytes(data)


def _tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Tables of successive batches with at least ``_BLOCK_ROWS`` rows each."""
    block: list[Any] = []
    n_rows = 0
    for batch in batches:
        block.append(batch)
        n_rows += batch.num_rows
        if n_rows >= _BLOCK_ROWS:
            yield pyarrow.Table.from_batches(block)
            block, n_rows = [], 0
    if block:
        yield pyarrow.Table.from_batches(block)


def _one_task_one_core() -> None:
    """Limits the engine to one thread: Spark runs one task per core."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")
