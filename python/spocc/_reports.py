"""Reports of the engine as objects of Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Audit", "ClassifierAudit", "Decisions", "Explanation", "Voice", "frame", "html", "shown"]


def frame(columns: dict[str, Any]) -> Any:
    """A data frame of pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError("to_frame needs pandas: pip install 'spocc[pandas]'") from None
    return pd.DataFrame(columns)


def html(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], notes: str = "") -> str:
    """A table of texts with notes below it, escaped: names and labels may hold markup."""

    def line(tag: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head = f"<thead>{line('th', header)}</thead>" if header else ""
    body = "".join(line("td", row) for row in rows)
    table = f"<table><caption>{escape(caption)}</caption>{head}<tbody>{body}</tbody></table>"
    return table + (f"<pre>{escape(notes)}</pre>" if notes else "")


def shown(names: Iterable[object]) -> str:
    """How many there are, and the first of them."""
    words = [str(name) for name in names]
    return f"{len(words)}: {', '.join(words[:12])}{', ..' if len(words) > 12 else ''}"


def _around_table(text: str) -> tuple[str, str]:
    """What a report of the engine says before and after its table: blank lines set them apart."""
    head, _, rest = text.partition("\n\n")
    return head, rest.partition("\n\n")[2]


def _square(condensed: dict[str, Any], diagonal: float) -> NDArray[np.float64]:
    """One value per pair as a symmetric square; not a number where it is unknown."""
    n = condensed["n"]
    square = np.zeros((n, n))
    # None becomes not a number.
    square[np.triu_indices(n, 1)] = np.array(condensed["values"], dtype=np.float64)
    square += square.T
    np.fill_diagonal(square, diagonal)
    return square


@dataclass(frozen=True, slots=True)
class ClassifierAudit:
    """What is known about one classifier."""

    name: str
    """Its name."""
    verdict: str
    """useful, guesser, unproven, adversary, constant, copy-of or silent."""
    original: str | None
    """The most accurate classifier of its family, if it is a copy."""
    accuracy: float
    """Share of its predictions that are right."""
    interval: tuple[float, float]
    """95 % interval of the accuracy."""
    relabelled_accuracy: float
    """Accuracy if each label is read as the class it is shown to stand for; never below `accuracy`."""
    coverage: float
    """Share of the rows with a prediction."""
    information: float
    """Mutual information of its predictions and the truth, in bits."""
    p_value: float
    """Probability of so much information by chance."""
    influence: float | None
    """Share of the decisions that change if its predictions are missing; needs a tally."""


class Audit:
    """How good every classifier of a panel is, and which of them depend on each other.

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
        """Figures about all classifiers: agreement, dependence, families, dendrogram, effective votes."""
        panel: dict[str, Any] = self.as_dict["panel"]
        return panel

    @property
    def dependence(self) -> NDArray[np.float64] | None:
        """The dependence of every pair of classifiers, as a square: 0 for independence, 1 for copies.

        Not a number for a pair with fewer than 20 joint rows, or if one of the two is constant on them. None
        without pair counts.
        """
        condensed = self.panel["dependence"]
        return None if condensed is None else _square(condensed, 1.0)

    @property
    def families(self) -> list[list[str]]:
        """Families of copies, each with its most accurate member first."""
        families: list[list[str]] = self.panel["families"]
        return families

    @property
    def influence_on(self) -> str | None:
        """The method whose decisions influence is measured on."""
        method: str | None = self.as_dict["influence_on"]
        return method

    @property
    def dissimilarities(self) -> NDArray[np.float64] | None:
        """The paper's ``exp(-mutual information)`` of every pair, as a square; None without pair counts."""
        condensed = self.panel["dissimilarities"]
        return None if condensed is None else _square(condensed, 0.0)

    def to_frame(self) -> Any:
        """A row per classifier, as a data frame of pandas; ``low`` and ``high`` are the 95 % interval."""
        entries = self.classifiers
        columns: dict[str, list[Any]] = {
            "classifier": [entry.name for entry in entries],
            "accuracy": [entry.accuracy for entry in entries],
            "low": [entry.interval[0] for entry in entries],
            "high": [entry.interval[1] for entry in entries],
        }
        further = ("relabelled_accuracy", "coverage", "information", "influence", "verdict", "original")
        for name in (*further, "p_value"):
            columns[name] = [getattr(entry, name) for entry in entries]
        return frame(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Audit):
            return NotImplemented
        return self.as_dict == other.as_dict

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        columns: dict[str, Callable[[ClassifierAudit], str]] = {
            "classifier": lambda entry: entry.name,
            "accuracy": lambda entry: f"{entry.accuracy:.1%}",
            "95 %": lambda entry: f"{100 * entry.interval[0]:.0f}-{100 * entry.interval[1]:.0f}",
            "relabelled_accuracy": lambda entry: f"{entry.relabelled_accuracy:.1%}",
            "coverage": lambda entry: f"{entry.coverage:.0%}",
            "information": lambda entry: f"{entry.information:.2f}",
            "influence": lambda entry: "" if entry.influence is None else f"{entry.influence:.1%}",
            "verdict": _verdict,
        }
        if all(entry.influence is None for entry in self.classifiers):
            del columns["influence"]
        rows = [[show(entry) for show in columns.values()] for entry in self.classifiers]
        caption, notes = _around_table(self._text)
        return html(caption, list(columns), rows, notes)


def _verdict(entry: ClassifierAudit) -> str:
    """A verdict in the words of the engine's report."""
    return entry.verdict if entry.original is None else f"copy of {entry.original}"


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
                "-" if voice.said is None else str(voice.said),
                *map(_degree, voice.possibility or [None] * len(self.classes)),
                "" if voice.push is None else f"{voice.push:+.2f}",
            ]
            for voice in self.voices
        ]
        totals = {"possibility": self.possibility, "probability": self.probability}
        for name, degrees in totals.items():
            if degrees is not None:
                rows.append([name, "", *map(_degree, degrees.tolist()), ""])
        header = ["classifier", "said", *(str(label) for label in self.classes), "push"]
        caption, notes = _around_table(self._text)
        return html(caption, header, rows, notes)


