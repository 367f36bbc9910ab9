"""The settings of methods by name, with their types; their meaning and defaults are those of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spocc import _input, _native

__all__ = [
    "Calibrate",
    "ClassWeight",
    "Exponent",
    "Inputs",
    "Level",
    "Method",
    "Missing",
    "Normalise",
    "Strength",
    "Ties",
    "Tuning",
    "combiner",
    "options",
]

Method = Literal[
    "ladder",
    "spocc",
    "adaspocc",
    "selection",
    "majority",
    "weighted-vote",
    "exp-vote",
    "naive-bayes",
    "bayes",
    "stacking",
    "dawid-skene",
    "one-coin",
]
Tuning = Literal["resubstitution", "leave-one-out", "k-fold"]
Inputs = Literal["one-hot", "ordinal"]
Exponent = float | Literal["inf", "tuned"]
Strength = float | Literal["tuned"]
Missing = Literal["ignore", "answer", "auto"]
Ties = Literal["first", "random"]
ClassWeight = Literal["balanced"] | Mapping[Any, float]
Calibrate = Literal["split", "cross"]
Level = Literal["marginals", "pairs", "tally"]
Normalise = Literal["none", "number", "text"]


def combiner(
    method: Method,
    tuning: Tuning | None = None,
    inputs: Inputs | None = None,
    exponent: Exponent | None = None,
    strength: Strength | None = None,
) -> _native.Combiner:
    """A method with its settings; None stands for the default of the method."""
    _check_words(method=method, tuning=tuning, inputs=inputs)
    return _native.Combiner(method, tuning=tuning, inputs=inputs, exponent=exponent, strength=strength)


def options(
    missing: Missing,
    ties: Ties,
    class_weight: ClassWeight | None,
    calibrate: Calibrate | None,
    per_class: bool,
    seed: int,
    evaluate: bool = False,
) -> _native.Options:
    """The options that all methods share."""
    _check_words(missing=missing, ties=ties, calibrate=calibrate)
    classes: object = class_weight
    weights = None
    if isinstance(class_weight, Mapping):
        classes = _input.column("class_weight", list(class_weight))
        weights = _input.numbers("class_weight", list(class_weight.values()), np.float64)
    return _native.Options(
        missing=missing,
        ties=ties,
        seed=_input.whole("seed", seed),
        class_weight=classes,
        weights=weights,
        calibrate=calibrate,
        per_class=per_class,
        evaluate=evaluate,
    )


def _check_words(**words: str | None) -> None:
    for name, word in words.items():
        if word is not None and not isinstance(word, str):
            raise TypeError(f"{name}: expected a text, found {type(word).__name__}")
