"""Comparing methods on held-out rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spocc import _input, _native, _notebook
from spocc._evidence import Evidence, refuse_beside_evidence
from spocc._native import DEFAULT_FOLDS, DEFAULT_MISSING, DEFAULT_REPEATS, DEFAULT_TIES
from spocc._output import frame
from spocc._progress import Progress, bar
from spocc._rows import Names, Rows
from spocc._settings import ClassWeight, Method, Missing, Normalise, Ties, options
from spocc._warnings import warn_of_columns, warn_of_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Comparison",
    "Difference",
    "MethodResult",
    "Recommendation",
    "compare",
    "compare_settings",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between the accuracies of two methods on the same rows."""

    by: float
    """The difference, as a share of the rows."""
    interval: tuple[float, float]
    """Its 95 % interval, simultaneous for all methods of a comparison."""
    is_beyond_noise: bool
    """Whether the difference is significant."""


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The result of one method."""

    method: str
    """The method."""
    is_reference: bool
    """Whether it is compared although ``methods`` does not list it."""
    uses_unlabelled: bool
    """Whether it was fitted to the unlabelled rows too."""
    accuracy: float
    """Accuracy on held-out rows."""
    weighted_accuracy: float | None
    """The same with rows weighted by class, by which methods are then ranked; None without class weights."""
    interval: tuple[float, float]
    """95 % interval of the measure by which methods are ranked."""
    behind: Difference | None
    """The difference between the best method and this one; None for the best."""
    most_certain: dict[float, float] | None
    """Accuracy on these shares of the rows, those with the largest margins; None without curves."""
    aurc: float | None
    """Area under the risk-coverage curve, lower is better; None without curves."""


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The conclusions from a comparison."""

    leader: str | None
    """The method with the highest accuracy."""
    runner_up: str | None
    """The one with the next highest."""
    is_lead_beyond_noise: bool
    """Whether the leader is significantly better than the next."""
    beats_best_classifier: bool
    """Whether the leader is significantly better than the best single classifier."""
    beats_majority: bool
    """Whether the leader is significantly better than the majority vote."""
    level_with_leader: list[str]
    """Methods whose difference from the leader is within noise."""
    recommended: str | None
    """The simplest method whose accuracy is close to that of the leader; None below 20 labelled rows."""
    lines: list[str]
    """The same in sentences."""


