"""Names and labels with hidden characters: shown escaped in texts, exact as data."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spocc

# A bidirectional override, a zero-width space, a terminal escape, a C1 control, a line end, Hebrew letters.
HOSTILE = "\u202e\u200b\x1b[2J\x9b\nשל"
ESCAPED = r"\u{202e}\u{200b}\u{1b}[2J\u{9b}\nשל"
A, X, Y = f"a{HOSTILE}", f"x{HOSTILE}", f"y<{HOSTILE}"

TRUTH = [X, Y] * 30
PREDICTIONS = {
    A: [Y if row % 7 == 6 else label for row, label in enumerate(TRUTH)],
    f"b{HOSTILE}": [Y if row % 7 == 6 else label for row, label in enumerate(TRUTH)],
    "c": [Y if row % 3 == 2 else label for row, label in enumerate(TRUTH)],
}


def hidden(text: str) -> list[str]:
    """The hidden characters of a text, and the line ends of names."""
    return [c for c in text if c != "\n" and not c.isprintable()] + ["\n"] * text.count("\nשל")


def test_reports_show_hidden_characters_escaped() -> None:
    model = spocc.fit(PREDICTIONS, TRUTH, "adaspocc")
    assert model.evidence is not None
    reports: list[Any] = [
        model,
        model.evidence,
        model.audit(),
        model.explain(PREDICTIONS),
        spocc.compare(PREDICTIONS, TRUTH, methods=["majority"], repeats=1),
        model.decide(PREDICTIONS),
    ]
    for report in reports:
        for text in (repr(report), str(report), report._repr_html_()):
            assert hidden(text) == [], text
        assert ESCAPED in report._repr_html_()
    assert f"2 classes: x{ESCAPED}, y<{ESCAPED}; " in repr(model)
    assert f"2 classes: x{ESCAPED}, y<{ESCAPED}; " in repr(model.evidence)
    for report in (model, model.evidence, model.explain(PREDICTIONS), model.decide(PREDICTIONS)):
        assert f"y&lt;{ESCAPED}" in report._repr_html_()
    assert hidden(repr(model.audit().classifiers)) == []


def test_data_keeps_hidden_characters(tmp_path: Path) -> None:
    model = spocc.fit(PREDICTIONS, TRUTH, "naive-bayes")
    assert model.classifiers[0] == A
    assert model.classes.tolist() == [X, Y]
    assert model.predict(PREDICTIONS)[0] == X
    assert model.audit().classifiers[0].name == A
    assert json.loads(json.dumps(model.audit().as_dict))["classifiers"][0]["name"] == A
    model.save(tmp_path / "m.spocc")
    assert spocc.load_model(tmp_path / "m.spocc").classifiers[0] == A


def test_messages_show_hidden_characters_escaped(tmp_path: Path) -> None:
    model = spocc.fit(PREDICTIONS, TRUTH, "spocc")
    twice = pd.DataFrame([[X, X]], columns=[A, A])
    unknown = {name: [f"z{HOSTILE}"] for name in PREDICTIONS}
    refused: list[Callable[[], Any]] = [
        lambda: model.predict({"c": [X]}),
        lambda: model.predict(unknown, strict=True),
        lambda: spocc.fit(twice, [X]),
        lambda: spocc.fit({A: 3}, [X]),
        lambda: spocc.fit({A: np.zeros((2, 2))}, [X]),
        lambda: spocc.fit({A: [1.5]}, [X]),
        lambda: spocc.fit(PREDICTIONS, TRUTH, names=HOSTILE),
        lambda: spocc.fit(PREDICTIONS, TRUTH, names=[f"q{HOSTILE}"]),
        lambda: spocc.fit(PREDICTIONS, TRUTH, classes=[X, X]),
        lambda: spocc.fit(PREDICTIONS, TRUTH, method=HOSTILE),  # type: ignore[arg-type]
        lambda: model.evidence.confusion(f"q{HOSTILE}"),  # type: ignore[union-attr]
    ]
    for call in refused:
        with pytest.raises((spocc.SpoccError, TypeError)) as caught:
            call()
        message = str(caught.value)
        assert hidden(message) == [], message
        assert "\n" not in message
        assert r"\u{202e}" in message or r"\u202e" in message, message
    with pytest.raises(OSError, match="No such file") as missing:
        spocc.load_model(tmp_path / HOSTILE)
    assert hidden(str(missing.value)) == []


def test_warnings_show_hidden_characters_escaped() -> None:
    ids = {f"id{HOSTILE}": [f"{row}{HOSTILE}" for row in range(60)]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spocc.fit(PREDICTIONS | ids, [*TRUTH[:-1], f"once{HOSTILE}"], "spocc")
    messages = [str(warning.message) for warning in caught]
    assert any(f"column `id{ESCAPED}`" in message for message in messages)
    assert any(f"once{ESCAPED}" in message for message in messages)
    assert [hidden(message) for message in messages] == [[]] * len(messages)
