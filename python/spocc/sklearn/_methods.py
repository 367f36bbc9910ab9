"""One estimator per method: X holds a column of predictions per classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spocc._native import DEFAULT_MISSING, DEFAULT_TIES
from spocc._settings import Calibrate, ClassWeight, Exponent, Inputs, Missing, Strength, Ties, Tuning
from spocc.sklearn._base import LabelCombiner

__all__ = [
    "BY_METHOD",
    "AdaSpoccClassifier",
    "BayesClassifier",
    "DawidSkeneClassifier",
    "ExpVoteClassifier",
    "LadderClassifier",
    "MajorityClassifier",
    "NaiveBayesClassifier",
    "OneCoinClassifier",
    "OneHotStackingClassifier",
    "SelectionClassifier",
    "SpoccClassifier",
    "WeightedVoteClassifier",
]


class LadderClassifier(LabelCombiner):
    """A pool of shrunk confusions, votes, the best classifier and a regression: the default method.

    It is robust to copies, guessers and adversaries. Rows whose y is None or NaN are used as unlabelled rows;
    -1 is a label like any other.

    Examples
    --------
    >>> from spocc.sklearn import LadderClassifier
    >>> X = [[0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 0]] * 5
    >>> LadderClassifier().fit(X, [0, 1, 0, 1] * 5).predict([[0, 1, 1]])
    array([0])
    """

    _method = "ladder"


class TunedCombiner(LabelCombiner):
    """Base class of the estimators whose only setting is ``tuning``."""

    _settings = ("tuning",)

    def __init__(
        self,
        *,
        tuning: Tuning | None = None,
        missing: Missing = DEFAULT_MISSING,
        ties: Ties = DEFAULT_TIES,
        class_weight: ClassWeight | None = None,
        calibrate: Calibrate | None = None,
        per_class: bool = False,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            missing=missing,
            ties=ties,
            class_weight=class_weight,
            calibrate=calibrate,
            per_class=per_class,
            random_state=random_state,
        )
        self.tuning = tuning


class SpoccClassifier(LabelCombiner):
    """Possibilistic fusion at one exponent.

    Parameters
    ----------
    exponent
        Exponent of the t-norm, from 1 (independent classifiers) to ``"inf"`` (copies), or ``"tuned"``.
    tuning
        Validation of a tuned exponent: ``"leave-one-out"``, ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import SpoccClassifier
    >>> X = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
    >>> combiner = SpoccClassifier(exponent="inf").fit(X, ["cat", "dog", "cat", "dog"])
    >>> combiner.predict([["dog", "cat", "cat"]])  # the third is always wrong
    array(['dog'], dtype='<U3')
    """

    _method = "spocc"
    _settings = ("exponent", "tuning")

    def __init__(
        self,
        *,
        exponent: Exponent | None = None,
        tuning: Tuning | None = None,
        missing: Missing = DEFAULT_MISSING,
        ties: Ties = DEFAULT_TIES,
        class_weight: ClassWeight | None = None,
        calibrate: Calibrate | None = None,
        per_class: bool = False,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            missing=missing,
            ties=ties,
            class_weight=class_weight,
            calibrate=calibrate,
            per_class=per_class,
            random_state=random_state,
        )
        self.exponent = exponent
        self.tuning = tuning


class AdaSpoccClassifier(TunedCombiner):
    """Possibilistic fusion along a dendrogram of dependence, with fitted exponents and discounts.

    Parameters
    ----------
    tuning
        Validation of the settings: ``"leave-one-out"``, ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import AdaSpoccClassifier
    >>> X = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
    >>> combiner = AdaSpoccClassifier().fit(X, ["cat", "dog", "cat", "dog"])
    >>> combiner.predict([["dog", "cat", "cat"]])  # the third is always wrong
    array(['dog'], dtype='<U3')
    """

    _method = "adaspocc"


class SelectionClassifier(LabelCombiner):
    """The most accurate classifier alone.

    Examples
    --------
    >>> from spocc.sklearn import SelectionClassifier
    >>> SelectionClassifier().fit([[0, 1], [1, 1], [0, 0]], [0, 1, 0]).predict([[1, 0]])
    array([1])
    """

    _method = "selection"
    _needs_class_labels = True


class MajorityClassifier(LabelCombiner):
    """The majority vote.

    Examples
    --------
    >>> from spocc.sklearn import MajorityClassifier
    >>> MajorityClassifier().fit([[0, 1, 1], [1, 1, 0]], [0, 1]).predict([[1, 0, 1]])
    array([1])
    """

    _method = "majority"
    _needs_class_labels = True


class WeightedVoteClassifier(LabelCombiner):
    """Votes weighted by accuracy.

    Examples
    --------
    >>> from spocc.sklearn import WeightedVoteClassifier
    >>> WeightedVoteClassifier().fit([[0, 1, 1], [1, 0, 0]], [0, 1]).predict([[1, 0, 0]])
    array([1])
    """

    _method = "weighted-vote"
    _needs_class_labels = True


class ExpVoteClassifier(TunedCombiner):
    """Votes weighted by a fitted exponential of accuracy.

    Parameters
    ----------
    tuning
        Validation of the rate: ``"leave-one-out"``, ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import ExpVoteClassifier
    >>> X = [[0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0]]
    >>> ExpVoteClassifier().fit(X, [0, 1, 1, 0]).predict([[1, 0, 0]])
    array([1])
    """

    _method = "exp-vote"
    _needs_class_labels = True


class NaiveBayesClassifier(LabelCombiner):
    """Naive Bayes: predictions are independent given the truth.

    Examples
    --------
    >>> from spocc.sklearn import NaiveBayesClassifier
    >>> combiner = NaiveBayesClassifier().fit([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1])
    >>> combiner.predict_proba([[1, 0]]).round(2)
    array([[0.25, 0.75]])
    """

    _method = "naive-bayes"


class BayesClassifier(LabelCombiner):
    """The joint table of all predictions (behaviour-knowledge space): optimal if every pattern is frequent.

    Examples
    --------
    >>> from spocc.sklearn import BayesClassifier
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 9
    >>> BayesClassifier().fit(X, [0, 1, 1, 0] * 9).predict([[1, 1], [1, 0]])
    array([0, 1])
    """

    _method = "bayes"


class OneHotStackingClassifier(LabelCombiner):
    """Softmax regression on the predictions.

    Parameters
    ----------
    inputs
        Encoding of the predictions: ``"one-hot"``, an input per label, or ``"ordinal"``, its number.
    strength
        Inverse regularisation strength, as C of ``LogisticRegression``: a number above 0, or ``"tuned"``.
    tuning
        Validation of a tuned strength: ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import OneHotStackingClassifier
    >>> X = [[0, 1], [1, 1], [0, 0], [1, 0]] * 5
    >>> OneHotStackingClassifier(strength=1).fit(X, [0, 1, 0, 1] * 5).predict([[1, 0]])
    array([1])
    """

    _method = "stacking"
    _settings = ("inputs", "strength", "tuning")

    def __init__(
        self,
        *,
        inputs: Inputs | None = None,
        strength: Strength | None = None,
        tuning: Tuning | None = None,
        missing: Missing = DEFAULT_MISSING,
        ties: Ties = DEFAULT_TIES,
        class_weight: ClassWeight | None = None,
        calibrate: Calibrate | None = None,
        per_class: bool = False,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            missing=missing,
            ties=ties,
            class_weight=class_weight,
            calibrate=calibrate,
            per_class=per_class,
            random_state=random_state,
        )
        self.inputs = inputs
        self.strength = strength
        self.tuning = tuning


class DawidSkeneClassifier(LabelCombiner):
    """Dawid-Skene: naive Bayes fitted to unlabelled rows too, whose y is None or NaN.

    Examples
    --------
    >>> from spocc.sklearn import DawidSkeneClassifier
    >>> X = [["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "cat", "cat"], ["dog", "dog", "cat"]]
    >>> DawidSkeneClassifier().fit(X, ["cat", "dog", None, None]).predict(X)
    array(['cat', 'dog', 'cat', 'dog'], dtype=object)
    """

    _method = "dawid-skene"


class OneCoinClassifier(LabelCombiner):
    """Dawid-Skene with one accuracy per classifier, fitted to unlabelled rows too, whose y is None or NaN.

    Examples
    --------
    >>> from spocc.sklearn import OneCoinClassifier
    >>> X = [["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "cat", "cat"], ["dog", "dog", "cat"]]
    >>> OneCoinClassifier().fit(X, ["cat", "dog", None, None]).predict(X)
    array(['cat', 'dog', 'cat', 'dog'], dtype=object)
    """

    _method = "one-coin"
    _needs_class_labels = True


BY_METHOD: Mapping[str, type[LabelCombiner]] = {
    kind._method: kind
    for kind in (
        LadderClassifier,
        SpoccClassifier,
        AdaSpoccClassifier,
        SelectionClassifier,
        MajorityClassifier,
        WeightedVoteClassifier,
        ExpVoteClassifier,
        NaiveBayesClassifier,
        BayesClassifier,
        OneHotStackingClassifier,
        DawidSkeneClassifier,
        OneCoinClassifier,
    )
}
