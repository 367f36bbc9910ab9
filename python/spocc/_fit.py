"""Fitting models, and reading them from files."""

from __future__ import annotations

from collections.abc import Iterable

from spocc import _input, _native
from spocc._evidence import Evidence, refuse_beside_evidence
from spocc._files import FilePath
from spocc._model import Model
from spocc._native import DEFAULT_METHOD, DEFAULT_MISSING, DEFAULT_TIES
from spocc._progress import Progress, bar
from spocc._reports import Audit
from spocc._rows import Names, Rows
from spocc._settings import (
    Calibrate,
    ClassWeight,
    Exponent,
    Inputs,
    Method,
    Missing,
    Normalise,
    Strength,
    Ties,
    Tuning,
    combiner,
    options,
)
from spocc._warnings import warn_of_columns, warn_of_rows

__all__ = ["audit", "fit", "fit_evidence", "load", "load_evidence", "load_model"]


def fit(
    predictions: object,
    truth: object = None,
    method: Method = DEFAULT_METHOD,
    *,
    names: Iterable[object] | None = None,
    ignore: Names | None = None,
    id: Names | None = None,
    classes: object = None,
    weights: object = None,
    open: bool = False,
    normalise: Normalise = "none",
    tuning: Tuning | None = None,
    inputs: Inputs | None = None,
    exponent: Exponent | None = None,
    strength: Strength | None = None,
    missing: Missing = DEFAULT_MISSING,
    ties: Ties = DEFAULT_TIES,
    class_weight: ClassWeight | None = None,
    calibrate: Calibrate | None = None,
    per_class: bool = False,
    seed: int = 0,
    unlabelled: bool | None = None,
    evaluate: bool = False,
    memory: int | None = None,
    progress: bool | Progress = False,
) -> Model:
    """Fits a model to predictions and true labels, or to `Evidence`.

    Parameters
    ----------
    predictions, truth, names, ignore, id, classes, weights, open, normalise
        As for `Evidence`; or the evidence alone. Open answers need a method that treats all answers alike:
        ``ladder``, ``selection``, ``majority``, ``weighted-vote`` or ``stacking``.
    method
        One of `spocc.METHODS`.
    tuning
        Validation of tuned settings, for ``adaspocc``, ``exp-vote``, ``spocc`` and ``stacking``:
        ``"resubstitution"``, ``"leave-one-out"`` or ``"k-fold"``.
    inputs
        Encoding of the predictions, for ``stacking``: ``"one-hot"`` or ``"ordinal"``.
    exponent
        Exponent of the t-norm, for ``spocc``: from 1 (independent classifiers) to ``"inf"`` (copies), or
        ``"tuned"``.
    strength
        Inverse regularisation strength, for ``stacking``, as C of scikit-learn: a number above 0 or
        ``"tuned"``.
    missing
        Treatment of missing predictions: ``"ignore"`` them, read them as one more label (``"answer"``), or
        choose between both for each classifier by the evidence (``"auto"``).
    ties
        Which of several equally good classes is decided: ``"first"``, or ``"random"`` by ``seed``.
    class_weight
        ``"balanced"``, or a weight per class.
    calibrate
        Calibration of the conformal sets of `Model.predict_set`: ``"split"`` (split conformal, with a
        guarantee) or ``"cross"`` (cross-conformal, without one). If rows without truth are used, the
        guarantee is for these; with ``unlabelled=False`` it is for all new rows.
    per_class
        Whether the sets have their coverage within each class.
    seed
        Seed of random ties and of the calibration split.
    unlabelled
        Whether rows without truth are used too. By default they are used by ``ladder``, ``dawid-skene`` and
        ``one-coin``, and by ``majority`` if no truth is known.
    evaluate
        Whether to measure `Model.held_out_accuracy`, as the command does. It takes five more fits, or one
        above 5000 labelled rows, which is why it is not measured unasked: a fit is often part of a loop that
        evaluates it anyway.
    memory
        Bytes that any one table may need.
    progress
        True for a progress bar (needs tqdm), or a function of stage, done and total.

    Warns
    -----
    ColumnWarning
        For a column that looks like an id (a different label in nearly every row), like the truth itself, or
        that shares no label with the truth. The column is used nevertheless.
    RowWarning
        For fewer labelled rows than classes, for classes with a single labelled row, for rows that cannot be
        held out to ``evaluate`` the model, and for rows that repeat the ``id`` of another row. The warning
        says what is done instead.

    Examples
    --------
    >>> import spocc
    >>> predictions = [["cat", "cat"], ["dog", "dog"], ["cat", "dog"], ["dog", "dog"]]
    >>> model = spocc.fit(predictions, ["cat", "dog", "cat", "dog"], method="naive-bayes")
    >>> model.predict([["cat", None]])
    array(['cat'], dtype='<U3')
    >>> model = spocc.fit(predictions * 5, ["cat", "dog", "cat", "dog"] * 5, evaluate=True)
    >>> print(model.held_out_accuracy)
    held-out accuracy 100.0 % (95 % interval 83.2 .. 100.0), by 5-fold cross-validation
    >>> answers = {"ann": [12.5, 70, 3, 8] * 5, "bob": [12.5, 71, 3, 9] * 5, "eve": [12, 71, 4, 6] * 5}
    >>> model = spocc.fit(answers, [12.5, 70, 3, 6] * 5, open=True)
    >>> model.predict({"ann": [1848], "bob": [None], "eve": [1918]})
    array([1848])
    """
    chosen = combiner(method, tuning, inputs, exponent, strength)
    shared = options(missing, ties, class_weight, calibrate, per_class, seed, evaluate)
    with bar(progress) as callback:
        repeated_ids = None
        if isinstance(predictions, Evidence):
            refuse_beside_evidence(
                open,
                normalise,
                truth=truth,
                names=names,
                ignore=ignore,
                id=id,
                classes=classes,
                weights=weights,
            )
            chosen.counting(predictions.n_rows > 0, unlabelled, calibrate is not None)
            evidence = predictions._labelled() if unlabelled is False else predictions
        else:
            needs_tally = calibrate is not None or evaluate or open
            level, uses_unlabelled = chosen.counting(truth is not None, unlabelled, needs_tally)
            counted, repeated_ids = Rows(predictions, names, ignore, id).count(
                truth,
                classes=classes,
                weights=weights,
                level=level,
                unlabelled=uses_unlabelled,
                open=open,
                normalise=normalise,
                memory=memory,
                progress=callback,
            )
            evidence = Evidence._of(counted)
        warn_of_columns(evidence._engine)
        warn_of_rows(repeated_ids, *evidence._engine.row_shortages())
        model = fit_evidence(evidence, chosen, shared, memory, callback)
        reason = model._engine.no_accuracy_reason
        warn_of_rows(None if reason is None else f"no held-out accuracy: {reason}")
        return model


