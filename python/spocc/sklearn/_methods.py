"""One estimator per method: X is what every classifier said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spocc.sklearn._combiner import LabelCombiner, ProbabilisticCombiner

__all__ = [
    "BY_METHOD",
    "AdaSpoccClassifier",
    "BayesClassifier",
    "DawidSkeneClassifier",
    "ExpVoteClassifier",
    "LadderClassifier",
    "MajorityClassifier",
    "NaiveBayesClassifier",
    "OneHotStackingClassifier",
    "SelectionClassifier",
    "SpoccClassifier",
    "WeightedVoteClassifier",
]


class LadderClassifier(ProbabilisticCombiner):
    """Models of growing richness, each pulled towards the one below it: the default.

    It withstands copies, guessers and liars. Rows whose y is None or NaN are learned from without truth.

    Examples
    --------
    >>> from spocc.sklearn import LadderClassifier
    >>> said = [[0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 0]] * 5
    >>> LadderClassifier().fit(said, [0, 1, 0, 1] * 5).predict([[0, 1, 1]])
    array([0])
    """

    _method = "ladder"
    _learns_from_gaps = True


class TunedCombiner(LabelCombiner):
    """What the combiners share that only say how they are tuned."""

    _settings = ("tuning",)

    def __init__(
        self,
        *,
        tuning: str = "leave-one-out",
        missing: str = "auto",
        ties: str = "first",
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
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
        From 1 (independent judges) to ``"inf"`` (copies), or ``"tuned"``.
    tuning
        On which rows a tuned exponent is judged: ``"leave-one-out"`` (default), ``"k-fold"`` or
        ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import SpoccClassifier
    >>> said = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
    >>> panel = SpoccClassifier(exponent="inf").fit(said, ["cat", "dog", "cat", "dog"])
    >>> panel.predict([["dog", "cat", "cat"]])  # the third always lies
    array(['dog'], dtype='<U3')
    """

    _method = "spocc"
    _settings = ("exponent", "tuning")

    def __init__(
        self,
        *,
        exponent: float | str = 5.0,
        tuning: str | None = None,
        missing: str = "auto",
        ties: str = "first",
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
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
    """Possibilistic fusion along a tree of who depends on whom, exponents and discounts fitted.

    Parameters
    ----------
    tuning
        On which rows settings are judged: ``"leave-one-out"``, ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import AdaSpoccClassifier
    >>> said = [["cat", "cat", "dog"], ["dog", "dog", "cat"], ["cat", "dog", "dog"], ["dog", "dog", "cat"]]
    >>> panel = AdaSpoccClassifier().fit(said, ["cat", "dog", "cat", "dog"])
    >>> panel.predict([["dog", "cat", "cat"]])  # the third always lies
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
    _repeats = True


class MajorityClassifier(LabelCombiner):
    """One classifier, one vote.

    Examples
    --------
    >>> from spocc.sklearn import MajorityClassifier
    >>> MajorityClassifier().fit([[0, 1, 1], [1, 1, 0]], [0, 1]).predict([[1, 0, 1]])
    array([1])
    """

    _method = "majority"
    _repeats = True


class WeightedVoteClassifier(LabelCombiner):
    """Votes weighted by accuracy.

    Examples
    --------
    >>> from spocc.sklearn import WeightedVoteClassifier
    >>> WeightedVoteClassifier().fit([[0, 1, 1], [1, 0, 0]], [0, 1]).predict([[1, 0, 0]])
    array([1])
    """

    _method = "weighted-vote"
    _repeats = True


class ExpVoteClassifier(TunedCombiner):
    """Votes weighted by a fitted exponential of accuracy.

    Parameters
    ----------
    tuning
        On which rows the rate is judged: ``"leave-one-out"``, ``"k-fold"`` or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import ExpVoteClassifier
    >>> said = [[0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 0]]
    >>> ExpVoteClassifier().fit(said, [0, 1, 1, 0]).predict([[1, 0, 0]])
    array([1])
    """

    _method = "exp-vote"
    _repeats = True


class NaiveBayesClassifier(ProbabilisticCombiner):
    """Answers independent given the truth.

    Examples
    --------
    >>> from spocc.sklearn import NaiveBayesClassifier
    >>> panel = NaiveBayesClassifier().fit([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 1])
    >>> panel.predict_proba([[1, 0]]).round(2)
    array([[0.25, 0.75]])
    """

    _method = "naive-bayes"


class BayesClassifier(ProbabilisticCombiner):
    """The joint table of all answers: the best rule there is where every pattern was seen often.

    Examples
    --------
    >>> from spocc.sklearn import BayesClassifier
    >>> said = [[0, 0], [0, 1], [1, 0], [1, 1]] * 9
    >>> BayesClassifier().fit(said, [0, 1, 1, 0] * 9).predict([[1, 1], [1, 0]])
    array([0, 1])
    """

    _method = "bayes"


class OneHotStackingClassifier(ProbabilisticCombiner):
    """Softmax regression on the answers.

    Parameters
    ----------
    inputs
        How answers enter: ``"one-hot"``, a column per answer, or ``"ordinal"``, its number.
    strength
        The C of ``LogisticRegression``: a number above 0, or ``"tuned"``.
    tuning
        On which rows a tuned strength is judged: ``"k-fold"`` (default) or ``"resubstitution"``.

    Examples
    --------
    >>> from spocc.sklearn import OneHotStackingClassifier
    >>> said = [[0, 1], [1, 1], [0, 0], [1, 0]] * 5
    >>> OneHotStackingClassifier(strength=1).fit(said, [0, 1, 0, 1] * 5).predict([[1, 0]])
    array([1])
    """

    _method = "stacking"
    _settings = ("inputs", "strength", "tuning")

    def __init__(
        self,
        *,
        inputs: str = "one-hot",
        strength: float | str = "tuned",
        tuning: str | None = None,
        missing: str = "auto",
        ties: str = "first",
        class_weight: str | Mapping[Any, float] | None = None,
        calibrate: str | None = None,
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


class DawidSkeneClassifier(ProbabilisticCombiner):
    """Answers independent given the truth, learned also from rows without truth, where y is None or NaN.

    Examples
    --------
    >>> from spocc.sklearn import DawidSkeneClassifier
    >>> said = [["cat", "cat", "dog"], ["dog", "dog", "dog"], ["cat", "cat", "cat"], ["dog", "dog", "cat"]]
    >>> DawidSkeneClassifier().fit(said, ["cat", "dog", None, None]).predict(said)
    array(['cat', 'dog', 'cat', 'dog'], dtype=object)
    """

    _method = "dawid-skene"
    _learns_from_gaps = True


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
    )
}
