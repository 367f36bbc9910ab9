"""Reports of the engine as objects of Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Audit", "ClassifierAudit", "Decisions", "Explanation", "Voice", "frame"]


def frame(columns: dict[str, Any]) -> Any:
    """A data frame of pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("to_frame needs pandas: pip install 'spocc[pandas]'") from None
    return pd.DataFrame(columns)


def _html(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        if value is None:
            return ""
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    caption = f"<caption>{escape(caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True, slots=True)
class ClassifierAudit:
    """What is known about one classifier."""

    name: str
    """Its name."""
    verdict: str
    """useful, guesser, unproven, adversary, constant, copy-of or silent."""
    original: str | None
    """Whom it copies."""
    accuracy: float
    """Share of its answers that were right."""
    interval: tuple[float, float]
    """95 % interval of the accuracy."""
    relabelled_accuracy: float
    """Accuracy once each answer is read as what it mostly means."""
    coverage: float
    """Share of the rows on which it spoke."""
    information: float
    """What its answers tell about the truth, in bits."""
    p_value: float
    """Probability of so much information by chance."""
    influence: float | None
    """Share of the decisions that change without it; needs a model."""


class Audit:
    """Who of a panel is worth listening to, who guesses, copies, lies or keeps silent.

    Its ``repr`` is the engine's own report.
    """

    __slots__ = ("_text", "as_dict", "classifiers")
    as_dict: dict[str, Any]
    """Everything, by the keys that every face of spocc uses."""
    classifiers: list[ClassifierAudit]
    """One entry per classifier."""

    def __init__(self, report: str, text: str) -> None:
        self.as_dict = json.loads(report)
        self._text = text
        self.classifiers = [
            ClassifierAudit(
                name=entry["name"],
                verdict=entry["verdict"],
                original=entry.get("original"),
                accuracy=entry["accuracy"],
                interval=(entry["interval"][0], entry["interval"][1]),
                relabelled_accuracy=entry["relabelled_accuracy"],
                coverage=entry["coverage"],
                information=entry["information"],
                p_value=entry["p_value"],
                influence=entry["influence"],
            )
            for entry in self.as_dict["classifiers"]
        ]

    @property
    def n_rows(self) -> float:
        """Number of labelled rows, or the sum of their weights."""
        return float(self.as_dict["n_rows"])

    @property
    def panel(self) -> dict[str, Any]:
        """How the panel hangs together: agreement, dissimilarities, dendrogram, effective votes."""
        panel: dict[str, Any] = self.as_dict["panel"]
        return panel

    @property
    def dissimilarities(self) -> NDArray[np.float64] | None:
        """1 less the dependence of every pair of classifiers, as a square; None without pair counts."""
        condensed = self.panel["dissimilarities"]
        if condensed is None:
            return None
        n = condensed["n"]
        square = np.zeros((n, n))
        square[np.triu_indices(n, 1)] = condensed["values"]
        return square + square.T

    def to_frame(self) -> Any:
        """A row per classifier, as a data frame of pandas."""
        names = [name for name in ClassifierAudit.__slots__ if name != "interval"]
        columns = {name: [getattr(entry, name) for entry in self.classifiers] for name in names}
        columns["low"] = [entry.interval[0] for entry in self.classifiers]
        columns["high"] = [entry.interval[1] for entry in self.classifiers]
        return frame(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Audit):
            return NotImplemented
        return self.as_dict == other.as_dict

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        header = ["classifier", "verdict", "right", "95 %", "relabelled", "spoke", "bits", "sways"]
        rows = [
            [
                entry.name,
                entry.verdict if entry.original is None else f"copy of {entry.original}",
                entry.accuracy,
                f"{entry.interval[0]:.2f}-{entry.interval[1]:.2f}",
                entry.relabelled_accuracy,
                entry.coverage,
                entry.information,
                entry.influence,
            ]
            for entry in self.classifiers
        ]
        return _html(f"{len(rows)} classifiers, {self.n_rows:g} labelled rows", header, rows)


@dataclass(frozen=True, slots=True)
class Voice:
    """What one classifier contributed to a decision."""

    classifier: str
    """Its name."""
    said: Any
    """What it said, as it went in; None if it said nothing."""
    possibility: tuple[float, ...] | None
    """The possibility its answer leaves to each class; for possibilistic methods."""
    push: float | None
    """How much it pushes towards the decision and away from the runner-up."""


class Explanation:
    """Why one row was decided as it was. Its ``repr`` is the engine's own text."""

    __slots__ = ("_text", "as_dict", "classes", "voices")
    as_dict: dict[str, Any]
    """Everything, by the keys that every face of spocc uses."""
    classes: NDArray[Any]
    """The classes, in the order of all distributions here."""
    voices: list[Voice]
    """Every classifier, in the order of the model."""

    def __init__(self, report: str, text: str, said: Iterable[Any], classes: NDArray[Any]) -> None:
        self.as_dict = json.loads(report)
        self._text = text
        self.classes = classes
        labels = iter(said)
        self.voices = [
            Voice(
                classifier=voice["classifier"],
                said=None if voice["said"] is None else next(labels),
                possibility=None if voice["possibility"] is None else tuple(voice["possibility"]),
                push=voice["push"],
            )
            for voice in self.as_dict["voices"]
        ]

    @property
    def label(self) -> Any:
        """The decided class."""
        return self.classes[self.as_dict["decision"]["class"]]

    @property
    def runner_up(self) -> Any:
        """The class that would have been next, if there is one."""
        place = self.as_dict["runner_up"]
        return None if place is None else self.classes[place]

    @property
    def margin(self) -> float:
        """``1 - runner-up / best`` on the method's own scale: 0 for a tie."""
        return float(self.as_dict["decision"]["margin"])

    @property
    def possibility(self) -> NDArray[np.float64]:
        """The fused possibility of each class."""
        return np.array(self.as_dict["decision"]["possibility"], dtype=np.float64)

    @property
    def probability(self) -> NDArray[np.float64] | None:
        """The probability of each class, from methods that have one."""
        probability = self.as_dict["decision"]["probability"]
        return None if probability is None else np.array(probability, dtype=np.float64)

    @property
    def flips(self) -> list[dict[str, Any]] | None:
        """Every single other answer that would change the decision; None if there are too many to try."""
        flips: list[dict[str, Any]] | None = self.as_dict["flips"]
        return flips

    def to_frame(self) -> Any:
        """A row per classifier, as a data frame of pandas."""
        columns: dict[str, list[object]] = {
            "classifier": [voice.classifier for voice in self.voices],
            "said": [voice.said for voice in self.voices],
            "push": [voice.push for voice in self.voices],
        }
        for place, label in enumerate(self.classes):
            columns[str(label)] = [
                None if voice.possibility is None else voice.possibility[place] for voice in self.voices
            ]
        return frame(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        same = self.as_dict == other.as_dict and self.voices == other.voices
        return same and np.array_equal(self.classes, other.classes)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        rows = [
            [
                voice.classifier,
                "" if voice.said is None else str(voice.said),
                *(voice.possibility or [None] * len(self.classes)),
                voice.push,
            ]
            for voice in self.voices
        ]
        rows.append(["all", None, *self.possibility.tolist(), None])
        header = ["classifier", "said", *(str(label) for label in self.classes), "push"]
        return _html(f"decided: {self.label}, margin {self.margin:.3f}", header, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decided rows, an array per question.

    Two are equal if all their arrays are. Arrays can be written to, so there is no hash.
    """

    label: NDArray[Any]
    """The decided classes."""
    margin: NDArray[np.float64]
    """``1 - runner-up / best`` on the method's own scale (possibility, probability, vote share): 0 for a tie."""
    answered: NDArray[np.uint32]
    """How many classifiers spoke and were understood."""
    is_tie: NDArray[np.bool_]
    """Whether other classes were as good."""
    by_prior: NDArray[np.bool_]
    """Whether nobody said anything that counts."""

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self) -> Any:
        """A row per decision, as a data frame of pandas."""
        return frame({name: getattr(self, name) for name in Decisions.__slots__})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decisions):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in Decisions.__slots__)
        return all(np.array_equal(one, another) for one, another in pairs)
