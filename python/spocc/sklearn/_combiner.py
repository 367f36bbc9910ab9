"""What the estimators of all methods share: rows are counted, counts add up, and a model is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

import spocc
from spocc._fit import model_of, options
from spocc._native import Combiner
from spocc.sklearn._labels import (
    Answers,
    alike,
    check_answers,
    check_truth,
    distinct,
    have_numbers,
    numbered,
)

__all__ = ["LabelCombiner", "ProbabilisticCombiner"]


class LabelCombiner(ClassifierMixin, BaseEstimator):
    """What all combiners share.

    Parameters
    ----------
    missing
        What an empty cell means: ``"silent"`` (not asked), ``"symbol"`` (an answer) or ``"auto"`` (what the
        rows say).
    ties
        Which of several equally good classes is decided: ``"first"`` or ``"random"``, by ``random_state``.
    class_weight
        ``"balanced"``, or how much the rows of each class count.
    calibrate
        ``"split"`` or ``"cross"``, so that `predict_set` can promise something; ``per_class`` for each class.
    random_state
        Seed of whatever is drawn at random. A fit is repeatable unless this is None.

    Attributes
    ----------
    classes_
        The labels of y, in order.
    model_
        The fitted `spocc.Model`, as `spocc.fit` makes it with ``classes=classes_``: explains, audits,
        and can be saved for every other face.
    evidence_
        The `spocc.Evidence` it was fitted to.
    n_features_in_, feature_names_in_
        Number of classifiers, and their names if X was a data frame.
    """

    _method: ClassVar[str]
    _settings: ClassVar[tuple[str, ...]] = ()
    _learns_from_gaps: ClassVar[bool] = False
    # Whether it can decide a class only if somebody names it, whatever that somebody means by it.
    _repeats: ClassVar[bool] = False

    classes_: NDArray[Any]
    _model: spocc.Model | None
    _evidence: spocc.Evidence | None

    def __init__(
        self,
        *,
        missing: str = "auto",
        ties: str = "first",
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
        per_class: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.missing = missing
        self.ties = ties
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.per_class = per_class
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns from what every classifier said and from what was true."""
        return self._learn(check_answers(self, X, reset=True), y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to the evidence; the model is fitted to all of it when it is next needed.

        Any number of pieces, in any order, give the model that `fit` makes of all rows at once. ``classes``
        are all labels that y may ever hold, and must be given the first time.
        """
        _check_partial_fit_first_call(self, classes)
        so_far = self.evidence_ if self.__sklearn_is_fitted__() else None
        answers = check_answers(self, X, reset=so_far is None)
        if so_far is not None:
            answers = alike(answers, so_far.classes)
        rows, known = check_truth(self, y, _n_rows(answers), gaps=self._learns_from_gaps)
        evidence = self._count(answers, rows, known, sample_weight)
        self._evidence = evidence if so_far is None else so_far + evidence
        self._model = None
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The decided class of every row; a label that was never met counts as silence."""
        model, answers = self._asked(X)
        return self.classes_[model.predict_ids(answers)]

    def possibility(self, X: Any) -> NDArray[np.float64]:
        """The possibility of every class, a row per row: 1 means that nothing speaks against it."""
        model, answers = self._asked(X)
        return model.possibility(answers)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of what speaks for every class; of two classes, how far the second one leads."""
        model, answers = self._asked(X)
        support = model.predict_proba(answers) if model.has_probabilities else model.possibility(answers)
        logs = np.log(np.maximum(support, np.finfo(np.float64).tiny))
        # A tie that rounding, chance or the prior decides is decided here too, by the least difference.
        decided = model.predict_ids(answers)
        tied = np.flatnonzero(logs.argmax(axis=1) != decided)
        logs[tied, decided[tied]] = np.nextafter(logs[tied].max(axis=1), np.inf)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict_set(self, X: Any, coverage: float = 0.95) -> NDArray[np.bool_]:
        """Which classes are in a set that holds the truth as often as asked; needs ``calibrate``."""
        model, answers = self._asked(X)
        return model.predict_set(answers, coverage, seed=self._seed())

    @property
    def model_(self) -> spocc.Model:
        """The fitted model."""
        check_is_fitted(self)
        return self._model or self._make(self.evidence_)

    @property
    def evidence_(self) -> spocc.Evidence:
        """The counts that were learned from."""
        check_is_fitted(self)
        evidence = self._evidence if self._model is None else self._evidence or self._model.evidence
        assert evidence is not None, "a model that was just fitted holds its evidence"
        return evidence

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None or getattr(self, "_evidence", None) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        # The checks of scikit-learn hand over features, which name no class.
        tags.classifier_tags.poor_score = self._repeats
        return tags

    def _learn(
        self,
        answers: Answers,
        y: Any,
        sample_weight: Any,
        names: list[str] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> Self:
        # Until the new model is there, there is none: the old one would not know the new classes.
        self._model = self._evidence = None
        rows, known = check_truth(self, y, _n_rows(answers), gaps=self._learns_from_gaps)
        self.classes_ = distinct(rows if known.all() else rows[known]) if classes is None else classes
        self.n_features_in_ = answers.shape[1] if isinstance(answers, np.ndarray) else len(answers)
        self._make(self._count(answers, rows, known, sample_weight, names))
        return self

    def _count(
        self,
        answers: Answers,
        y: NDArray[Any],
        known: NDArray[np.bool_],
        sample_weight: Any,
        names: list[str] | None = None,
    ) -> spocc.Evidence:
        """The evidence of these rows, as much of it as the method needs."""
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
            if not weights.any():
                raise ValueError("Sample weights must contain at least one non-zero number.")
        settings = {name: getattr(self, name) for name in self._settings}
        classes = numbered(self.classes_, have_numbers(answers, self.classes_))
        return spocc.Evidence(
            alike(answers, classes),
            alike(y, classes),
            names=names,
            classes=classes,
            weights=weights,
            level="tally" if self.calibrate is not None else Combiner(self._method, **settings).level,
            unlabelled=self._method == "dawid-skene" or not known.all(),
        )

    def _make(self, evidence: spocc.Evidence) -> spocc.Model:
        # Features of scikit-learn are chosen by the caller: they are not looked at as columns of a table are.
        self._model = model_of(
            evidence,
            Combiner(self._method, **{name: getattr(self, name) for name in self._settings}),
            options(
                self.missing,
                self.ties,
                self._weights(evidence.classes),
                self.calibrate,
                self.per_class,
                self._seed(),
            ),
        )
        # A model holds what it learned from, which is less than it was calibrated with.
        self._evidence = None if self.calibrate is None else evidence
        return self._model

    def _weights(self, classes: NDArray[Any]) -> str | Mapping[Any, float] | None:
        """The weights of the classes by the names that the model has for them, be it 1 for True."""
        given = self.class_weight
        if not isinstance(given, Mapping):
            return given
        names = dict(zip(self.classes_.tolist(), classes.tolist(), strict=True))
        return {names.get(label, label): weight for label, weight in given.items()}

    def _asked(self, X: Any) -> tuple[spocc.Model, Answers]:
        """The model, and what it is asked to decide."""
        model = self.model_
        return model, alike(check_answers(self, X, reset=False), model.classes)

    def _seed(self) -> int:
        """The engine's own seed if it is a number, so that every face draws alike."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


class ProbabilisticCombiner(LabelCombiner):
    """What the combiners share that have probabilities."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class."""
        model, answers = self._asked(X)
        return model.predict_proba(answers)


def _n_rows(answers: Answers) -> int:
    return len(answers if isinstance(answers, np.ndarray) else next(iter(answers.values())))
