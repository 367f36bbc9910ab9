"""Fitted models."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from spocc import _html, _input, _native, _open, _output
from spocc._accuracy import HeldOutAccuracy
from spocc._evidence import Evidence, refuse_beside_evidence
from spocc._files import FilePath
from spocc._index import index_of
from spocc._native import SpoccError, printable
from spocc._output import Output
from spocc._reports import Audit, Decisions, Explanation, first
from spocc._rows import Names, Rows
from spocc._settings import Method, Missing, Normalise
from spocc._warnings import warn_of_columns, warn_of_rows, warn_of_slim

__all__ = ["Model"]


class Model:
    """A fitted model, made by `spocc.fit` or read by `spocc.load_model`. It is immutable.

    Columns of tables with names (data frames, Arrow, dicts) are matched to the classifiers by name, and other
    columns are ignored; columns of arrays and lists by position. Labels that did not occur in the evidence
    count as missing predictions, or are refused if ``strict`` is true.

    Examples
    --------
    >>> import spocc
    >>> predictions = {"ann": ["cat", "dog", "cat", "dog"], "bob": ["cat", "dog", "dog", "dog"]}
    >>> predictions["eve"] = ["dog", "cat", "dog", "cat"]
    >>> model = spocc.fit(predictions, ["cat", "dog", "cat", "dog"], method="adaspocc")
    >>> model
    Model(adaspocc, 3 classifiers, 2 classes: cat, dog; fitted to 4 rows)
    >>> model.predict([["dog", "cat", "cat"]])  # eve is always wrong
    array(['dog'], dtype='<U3')

    A model of open answers decides for one of the answers that are given on a row. They are written as the
    first classifier by name writes them, and None stands for "none of these", any other answer. ``strict``
    refuses no answer.

    >>> answers = {"ann": ["8", "15", "2"] * 8, "bob": ["8", "15", "3"] * 8, "eve": ["7", "15", "3"] * 8}
    >>> model = spocc.fit(answers, ["8", "15", "2"] * 8, open=True)
    >>> model
    Model(ladder, 3 classifiers, open answers; fitted to 24 rows)
    >>> new = {"ann": ["Paris", None], "bob": [None, None], "eve": ["London", None]}
    >>> model.predict(new)
    array(['Paris', None], dtype=object)
    >>> [sorted(map(str, row)) for row in model.predict_proba(new)]
    [['London', 'None', 'Paris'], ['None']]
    """

    _engine: _native.Model

    def __init__(self) -> None:
        raise TypeError("a Model is made by spocc.fit or spocc.load_model")

    @classmethod
    def _of(cls, native: _native.Model) -> Model:
        model = cls.__new__(cls)
        model._engine = native
        return model

    def _table(self, predictions: object) -> object:
        return _input.table(predictions, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._engine.classifiers)

    @property
    def method(self) -> Method:
        """The method that was fitted."""
        return self._engine.method

    @property
    def classifiers(self) -> list[str]:
        """Names of the classifiers, in the order of columns without names."""
        return list(self._names)

    @cached_property
    def _of_answers(self) -> _native.OpenModel | None:
        """The model as one of open answers, if it is one."""
        return _native.OpenModel(self._engine) if self.is_open else None

    @property
    def is_open(self) -> bool:
        """Whether it decides between open answers: any texts or numbers instead of labels of classes."""
        return self._engine.is_open

    @property
    def normalise(self) -> Normalise | None:
        """Which open answers are the same: none, number or text; None for a model of classes."""
        return self._engine.normalise

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of `predict_possibility` and `predict_proba`; open answers have none."""
        classes = _input.labels(self._engine.classes)
        classes.flags.writeable = False
        return classes

    @property
    def missing(self) -> Missing:
        """The treatment of missing predictions: ignore, answer or auto."""
        return self._engine.missing

    @property
    def missing_is_answer(self) -> list[bool]:
        """For each classifier, whether a missing prediction is read as one more label."""
        return self._engine.missing_is_answer

    @property
    def fitted(self) -> dict[str, Any]:
        """The fitted parameters."""
        fitted: dict[str, Any] = json.loads(self._engine.fitted)
        return fitted

    @property
    def calibration(self) -> str | None:
        """The coverage guarantee of its prediction sets, in words; None if it is not calibrated."""
        return self._engine.calibration

    @property
    def held_out_accuracy(self) -> HeldOutAccuracy | None:
        """The accuracy of its method on held-out rows, equal to that of `compare` with ``repeats=1``.

        None unless it was fitted with ``evaluate=True``, or by the command, on rows that can be held out.
        Above 5000 labelled rows only one fold is held out. `append` drops it.

        Examples
        --------
        >>> import spocc
        >>> predictions = {"ann": ["cat", "dog"] * 10, "bob": ["cat", "dog", "dog", "dog"] * 5}
        >>> model = spocc.fit(predictions, ["cat", "dog"] * 10, method="spocc", evaluate=True)
        >>> model.held_out_accuracy.accuracy
        1.0
        """
        found = self._engine.held_out_accuracy
        return None if found is None else HeldOutAccuracy._of(*found)

    @property
    def has_probabilities(self) -> bool:
        """Whether the method has probabilities, so that `predict_proba` works."""
        return self._engine.has_probabilities

    @property
    def evidence(self) -> Evidence | None:
        """The evidence it was fitted to; None if it was left out."""
        native = self._engine.evidence
        return None if native is None else Evidence._of(native)

    @property
    def row_parts(self) -> list[str]:
        """The parts beside the evidence from which rows can be read; mostly none."""
        return self._engine.row_parts

    @property
    def min_count(self) -> int | None:
        """The least number of rows behind each count of a `slim` model; None if it has no such counts."""
        return self._engine.min_count

    @cached_property
    def _are_indices(self) -> bool:
        """Whether the classes are 0, 1, 2, .., so that labels need no lookup."""
        return self.classes.dtype.kind in "iu" and np.array_equal(self.classes, np.arange(len(self.classes)))

    def _labels(self, ids: NDArray[np.uint16]) -> NDArray[Any]:
        """The labels of class indices."""
        return ids.astype(self.classes.dtype) if self._are_indices else self.classes[ids]

    @overload
    def predict(
        self, predictions: object, *, strict: bool = False, output: Literal["numpy"] = "numpy"
    ) -> NDArray[Any]: ...

    @overload
    def predict(
        self, predictions: object, *, strict: bool = False, output: Literal["pandas", "polars", "series"]
    ) -> Any: ...

    def predict(self, predictions: object, *, strict: bool = False, output: Output = "numpy") -> Any:
        """The decided class of every row, as a label; of open answers, an answer that is given on the row.

        Open answers have their common type: texts, whole numbers, or floats if some of them are. Otherwise
        the array holds objects, and None for a row without an answer.

        Parameters
        ----------
        predictions
            A table, as for `Evidence`.
        strict
            Whether a label that the model does not know is refused.
        output
            ``"numpy"`` for an array in the order of the rows; ``"series"`` for a Series named ``decision``
            (of polars if ``predictions`` are a frame of polars, else of pandas); ``"pandas"`` or ``"polars"``
            for a data frame with that one column. What is of pandas has the index of ``predictions``.

        Examples
        --------
        >>> import pandas as pd, spocc
        >>> frame = pd.DataFrame({"ann": ["cat", "dog"], "bob": ["dog", "dog"]}, index=["b", "a"])
        >>> model = spocc.fit(frame, pd.Series({"a": "dog", "b": "cat"}))
        >>> model.predict(frame, output="series")
        b    cat
        a    dog
        Name: decision, dtype: object
        """
        _output.check(output, _output.LABELS)
        if self._of_answers is not None:
            labels = _open.answers(self._of_answers.predict(self._table(predictions), strict))
        else:
            labels = self._labels(self.predict_ids(predictions, strict=strict))
        return _output.column(labels, "decision", output, predictions)

    def predict_ids(self, predictions: object, *, strict: bool = False) -> NDArray[np.uint16]:
        """The decided class of every row, as its index in `classes`, which open answers do not have."""
        if self.is_open:
            raise SpoccError(
                "predict_ids: expected a model of classes, found one of open answers, which have no index: "
                "use predict"
            )
        return self._engine.predict_ids(self._table(predictions), strict)

    def decide(self, predictions: object, *, strict: bool = False) -> Decisions:
        """The decision on every row: label, margin, number of predictions, tie, decided by the prior.

        Its `Decisions.to_frame` has the index of ``predictions``.
        """
        table, index = self._table(predictions), index_of(predictions)
        if self._of_answers is not None:
            answers, further = self._of_answers.decide(table, strict)
            return Decisions(_open.answers(answers), *further, is_open=True, index=index)
        ids, further = self._engine.decide(table, strict)
        return Decisions(self._labels(ids), *further, index=index)

    def margin(self, predictions: object, *, strict: bool = False) -> NDArray[np.float64]:
        """The margin of every row, ``1 - runner-up / best`` on the method's own scale: 0 for a tie."""
        return (self._of_answers or self._engine).decide(self._table(predictions), strict)[1][0]

    def predict_possibility(
        self, predictions: object, *, strict: bool = False, output: Output = "numpy"
    ) -> Any:
        """The possibility of every class (columns) in every row: 1 if no prediction contradicts it.

        Of open answers, a list with a dict per row: the possibility of each answer given on it, and with the
        key None that of any other answer. ``output`` is as for `predict_proba`.
        """
        self._check_output(output, _output.DEGREES)
        table = self._table(predictions)
        if self._of_answers is not None:
            rows = _open.by_answer(self._of_answers.possibility(table, strict), max)
            return _output.column(rows, "possibility", output, predictions)
        return _output.table(self._engine.possibility(table, strict), self.classes, output, predictions)

    def predict_proba(self, predictions: object, *, strict: bool = False, output: Output = "numpy") -> Any:
        """The probability of every class (columns) in every row, of methods that `has_probabilities`.

        Of open answers, a list with a dict per row: the probability of each answer given on it, and with the
        key None that of any other answer.

        Parameters
        ----------
        predictions, strict
            As for `predict`.
        output
            ``"numpy"`` for what is described above; ``"pandas"`` or ``"polars"`` for a data frame with a
            column per class, that of pandas with the index of ``predictions``. Every row of open answers has
            answers of its own: these are given as ``"numpy"`` or as a ``"series"`` of dicts.

        Examples
        --------
        >>> import pandas as pd, spocc
        >>> frame = pd.DataFrame({"ann": ["cat", "dog"] * 9, "bob": ["dog", "dog"] * 9})
        >>> model = spocc.fit(frame, ["cat", "dog"] * 9)
        >>> model.predict_proba(frame[3:5], output="pandas").round(2)
            cat   dog
        3  0.01  0.99
        4  0.97  0.03
        """
        self._check_output(output, _output.DEGREES)
        table = self._table(predictions)
        if self._of_answers is not None:
            rows = _open.by_answer(self._of_answers.probability(table, strict), operator.add)
            return _output.column(rows, "probability", output, predictions)
        return _output.table(self._engine.probability(table, strict), self.classes, output, predictions)

    def _check_output(self, output: Output, of_classes: tuple[str, ...]) -> None:
        """Refuses data frames of open answers: a column would be one answer among those of a row."""
        _output.check(output, *((_output.OPEN, " for open answers") if self.is_open else (of_classes,)))

    def predict_set(
        self,
        predictions: object,
        coverage: float = 0.95,
        *,
        seed: int = 0,
        id: Names | None = None,
        ids: object = None,
        strict: bool = False,
        output: Output = "numpy",
    ) -> Any:
        """The conformal prediction set of every row, as a mask of classes (columns).

        Of open answers, a list with a list of answers per row; None stands for any other answer.
        The sets contain the truth with probability ``coverage``. Needs a model fitted with ``calibrate``.

        Parameters
        ----------
        predictions, strict
            As for `predict`.
        coverage
            The probability with which a set contains the truth.
        seed, id, ids
            Ties between conformal scores are broken by a draw that depends on ``seed`` and the row number, or
            the id of the row if it has one: then a row has the same set in any order of the rows. ``id`` is
            the name of the column with the ids, or of several, as for `Evidence`. ``ids`` are the ids
            themselves; a pandas Series is aligned to the index of ``predictions``, if that has one.
        output
            ``"numpy"`` for what is described above; ``"pandas"`` or ``"polars"`` for the mask as a data frame
            with a column per class; ``"series"`` for a Series with the list of the labels in each set. Open
            answers have no mask. What is of pandas has the index of ``predictions``.

        Examples
        --------
        >>> import pandas as pd, spocc
        >>> frame = pd.DataFrame({"ann": ["cat", "dog"] * 9, "bob": ["dog", "dog"] * 9})
        >>> model = spocc.fit(frame, ["cat", "dog"] * 9, calibrate="cross")
        >>> model.predict_set(frame[3:5], 0.9, output="series")
        3    [dog]
        4    [cat]
        Name: set, dtype: object
        """
        self._check_output(output, _output.LABELS)
        rows = Rows(predictions, self._names, id=id)
        columns = rows.ids
        if ids is not None:
            if isinstance(ids, str) or columns:
                found = f"the text `{printable(ids)}`" if isinstance(ids, str) else "both"
                raise TypeError(
                    f"ids: expected an id per row, or id=.. for the name of a column, found {found}"
                )
            columns = [rows.of("ids", ids)]
        table, number = rows.classifiers()[0], _input.whole("seed", seed)
        model = self._of_answers or self._engine
        given = [_input.column("ids", values) for values in columns]
        sets: Any = model.predict_set(table, strict, coverage, number, given)
        if output == "series" and not self.is_open:
            sets = [self.classes[members].tolist() for members in sets]
        if output == "series" or self.is_open:
            return _output.column(sets, "set", output, predictions)
        return _output.table(sets, self.classes, output, predictions)

    def explain(self, predictions: object, row: int = 0) -> Explanation:
        """The contribution of every classifier to the decision on one row, counted from 0."""
        table, number = self._table(predictions), _input.whole("row", row)
        if self._of_answers is not None:
            report, text, answers, candidates = self._of_answers.explain(table, number)
            return Explanation(report, text, answers, np.fromiter(candidates, dtype=object))
        return Explanation(*self._engine.explain(table, number), self.classes)

    def audit(self) -> Audit:
        """The accuracy and the influence of every classifier, and which of them are copies or adversaries."""
        return Audit(*self._engine.audit())

    def append(
        self,
        predictions: object,
        truth: object = None,
        *,
        names: Iterable[object] | None = None,
        ignore: Names | None = None,
        id: Names | None = None,
        weights: object = None,
    ) -> Model:
        """The same model with one additional classifier, from the rows that it was fitted to.

        Parameters
        ----------
        predictions, truth, names, ignore, id, weights
            As for `Evidence`, with a column for every classifier of the model and for the new one; or the
            evidence of these alone.

        Warns
        -----
        ColumnWarning, RowWarning
            As `spocc.audit`.

        Examples
        --------
        >>> import spocc
        >>> table = {"ann": ["cat", "dog"] * 9, "bob": ["dog", "dog"] * 9, "gold": ["cat", "dog"] * 9}
        >>> model = spocc.fit(table, "gold", ignore="bob")
        >>> model.append(table, "gold").classifiers
        ['ann', 'bob']
        """
        repeated_ids = None
        if isinstance(predictions, Evidence):
            given = {"truth": truth, "names": names, "ignore": ignore, "id": id, "weights": weights}
            refuse_beside_evidence(False, "none", **given)
            engine = predictions._engine
        else:
            known = self.evidence
            engine, repeated_ids = Rows(predictions, names, ignore, id).count(
                truth,
                weights=weights,
                level="tally" if known is None else known.level,
                unlabelled=known is not None and known.n_unlabelled > 0,
                open=self.is_open,
                normalise=self.normalise or "none",
            )
        warn_of_columns(engine)
        warn_of_rows(repeated_ids)
        return Model._of(self._engine.append(engine))

    def without_evidence(self) -> Model:
        """The same model without its evidence: smaller, equal decisions and sets, no audit and no append.

        Its :attr:`row_parts` stay, so it may reveal as much as the whole model; :meth:`slim` drops them.
        """
        return Model._of(self._engine.without_evidence())

    def slim(self, min_count: int = 5) -> Model:
        """The model without its evidence, and without counts and conformal scores of a few rows.

        Of the table of patterns that ``bayes`` and some ladders have, only counts of at least ``min_count``
        rows stay, and conformal scores are rounded up until each stands for as many, so that sets become
        larger. The fitted parameters stay: they are functions of the counts of single classifiers.

        Parameters
        ----------
        min_count
            The least number of rows that a count may stand for, from 2; below 5 others may be derived.

        Warns
        -----
        SlimWarning
            If it decides some of the rows differently that the model was fitted to: how many.

        Raises
        ------
        SpoccError
            If counts are sums of weights, which do not say how many rows they stand for, or if the evidence
            that says so is missing.
        """
        if isinstance(min_count, bool) or not isinstance(min_count, int):
            raise TypeError(f"min_count: expected a whole number, found {type(min_count).__name__}")
        if not 2 <= min_count < 2**64:
            raise SpoccError(f"min_count: expected a whole number from 2 and below 2^64, found {min_count}")
        slim, n_changed = self._engine.slim(min_count)
        if n_changed:
            warn_of_slim(n_changed, min_count)
        return Model._of(slim)

    def to_bytes(self) -> bytes:
        """The bytes of a model file, which the command reads too; equal models have equal bytes."""
        return self._engine.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Reads the bytes of a model file."""
        return Model._of(_native.Model.from_bytes(data))

    def save(self, path: FilePath) -> None:
        """Writes a model file, as the command does: it is replaced as a whole or not at all.

        An old file keeps its mode. The target of a link is replaced. Pipes and devices are written to.
        """
        _native.write(path, self.to_bytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    # A state, and no `__reduce__`, so that skops can load what it has dumped.
    def __getstate__(self) -> dict[str, bytes]:
        return {"file": self.to_bytes()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        self._engine = _native.Model.from_bytes(state["file"])

    def _rows(self) -> str:
        evidence = self.evidence
        return "without evidence" if evidence is None else f"fitted to {evidence._rows()}"

    def __repr__(self) -> str:
        classes = [str(label) for label in self.classes]
        some = f"{len(classes)} classes: {first(classes, 6)}"
        labels = _open.described(self.normalise) if self.is_open else some
        return f"Model({self.method}, {len(self.classifiers)} classifiers, {labels}; {self._rows()})"

    def _repr_html_(self) -> str:
        entries = {
            "method": self.method,
            "classifiers": _html.names(self.classifiers),
            "classes": _open.described(self.normalise) if self.is_open else _html.names(self.classes),
            "rows": self._rows(),
            "missing": self.missing,
        }
        if self.held_out_accuracy is not None:
            entries["evaluation"] = str(self.held_out_accuracy)
        if self.calibration is not None:
            entries["calibration"] = self.calibration
        return _html.page(_html.text("Model", "head"), _html.entries(entries), self._experts())

    def _experts(self) -> _html.Markup:
        """The weights of the experts that a ladder pools; nothing for other methods."""
        experts = self.fitted.get("experts", []) if self.method == "ladder" else []
        weights = {expert["expert"]: expert["weight"] for expert in experts}
        total = sum(weights.values())
        if total <= 0:
            return _html.text("")
        order = sorted(weights, key=weights.__getitem__, reverse=True)
        bars = [_html.bar(weights[name] / total, f"{weights[name] / total:.0%}") for name in order]
        return _html.table([("expert", order), ("weight", bars)])
