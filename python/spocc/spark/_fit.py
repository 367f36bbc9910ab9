"""Fitting models to data frames of Spark."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

import spocc
from spocc._native import DEFAULT_METHOD, DEFAULT_MISSING, DEFAULT_TIES
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
from spocc.spark._evidence import evidence


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