def _degree(degree: float | None) -> str:
    """A possibility as the engine's text shows it."""
    if degree is None:
        return ""
    if 0 < degree < 0.001:
        return np.format_float_scientific(degree, precision=0, exp_digits=1, trim="-")
    return f"{degree:.3f}"


# Rows shown of many.
_SHOWN = 10
# What is known of a decision besides its label.
_FURTHER = ("margin", "answered", "is_tie", "by_prior")


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decided rows, an array per question.

    Two are equal if all their arrays are. Arrays can be written to, so there is no hash.
    """

    label: NDArray[Any]
    """The decided classes."""
    margin: NDArray[np.float64]
    """``1 - runner-up / best`` on the method's scale (possibility, probability, vote share): 0 for a tie."""
    answered: NDArray[np.uint32]
    """How many classifiers gave a prediction that the model knows."""
    is_tie: NDArray[np.bool_]
    """Whether other classes were as good."""
    by_prior: NDArray[np.bool_]
    """Whether the most frequent class was decided, because no prediction of the row counts."""

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self) -> Any:
        """A row per decision, as a data frame of pandas, with the columns of ``spocc predict`` and Spark."""
        return frame({"decision": self.label} | {name: getattr(self, name) for name in _FURTHER})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decisions):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(other, name)) for name in Decisions.__slots__)
        return all(np.array_equal(one, another) for one, another in pairs)

    def __repr__(self) -> str:
        n_classes = len(set(self.label.tolist()))
        parts = [
            f"{len(self)} row{'' if len(self) == 1 else 's'}",
            f"{n_classes} class{'' if n_classes == 1 else 'es'}",
            f"{np.count_nonzero(self.is_tie)} tied",
            f"{np.count_nonzero(self.by_prior)} by the prior",
        ]
        return f"Decisions({', '.join(parts)})"

    def _repr_html_(self) -> str:
        columns = zip(
            self.label[:_SHOWN].tolist(),
            self.margin[:_SHOWN],
            self.answered[:_SHOWN],
            self.is_tie[:_SHOWN],
            self.by_prior[:_SHOWN],
            strict=True,
        )
        rows = [
            [str(row), str(label), f"{margin:.3f}", str(answered), str(is_tie), str(by_prior)]
            for row, (label, margin, answered, is_tie, by_prior) in enumerate(columns)
        ]
        more = len(self) - len(rows)
        notes = f"and {more} more row{'' if more == 1 else 's'}" if more else ""
        return html(repr(self), ["row", "decision", *_FURTHER], rows, notes)
