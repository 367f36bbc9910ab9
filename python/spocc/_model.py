"""Models: fitted, complete, immutable."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _native, _tables
from spocc._evidence import Evidence
from spocc._files import FilePath, write
from spocc._native import SpoccError
from spocc._reports import Audit, Decisions, Explanation, html, shown

__all__ = ["Model"]


class Model:
    """A fitted combiner, made by `spocc.fit` or read by `spocc.load`.

    Tables that have names (data frames, Arrow, dicts) are matched to the classifiers by name, whatever else
    they hold; arrays and lists by position. Labels that the model never met count as silence, unless
    ``strict`` is asked for.

    Examples
    --------
    >>> import spocc
    >>> said = {"ann": ["cat", "dog", "cat", "dog"], "bob": ["cat", "dog", "dog", "dog"]}
    >>> said["eve"] = ["dog", "cat", "dog", "cat"]
    >>> model = spocc.fit(said, ["cat", "dog", "cat", "dog"], method="adaspocc")
    >>> model
    Model(adaspocc, 3 classifiers, 2 classes: cat, dog; fitted to 4 rows)
    >>> model.predict([["dog", "cat", "cat"]])  # eve always lies
    array(['dog'], dtype='<U3')
    """

    _engine: _native.Model

    def __init__(self) -> None:
        raise TypeError("a Model is made by spocc.fit or spocc.load")

    @classmethod
    def _of(cls, native: _native.Model) -> Model:
        model = cls.__new__(cls)
        model._engine = native
        return model

    def _table(self, answers: object) -> object:
        return _tables.table(answers, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._engine.classifiers)

    @property
    def method(self) -> str:
        """The method it was fitted with."""
        return self._engine.method

    @property
    def classifiers(self) -> list[str]:
        """The classifiers it listens to."""
        return list(self._names)

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes it decides between, in the kind of the truth that it was fitted to."""
        classes = _tables.labels(self._engine.classes)
        classes.flags.writeable = False
        return classes

    @property
    def missing(self) -> str:
        """What an empty cell means to it: silent, symbol or auto."""
        return self._engine.missing

    @property
    def declines(self) -> list[bool]:
        """Whether the silence of each classifier is an answer."""
        return self._engine.declines

    @property
    def fitted(self) -> dict[str, Any]:
        """The parameters it was fitted with."""
        fitted: dict[str, Any] = json.loads(self._engine.fitted)
        return fitted

    @property
    def calibration(self) -> str | None:
        """What its sets promise, in words; None if it was not calibrated."""
        return self._engine.calibration

    @property
    def has_probabilities(self) -> bool:
        """Whether `predict_proba` has something to say."""
        return self._engine.has_probabilities

    @property
    def evidence(self) -> Evidence | None:
        """The evidence it was fitted to; None if it is slim."""
        native = self._engine.evidence
        return None if native is None else Evidence._of(native)

    def _labels(self, ids: NDArray[np.uint16]) -> NDArray[Any]:
        """Labels of classes by their places, which need not be looked up where they are the labels."""
        places = np.arange(len(self.classes))
        are_places = self.classes.dtype.kind in "iu" and np.array_equal(self.classes, places)
        return ids.astype(self.classes.dtype) if are_places else self.classes[ids]

    def predict(self, answers: object, *, strict: bool = False) -> NDArray[Any]:
        """The decided label of every row, in the kind of the truth."""
        return self._labels(self.predict_ids(answers, strict=strict))

    def predict_ids(self, answers: object, *, strict: bool = False) -> NDArray[np.uint16]:
        """The decided class of every row, as its place in `classes`."""
        return self._engine.predict_ids(self._table(answers), strict)

    def decide(self, answers: object, *, strict: bool = False) -> Decisions:
        """Every row with its label, its margin, how many answered, ties, and whether the prior decided."""
        decided = self._engine.decide(self._table(answers), strict)
        return Decisions(self._labels(decided[0]), *decided[1:])

    def margin(self, answers: object, *, strict: bool = False) -> NDArray[np.float64]:
        """The margin of every row, ``1 - runner-up / best`` on the method's own scale: 0 for a tie."""
        return self._engine.decide(self._table(answers), strict)[1]

    def possibility(self, answers: object, *, strict: bool = False) -> NDArray[np.float64]:
        """The possibility of every class, a row per row: 1 means that nothing speaks against it."""
        return self._engine.possibility(self._table(answers), strict)

    def predict_proba(self, answers: object, *, strict: bool = False) -> NDArray[np.float64]:
        """The probability of every class, from methods that have one (see `has_probabilities`)."""
        return self._engine.probability(self._table(answers), strict)

    def predict_set(
        self,
        answers: object,
        coverage: float = 0.95,
        *,
        seed: int = 0,
        ids: object = None,
        strict: bool = False,
    ) -> NDArray[np.bool_]:
        """Which classes are in a set that holds the truth as often as ``coverage`` says.

        Needs a model fitted with ``calibrate``. Rows whose scores have equals draw lots, by ``seed`` and by
        their number, or by what ``ids`` names them: then the same row gets the same set in whatever order.
        """
        names = None if ids is None else _tables.column("ids", ids)
        return self._engine.predict_set(
            self._table(answers), strict, coverage, _tables.whole("seed", seed), names
        )

    def explain(self, answers: object, row: int = 0) -> Explanation:
        """Why a row was decided as it was. Rows are counted from 0, as in all messages."""
        told = self._engine.explain(self._table(answers), _tables.whole("row", row))
        return Explanation(*told, self.classes)

    def audit(self) -> Audit:
        """Who of the panel is worth listening to, and how often each sways a decision."""
        return Audit(*self._engine.audit())

    def append(self, evidence: Evidence) -> Model:
        """The same model and the one classifier more that ``evidence`` of the same rows knows."""
        if not isinstance(evidence, Evidence):
            raise SpoccError(f"append: expected Evidence, found {type(evidence).__name__}")
        return Model._of(self._engine.append(evidence._engine))

    def slim(self) -> Model:
        """The same model without its evidence: smaller, decides alike, cannot be audited or appended to."""
        return Model._of(self._engine.slim())

    def to_bytes(self) -> bytes:
        """The bytes of a model file, which every face of spocc reads: the same model, the same bytes."""
        return self._engine.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Reads the bytes of a model file."""
        return Model._of(_native.Model.from_bytes(data))

    def save(self, path: FilePath) -> None:
        """Writes a model file."""
        write(path, self.to_bytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Callable[[bytes], Model], tuple[bytes]]:
        return Model.from_bytes, (self.to_bytes(),)

    def _rows(self) -> str:
        evidence = self.evidence
        return "slim" if evidence is None else f"fitted to {evidence._rows()}"

    def __repr__(self) -> str:
        classes = [str(label) for label in self.classes]
        some = ", ".join(classes[:6]) + (", .." if len(classes) > 6 else "")
        n = len(self.classifiers)
        return f"Model({self.method}, {n} classifiers, {len(classes)} classes: {some}; {self._rows()})"

    def _repr_html_(self) -> str:
        rows = [
            ["method", self.method],
            ["classifiers", shown(self.classifiers)],
            ["classes", shown(self.classes)],
            ["rows", self._rows()],
            ["missing", self.missing],
        ]
        if self.calibration is not None:
            rows.append(["calibration", self.calibration])
        return html("Model", [], rows)
