"""The types of settings are the words of the engine, and every interface has the same settings."""

from __future__ import annotations

from inspect import signature
from typing import Any, get_args

import pytest

import spocc
from spocc import _native, _settings

from panels import Panel

SETTINGS = ["tuning", "inputs", "exponent", "strength"]
OPTIONS = ["missing", "ties", "class_weight", "calibrate", "per_class"]


def test_methods_and_defaults_are_those_of_the_engine() -> None:
    assert get_args(_settings.Method) == spocc.METHODS
    defaults = {name: parameter.default for name, parameter in signature(spocc.fit).parameters.items()}
    assert defaults["method"] == spocc.METHODS[0]
    assert [defaults[name] for name in SETTINGS] == [None] * 4
    assert _native.DEFAULT_MISSING in get_args(_settings.Missing)
    assert _native.DEFAULT_TIES in get_args(_settings.Ties)


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("missing", _settings.Missing),
        ("ties", _settings.Ties),
        ("calibrate", _settings.Calibrate),
    ],
)
def test_every_word_of_an_option_is_accepted_and_no_other(argument: str, words: object, panel: Panel) -> None:
    accepted = get_args(words)
    fit: Any = spocc.fit
    for word in accepted:
        fit(*panel, method="naive-bayes", **{argument: word})
    with pytest.raises(spocc.SpoccError, match=f"{argument}: expected one of {', '.join(accepted)}"):
        fit(*panel, method="naive-bayes", **{argument: "other"})


def test_every_word_of_a_setting_is_accepted(panel: Panel) -> None:
    for tuning in get_args(_settings.Tuning):
        spocc.fit(*panel, method="exp-vote", tuning=tuning)
    for inputs in get_args(_settings.Inputs):
        spocc.fit(*panel, method="stacking", inputs=inputs, strength=1)
    for level in get_args(_settings.Level):
        assert spocc.Evidence(*panel, level=level).level == level
    for normalise in get_args(_settings.Normalise):
        assert spocc.Evidence(*panel, open=True, normalise=normalise).normalise == normalise


@pytest.mark.parametrize(("old", "new"), [("silent", "ignore"), ("symbol", "answer")])
def test_the_old_words_for_missing_predictions_still_work(old: str, new: str, panel: Panel) -> None:
    model = spocc.fit(*panel, method="naive-bayes", missing=old)  # type: ignore[arg-type]
    assert model.missing == new


def test_estimators_and_spark_have_the_arguments_of_fit() -> None:
    pytest.importorskip("sklearn")
    from spocc.sklearn._methods import BY_METHOD

    known = signature(spocc.fit).parameters
    for method, estimator in BY_METHOD.items():
        parameters = signature(estimator).parameters
        assert set(parameters) - {"random_state"} <= set(known), method
        assert set(OPTIONS) <= set(parameters), method
        for name in OPTIONS:
            assert parameters[name].default == known[name].default, (method, name)
    pytest.importorskip("pyspark")
    from spocc.spark import fit

    in_spark = signature(fit).parameters
    for name in [*SETTINGS, *OPTIONS, "method", "seed", "unlabelled", "memory", "open", "normalise"]:
        assert in_spark[name].default == known[name].default, name