def fit_evidence(
    evidence: Evidence,
    chosen: _native.Combiner,
    shared: _native.Options,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Model:
    """Fits a model to evidence, without warnings about its columns and rows."""
    limit = None if memory is None else _input.whole("memory", memory)
    return Model._of(_native.Model.fit(chosen, evidence._engine, shared, memory=limit, progress=progress))


def load(path: FilePath) -> Model | Evidence:
    """Reads a model file or an evidence file; `load_model` and `load_evidence` expect one of them."""
    native = _native.read(_bytes(path))
    return Model._of(native) if isinstance(native, _native.Model) else Evidence._of(native)


def load_model(path: FilePath) -> Model:
    """Reads a model file, written by `Model.save` or by the command ``spocc fit``.

    Examples
    --------
    >>> import spocc, tempfile, os
    >>> model = spocc.fit([["cat", "dog"], ["dog", "dog"]] * 2, ["cat", "dog"] * 2, method="spocc")
    >>> path = os.path.join(tempfile.mkdtemp(), "panel.spocc")
    >>> model.save(path)
    >>> spocc.load_model(path) == model
    True
    """
    return Model.from_bytes(_bytes(path))


def load_evidence(path: FilePath) -> Evidence:
    """Reads an evidence file, written by `Evidence.save` or by the command ``spocc tally``.

    Examples
    --------
    >>> import spocc, tempfile, os
    >>> evidence = spocc.Evidence([["cat", "dog"], ["dog", "dog"]], ["cat", "dog"])
    >>> path = os.path.join(tempfile.mkdtemp(), "panel.tally")
    >>> evidence.save(path)
    >>> spocc.load_evidence(path) == evidence
    True
    """
    return Evidence.from_bytes(_bytes(path))


def _bytes(path: FilePath) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def audit(
    predictions: object,
    truth: object = None,
    *,
    names: Iterable[object] | None = None,
    ignore: Names | None = None,
    id: Names | None = None,
    classes: object = None,
    weights: object = None,
    open: bool = False,
    normalise: Normalise = "none",
    memory: int | None = None,
) -> Audit:
    """The accuracy of every classifier, and which of them are copies, guessers or adversaries.

    Parameters
    ----------
    predictions, truth, names, ignore, id, classes, weights, open, normalise, memory
        As for `Evidence`; or the evidence alone. Rows without truth are not used.

    Warns
    -----
    ColumnWarning
        As `fit`.
    RowWarning
        For rows that repeat the ``id`` of another row.

    Examples
    --------
    >>> import spocc
    >>> predictions = {"item": range(40), "ann": ["cat", "dog"] * 20, "bob": ["dog", "cat"] * 20}
    >>> gold = ["cat", "dog"] * 19 + ["dog", "dog"]
    >>> [entry.verdict for entry in spocc.audit(predictions | {"gold": gold}, "gold", id="item").classifiers]
    ['useful', 'adversary']
    """
    repeated_ids = None
    if isinstance(predictions, Evidence):
        refuse_beside_evidence(
            open, normalise, truth=truth, names=names, ignore=ignore, id=id, classes=classes, weights=weights
        )
        engine = predictions._engine
    else:
        engine, repeated_ids = Rows(predictions, names, ignore, id).count(
            truth,
            classes=classes,
            weights=weights,
            unlabelled=False,
            open=open,
            normalise=normalise,
            memory=memory,
        )
    warn_of_columns(engine)
    warn_of_rows(repeated_ids)
    return Audit(*engine.audit())