class Comparison:
    """The accuracy of every method on held-out rows. Its ``repr`` is the text that the command prints."""

    __slots__ = ("_text", "as_dict", "methods", "recommendation")
    as_dict: dict[str, Any]
    """The whole comparison, with the keys of the command's JSON."""
    methods: list[MethodResult]
    """One entry per method, the best first."""
    recommendation: Recommendation
    """The conclusions."""

    def __init__(self, report: str, text: str) -> None:
        self.as_dict = json.loads(report)
        self._text = text
        self.methods = [_result(entry) for entry in self.as_dict["methods"]]
        self.recommendation = Recommendation(**self.as_dict["recommendation"])

    @property
    def n_rows(self) -> int:
        """Number of labelled rows."""
        return int(self.as_dict["n_rows"])

    @property
    def n_unlabelled(self) -> float:
        """Number of unlabelled rows, to which some methods are fitted too."""
        return float(self.as_dict["n_unlabelled"])

    @property
    def held_out(self) -> dict[str, Any]:
        """The rows that methods are evaluated on: by ``folds`` or ``test``."""
        held_out: dict[str, Any] = self.as_dict["held_out"]
        return held_out

    @property
    def refused(self) -> dict[str, str]:
        """The methods that could not be fitted, and why."""
        return {entry["method"]: entry["reason"] for entry in self.as_dict["refused"]}

    @property
    def best_classifier(self) -> dict[str, Any] | None:
        """Name and accuracy of the single classifier with the highest accuracy on the evaluated rows."""
        best: dict[str, Any] | None = self.as_dict["best_classifier"]
        return best

    @property
    def curve(self) -> dict[str, Any] | None:
        """The learning curve: accuracies after fewer labelled rows, and whether more would help."""
        curve: dict[str, Any] | None = self.as_dict["curve"]
        return curve

    def to_frame(self) -> Any:
        """A row per method, as a pandas data frame; ``low`` and ``high`` are the 95 % interval."""
        results = self.methods
        behind = [result.behind for result in results]
        return frame(
            {
                "method": [result.method for result in results],
                "accuracy": [result.accuracy for result in results],
                "weighted_accuracy": [result.weighted_accuracy for result in results],
                "low": [result.interval[0] for result in results],
                "high": [result.interval[1] for result in results],
                "behind": [0.0 if difference is None else difference.by for difference in behind],
                "is_beyond_noise": [
                    difference is not None and difference.is_beyond_noise for difference in behind
                ],
                "aurc": [result.aurc for result in results],
                "is_reference": [result.is_reference for result in results],
                "uses_unlabelled": [result.uses_unlabelled for result in results],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the accuracies, as `spocc.plot.comparison` does."""
        from spocc import plot

        return plot.comparison(self, ax)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self.as_dict == other.as_dict

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return _notebook.comparison(self)


def _result(entry: dict[str, Any]) -> MethodResult:
    behind, risk = entry["behind"], entry["risk"]
    return MethodResult(
        method=entry["method"],
        is_reference=entry["is_reference"],
        uses_unlabelled=entry["uses_unlabelled"],
        accuracy=entry["accuracy"],
        weighted_accuracy=entry["weighted_accuracy"],
        interval=(entry["interval"][0], entry["interval"][1]),
        behind=None
        if behind is None
        else Difference(
            by=behind["by"],
            interval=(behind["interval"][0], behind["interval"][1]),
            is_beyond_noise=behind["is_beyond_noise"],
        ),
        most_certain=None
        if risk is None
        else {share["share"]: share["accuracy"] for share in risk["most_certain"]},
        aurc=None if risk is None else risk["area"],
    )


def compare(
    predictions: object,
    truth: object = None,
    *,
    test: tuple[object, object] | Evidence | None = None,
    methods: Iterable[Method] | None = None,
    folds: int = DEFAULT_FOLDS,
    repeats: int = DEFAULT_REPEATS,
    curve: bool = True,
    names: Iterable[object] | None = None,
    ignore: Names | None = None,
    id: Names | None = None,
    classes: object = None,
    weights: object = None,
    open: bool = False,
    normalise: Normalise = "none",
    missing: Missing = DEFAULT_MISSING,
    ties: Ties = DEFAULT_TIES,
    class_weight: ClassWeight | None = None,
    seed: int = 0,
    unlabelled: bool | None = None,
    memory: int | None = None,
    progress: bool | Progress = False,
) -> Comparison:
    """Evaluates methods on rows that they are not fitted to, as the command ``spocc compare`` does.

    Parameters
    ----------
    predictions, truth, names, ignore, id, classes, weights, open, normalise
        As for `Evidence`; or the evidence alone, which must be a tally.
    test
        Held-out rows to evaluate on instead of by cross-validation: a pair of predictions and truth, or
        evidence. Columns of the predictions that are no classifiers here are ignored, as by `Model.predict`.
    methods
        Some of `spocc.METHODS` (default: all, or all that decide open answers). The best single classifier
        and the majority vote are compared in any case.
    folds
        Folds of the cross-validation.
    repeats
        Repetitions of the cross-validation, each with other folds.
    curve
        Whether to compute the curves: accuracy against margin and against the number of labelled rows.
    missing, ties, class_weight
        As for `fit`, and the same for all methods.
    seed
        Seed of the folds and of random ties.
    unlabelled
        Whether rows without truth are used: by default ``ladder``, ``dawid-skene`` and ``one-coin`` are
        fitted to all of them in every fold. Held-out rows are not among these.
    memory
        Bytes that any one table may need.
    progress
        True for a progress bar (needs tqdm), or a function of stage, done and total.

    Warns
    -----
    ColumnWarning
        As `fit`.
    RowWarning
        For rows that repeat the ``id`` of another row.

    Examples
    --------
    >>> import spocc
    >>> predictions = [["cat", "cat"], ["dog", "dog"], ["cat", "dog"], ["cat", "dog"], ["dog", "cat"]] * 8
    >>> truth = ["cat", "dog", "cat", "dog", "dog"] * 8
    >>> comparison = spocc.compare(predictions, truth, methods=["naive-bayes"])
    >>> comparison.methods[0].accuracy
    0.8
    >>> comparison.best_classifier
    {'name': 'x0', 'accuracy': 0.8}
    """
    settings = compare_settings(methods, folds, repeats, curve, missing, ties, class_weight, seed)
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
            evidence = predictions._labelled() if unlabelled is False else predictions
        else:
            counted, repeated_ids = Rows(predictions, names, ignore, id).count(
                truth,
                classes=classes,
                weights=weights,
                unlabelled=settings.uses_unlabelled and unlabelled is not False,
                open=open,
                normalise=normalise,
                memory=memory,
                progress=callback,
            )
            evidence = Evidence._of(counted)
        warn_of_columns(evidence._engine)
        warn_of_rows(repeated_ids)
        held_out = _held_out(test, classes, evidence, memory)
        limit = None if memory is None else _input.whole("memory", memory)
        report, text = settings.compare(evidence._engine, held_out, memory=limit, progress=callback)
    return Comparison(report, text)


def compare_settings(
    methods: Iterable[Method] | None,
    folds: int,
    repeats: int,
    curve: bool,
    missing: Missing,
    ties: Ties,
    class_weight: ClassWeight | None,
    seed: int,
) -> _native.CompareSettings:
    """The settings of a comparison."""
    return _native.CompareSettings(
        options(missing, ties, class_weight, None, False, seed),
        methods=_input.strings("methods", methods),
        folds=_input.whole("folds", folds),
        repeats=_input.whole("repeats", repeats),
        seed=_input.whole("seed", seed),
        curve=curve,
    )


def _held_out(
    test: tuple[object, object] | Evidence | None,
    classes: object,
    evidence: Evidence,
    memory: int | None,
) -> _native.Evidence | None:
    """The evidence of the test rows, whose answers are open if those of ``evidence`` are."""
    if test is None:
        return None
    if isinstance(test, Evidence):
        return test._engine
    if not isinstance(test, tuple) or len(test) != 2:
        found = type(test).__name__
        raise TypeError(f"test: expected evidence, or a pair of predictions and truth, found {found}")
    predictions, truth = test
    counted, _ = Rows(predictions, evidence.classifiers).count(
        truth,
        classes=classes,
        open=evidence.is_open,
        normalise=evidence.normalise or "none",
        memory=memory,
    )
    return counted
