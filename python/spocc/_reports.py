"""Reports of the engine as Python objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spocc import _notebook
from spocc._names import title
from spocc._native import printable
from spocc._output import FrameOutput, check, frame

__all__ = [
    "Audit",
    "ClassifierAudit",
    "Contribution",
    "Decisions",
    "Explanation",
    "first",
    "title",
]


def first(words: Sequence[str], n: int) -> str:
    """The first of these words, with hidden characters escaped."""
    return printable(", ".join(words[:n])) + (", .." if len(words) > n else "")


def _square(condensed: dict[str, Any], diagonal: float) -> NDArray[np.float64]:
    """One value per pair as a symmetric matrix; NaN where it is unknown."""
    n = condensed["n"]
    square = np.zeros((n, n))
    # None becomes NaN.
    square[np.triu_indices(n, 1)] = np.array(condensed["values"], dtype=np.float64)
    square += square.T
    np.fill_diagonal(square, diagonal)
    return square


@dataclass(frozen=True, slots=True)
class ClassifierAudit:
    """The audit of one classifier."""

    name: str
    """Its name."""
    verdict: str
    """useful, guesser, unproven, adversary, constant, copy-of or no-predictions."""
    original: str | None
    """The most accurate classifier of its family, if it is a copy."""
    accuracy: float
    """Share of its predictions that are correct."""
    interval: tuple[float, float]
    """95 % interval of the accuracy."""
    relabelled_accuracy: float
    """Accuracy if each label is read as the class that it is shown to stand for; at least `accuracy`."""
    coverage: float
    """Share of the rows for which it has a prediction."""
    information: float
    """Mutual information of its predictions and the truth, in bits; NaN for open answers."""
    p_value: float
    """Probability of at least this information by chance; NaN for open answers."""
    influence: float | None
    """Share of the decisions that change if its predictions are missing; None without a tally."""


def _number(value: float | None) -> float:
    """JSON has no NaN."""
    return float("nan") if value is None else value


class Audit:
    """The accuracy of every classifier of a panel, and the dependence between classifiers.

    Its ``repr`` is the text that the command prints.
    """

    __slots__ = ("_text", "as_dict", "classifiers")
    as_dict: dict[str, Any]
    """The whole audit, with the keys of the command's JSON."""
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
                information=_number(entry["information"]),
                p_value=_number(entry["p_value"]),
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
        """The dependence of every pair of classifiers, as a matrix: 0 for independence, 1 for copies.

        NaN for a pair with fewer than 20 joint rows, or if one of the two is constant on them. None without
        pair counts.
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
        """The method on whose decisions the influence is measured."""
        method: str | None = self.as_dict["influence_on"]
        return method

    @property
    def dissimilarities(self) -> NDArray[np.float64] | None:
        """``exp(-mutual information)`` of every pair, as a matrix; None without pair counts."""
        condensed = self.panel["dissimilarities"]
        return None if condensed is None else _square(condensed, 0.0)

    def to_frame(self) -> Any:
        """A pandas data frame with a row per classifier; ``low`` and ``high`` are the 95 % interval."""
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
        return _notebook.audit(self)


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one classifier to a decision."""

    classifier: str
    """Its name."""
    prediction: Any
    """The label it predicted, with its own type; None if the prediction is missing.

    Of equal open answers, the one of the first classifier by name."""
    possibility: tuple[float, ...] | None
    """The possibility of each class given its prediction, for methods with possibilities."""
    contribution: float | None
    """Its contribution to the log-odds of the decided class against the runner-up."""


