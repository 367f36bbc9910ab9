"""The base class of the estimators: it counts rows into evidence and fits a model to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

import spocc
from spocc import _native
from spocc._fit import fit_evidence
from spocc._native import DEFAULT_MISSING, DEFAULT_TIES
from spocc._settings import Calibrate, ClassWeight, Method, Missing, Ties, combiner, options
from spocc.sklearn._validation import (
    Predictions,
    booleans_as_numbers,
    check_predictions,
    check_truth,
    distinct,
    have_numbers,
    with_types_of,
)

__all__ = ["LabelCombiner"]


def documented(own: str, base: str) -> str:
    """The docstring of an estimator with the parameters and attributes of the base class, which it shares."""
    if "\n    Attributes\n" in own or not base:
        return own
    shared = base[base.index("    Parameters\n") :].rstrip()
    parameters, _, attributes = shared.partition("\n\n    Attributes\n")
    lines = parameters.split("\n", 2)[2]
    text, mark, example = own.partition("    Examples\n")
    more = f"\n{lines}" if "    Parameters\n" in text else f"\n\n{parameters}"
    return f"{text.rstrip()}{more}\n\n    Attributes\n{attributes}\n\n{mark}{example}"


class LabelCombiner(ClassifierMixin, BaseEstimator):
    """Base class of the estimators of all methods.

    A classifier of scikit-learn has fixed classes, so there are no estimators for open answers: `spocc.fit`
    decides between these.

    Parameters
    ----------
    missing
        What a missing prediction means: ``"ignore"``, ``"answer"`` (a label of its own) or ``"auto"`` (an
        answer of those classifiers where it says something about the class).
    ties
        Which of the tied classes is decided: the ``"first"``, or one at ``"random"``, drawn from the seed.
    class_weight
        ``"balanced"``, or a weight per class by a mapping; None weights all rows alike.
    calibrate
        How conformal prediction sets are calibrated: ``"split"``, ``"cross"`` or None for no sets.
    per_class
        Whether sets have their coverage within every class.
    random_state
        Seed of random ties and of the calibration split. A fit is repeatable unless this is None.

    Attributes
    ----------
    classes_
        The distinct labels of y, sorted.
    model_
        The fitted `spocc.Model`, equal to that of `spocc.fit` with ``classes=classes_``.
    evidence_
        The `spocc.Evidence` that the model is fitted to.
    n_features_in_, feature_names_in_
        Number of classifiers, and their names if X was a data frame.
    audit_
        The `spocc.Audit` of the classifiers: accuracy, influence, copies, adversaries.
    """

    _method: ClassVar[Method]
    _settings: ClassVar[tuple[str, ...]] = ()
    # Whether predicted labels that are no classes are not used.
    _needs_class_labels: ClassVar[bool] = False

    classes_: NDArray[Any]
    _model: spocc.Model | None
    _evidence: spocc.Evidence | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = documented(cls.__doc__ or "", LabelCombiner.__doc__ or "")

    def __init__(
        self,
        *,
        missing: Missing = DEFAULT_MISSING,
        ties: Ties = DEFAULT_TIES,
        class_weight: ClassWeight | None = None,
        calibrate: Calibrate | None = None,
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
        """Fits the model to the predictions X and the true labels y."""
        return self._learn(check_predictions(self, X, reset=True), y, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows to the evidence; the model is fitted to all of it when it is used next.

        Any number of batches, in any order, give the model of `fit` on all rows. ``classes`` are all labels
        that y may ever contain, and are required in the first call.
        """
        _check_partial_fit_first_call(self, classes)
        previous = self.evidence_ if self.__sklearn_is_fitted__() else None
        predictions = check_predictions(self, X, reset=previous is None)
        if previous is not None:
            predictions = with_types_of(previous.classes, predictions)
        rows, known = self._check_truth(y, predictions)
        evidence = self._count(predictions, rows, known, sample_weight)
        self._evidence = evidence if previous is None else previous + evidence
        self._model = None
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The decided class of every row; a label that is not in the evidence counts as missing."""
        model, predictions = self._aligned(X)
        return self.classes_[model.predict_ids(predictions)]

    def predict_possibility(self, X: Any) -> NDArray[np.float64]:
        """The possibility of every class (columns) in every row: 1 if no prediction contradicts it."""
        model, predictions = self._aligned(X)
        degrees: NDArray[np.float64] = model.predict_possibility(predictions)
        return degrees

    @available_if(lambda self: combiner(self._method).has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class (columns) in every row, for methods with probabilities."""
        model, predictions = self._aligned(X)
        degrees: NDArray[np.float64] = model.predict_proba(predictions)
        return degrees

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The logarithm of the probability or possibility of every class; of two classes, the difference."""
        model, predictions = self._aligned(X)
        degrees: NDArray[np.float64] = (
            model.predict_proba(predictions)
            if model.has_probabilities
            else model.predict_possibility(predictions)
        )
        logs: NDArray[np.float64] = np.log(np.maximum(degrees, np.finfo(np.float64).tiny))
        # The decided class of a tie gets the smallest possible lead, so that argmax agrees with `predict`.
        decided = model.predict_ids(predictions)
        tied = np.flatnonzero(logs.argmax(axis=1) != decided)
        logs[tied, decided[tied]] = np.nextafter(logs[tied].max(axis=1), np.inf)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict_set(self, X: Any, coverage: float = 0.95) -> NDArray[np.bool_]:
        """The conformal prediction set of every row, as a mask of classes (columns); needs ``calibrate``."""
        model, predictions = self._aligned(X)
        members: NDArray[np.bool_] = model.predict_set(predictions, coverage, seed=self._seed())
        return members

    def explain(self, X: Any, row: int = 0) -> spocc.Explanation:
        """The contribution of every classifier to the decision on one row, counted from 0."""
        model, predictions = self._aligned(X)
        return model.explain(predictions, row)

    @property
    def audit_(self) -> spocc.Audit:
        """The accuracy and the influence of every classifier, and which of them are copies or adversaries."""
        return self.model_.audit()

    @property
    def model_(self) -> spocc.Model:
        """The fitted model."""
        check_is_fitted(self)
        return self._model or self._fit_evidence(self.evidence_)

    @property
    def evidence_(self) -> spocc.Evidence:
        """The evidence that the model is fitted to."""
        check_is_fitted(self)
        evidence = self._evidence if self._model is None else self._evidence or self._model.evidence
        assert evidence is not None, "a fitted model holds its evidence"
        return evidence

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None or getattr(self, "_evidence", None) is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        # The checks of scikit-learn pass features, which are not labels of classes.
        tags.classifier_tags.poor_score = self._needs_class_labels
        return tags

    def _learn(
        self,
        predictions: Predictions,
        y: Any,
        sample_weight: Any,
        names: list[str] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> Self:
        # If fitting fails, there is no model: the previous one has other classes.
        self._model = self._evidence = None
        rows, known = self._check_truth(y, predictions)
        self.classes_ = distinct(rows if known.all() else rows[known]) if classes is None else classes
        if isinstance(predictions, np.ndarray):
            self.n_features_in_ = predictions.shape[1]
        else:
            self.n_features_in_ = len(predictions)
        self._fit_evidence(self._count(predictions, rows, known, sample_weight, names))
        return self

    def _count(
        self,
        predictions: Predictions,
        y: NDArray[Any],
        known: NDArray[np.bool_],
        sample_weight: Any,
        names: list[str] | None = None,
    ) -> spocc.Evidence:
        """The evidence of these rows, at the level of detail that the method needs."""
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
            if not weights.any():
                raise ValueError("Sample weights must contain at least one non-zero number.")
        classes = booleans_as_numbers(self.classes_, have_numbers(predictions, self.classes_))
        # Rows without truth are passed only if the method uses them.
        unlabelled = None if known.all() else True
        level, uses_unlabelled = self._combiner().counting(True, unlabelled, self.calibrate is not None)
        return spocc.Evidence(
            with_types_of(classes, predictions),
            with_types_of(classes, y),
            names=names,
            classes=classes,
            weights=weights,
            level=level,
            unlabelled=uses_unlabelled,
        )

    def _fit_evidence(self, evidence: spocc.Evidence) -> spocc.Model:
        # The caller chose the features, so that there are no warnings about columns as in `spocc.fit`.
        self._model = fit_evidence(evidence, self._combiner(), self._options(evidence.classes))
        # A calibrated model does not hold the rows of the calibration.
        self._evidence = None if self.calibrate is None else evidence
        return self._model

    def _combiner(self) -> _native.Combiner:
        return combiner(self._method, **{name: getattr(self, name) for name in self._settings})

    def _options(self, classes: NDArray[Any]) -> _native.Options:
        return options(
            self.missing,
            self.ties,
            self._weights(classes),
            self.calibrate,
            self.per_class,
            self._seed(),
        )

    def _check_truth(self, y: Any, predictions: Predictions) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """One label per row, and which of them are known; all of them unless the method uses other rows."""
        n_rows = len(predictions if isinstance(predictions, np.ndarray) else next(iter(predictions.values())))
        return check_truth(self, y, n_rows, allow_missing=combiner(self._method).uses_unlabelled)

    def _weights(self, classes: NDArray[Any]) -> ClassWeight | None:
        """The weights of the classes by the labels of the model, which are 0 and 1 for some booleans."""
        given = self.class_weight
        if not isinstance(given, Mapping):
            return cast("ClassWeight | None", given)
        names = dict(zip(self.classes_.tolist(), classes.tolist(), strict=True))
        return {names.get(label, label): weight for label, weight in given.items()}

    def _aligned(self, X: Any) -> tuple[spocc.Model, Predictions]:
        """The model, and the predictions with labels of its types."""
        model = self.model_
        return model, with_types_of(model.classes, check_predictions(self, X, reset=False))

    def _seed(self) -> int:
        """The seed of the engine: an integer as it is, so that decisions equal those of `spocc.fit`."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
