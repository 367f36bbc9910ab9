"""Fitting: rows or counts become a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np

from spocc import _native, _tables
from spocc._evidence import Evidence
from spocc._files import FilePath
from spocc._model import Model
from spocc._native import SpoccError
from spocc._progress import Progress, bar
from spocc._reports import Audit

__all__ = ["ColumnWarning", "audit", "fit", "load", "model_of"]


class ColumnWarning(UserWarning):
    """A column that was counted as a classifier looks like an id, a group or the truth itself."""


def fit(
    answers: object,
    truth: object = None,
    method: str = "ladder",
    *,
    names: Iterable[object] | None = None,
    classes: object = None,
    weights: object = None,
    missing: str = "auto",
    ties: str = "first",
    class_weight: str | Mapping[Any, float] | None = None,
    calibrate: str | None = None,
    per_class: bool = False,
    seed: int = 0,
    unlabelled: bool | None = None,
    memory: int | None = None,
    progress: bool | Progress = False,
    **settings: Any,
) -> Model:
    """Learns from answers and truths, or from `Evidence`, how to combine a panel.

    Parameters
    ----------
    answers, truth, names, classes, weights
        As for `Evidence`; or evidence alone.
    method
        One of `spocc.METHODS`.
    missing
        What an empty cell means: ``"silent"`` (not asked), ``"symbol"`` (an answer) or ``"auto"`` (what the
        rows say of each classifier).
    ties
        Which of several equally good classes is decided: ``"first"`` or ``"random"``, by ``seed``.
    class_weight
        ``"balanced"``, or how much the rows of each class count.
    calibrate
        ``"split"`` or ``"cross"``, so that `Model.predict_set` can promise something.
    per_class
        Whether it promises that within each class.
    seed
        Of whatever is drawn at random.
    unlabelled
        Whether rows without truth are learned from: by default those methods do so that take nothing else.
    memory
        Bytes that any one table may need.
    progress
        Whether to show a bar (where tqdm is installed), or a function of stage, done and total.
    **settings
        Of single methods: ``exponent`` (spocc), ``inputs`` and ``strength`` (stacking), ``tuning``.

    Warns
    -----
    ColumnWarning
        For a column that looks like an id (a different label in nearly every row), like the truth itself,
        or that shares no label with the truth. It is counted all the same.

    Examples
    --------
    >>> import spocc
    >>> said = [["cat", "cat"], ["dog", "dog"], ["cat", "dog"], ["dog", "dog"]]
    >>> spocc.fit(said, ["cat", "dog", "cat", "dog"], method="naive-bayes").predict([["cat", None]])
    array(['cat'], dtype='<U3')
    >>> spocc.fit(said, ["cat", "dog", "cat", "dog"], method="majority", strength=2)
    Traceback (most recent call last):
    ...
    spocc.SpoccError: strength: expected a method that has it (stacking), found majority
    """
    level, learns_all = needs(method, truth, unlabelled, calibrate, settings)
    combiner = _native.Combiner(method, **settings)
    chosen = options(missing, ties, class_weight, calibrate, per_class, seed)
    with bar(progress) as callback:
        if isinstance(answers, Evidence):
            beside = {"truth": truth, "names": names, "classes": classes, "weights": weights}
            for name, value in (beside | {"unlabelled": unlabelled}).items():
                if value is not None:
                    raise SpoccError(f"{name}: expected none beside evidence, which holds its own, found one")
            evidence = answers
        else:
            evidence = Evidence(
                answers,
                truth,
                names=names,
                classes=classes,
                weights=weights,
                level=level,
                unlabelled=learns_all,
                memory=memory,
                progress=callback or False,
            )
        for warning in evidence._engine.column_warnings():
            warnings.warn(warning, ColumnWarning, stacklevel=2)
        return model_of(evidence, combiner, chosen, memory, callback)


def model_of(
    evidence: Evidence,
    combiner: _native.Combiner,
    chosen: _native.Options,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """The model of some evidence, without a look at its columns."""
    limit = None if memory is None else _tables.whole("memory", memory)
    return Model._of(_native.Model.fit(combiner, evidence._engine, chosen, memory=limit, progress=progress))


def needs(
    method: str, truth: object, unlabelled: bool | None, calibrate: str | None, settings: Mapping[str, Any]
) -> tuple[str, bool]:
    """The level at which rows are counted, and whether those without truth are, as by the command."""
    known = ("exponent", "inputs", "strength", "tuning")
    for strange in (name for name in settings if name not in known):
        close = get_close_matches(strange, [*signature(fit).parameters, *known], 1)
        meant = f" (did you mean {close[0]}?)" if close else ""
        raise SpoccError(f"settings: expected some of {', '.join(known)}, found {strange}{meant}")
    if not isinstance(method, str):
        raise SpoccError(f"method: expected one of {', '.join(_native.METHODS)}, found {method!r}")
    level = _native.Combiner(method, **settings).level
    if unlabelled and method not in ("ladder", "dawid-skene", "majority"):
        learners = "ladder, dawid-skene, majority"
        raise SpoccError(f"unlabelled: expected a method that takes such rows ({learners}), found {method}")
    if unlabelled is None:
        unlabelled = method == "dawid-skene" or (method == "majority" and truth is None)
    return "tally" if calibrate is not None or unlabelled else level, unlabelled


def options(
    missing: str,
    ties: str,
    class_weight: str | Mapping[Any, float] | None,
    calibrate: str | None,
    per_class: bool,
    seed: int,
) -> _native.Options:
    """What every method shares, refused before a row is read."""
    weighed: object = class_weight
    by_class = None
    if isinstance(class_weight, Mapping):
        weighed = _tables.column("class_weight", list(class_weight))
        by_class = _tables.numbers("class_weight", list(class_weight.values()), np.float64)
    return _native.Options(
        missing=missing,
        ties=ties,
        seed=_tables.whole("seed", seed),
        class_weight=weighed,
        weights=by_class,
        calibrate=calibrate,
        per_class=per_class,
    )


def load(path: FilePath) -> Model | Evidence:
    """Reads a file of spocc, whichever face wrote it: a model or a tally.

    Examples
    --------
    >>> import spocc, tempfile, os
    >>> model = spocc.fit([["cat", "dog"], ["dog", "dog"]], ["cat", "dog"], method="spocc")
    >>> path = os.path.join(tempfile.mkdtemp(), "panel.spocc")
    >>> model.save(path)
    >>> spocc.load(path) == model
    True
    """
    with open(path, "rb") as file:
        native = _native.read(file.read())
    return Model._of(native) if isinstance(native, _native.Model) else Evidence._of(native)


def audit(evidence: Evidence) -> Audit:
    """Who of a panel is worth listening to, who guesses, copies, lies or keeps silent."""
    return evidence.audit()
