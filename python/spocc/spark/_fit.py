"""Fitting models to data frames of Spark, and comparing methods on them."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

import spocc
from spocc._comparison import compare_settings
from spocc._native import (
    DEFAULT_FOLDS,
    DEFAULT_METHOD,
    DEFAULT_MISSING,
    DEFAULT_REPEATS,
    DEFAULT_TIES,
)
from spocc._progress import Progress
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
from spocc.spark._evidence import PreparedCount, evidence, prepared
from spocc.spark._frames import Frame


def fit(
    df: DataFrame,
    label: str | None,
    classifiers: Iterable[str] | None = None,
    method: Method = DEFAULT_METHOD,
    *,
    weight: str | None = None,
    count: str | None = None,
    classes: object = None,
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
) -> spocc.Model:
    """Fits a model to a Spark data frame, equal to that of `spocc.fit` on the same rows.

    Only counts reach the driver: marginals if the method needs no more, else the tally, from which the driver
    also measures the held-out accuracy, if ``evaluate`` is true.

    Parameters
    ----------
    df, label, classifiers, weight, count
        As for `evidence`.
    classes, open, normalise, method, tuning, inputs, exponent, strength, missing, ties, class_weight
        As for `spocc.fit`.
    calibrate, per_class, seed, unlabelled, evaluate, memory
        As for `spocc.fit`.

    Examples
    --------
    >>> from spocc.spark import fit
    >>> df = spark.createDataFrame([(True, True, True), (False, True, False)] * 2, ["ann", "bob", "truth"])
    >>> fit(df, "truth", ["ann", "bob"], method="naive-bayes").classes
    array([False,  True])
    """
    # Settings are checked before any job runs.
    options(missing, ties, class_weight, calibrate, per_class, seed, evaluate)
    chosen = combiner(method, tuning, inputs, exponent, strength)
    needs_tally = calibrate is not None or evaluate or open
    level, uses_unlabelled = chosen.counting(label is not None, unlabelled, needs_tally)
    counted = evidence(
        df,
        label,
        classifiers,
        weight=weight,
        count=count,
        classes=classes,
        level=level,
        unlabelled=uses_unlabelled,
        open=open,
        normalise=normalise,
        memory=memory,
    )
    return spocc.fit(
        counted,
        method=method,
        tuning=tuning,
        inputs=inputs,
        exponent=exponent,
        strength=strength,
        missing=missing,
        ties=ties,
        class_weight=class_weight,
        calibrate=calibrate,
        per_class=per_class,
        seed=seed,
        evaluate=evaluate,
        memory=memory,
    )


def compare(
    df: DataFrame,
    label: str | None,
    classifiers: Iterable[str] | None = None,
    *,
    test: DataFrame | spocc.Evidence | None = None,
    methods: Iterable[Method] | None = None,
    folds: int = DEFAULT_FOLDS,
    repeats: int = DEFAULT_REPEATS,
    curve: bool = True,
    weight: str | None = None,
    count: str | None = None,
    classes: object = None,
    open: bool = False,
    normalise: Normalise = "none",
    missing: Missing = DEFAULT_MISSING,
    ties: Ties = DEFAULT_TIES,
    class_weight: ClassWeight | None = None,
    seed: int = 0,
    unlabelled: bool | None = None,
    memory: int | None = None,
    progress: bool | Progress = False,
) -> spocc.Comparison:
    """Evaluates methods on a Spark data frame, with the result of `spocc.compare` on the same rows.

    The workers count the rows into a tally, from which the driver makes the folds and evaluates the methods.

    Parameters
    ----------
    df, label, classifiers, weight, count
        As for `evidence`.
    test
        Held-out rows to evaluate on instead of by cross-validation: a data frame that has the columns of
        ``df`` that are named here, or evidence.
    methods, folds, repeats, curve, classes, open, normalise, missing, ties, class_weight, seed, unlabelled
        As for `spocc.compare`.
    memory, progress
        As for `spocc.compare`; ``memory`` also bounds the tally on each worker.

    Examples
    --------
    >>> from spocc.spark import compare
    >>> rows = [("cat", "cat", "cat"), ("dog", "dog", "dog"), ("cat", "dog", "cat")] * 8
    >>> df = spark.createDataFrame(rows, ["ann", "bob", "truth"])
    >>> compare(df, "truth", methods=["naive-bayes"], curve=False).best_classifier
    {'name': 'ann', 'accuracy': 1.0}
    """
    # Settings and frames are checked before any job runs.
    settings = compare_settings(methods, folds, repeats, curve, missing, ties, class_weight, seed)

    def checked(frame: Frame, names: Iterable[str] | None, unlabelled: bool) -> PreparedCount:
        return prepared(
            frame, label, names, weight, count, classes, "tally", unlabelled, open, normalise, memory
        )

    rows = checked(Frame(df), classifiers, settings.uses_unlabelled and unlabelled is not False)
    if test is not None and not isinstance(test, spocc.Evidence):
        # Rows without truth cannot evaluate a method.
        test = checked(Frame(test, "test"), rows.counter.names, False).total()
    return spocc.compare(
        rows.total(),
        test=test,
        methods=methods,
        folds=folds,
        repeats=repeats,
        curve=curve,
        missing=missing,
        ties=ties,
        class_weight=class_weight,
        seed=seed,
        unlabelled=unlabelled,
        memory=memory,
        progress=progress,
    )