class Explanation:
    """The explanation of one decision. Its ``repr`` is the text that the command prints."""

    __slots__ = ("_text", "as_dict", "classes", "contributions")
    as_dict: dict[str, Any]
    """The whole explanation, with the keys of the command's JSON."""
    classes: NDArray[Any]
    """The classes, in the order of all distributions here; of open answers, None and the answers of the row.

    None stands for "none of these", any other answer."""
    contributions: list[Contribution]
    """One entry per classifier, in the order of the model."""

    def __init__(self, report: str, text: str, predicted: Iterable[Any], classes: NDArray[Any]) -> None:
        self.as_dict = json.loads(report)
        self._text = text
        self.classes = classes
        labels = iter(predicted)
        self.contributions = [
            Contribution(
                classifier=entry["classifier"],
                prediction=None if entry["prediction"] is None else next(labels),
                possibility=None if entry["possibility"] is None else tuple(entry["possibility"]),
                contribution=entry["contribution"],
            )
            for entry in self.as_dict["contributions"]
        ]

    @property
    def label(self) -> Any:
        """The decided class; None for open answers of a row that has none."""
        return self.classes[self.as_dict["decision"]["class"]]

    @property
    def runner_up(self) -> Any:
        """The second best class; None if there is only one class, or if it is any other open answer."""
        index = self.as_dict["runner_up"]
        return None if index is None else self.classes[index]

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
        """The probability of each class; None for methods without probabilities."""
        probability = self.as_dict["decision"]["probability"]
        return None if probability is None else np.array(probability, dtype=np.float64)

    @property
    def flips(self) -> list[dict[str, Any]] | None:
        """The changes of a single prediction that change the decision; None if there are too many to try."""
        flips: list[dict[str, Any]] | None = self.as_dict["flips"]
        return flips

    def to_frame(self) -> Any:
        """A pandas data frame with a row per classifier."""
        entries = self.contributions
        columns: dict[str, list[object]] = {
            "classifier": [entry.classifier for entry in entries],
            "prediction": [entry.prediction for entry in entries],
            "contribution": [entry.contribution for entry in entries],
        }
        for index, label in enumerate(self.classes):
            columns[title(label)] = [
                None if entry.possibility is None else entry.possibility[index] for entry in entries
            ]
        return frame(columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        is_same = self.as_dict == other.as_dict and self.contributions == other.contributions
        return is_same and np.array_equal(self.classes, other.classes)

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return _notebook.explanation(self)


# Columns besides the decision.
_FURTHER = ("margin", "answered", "is_tie", "by_prior")
_FRAMES = ("pandas", "polars")


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Decisions on rows, one array per column.

    Two objects are equal if all their arrays are. The arrays are mutable, so there is no hash.
    """

    label: NDArray[Any]
    """The decided classes; of open answers, None for a row that has none."""
    margin: NDArray[np.float64]
    """``1 - runner-up / best`` on the method's scale (possibility, probability, vote share): 0 for a tie."""
    answered: NDArray[np.uint32]
    """Number of classifiers with a prediction that the model knows."""
    is_tie: NDArray[np.bool_]
    """Whether another class is equally good."""
    by_prior: NDArray[np.bool_]
    """Whether the most frequent class is decided because the row has no usable prediction.

    Of open answers, whether the row has no answer, so that nothing is decided."""
    is_open: bool = False
    """Whether the labels are open answers."""
    index: Any = None
    """The pandas index of the rows; None if they have none. It is not compared."""

    def __len__(self) -> int:
        return len(self.label)

    def to_frame(self, output: FrameOutput = "pandas") -> Any:
        """A data frame with a row per decision and the columns of ``spocc predict`` and Spark.

        That of pandas has the index of the decided frame, so that ``X.join(decisions.to_frame())`` adds to
        each row of ``X`` its own decision. That of ``"polars"`` is in the order of the rows.
        """
        check(output, _FRAMES)
        columns = {"decision": self.label} | {name: getattr(self, name) for name in _FURTHER}
        return frame(columns, output, self.index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decisions):
            return NotImplemented
        names = (name for name in Decisions.__slots__ if name != "index")
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return all(np.array_equal(one, another) for one, another in pairs)

    def __repr__(self) -> str:
        n = len(set(self.label.tolist()) - {None})
        n_prior = np.count_nonzero(self.by_prior)
        labels = (
            f"{n} answer{'' if n == 1 else 's'}" if self.is_open else f"{n} class{'' if n == 1 else 'es'}"
        )
        parts = [
            f"{len(self)} row{'' if len(self) == 1 else 's'}",
            labels,
            f"{np.count_nonzero(self.is_tie)} tied",
            f"{n_prior} without an answer" if self.is_open else f"{n_prior} by the prior",
        ]
        return f"Decisions({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return _notebook.decisions(self)
